/* SPDX-License-Identifier: Apache-2.0 */
/* The orders that jobs become, with the files that go along. */
#include "runs.h"

#include "session/engine/probe.h"
#include "session/run/outcome.h"

_Static_assert((int)PJ_JIT_OPTION_COUNT <= (int)PJ_WIRE_OPTIONS_MAX, "every option at once fits a message");
_Static_assert((int)PJ_MODULE_FILES_MAX <= (int)PJ_WIRE_PARTS_MAX, "every link fits a message");
_Static_assert((int)PJ_WIRE_PARTS_MAX <= (int)PJ_WIRE_DESCRIPTORS_MAX, "every part has its descriptor");

static void test_load(void **state)
{
    (void)state;
    CLEANUP_RUN struct run run;
    run_make(&run);
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    struct pj_plan_image image = {.path = run.image_path, .size_bytes = 822};
    const struct pj_plan_image *images[] = {&image};
    struct pj_job job = {.id = "a@sm_80", .images = images, .image_count = 1};
    struct pj_job_order order;
    memset(&image.sha256, 0x3c, sizeof image.sha256);
    job.options.given = 1u << PJ_JIT_MAX_REGISTERS | 1u << PJ_JIT_OPTIMIZATION_LEVEL;
    job.options.values[PJ_JIT_MAX_REGISTERS] = 64;
    job.options.values[PJ_JIT_OPTIMIZATION_LEVEL] = 0;
    job.options.values[PJ_JIT_SPLIT_COMPILE] = 9; /* not given */
    expect_success(pj_job_order_make(&job, 17, PJ_LOAD_PROVE, 80, &order, &err), &err);
    const struct pj_wire_load *load = &order.message.load;
    assert_int_equal(order.message.type, PJ_WIRE_LOAD);
    assert_int_equal(load->job, 17);
    assert_int_equal(load->method, PJ_LOAD_PROVE);
    assert_int_equal(load->target, 80);
    assert_int_equal(load->link, 0);
    assert_int_equal(load->part_count, 1);
    assert_int_equal(load->parts[0].type, 0);
    assert_int_equal(load->parts[0].bytes, 822);
    assert_memory_equal(&load->parts[0].sha256, &image.sha256, sizeof image.sha256);
    assert_int_equal(load->option_count, 2);
    assert_int_equal(load->options[0].option, 7); /* CU_JIT_OPTIMIZATION_LEVEL */
    assert_int_equal(load->options[0].value, 0);
    assert_int_equal(load->options[1].option, 0); /* CU_JIT_MAX_REGISTERS */
    assert_int_equal(load->options[1].value, 64);
    struct stat here, there;
    assert_int_equal(order.descriptors.count, 1);
    assert_int_equal(stat(run.image_path, &here), 0);
    assert_int_equal(fstat(order.descriptors.fds[0], &there), 0);
    assert_true(here.st_ino == there.st_ino);
    int fd = order.descriptors.fds[0];
    pj_job_order_free(&order);
    pj_job_order_free(&order);
    assert_int_equal(fcntl(fd, F_GETFD), -1);
}

static void test_link(void **state)
{
    /* CUjitInputType: CU_JIT_INPUT_PTX and its like, as cuda.h numbers them. */
    static const struct {
        enum pj_input_kind kind;
        uint32_t type;
    } kinds[] = {{PJ_INPUT_PTX, 1},    {PJ_INPUT_CUBIN, 0},   {PJ_INPUT_FATBIN, 2},
                 {PJ_INPUT_OBJECT, 3}, {PJ_INPUT_ARCHIVE, 4}, {PJ_INPUT_LTOIR, 5}};
    (void)state;
    CLEANUP_RUN struct run run;
    run_make(&run);
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    struct pj_plan_image items[PJ_COUNT(kinds)];
    const struct pj_plan_image *images[PJ_COUNT(kinds)];
    const struct pj_job job = {.id = "a", .link = true, .images = images, .image_count = PJ_COUNT(kinds)};
    memset(items, 0, sizeof items);
    for (size_t i = 0; i < PJ_COUNT(kinds); i++) {
        items[i].path = run.image_path;
        items[i].size_bytes = i;
        items[i].contents.kind = kinds[i].kind;
        images[i] = &items[i];
    }
    PJ_CLEANUP_ORDER struct pj_job_order order = {.parts = NULL};
    expect_success(pj_job_order_make(&job, 3, PJ_LOAD_COMPILE, 0, &order, &err), &err);
    assert_int_equal(order.message.load.link, 1);
    assert_int_equal(order.message.load.part_count, PJ_COUNT(kinds));
    assert_int_equal(order.descriptors.count, PJ_COUNT(kinds));
    for (size_t i = 0; i < PJ_COUNT(kinds); i++) {
        assert_int_equal(order.parts[i].type, kinds[i].type);
        assert_int_equal(order.parts[i].bytes, i);
        assert_string_equal(order.parts[i].name, run.image_path);
    }
}

