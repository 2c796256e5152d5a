/* SPDX-License-Identifier: Apache-2.0 */
/* A worker with ptxas: with one that misbehaves, and with the real one where it is installed. */
#include "served.h"

#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include "image/code.h"
#include "image/cubin.h"
#include "job/worker_ptxas.h"

#define MISSING "/nonexistent/ptxas"

static void begin(struct served *served, const char *const *paths, struct pj_wire_started *ret_started)
{
    const char *copies[8];
    struct pj_wire_message message,
        order = {.type = PJ_WIRE_START,
                 .start = {.library = PJ_LIBRARY_PTXAS, .paths = copies, .watch_path = ""}};
    while (paths[order.start.path_count]) {
        copies[order.start.path_count] = paths[order.start.path_count];
        order.start.path_count++;
    }
    served_start(served, "/nonexistent", false, (long)getpid());
    served_receive(served, PJ_WIRE_HELLO, &message);
    served_send(served, &order, -1);
    served_receive(served, PJ_WIRE_STARTED, &message);
    *ret_started = message.started;
}

static void begin_with(struct served *served, const char *path)
{
    const char *const paths[] = {path, NULL};
    struct pj_wire_started started;
    begin(served, paths, &started);
    assert_string_equal(started.failed_step, "");
}

/* A program of this text in the folder; gives its path, to be freed. */
static char *write_program(const struct folder *folder, const char *name, const char *text, mode_t mode)
{
    char *path = pj_path_join(folder->path, name);
    folder_write(folder, name, text);
    assert_int_equal(chmod(path, mode), 0);
    return path;
}

static void test_start(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    PJ_CLEANUP_FREE char *link = pj_path_join(folder.path, "ptxas");
    assert_int_equal(symlink(ODD_PTXAS, link), 0);
    const char *const paths[] = {MISSING, link, NULL};
    struct served served;
    struct pj_wire_started started;
    struct stat status;
    begin(&served, paths, &started);
    assert_string_equal(started.failed_step, "");
    assert_string_equal(started.message, "12.8.93");
    assert_int_equal(started.cuda_version, 12080);
    assert_string_equal(started.library_path, ODD_PTXAS);
    assert_int_equal(started.arch_count, 0);
    assert_int_equal(started.file_count, 1);
    assert_string_equal(started.files[0].path, ODD_PTXAS);
    assert_int_equal(stat(ODD_PTXAS, &status), 0);
    assert_true(started.files[0].size_bytes == (uint64_t)status.st_size &&
                started.files[0].inode == status.st_ino && started.files[0].device == status.st_dev &&
                started.files[0].mtime_seconds == status.st_mtim.tv_sec);
    served_end(&served, "");
}

static void test_start_fails(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
#define SAYS(text) "#!/bin/sh\necho '" text "'\n"
    PJ_CLEANUP_FREE char *closed = write_program(&folder, "closed", SAYS("ptxas"), 0644);
    PJ_CLEANUP_FREE char *failing = write_program(&folder, "failing", "#!/bin/sh\nexit 7\n", 0755);
    PJ_CLEANUP_FREE char *dying = write_program(&folder, "dying", "#!/bin/sh\nkill -9 $$\n", 0755);
    PJ_CLEANUP_FREE char *nvcc =
        write_program(&folder, "nvcc", SAYS("nvcc: NVIDIA\nrelease 13.0, V13.0.88"), 0755);
    PJ_CLEANUP_FREE char *strange = write_program(&folder, "strange", SAYS("ptxas: release 13, V13"), 0755);
    const char *const paths[] = {MISSING, closed, failing, dying, nvcc, strange, NULL};
    struct served served;
    struct pj_wire_started started;
    char expected[4096];
    (void)snprintf(expected, sizeof expected,
                   "cannot start " MISSING ": No such file or directory\n"
                   "cannot start %s: Permission denied\n"
                   "%s --version: exit status 7\n"
                   "%s --version: killed by signal 9\n"
                   "%s is no ptxas: its --version says \"nvcc: NVIDIA\"\n"
                   "%s is no ptxas: its --version says \"ptxas: release 13, V13\"",
                   closed, failing, dying, nvcc, strange);
    begin(&served, paths, &started);
    assert_string_equal(started.failed_step, "open");
    assert_string_equal(started.message, expected);
    assert_string_equal(started.library_path, "");
    assert_int_equal(started.cuda_version, 0);
    served_end(&served, "");
}

