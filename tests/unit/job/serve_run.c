/* SPDX-License-Identifier: Apache-2.0 */
/* A worker that runs a kernel, over the emulated driver, which knows one: axpb. */
#include "served.h"

#include <sys/mman.h>

#include "job/worker_ptxas.h"

#define HEAD   ".version 8.0\n.target sm_80\n.address_size 64\n"
#define PARAMS "(.param .u64 in, .param .u64 out, .param .u32 count)"
#define WHOLE                                                                                                \
    HEAD ".visible .entry axpb" PARAMS "\n{\n\tret;\n}\n.visible .entry idle" PARAMS "\n{\n\tret;\n}\n"
#define CALLER HEAD ".extern .func triple;\n.visible .entry axpb" PARAMS "\n{\n\tcall triple;\n\tret;\n}\n"
#define CALLED HEAD ".visible .func triple\n{\n\tret;\n}\n"

enum { COUNT = 1000, INPUT_PTX = 1, MAX_REGISTERS = 0 };

struct order {
    struct pj_wire_part parts[2];
    struct pj_wire_descriptors descriptors; /* the parts, and what the kernel computes */
    struct pj_wire_message message;
};

static void make_order(struct order *order, const char *first, const char *second)
{
    *order = (struct order){.message = {.type = PJ_WIRE_LOAD}};
    struct pj_wire_load *load = &order->message.load;
    *load = (struct pj_wire_load){.job = 9,
                                  .method = PJ_LOAD_RUN,
                                  .link = second != NULL,
                                  .run_kernel = "axpb",
                                  .run_count = COUNT,
                                  .part_count = second ? 2 : 1,
                                  .parts = order->parts};
    order->descriptors.fds[0] = served_part(first, &order->parts[0]);
    if (second)
        order->descriptors.fds[1] = served_part(second, &order->parts[1]);
    for (uint32_t i = 0; second && i < 2; i++)
        order->parts[i].type = INPUT_PTX;
    order->descriptors.fds[load->part_count] = memfd_create("values", MFD_CLOEXEC);
    order->descriptors.count = load->part_count + 1;
}

static void begin(struct served *served, const char *cache, bool disable_jit, bool context)
{
    const char *driver = FAKE_DRIVER;
    struct pj_wire_message message,
        order = {.type = PJ_WIRE_START,
                 .start = {.path_count = 1, .paths = &driver, .watch_path = "", .context = context}};
    served_start(served, cache, disable_jit, (long)getpid());
    served_receive(served, PJ_WIRE_HELLO, &message);
    served_send(served, &order, -1);
    served_receive(served, PJ_WIRE_STARTED, &message);
    assert_string_equal(message.started.failed_step, "");
}

static void give(struct served *served, const struct order *order, struct pj_wire_loaded *ret_loaded)
{
    struct pj_wire_message answer;
    assert_int_equal(pj_wire_send(served->socket, &order->message, &order->descriptors, NULL), 0);
    served_receive(served, PJ_WIRE_LOADED, &answer);
    *ret_loaded = answer.loaded;
    assert_int_equal(ret_loaded->job, 9);
    assert_int_equal(ret_loaded->no_context, 0);
    assert_int_equal(ret_loaded->entry_count, 0);
}

/* What was computed: `factor` * i + `summand`, or nothing at all where both are negative. */
static void expect_values(const struct order *order, int factor, int summand)
{
    int32_t values[COUNT];
    struct stat status;
    int fd = order->descriptors.fds[order->message.load.part_count];
    assert_int_equal(fstat(fd, &status), 0);
    assert_int_equal(status.st_size, factor < 0 ? 0 : sizeof values);
    if (factor < 0)
        return;
    assert_int_equal(pread(fd, values, sizeof values, 0), sizeof values);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(values[i], factor * i + summand);
}

