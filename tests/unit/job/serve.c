/* SPDX-License-Identifier: Apache-2.0 */
/* A worker's main loop over the emulated driver, in a process of its own. */
#include "served.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "plans.h"

static struct pj_wire_message start_order(const char **driver, const char *watch, bool context)
{
    return (struct pj_wire_message){
        .type = PJ_WIRE_START,
        .start = {.path_count = 1, .paths = driver, .watch_path = watch, .context = context}};
}

static void begin(struct served *served, const char *watch, bool context)
{
    const char *driver = FAKE_DRIVER;
    struct pj_wire_message message, order = start_order(&driver, watch, context);
    served_receive(served, PJ_WIRE_HELLO, &message);
    assert_string_equal(message.hello.build_id, pj_wire_build_id());
    served_send(served, &order, -1);
    served_receive(served, PJ_WIRE_STARTED, &message);
    assert_string_equal(message.started.failed_step, "");
    assert_int_equal(message.started.device_count, 2);
    assert_string_equal(message.started.devices[0].name, "emulated sm_90");
    assert_int_equal(message.started.devices[0].major, 9);
    assert_int_equal(message.started.devices[1].major, 8);
    assert_memory_equal(message.started.devices[0].uuid, "GPU-", 4);
    assert_int_equal(strlen(message.started.devices[0].uuid), 40);
    assert_int_equal(message.started.has_library_load, 1);
    assert_true(message.started.file_count >= 1);
    assert_string_equal(message.started.files[0].path, FAKE_DRIVER);
}

static struct pj_wire_part only_part;

/* An image in memory and the order to load it. One order at a time. */
static int make_order(const char *text, enum pj_wire_method method, struct pj_wire_message *ret_order)
{
    *ret_order = (struct pj_wire_message){
        .type = PJ_WIRE_LOAD, .load = {.job = 5, .method = method, .part_count = 1, .parts = &only_part}};
    return served_part(text, &only_part);
}

static void test_compile_and_prove(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    struct served served;
    struct pj_wire_message order, answer;
    PJ_CLEANUP_CLOSE int image = make_order(PTX("sm_80"), PJ_LOAD_COMPILE, &order);
    served_start(&served, folder.path, false, (long)getpid());
    begin(&served, folder.path, false);
    served_send(&served, &order, image);
    served_receive(&served, PJ_WIRE_LOADED, &answer);
    assert_int_equal(answer.loaded.job, 5);
    assert_int_equal(answer.loaded.refused, 0);
    assert_int_equal(answer.loaded.image_changed, 0);
    assert_string_equal(answer.loaded.result_name, "CUDA_SUCCESS");
    assert_int_equal(answer.loaded.entry_count, 1);
    assert_true(answer.loaded.peak_rss_bytes > 0 && answer.loaded.file_count >= 1);
    PJ_CLEANUP_FREE char *entry = pj_path_join(folder.path, answer.loaded.entries[0].path);
    struct stat status;
    assert_int_equal(stat(entry, &status), 0);
    assert_int_equal(answer.loaded.entries[0].size_bytes, status.st_size);
    served_send(&served, &order, image); /* again: a hit, and nothing new */
    served_receive(&served, PJ_WIRE_LOADED, &answer);
    assert_int_equal(answer.loaded.entry_count, 0);
    assert_int_equal(answer.loaded.file_count, 0); /* told once */
    served_end(&served, "");

    served_start(&served, folder.path, true, (long)getpid());
    begin(&served, "", true);
    order.load.method = PJ_LOAD_PROVE;
    served_send(&served, &order, image);
    served_receive(&served, PJ_WIRE_LOADED, &answer);
    assert_string_equal(answer.loaded.result_name, "CUDA_SUCCESS");
    assert_int_equal(answer.loaded.second_result, 0);
    assert_true(answer.loaded.has_wall_ms && answer.loaded.wall_ms == 0);
    PJ_CLEANUP_CLOSE int other = make_order(PTX("sm_75"), PJ_LOAD_PROVE, &order);
    served_send(&served, &order, other);
    served_receive(&served, PJ_WIRE_LOADED, &answer);
    assert_string_equal(answer.loaded.result_name, "CUDA_ERROR_JIT_COMPILATION_DISABLED");
    assert_int_equal(answer.loaded.second_result, 223);
    assert_int_equal(answer.loaded.has_wall_ms, 0); /* a miss has no wall time of a hit */
    served_end(&served, "");
}

/* Two parts that need each other: a kernel, and the function it calls. */
#define CALLER                                                                                               \
    ".version 8.0\n.target sm_80\n.address_size 64\n"                                                        \
    ".extern .func twice;\n.visible .entry k()\n{\n\tcall twice;\n\tret;\n}\n"
#define CALLED ".version 8.0\n.target sm_80\n.address_size 64\n.visible .func twice\n{\n\tret;\n}\n"

struct link_order {
    struct pj_wire_part parts[2];
    struct pj_wire_descriptors descriptors;
    struct pj_wire_message message;
};