enum { ARGUMENTS = 6 };

struct order {
    struct pj_wire_part part;
    const char *arguments[ARGUMENTS];
    struct pj_wire_descriptors descriptors; /* the PTX, the log, the cubin */
    struct pj_wire_message message;
};

static void make_order(struct order *order, const char *ptx, const char *const *arguments)
{
    *order = (struct order){.descriptors = {.count = 3}};
    order->descriptors.fds[0] = served_part(ptx, &order->part);
    order->descriptors.fds[1] = memfd_create("log", MFD_CLOEXEC);
    order->descriptors.fds[2] = memfd_create("cubin", MFD_CLOEXEC);
    order->message = (struct pj_wire_message){.type = PJ_WIRE_MAKE,
                                              .make = {.job = 7,
                                                       .name = "",
                                                       .outputs = PJ_OUTPUT_LOG | PJ_OUTPUT_CUBIN,
                                                       .part_count = 1,
                                                       .parts = &order->part,
                                                       .arguments = order->arguments}};
    for (uint32_t i = 0; arguments[i]; i++) {
        order->arguments[i] = arguments[i];
        order->message.make.argument_count = i + 1;
    }
}

static void give(struct served *served, struct order *order, struct pj_wire_made *ret_made)
{
    struct pj_wire_message answer;
    assert_int_equal(pj_wire_send(served->socket, &order->message, &order->descriptors, NULL), 0);
    served_receive(served, PJ_WIRE_MADE, &answer);
    *ret_made = answer.made;
    assert_int_equal(ret_made->job, 7);
    assert_int_equal(ret_made->file_count, 0);
}

static void expect_result(const struct order *order, size_t which, const char *text)
{
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    assert_int_equal(pj_file_read_fd(order->descriptors.fds[which], "it", 1 << 24, &bytes, NULL), 0);
    assert_string_equal(pj_buffer_text(&bytes), text);
    assert_int_equal(bytes.size, strlen(text));
}

/* Makes one order that ends like this. */
static void expect_end(struct served *served, const char *const *arguments, int32_t result,
                       const char *result_name, const char *log, const char *cubin)
{
    struct order order;
    struct pj_wire_made made;
    make_order(&order, "some PTX", arguments);
    give(served, &order, &made);
    assert_string_equal(made.failed_call, result ? "ptxas" : "");
    assert_int_equal(made.result, result);
    assert_string_equal(made.result_name, result_name);
    assert_int_equal(made.image_changed, 0);
    assert_true(made.call_ms > 0 && made.peak_rss_bytes > 0);
    expect_result(&order, 1, log);
    expect_result(&order, 2, cubin);
    pj_wire_close(&order.descriptors);
}

static void test_ends(void **state)
{
    static const char *const echo[] = {"echo", "-arch=sm_90", "--maxrregcount", "64", "$HOME; \"a b\"", NULL},
                             *const status[] = {"status", NULL}, *const crash[] = {"crash", NULL},
                             *const nothing[] = {"nothing", NULL};
    (void)state;
    struct served served;
    assert_int_equal(setenv("TMPDIR", "/where/files/go", 1), 0); /* the environment arrives */
    begin_with(&served, ODD_PTXAS);
    assert_int_equal(unsetenv("TMPDIR"), 0);
    expect_end(&served, status, 3, "exit status 3",
               "ptxas a.ptx, line 7; error   : No such thing as 'a.ptx'\n", "");
    expect_end(&served, crash, 128 + SIGSEGV, "killed by signal 11", "", "");
    expect_end(&served, nothing, -1, "exit status 0, but nothing was made", "", "");
    expect_end(&served, echo, 0, "", "to standard output\nto standard error\n",
               "[-arch=sm_90][--maxrregcount][64][$HOME; \"a b\"] /where/files/go\nsome PTXsome PTX");
    served_end(&served, "");
}

