/* SPDX-License-Identifier: Apache-2.0 */
/* A worker's main loop over the emulated driver, in a process of its own. */
#include "folder.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/digest.h"
#include "job/wire.h"
#include "job/worker.h"
#include "plans.h"

/* A worker process, what it said when it ended, and the parent's end of its socket. */
struct served {
    pid_t pid;
    int socket, end; /* `end` is a pipe: the worker's error message, "" for none */
    struct pj_arena arena;
};

static void serve(int socket, int end, long parent)
{
    struct pj_error *err = NULL;
    int r = pj_worker_serve(socket, parent, &err);
    const char *message = r < 0 ? pj_error_message(err) : "";
    if (write(end, message, strlen(message)) < 0)
        _exit(99);
    pj_error_free(err);
    exit(r < 0 ? 1 : 0); /* a leak checker looks here */
}

static void start(struct served *served, const char *cache, bool disable_jit, long parent)
{
    int pair[2], ends[2];
    *served = (struct served){.socket = -1};
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    served->pid = fork();
    if (served->pid == 0) {
        pj_close(pair[0]);
        (void)setenv("CUDA_CACHE_PATH", cache, 1);
        if (disable_jit)
            (void)setenv("CUDA_DISABLE_PTX_JIT", "1", 1);
        serve(pair[1], ends[1], parent);
    }
    pj_close(pair[1]);
    pj_close(ends[1]);
    served->socket = pair[0];
    served->end = ends[0];
}

static void receive(struct served *served, enum pj_wire_type type, struct pj_wire_message *message)
{
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    PJ_CLEANUP_CLOSE int fd = -1;
    int r = pj_wire_receive(served->socket, &served->arena, message, &fd, &err);
    if (r < 0)
        fail_msg("%s", pj_error_message(err));
    assert_int_equal(r, 1);
    assert_int_equal(message->type, type);
    assert_int_equal(fd, -1);
}

static void send_to(const struct served *served, const struct pj_wire_message *message, int fd)
{
    assert_int_equal(pj_wire_send(served->socket, message, fd, NULL), 0);
}

/* Closes the socket, waits, and compares the worker's last words. */
static void expect_end(struct served *served, const char *message)
{
    char text[512] = "";
    int status;
    pj_close(served->socket);
    ssize_t length = read(served->end, text, sizeof text - 1);
    pj_close(served->end);
    assert_int_equal(waitpid(served->pid, &status, 0), served->pid);
    assert_true(length >= 0);
    assert_string_equal(text, message);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), message[0] ? 1 : 0);
    pj_arena_free(&served->arena);
}

static struct pj_wire_message start_order(const char *driver, const char *watch, bool context)
{
    return (struct pj_wire_message){
        .type = PJ_WIRE_START, .start = {.driver_path = driver, .watch_path = watch, .context = context}};
}