static void make_link(enum pj_wire_method method, uint32_t target, struct link_order *ret_order)
{
    enum { INPUT_PTX = 1 };
    static const char *const texts[] = {CALLER, CALLED};
    *ret_order = (struct link_order){.descriptors = {.count = 2}};
    for (size_t i = 0; i < 2; i++) {
        ret_order->descriptors.fds[i] = served_part(texts[i], &ret_order->parts[i]);
        ret_order->parts[i].type = INPUT_PTX;
    }
    ret_order->message = (struct pj_wire_message){.type = PJ_WIRE_LOAD,
                                                  .load = {.job = 6,
                                                           .method = method,
                                                           .target = target,
                                                           .link = 1,
                                                           .part_count = 2,
                                                           .parts = ret_order->parts}};
}

static void give_link(struct served *served, const struct link_order *order, struct pj_wire_message *answer)
{
    assert_int_equal(pj_wire_send(served->socket, &order->message, &order->descriptors, NULL), 0);
    served_receive(served, PJ_WIRE_LOADED, answer);
    assert_int_equal(answer->loaded.job, 6);
    assert_int_equal(answer->loaded.has_wall_ms, 0); /* the linker does not fill it in */
    assert_int_equal(answer->loaded.no_context, 0);
}

/* The driver stores an entry for each input; under disabled JIT the linker tells hits from misses. */
static void test_link(void **state)
{
    (void)state;
    static const uint32_t targets[] = {0, 80};
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    for (size_t i = 0; i < PJ_COUNT(targets); i++) {
        struct served served;
        struct pj_wire_message answer;
        struct link_order order;
        make_link(PJ_LOAD_PROVE, targets[i], &order);
        served_start(&served, folder.path, true, (long)getpid());
        begin(&served, "", true);
        give_link(&served, &order, &answer);
        assert_string_equal(answer.loaded.result_name, "CUDA_ERROR_JIT_COMPILATION_DISABLED");
        served_end(&served, "");

        order.message.load.method = PJ_LOAD_COMPILE;
        served_start(&served, folder.path, false, (long)getpid());
        begin(&served, folder.path, false);
        give_link(&served, &order, &answer);
        assert_string_equal(answer.loaded.log, "");
        assert_string_equal(answer.loaded.result_name, "CUDA_SUCCESS");
        assert_int_equal(answer.loaded.refused, 0);
        assert_int_equal(answer.loaded.entry_count, 2);
        give_link(&served, &order, &answer);
        assert_int_equal(answer.loaded.entry_count, 0);
        served_end(&served, "");

        order.message.load.method = PJ_LOAD_PROVE;
        served_start(&served, folder.path, true, (long)getpid());
        begin(&served, "", true);
        give_link(&served, &order, &answer);
        assert_string_equal(answer.loaded.result_name, "CUDA_SUCCESS");
        served_end(&served, "");
        pj_wire_close(&order.descriptors);
    }
}

static void test_link_refused(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    struct served served;
    struct pj_wire_message answer;
    struct link_order order;
    make_link(PJ_LOAD_COMPILE, 0, &order);
    served_start(&served, folder.path, false, (long)getpid());
    begin(&served, folder.path, false);
    order.message.load.part_count = 1;
    give_link(&served, &order, &answer);
    assert_int_equal(answer.loaded.refused, 1);
    assert_string_equal(answer.loaded.result_name, "CUDA_ERROR_INVALID_SOURCE");
    assert_string_equal(answer.loaded.log, "error   : Undefined reference to 'twice' in 'a.ptx'\n");
    assert_int_equal(answer.loaded.entry_count, 1); /* stored all the same */
    order.message.load.part_count = 2;
    order.parts[1].sha256.bytes[0] ^= 1;
    give_link(&served, &order, &answer);
    assert_int_equal(answer.loaded.image_changed, 1);
    served_end(&served, "");
    pj_wire_close(&order.descriptors);
}

/* Without a context the driver says "success" to what it refuses; the worker does not. */
static void test_refused(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    struct served served;
    struct pj_wire_message order, answer;
    PJ_CLEANUP_CLOSE int image = make_order(PTX("sm_100"), PJ_LOAD_COMPILE, &order);
    served_start(&served, folder.path, false, (long)getpid());
    begin(&served, folder.path, false);
    served_send(&served, &order, image);
    served_receive(&served, PJ_WIRE_LOADED, &answer);
    assert_int_equal(answer.loaded.refused, 1);
    assert_string_equal(answer.loaded.result_name, "CUDA_ERROR_INVALID_PTX");
    assert_string_equal(answer.loaded.log,
                        "ptxas fatal   : SM version specified by .target is higher than default "
                        "SM version assumed\n");
    assert_int_equal(answer.loaded.entry_count, 0);
    served_end(&served, "");
}