/* One file of several that is gone: no order, and nothing stays open. */
static void test_gone(void **state)
{
    (void)state;
    CLEANUP_RUN struct run run;
    run_make(&run);
    struct pj_error *err = NULL;
    struct pj_plan_image here = {.path = run.image_path}, gone = {.path = "/nonexistent/b.ptx"};
    const struct pj_plan_image *images[] = {&here, &gone};
    struct pj_job job = {.id = "a", .link = true, .images = images, .image_count = 2};
    struct pj_job_order order;
    int next = open("/dev/null", O_RDONLY | O_CLOEXEC);
    (void)close(next);
    expect_error(pj_job_order_make(&job, 0, PJ_LOAD_COMPILE, 0, &order, &err), &err, PJ_ERROR_IO,
                 "cannot open /nonexistent/b.ptx: No such file or directory");
    int again = open("/dev/null", O_RDONLY | O_CLOEXEC);
    assert_int_equal(again, next);
    (void)close(again);
    job.image_count = 0; /* a source whose PTX was not made */
    expect_error(pj_job_order_make(&job, 0, PJ_LOAD_COMPILE, 0, &order, &err), &err, PJ_ERROR_INTERNAL,
                 "the job a has 0 images");
}

/* As many files as a link may have, under names that no message holds. */
static void test_too_long(void **state)
{
    enum { ROUNDABOUT = 200 };
    (void)state;
    CLEANUP_RUN struct run run;
    run_make(&run);
    static const char before[] = "the paths of its files are too long: a message of ";
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    PJ_CLEANUP_BUFFER struct pj_buffer path = {0};
    struct pj_plan_image image = {0};
    const struct pj_plan_image *images[PJ_MODULE_FILES_MAX];
    const struct pj_job job = {.id = "a", .link = true, .images = images, .image_count = PJ_COUNT(images)};
    struct pj_job_order order;
    pj_buffer_printf(&path, "%s/", run.folder.path);
    for (size_t i = 0; i < ROUNDABOUT; i++)
        pj_buffer_puts(&path, "./");
    pj_buffer_puts(&path, "axpb.ptx");
    image.path = pj_buffer_text(&path);
    for (size_t i = 0; i < PJ_COUNT(images); i++)
        images[i] = &image;
    assert_int_equal(pj_job_order_make(&job, 0, PJ_LOAD_COMPILE, 0, &order, &err), PJ_ERROR_UNSUPPORTED);
    const char *rest = pj_error_message(err);
    assert_memory_equal(rest, before, sizeof before - 1);
    rest += sizeof before - 1;
    assert_string_equal(rest + strspn(rest, "0123456789"), " bytes is longer than the 65536 allowed");
}

static void test_probe(void **state)
{
    (void)state;
    struct pj_probe probe;
    struct pj_wire_part part;
    struct pj_wire_descriptors descriptors;
    assert_int_equal(pj_probe_make(true, &probe, NULL), 0);
    pj_probe_part(&probe, &part, &descriptors);
    assert_int_equal(part.type, 1); /* CU_JIT_INPUT_PTX: canaries of links are linked */
    assert_int_equal(part.bytes, probe.size);
    assert_memory_equal(&part.sha256, &probe.sha256, sizeof part.sha256);
    assert_int_equal(descriptors.count, 1);
    assert_int_equal(descriptors.fds[0], probe.fd);
    pj_probe_close(&probe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_load),     cmocka_unit_test(test_link),  cmocka_unit_test(test_gone),
        cmocka_unit_test(test_too_long), cmocka_unit_test(test_probe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