static void expect_ran(struct served *served, const struct order *order, bool hit)
{
    struct pj_wire_loaded loaded;
    give(served, order, &loaded);
    assert_string_equal(loaded.log, "");
    assert_string_equal(loaded.result_name, "CUDA_SUCCESS");
    assert_int_equal(loaded.result, 0);
    assert_int_equal(loaded.refused, 0);
    assert_true(loaded.call_ms > 0 && loaded.peak_rss_bytes > 0);
    assert_int_equal(loaded.has_wall_ms, !order->message.load.link);
    if (loaded.has_wall_ms)
        assert_int_equal(loaded.wall_ms == 0, hit);
    expect_values(order, 3, 1);
}

static void expect_failed(struct served *served, const struct order *order, const char *result_name,
                          const char *log)
{
    struct pj_wire_loaded loaded;
    give(served, order, &loaded);
    assert_string_equal(loaded.result_name, result_name);
    assert_string_equal(loaded.log, log);
    assert_int_equal(loaded.refused, 1);
    assert_int_equal(loaded.has_wall_ms, 0);
    expect_values(order, -1, -1);
}

/* A miss compiles, or fails where that is forbidden; a hit runs in any case. With options of its own, too. */
static void test_image(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    for (uint32_t options = 0; options < 2; options++) {
        struct served served;
        struct order order;
        make_order(&order, WHOLE, NULL);
        order.message.load.option_count = options;
        order.message.load.options[0] = (struct pj_wire_option){MAX_REGISTERS, 64};
        begin(&served, folder.path, true, true);
        expect_failed(&served, &order, "CUDA_ERROR_JIT_COMPILATION_DISABLED", "");
        served_end(&served, "");
        begin(&served, folder.path, false, false); /* makes the context that it needs */
        expect_ran(&served, &order, false);
        expect_ran(&served, &order, true);
        served_end(&served, "");
        begin(&served, folder.path, true, true);
        expect_ran(&served, &order, true);
        served_end(&served, "");
        pj_wire_close(&order.descriptors);
    }
}

static void test_link(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    struct served served;
    struct order order, lacking;
    make_order(&order, CALLER, CALLED);
    make_order(&lacking, CALLER, CALLER);
    lacking.message.load.part_count = 1;
    pj_close(lacking.descriptors.fds[1]);
    lacking.descriptors.fds[1] = lacking.descriptors.fds[2];
    lacking.descriptors.count = 2;
    begin(&served, folder.path, false, false);
    expect_ran(&served, &order, false);
    expect_failed(&served, &lacking, "CUDA_ERROR_INVALID_SOURCE",
                  "error   : Undefined reference to 'triple' in 'a.ptx'\n");
    served_end(&served, "");
    begin(&served, folder.path, true, true);
    expect_ran(&served, &order, true);
    served_end(&served, "");
    pj_wire_close(&order.descriptors);
    pj_wire_close(&lacking.descriptors);
}

/* What fails behind the load says which call it was; what a kernel does not write is 0. */
static void test_steps(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    struct served served;
    struct order order;
    struct pj_wire_loaded loaded;
    make_order(&order, WHOLE, NULL);
    begin(&served, folder.path, false, true);
    order.message.load.run_kernel = "none";
    give(&served, &order, &loaded);
    assert_string_equal(loaded.result_name, "CUDA_ERROR_NOT_FOUND");
    assert_string_equal(loaded.log, "cuModuleGetFunction failed");
    assert_int_equal(loaded.refused, 1);
    expect_values(&order, -1, -1);
    order.message.load.target = 80; /* a hit of it does not load here [28] */
    order.message.load.run_kernel = "axpb";
    expect_failed(&served, &order, "CUDA_ERROR_INVALID_SOURCE", "");
    order.message.load.target = 0;
    order.message.load.run_kernel = "idle";
    give(&served, &order, &loaded);
    assert_string_equal(loaded.result_name, "CUDA_SUCCESS");
    expect_values(&order, 0, 0);
    order.parts[0].sha256.bytes[3] ^= 1;
    give(&served, &order, &loaded);
    assert_int_equal(loaded.image_changed, 1);
    served_end(&served, "");
    pj_wire_close(&order.descriptors);
}