/* Bytes that are not those of the digest never get to the driver. */
static void test_image_changed(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    struct served served;
    struct pj_wire_message order, answer;
    PJ_CLEANUP_CLOSE int image = make_order(PTX("sm_80"), PJ_LOAD_COMPILE, &order);
    served_start(&served, folder.path, false, (long)getpid());
    begin(&served, folder.path, false);
    for (int i = 0; i < 2; i++) {
        struct pj_wire_message changed = order;
        struct pj_wire_part part = only_part;
        changed.load.parts = &part;
        if (i == 0)
            part.sha256.bytes[31] ^= 1;
        else
            part.bytes--;
        served_send(&served, &changed, image);
        served_receive(&served, PJ_WIRE_LOADED, &answer);
        assert_int_equal(answer.loaded.image_changed, 1);
        assert_string_equal(answer.loaded.result_name, "");
        assert_int_equal(answer.loaded.entry_count, 0);
    }
    served_end(&served, "");
}

static void test_no_driver(void **state)
{
    (void)state;
    struct served served;
    const char *driver = "/nonexistent/libcuda.so";
    struct pj_wire_message message, order = start_order(&driver, "", false);
    served_start(&served, "/nonexistent", false, (long)getpid());
    served_receive(&served, PJ_WIRE_HELLO, &message);
    served_send(&served, &order, -1);
    served_receive(&served, PJ_WIRE_STARTED, &message);
    assert_string_equal(message.started.failed_step, "open");
    assert_string_equal(message.started.message,
                        "cannot open the CUDA driver: /nonexistent/libcuda.so: cannot open shared object "
                        "file: No such file or directory");
    assert_int_equal(message.started.device_count, 0);
    served_end(&served, "");
}

static void test_refuses_orders(void **state)
{
    (void)state;
    struct served served;
    struct pj_wire_part part = {.bytes = 9, .name = ""};
    struct pj_wire_message message, order = {.type = PJ_WIRE_LOAD, .load = {.part_count = 1, .parts = &part}};
    served_start(&served, "/nonexistent", false, (long)getpid());
    served_receive(&served, PJ_WIRE_HELLO, &message);
    served_send(&served, &order, -1);
    served_end(&served, "an order for 9 bytes came without the file");

    order.load.part_count = 0;
    served_start(&served, "/nonexistent", false, (long)getpid());
    served_receive(&served, PJ_WIRE_HELLO, &message);
    served_send(&served, &order, -1);
    served_end(&served, "a load message came without an image, or not to a driver");

    order = (struct pj_wire_message){.type = PJ_WIRE_MAKE, .make = {.name = ""}};
    served_start(&served, "/nonexistent", false, (long)getpid());
    served_receive(&served, PJ_WIRE_HELLO, &message);
    served_send(&served, &order, -1);
    served_end(&served, "an order for a compiler came to a driver");

    order = (struct pj_wire_message){.type = PJ_WIRE_START, .start = {.library = PJ_LIBRARY_COUNT}};
    served_start(&served, "/nonexistent", false, (long)getpid());
    served_receive(&served, PJ_WIRE_HELLO, &message);
    served_send(&served, &order, -1);
    served_end(&served, "library 4 does not exist");

    order = (struct pj_wire_message){.type = PJ_WIRE_HELLO, .hello = {.build_id = "x"}};
    served_start(&served, "/nonexistent", false, (long)getpid());
    served_receive(&served, PJ_WIRE_HELLO, &message);
    served_send(&served, &order, -1);
    served_end(&served, "message type 1 is not for a worker");

    served_start(&served, "/nonexistent", false, (long)getpid());
    served_receive(&served, PJ_WIRE_HELLO, &message);
    assert_int_equal(send(served.socket, "garbage!", 8, MSG_NOSIGNAL), 8);
    served_end(&served, "a message of 8 bytes and type 1651663207 is malformed");
}

/* Its parent died before the worker could ask to die with it. */
static void test_parent_gone(void **state)
{
    (void)state;
    struct served served;
    served_start(&served, "/nonexistent", false, 1);
    served_end(&served, "the parent 1 is gone");
}

/* Signals for the whole group are the parent's business. */
static void test_group_signals(void **state)
{
    (void)state;
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    struct served served;
    served_start(&served, folder.path, false, (long)getpid());
    begin(&served, "", false);
    for (size_t i = 0; i < PJ_COUNT(signals); i++)
        assert_int_equal(kill(served.pid, signals[i]), 0);
    struct pj_wire_message order, answer;
    PJ_CLEANUP_CLOSE int image = make_order(PTX("sm_80"), PJ_LOAD_COMPILE, &order);
    served_send(&served, &order, image);
    served_receive(&served, PJ_WIRE_LOADED, &answer);
    assert_string_equal(answer.loaded.result_name, "CUDA_SUCCESS");
    served_end(&served, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_compile_and_prove),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_link),
        cmocka_unit_test(test_link_refused),
        cmocka_unit_test(test_image_changed),
        cmocka_unit_test(test_no_driver),
        cmocka_unit_test(test_refuses_orders),
        cmocka_unit_test(test_parent_gone),
        cmocka_unit_test(test_group_signals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