static void begin(struct served *served, const char *watch, bool context)
{
    struct pj_wire_message message, order = start_order(FAKE_DRIVER, watch, context);
    receive(served, PJ_WIRE_HELLO, &message);
    assert_string_equal(message.hello.build_id, pj_wire_build_id());
    send_to(served, &order, -1);
    receive(served, PJ_WIRE_STARTED, &message);
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

/* An image in memory and the order to load it. */
static int make_order(const char *text, enum pj_wire_method method, struct pj_wire_message *ret_order)
{
    int fd = memfd_create("image", MFD_CLOEXEC);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    *ret_order = (struct pj_wire_message){.type = PJ_WIRE_LOAD};
    ret_order->load = (struct pj_wire_load){.job = 5, .method = method, .image_bytes = strlen(text)};
    pj_sha256_of(text, strlen(text), &ret_order->load.image_sha256);
    return fd;
}

static void test_compile_and_prove(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    struct served served;
    struct pj_wire_message order, answer;
    PJ_CLEANUP_CLOSE int image = make_order(PTX("sm_80"), PJ_LOAD_COMPILE, &order);
    start(&served, folder.path, false, (long)getpid());
    begin(&served, folder.path, false);
    send_to(&served, &order, image);
    receive(&served, PJ_WIRE_LOADED, &answer);
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
    send_to(&served, &order, image); /* again: a hit, and nothing new */
    receive(&served, PJ_WIRE_LOADED, &answer);
    assert_int_equal(answer.loaded.entry_count, 0);
    assert_int_equal(answer.loaded.file_count, 0); /* told once */
    expect_end(&served, "");

    start(&served, folder.path, true, (long)getpid());
    begin(&served, "", true);
    order.load.method = PJ_LOAD_PROVE;
    send_to(&served, &order, image);
    receive(&served, PJ_WIRE_LOADED, &answer);
    assert_string_equal(answer.loaded.result_name, "CUDA_SUCCESS");
    assert_int_equal(answer.loaded.second_result, 0);
    assert_true(answer.loaded.has_wall_ms && answer.loaded.wall_ms == 0);
    PJ_CLEANUP_CLOSE int other = make_order(PTX("sm_75"), PJ_LOAD_PROVE, &order);
    send_to(&served, &order, other);
    receive(&served, PJ_WIRE_LOADED, &answer);
    assert_string_equal(answer.loaded.result_name, "CUDA_ERROR_JIT_COMPILATION_DISABLED");
    assert_int_equal(answer.loaded.second_result, 223);
    assert_int_equal(answer.loaded.has_wall_ms, 0); /* a miss has no wall time of a hit */
    expect_end(&served, "");
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
    start(&served, folder.path, false, (long)getpid());
    begin(&served, folder.path, false);
    send_to(&served, &order, image);
    receive(&served, PJ_WIRE_LOADED, &answer);
    assert_int_equal(answer.loaded.refused, 1);
    assert_string_equal(answer.loaded.result_name, "CUDA_ERROR_INVALID_PTX");
    assert_string_equal(answer.loaded.log,
                        "ptxas fatal   : SM version specified by .target is higher than default "
                        "SM version assumed\n");
    assert_int_equal(answer.loaded.entry_count, 0);
    expect_end(&served, "");
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
    start(&served, folder.path, false, (long)getpid());
    begin(&served, folder.path, false);
    for (int i = 0; i < 2; i++) {
        struct pj_wire_message changed = order;
        if (i == 0)
            changed.load.image_sha256.bytes[31] ^= 1;
        else
            changed.load.image_bytes--;
        send_to(&served, &changed, image);
        receive(&served, PJ_WIRE_LOADED, &answer);
        assert_int_equal(answer.loaded.image_changed, 1);
        assert_string_equal(answer.loaded.result_name, "");
        assert_int_equal(answer.loaded.entry_count, 0);
    }
    expect_end(&served, "");
}

static void test_no_driver(void **state)
{
    (void)state;
    struct served served;
    struct pj_wire_message message, order = start_order("/nonexistent/libcuda.so", "", false);
    start(&served, "/nonexistent", false, (long)getpid());
    receive(&served, PJ_WIRE_HELLO, &message);
    send_to(&served, &order, -1);
    receive(&served, PJ_WIRE_STARTED, &message);
    assert_string_equal(message.started.failed_step, "open");
    assert_string_equal(message.started.message,
                        "cannot open the CUDA driver: /nonexistent/libcuda.so: cannot open shared object "
                        "file: No such file or directory");
    assert_int_equal(message.started.device_count, 0);
    expect_end(&served, "");
}

static void test_refuses_orders(void **state)
{
    (void)state;
    struct served served;
    struct pj_wire_message message, order = {.type = PJ_WIRE_LOAD, .load = {.image_bytes = 9}};
    start(&served, "/nonexistent", false, (long)getpid());
    receive(&served, PJ_WIRE_HELLO, &message);
    send_to(&served, &order, -1);
    expect_end(&served, "a load message of 9 bytes came without an image");

    order = (struct pj_wire_message){.type = PJ_WIRE_HELLO, .hello = {.build_id = "x"}};
    start(&served, "/nonexistent", false, (long)getpid());
    receive(&served, PJ_WIRE_HELLO, &message);
    send_to(&served, &order, -1);
    expect_end(&served, "message type 1 is not for a worker");

    start(&served, "/nonexistent", false, (long)getpid());
    receive(&served, PJ_WIRE_HELLO, &message);
    assert_int_equal(send(served.socket, "garbage!", 8, MSG_NOSIGNAL), 8);
    expect_end(&served, "a message of 8 bytes and type 1651663207 is malformed");
}

/* Its parent died before the worker could ask to die with it. */
static void test_parent_gone(void **state)
{
    (void)state;
    struct served served;
    start(&served, "/nonexistent", false, 1);
    expect_end(&served, "the parent 1 is gone");
}

/* Signals for the whole group are the parent's business. */
static void test_group_signals(void **state)
{
    (void)state;
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    struct served served;
    start(&served, folder.path, false, (long)getpid());
    begin(&served, "", false);
    for (size_t i = 0; i < PJ_COUNT(signals); i++)
        assert_int_equal(kill(served.pid, signals[i]), 0);
    struct pj_wire_message order, answer;
    PJ_CLEANUP_CLOSE int image = make_order(PTX("sm_80"), PJ_LOAD_COMPILE, &order);
    send_to(&served, &order, image);
    receive(&served, PJ_WIRE_LOADED, &answer);
    assert_string_equal(answer.loaded.result_name, "CUDA_SUCCESS");
    expect_end(&served, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_compile_and_prove), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_image_changed),     cmocka_unit_test(test_no_driver),
        cmocka_unit_test(test_refuses_orders),    cmocka_unit_test(test_parent_gone),
        cmocka_unit_test(test_group_signals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