/* The emulation runs what the real ptxas made, too: that is what a profile's entries hold. */
static void test_code_of_ptxas(void **state)
{
    static const char *arguments[] = {"-arch=sm_90"};
    (void)state;
    const char *path = getenv("PREJIT_TEST_PTXAS");
    if (!path)
        path = "/usr/local/cuda/bin/ptxas";
    if (access(path, X_OK) != 0) {
        print_message("%s is not installed\n", path);
        skip();
    }
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    PJ_CLEANUP_PARTS struct pj_worker_parts parts = {0};
    struct served served;
    struct order order;
    struct pj_worker_ptxas ptxas;
    struct pj_wire_made made = {.failed_call = "", .result_name = ""};
    make_order(&order, WHOLE, NULL);
    const struct pj_wire_make make = {.outputs = PJ_OUTPUT_CUBIN,
                                      .part_count = 1,
                                      .parts = order.parts,
                                      .argument_count = 1,
                                      .arguments = arguments};
    assert_int_equal(pj_worker_ptxas_open(path, &ptxas, NULL), 0);
    assert_int_equal(pj_worker_parts_read(order.parts, 1, &order.descriptors, &parts, NULL), 0);
    assert_int_equal(pj_worker_ptxas_make(&ptxas, &make, &parts, &order.descriptors, &arena, &made, NULL), 0);
    assert_string_equal(made.failed_call, "");
    PJ_CLEANUP_BUFFER struct pj_buffer cubin = {0};
    assert_int_equal(pj_file_read_fd(order.descriptors.fds[1], "it", 1 << 20, &cubin, NULL), 0);
    pj_close(order.descriptors.fds[0]);
    order.descriptors.fds[0] = memfd_create("cubin", MFD_CLOEXEC);
    assert_int_equal(write(order.descriptors.fds[0], cubin.data, cubin.size), cubin.size);
    order.parts[0].bytes = cubin.size;
    pj_sha256_of(cubin.data, cubin.size, &order.parts[0].sha256);
    assert_int_equal(ftruncate(order.descriptors.fds[1], 0), 0);
    begin(&served, "/nonexistent", true, true);
    expect_ran(&served, &order, true);
    served_end(&served, "");
    pj_wire_close(&order.descriptors);
}

static void test_refuses_orders(void **state)
{
#define NO_RUN                                                                                               \
    "an order to run a kernel names none, or not 1 to 1048576 threads, or no file for what it computes"
    static const struct {
        const char *kernel;
        uint32_t count, method;
        size_t descriptors;
        const char *message;
    } wrong[] = {
        {"", COUNT, PJ_LOAD_RUN, 2, NO_RUN},
        {"axpb", 0, PJ_LOAD_RUN, 2, NO_RUN},
        {"axpb", PJ_WIRE_RUN_MAX + 1, PJ_LOAD_RUN, 2, NO_RUN},
        {"axpb", COUNT, PJ_LOAD_RUN, 1, NO_RUN},
        {"axpb", COUNT, PJ_LOAD_RUN + 1, 2, "load method 3 does not exist"},
    };
    (void)state;
    for (size_t i = 0; i < PJ_COUNT(wrong); i++) {
        struct served served;
        struct order order;
        make_order(&order, WHOLE, NULL);
        begin(&served, "/nonexistent", false, true);
        order.message.load.run_kernel = wrong[i].kernel;
        order.message.load.run_count = wrong[i].count;
        order.message.load.method = wrong[i].method;
        struct pj_wire_descriptors fewer = order.descriptors;
        fewer.count = wrong[i].descriptors;
        assert_int_equal(pj_wire_send(served.socket, &order.message, &fewer, NULL), 0);
        served_end(&served, wrong[i].message);
        pj_wire_close(&order.descriptors);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_image),          cmocka_unit_test(test_link),
        cmocka_unit_test(test_steps),          cmocka_unit_test(test_code_of_ptxas),
        cmocka_unit_test(test_refuses_orders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