/* A name in the log is the order's; PTX ends where the driver's does. */
static void test_names(void **state)
{
    static const char *const status[] = {"status", NULL}, *const echo[] = {"echo", NULL};
    (void)state;
    struct served served;
    struct order order;
    struct pj_wire_made made;
    begin_with(&served, ODD_PTXAS);
    make_order(&order, "some PTX", status);
    order.part.name = "kernels/a.ptx";
    give(&served, &order, &made);
    assert_int_equal(made.result, 3);
    expect_result(&order, 1, "ptxas kernels/a.ptx, line 7; error   : No such thing as 'kernels/a.ptx'\n");
    pj_wire_close(&order.descriptors);

    make_order(&order, "", echo);
    assert_int_equal(write(order.descriptors.fds[0], "PTX\0more", 8), 8);
    order.part.bytes = 8;
    pj_sha256_of("PTX\0more", 8, &order.part.sha256);
    order.message.make.outputs = PJ_OUTPUT_CUBIN; /* nobody wants the log */
    pj_close(order.descriptors.fds[1]);
    order.descriptors.fds[1] = order.descriptors.fds[2];
    order.descriptors.count = 2;
    give(&served, &order, &made);
    assert_string_equal(made.failed_call, "");
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    assert_int_equal(pj_file_read_fd(order.descriptors.fds[1], "it", 1 << 24, &bytes, NULL), 0);
    assert_string_equal(strchr(pj_buffer_text(&bytes), '\n'), "\nPTXPTX");
    order.part.sha256.bytes[0] ^= 1;
    give(&served, &order, &made);
    assert_int_equal(made.image_changed, 1);
    pj_wire_close(&order.descriptors);
    served_end(&served, "");
}

static void test_long_log(void **state)
{
    static const char *const loud[] = {"loud", NULL};
    (void)state;
    struct served served;
    struct order order;
    struct pj_wire_made made;
    struct stat status;
    begin_with(&served, ODD_PTXAS);
    make_order(&order, "some PTX", loud);
    give(&served, &order, &made);
    assert_string_equal(made.failed_call, "");
    assert_int_equal(fstat(order.descriptors.fds[1], &status), 0);
    static const char cut[] = "\nptxas wrote more than this: the rest is left out\n";
    assert_int_equal(status.st_size, (1 << 20) + strlen(cut));
    char end[sizeof cut] = "";
    assert_int_equal(pread(order.descriptors.fds[1], end, sizeof cut - 1, 1 << 20), sizeof cut - 1);
    assert_string_equal(end, cut);
    expect_result(&order, 2, "made\n");
    pj_wire_close(&order.descriptors);
    served_end(&served, "");
}

/* Signals that the worker and its caller ignore or block are not the program's business. */
static void test_signals(void **state)
{
    static const char *const signals[] = {"signals", NULL};
    (void)state;
    struct served served;
    struct order order;
    struct pj_wire_made made;
    sigset_t blocked, before;
    (void)sigemptyset(&blocked);
    (void)sigaddset(&blocked, SIGUSR2);
    assert_int_equal(sigprocmask(SIG_BLOCK, &blocked, &before), 0);
    begin_with(&served, ODD_PTXAS);
    make_order(&order, "some PTX", signals);
    give(&served, &order, &made);
    expect_result(&order, 1, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
    pj_wire_close(&order.descriptors);
    served_end(&served, "");
    assert_int_equal(sigprocmask(SIG_SETMASK, &before, NULL), 0);
}

/* A ptxas that is gone since the worker found it; one that is back. */
static void test_gone(void **state)
{
    static const char *const echo[] = {"nothing", NULL};
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    PJ_CLEANUP_FREE char *link = pj_path_join(folder.path, "ptxas");
    assert_int_equal(symlink(ODD_PTXAS, link), 0);
    struct served served;
    begin_with(&served, link);
    assert_int_equal(unlink(link), 0);
    expect_end(&served, echo, -1, "cannot be started: No such file or directory", "", "");
    assert_int_equal(symlink(ODD_PTXAS, link), 0);
    expect_end(&served, echo, -1, "exit status 0, but nothing was made", "", "");
    served_end(&served, "");
}

/* The number in a file that appears, within ten seconds. */
static pid_t wait_for_number(const char *path)
{
    for (int i = 0; i < 1000; i++) {
        PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
        if (pj_file_read(AT_FDCWD, path, 100, &text, NULL) == 0)
            return (pid_t)strtol(pj_buffer_text(&text), NULL, 10);
        (void)nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    fail_msg("%s does not appear", path);
    return 0;
}

/* A worker that is killed, for its deadline or with its parent, leaves no ptxas behind. */
static void test_killed(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    PJ_CLEANUP_FREE char *number = pj_path_join(folder.path, "number");
    const char *const wait[] = {"wait", number, NULL};
    struct served served;
    struct order order;
    begin_with(&served, ODD_PTXAS);
    make_order(&order, "some PTX", wait);
    assert_int_equal(pj_wire_send(served.socket, &order.message, &order.descriptors, NULL), 0);
    pid_t pid = wait_for_number(number);
    PJ_CLEANUP_CLOSE int process = (int)syscall(SYS_pidfd_open, pid, 0);
    assert_true(process >= 0);
    struct pollfd poll_fd = {.fd = process, .events = POLLIN};
    assert_int_equal(poll(&poll_fd, 1, 0), 0); /* it runs */
    served_kill(&served);
    assert_int_equal(poll(&poll_fd, 1, 10000), 1);
    pj_wire_close(&order.descriptors);
}

static size_t count_names(const char *path)
{
    size_t count = 0;
    PJ_CLEANUP_CLOSEDIR DIR *directory = opendir(path);
    assert_non_null(directory);
    while (readdir(directory))
        count++;
    return count - 2;
}

/* Where /proc is missing: files of its own, and none of them stays. */
static void test_without_proc(void **state)
{
    static const char *const echo[] = {"echo", NULL}, *const status[] = {"status", NULL};
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    assert_int_equal(setenv("TMPDIR", folder.path, 1), 0);
    struct pj_worker_ptxas ptxas;
    assert_int_equal(pj_worker_ptxas_open(ODD_PTXAS, &ptxas, NULL), 0);
    assert_string_equal(ptxas.descriptors, "/proc/self/fd");
    ptxas.descriptors = "/nonexistent/fd";
    for (int i = 0; i < 2; i++) {
        struct order order;
        PJ_CLEANUP_ARENA struct pj_arena arena = {0};
        PJ_CLEANUP_PARTS struct pj_worker_parts parts = {0};
        PJ_CLEANUP_ERROR struct pj_error *err = NULL;
        struct pj_wire_made made = {.failed_call = "", .result_name = ""};
        make_order(&order, "some PTX", i == 0 ? echo : status);
        const struct pj_wire_make *make = &order.message.make;
        order.part.name = "";
        expect_success(pj_worker_parts_read(make->parts, 1, &order.descriptors, &parts, &err), &err);
        expect_success(pj_worker_ptxas_make(&ptxas, make, &parts, &order.descriptors, &arena, &made, &err),
                       &err);
        assert_int_equal(made.result, i == 0 ? 0 : 3);
        if (i == 0) {
            PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
            assert_int_equal(pj_file_read_fd(order.descriptors.fds[2], "it", 1 << 24, &bytes, NULL), 0);
            assert_string_equal(strchr(pj_buffer_text(&bytes), '\n'), "\nsome PTXsome PTX");
        } else {
            expect_result(&order, 1, "ptxas input.ptx, line 7; error   : No such thing as 'input.ptx'\n");
        }
        assert_int_equal(count_names(folder.path), 0);
        pj_wire_close(&order.descriptors);
    }
    assert_int_equal(unsetenv("TMPDIR"), 0);
}

/* What the worker tells of an order, and does not end of. */
static void test_without_room(void **state)
{
    static const char *const echo[] = {"echo", NULL};
    (void)state;
    struct pj_worker_ptxas ptxas;
    struct order order;
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    PJ_CLEANUP_PARTS struct pj_worker_parts parts = {0};
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    struct pj_wire_made made = {.failed_call = "", .result_name = ""};
    assert_int_equal(pj_worker_ptxas_open(ODD_PTXAS, &ptxas, NULL), 0);
    ptxas.descriptors = "/nonexistent/fd";
    make_order(&order, "some PTX", echo);
    expect_success(pj_worker_parts_read(order.message.make.parts, 1, &order.descriptors, &parts, &err), &err);
    assert_int_equal(setenv("TMPDIR", "/proc/none", 1), 0);
    expect_error(
        pj_worker_ptxas_make(&ptxas, &order.message.make, &parts, &order.descriptors, &arena, &made, &err),
        &err, PJ_ERROR_IO,
        "cannot make a temporary folder in /proc/none (TMPDIR): No such file or directory");
    assert_int_equal(unsetenv("TMPDIR"), 0);
    pj_wire_close(&order.descriptors);
}

static void test_refuses_parts(void **state)
{
    static const char *const echo[] = {"echo", NULL};
    (void)state;
    struct served served;
    struct order order;
    begin_with(&served, ODD_PTXAS);
    make_order(&order, "some PTX", echo);
    struct pj_wire_part parts[] = {order.part, order.part};
    order.message.make.part_count = 2;
    order.message.make.parts = parts;
    pj_close(order.descriptors.fds[1]);
    order.descriptors.fds[1] = served_part("some PTX", &parts[1]);
    assert_int_equal(pj_wire_send(served.socket, &order.message, &order.descriptors, NULL), 0);
    served_end(&served, "an order for ptxas has 2 parts, not one");
    pj_wire_close(&order.descriptors);
}

/* The real one: its code is the driver's [33], it needs no files, and its log is readable. */
static void test_real(void **state)
{
    static const char *const sm_90[] = {"-arch=sm_90", NULL};
    (void)state;
    const char *path = getenv("PREJIT_TEST_PTXAS");
    if (!path)
        path = "/usr/local/cuda/bin/ptxas";
    if (access(path, X_OK) != 0) {
        print_message("%s is not installed\n", path);
        skip();
    }
    struct served served;
    struct order order;
    struct pj_wire_made made;
    PJ_CLEANUP_BUFFER struct pj_buffer ptx = {0}, cubin = {0}, drivers = {0};
    assert_int_equal(pj_file_read(AT_FDCWD, GOLDEN_INPUTS "/axpb.ptx", 1 << 20, &ptx, NULL), 0);
    assert_int_equal(pj_file_read(AT_FDCWD, TEST_IMAGES "/driver_sm_90.cubin", 1 << 20, &drivers, NULL), 0);
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    assert_int_equal(setenv("TMPDIR", folder.path, 1), 0);
    begin_with(&served, path);
    assert_int_equal(unsetenv("TMPDIR"), 0);
    make_order(&order, ptx.data, sm_90);
    give(&served, &order, &made);
    assert_string_equal(made.failed_call, "");
    expect_result(&order, 1, "");
    struct pj_cubin read;
    struct pj_code_difference difference;
    assert_int_equal(pj_file_read_fd(order.descriptors.fds[2], "it", 1 << 24, &cubin, NULL), 0);
    assert_int_equal(pj_cubin_read(cubin.data, cubin.size, &read, NULL), 0);
    assert_int_equal(read.arch_number, 90);
    static const char *const kernel = "axpb";
    size_t missing = 0;
    assert_int_equal(pj_code_missing_kernel(cubin.data, cubin.size, &kernel, 1, &missing, NULL), 0);
    assert_int_equal(missing, 1);
    assert_int_equal(pj_code_compare(cubin.data, cubin.size, drivers.data, drivers.size, &difference, NULL),
                     1);
    pj_wire_close(&order.descriptors);

    make_order(&order, "garbage\n", sm_90);
    order.part.name = "kernels/bad.ptx";
    give(&served, &order, &made);
    assert_string_equal(made.failed_call, "ptxas");
    assert_string_equal(made.result_name, "exit status 255");
    pj_buffer_reset(&cubin);
    assert_int_equal(pj_file_read_fd(order.descriptors.fds[1], "it", 1 << 24, &cubin, NULL), 0);
    assert_memory_equal(cubin.data, "ptxas kernels/bad.ptx, line 1; ", 31);
    expect_result(&order, 2, "");
    assert_int_equal(count_names(folder.path), 0);
    pj_wire_close(&order.descriptors);
    served_end(&served, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_start),         cmocka_unit_test(test_start_fails),
        cmocka_unit_test(test_ends),          cmocka_unit_test(test_names),
        cmocka_unit_test(test_long_log),      cmocka_unit_test(test_signals),
        cmocka_unit_test(test_gone),          cmocka_unit_test(test_killed),
        cmocka_unit_test(test_without_proc),  cmocka_unit_test(test_real),
        cmocka_unit_test(test_refuses_parts), cmocka_unit_test(test_without_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
