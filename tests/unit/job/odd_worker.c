/* SPDX-License-Identifier: Apache-2.0 */
/* A worker program that behaves as NVIDIA_ODD_WORKER says: well, or in one of the ways in which a worker can
 * go wrong. (A worker gets few variables; those of this prefix are among them.) */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/sockios.h>

#include "base/memory.h"
#include "job/wire.h"

extern char **environ;

enum { SOCKET = 3 };

static bool is_mode(const char *name)
{
    const char *mode = getenv("NVIDIA_ODD_WORKER");
    return mode && strcmp(mode, name) == 0;
}

static void send_or_exit(const struct pj_wire_message *message)
{
    if (pj_wire_send(SOCKET, message, NULL, NULL) != 0)
        _exit(90);
}

/* False where the parent has closed. */
static bool receive_or_exit(struct pj_arena *arena, struct pj_wire_message *message,
                            struct pj_wire_descriptors *descriptors)
{
    int r = pj_wire_receive(SOCKET, arena, message, descriptors, NULL);
    if (r < 0)
        _exit(91);
    return r > 0;
}

static void send_bytes(size_t size)
{
    static char bytes[PJ_WIRE_MAX_BYTES + 1];
    memset(bytes, 0xee, sizeof bytes);
    if (send(SOCKET, bytes, size, MSG_NOSIGNAL) != (ssize_t)size)
        _exit(92);
}

static void die_by(int number)
{
    const struct rlimit no_core = {0, 0};
    (void)setrlimit(RLIMIT_CORE, &no_core);
    (void)signal(number, SIG_DFL);
    (void)kill(getpid(), number);
    (void)pause();
}

static void hang(void)
{
    for (;;)
        (void)pause();
}

static void greet(void)
{
    struct pj_wire_message hello = {.type = PJ_WIRE_HELLO, .hello = {.build_id = pj_wire_build_id()}};
    if (is_mode("other-build"))
        hello.hello.build_id = "prejit 0.0.0 wire 0";
    send_or_exit(&hello);
    if (is_mode("greets-twice"))
        send_or_exit(&hello);
}

/* Tells the parent what it was started with: open descriptors, and the environment as one text. */
static void tell_start(const struct pj_wire_start *asked, struct pj_arena *arena, const char **text)
{
    char folder[4096];
    if (!is_mode("tells-start"))
        return;
    *text = pj_arena_printf(arena, "library %u in %s\n", asked->library, getcwd(folder, sizeof folder));
    for (uint32_t i = 0; i < asked->path_count; i++)
        *text = pj_arena_printf(arena, "%spath %s\n", *text, asked->paths[i]);
}

static void tell_started(const struct pj_wire_start *asked)
{
    struct pj_wire_message message = {.type = PJ_WIRE_STARTED};
    struct pj_arena arena = {0};
    const char *text = "";
    int descriptors = 0;
    DIR *directory = opendir("/proc/self/fd");
    while (directory && readdir(directory))
        descriptors++;
    if (directory)
        (void)closedir(directory);
    if (asked)
        tell_start(asked, &arena, &text);
    for (size_t i = 0; environ[i]; i++)
        text = pj_arena_printf(&arena, "%s%s\n", text, environ[i]);
    message.started = (struct pj_wire_started){
        .failed_step = "", .message = text, .result_name = "", .cuda_version = descriptors - 3};
    send_or_exit(&message);
    if (is_mode("starts-twice"))
        send_or_exit(&message);
    pj_arena_free(&arena);
}

static void tell_loaded(uint64_t job, uint64_t bytes)
{
    struct pj_wire_message message = {.type = PJ_WIRE_LOADED};
    message.loaded =
        (struct pj_wire_loaded){.job = job, .result_name = "", .log = "", .peak_rss_bytes = bytes};
    send_or_exit(&message);
}

static void tell_made(uint64_t job, uint64_t bytes)
{
    struct pj_wire_message message = {.type = PJ_WIRE_MADE};
    message.made =
        (struct pj_wire_made){.job = job, .result_name = "", .failed_call = "", .peak_rss_bytes = bytes};
    send_or_exit(&message);
}

/* The bytes of all files that came along. */
static uint64_t total_bytes(const struct pj_wire_descriptors *descriptors)
{
    uint64_t total = 0;
    for (size_t i = 0; i < descriptors->count; i++) {
        struct stat status;
        if (fstat(descriptors->fds[i], &status) == 0)
            total += (uint64_t)status.st_size;
    }
    return total;
}

/* Answers every load without ever taking one from the socket: how many wait there, their size tells. */
static void answer_deaf(void)
{
    int waiting = 0, one = 0;
    for (uint64_t job = 0;; (void)usleep(20)) {
        if (ioctl(SOCKET, SIOCINQ, &waiting) != 0)
            _exit(93);
        if (one == 0)
            one = waiting;
        if (one > 0 && (uint64_t)(waiting / one) > job)
            tell_loaded(job++, 0);
    }
}

static void load(const struct pj_wire_load *asked, const struct pj_wire_descriptors *descriptors)
{
    if (is_mode("crashes-in-load"))
        die_by(SIGSEGV);
    if (is_mode("killed-in-load"))
        die_by(SIGKILL);
    if (is_mode("exits-in-load"))
        _exit(3);
    if (is_mode("hangs-in-load"))
        hang();
    if (is_mode("garbage-in-load"))
        send_bytes(100);
    if (is_mode("starts-in-load"))
        tell_started(NULL);
    if (is_mode("answers-another-job"))
        tell_loaded(asked->job + 1, 0);
    if (is_mode("answers-an-order")) {
        struct pj_wire_message message = {.type = PJ_WIRE_LOAD, .load = *asked};
        send_or_exit(&message);
    }
    if (is_mode("answers-made"))
        tell_made(asked->job, 0);
    tell_loaded(asked->job, total_bytes(descriptors));
    if (is_mode("answers-twice"))
        tell_loaded(asked->job, 0);
}

static void make(const struct pj_wire_make *asked, const struct pj_wire_descriptors *descriptors)
{
    if (is_mode("crashes-in-make"))
        die_by(SIGSEGV);
    if (is_mode("answers-loaded"))
        tell_loaded(asked->job, 0);
    if (is_mode("makes-another-job"))
        tell_made(asked->job + 1, 0);
    tell_made(asked->job, total_bytes(descriptors));
}

static void misbehave_at_once(void)
{
    if (is_mode("crashes"))
        die_by(SIGABRT);
    if (is_mode("exits"))
        _exit(7);
    if (is_mode("silent"))
        hang();
    if (is_mode("garbage"))
        send_bytes(100);
    if (is_mode("too-long"))
        send_bytes(PJ_WIRE_MAX_BYTES + 1);
    if (is_mode("starts-unasked"))
        tell_started(NULL);
    if (is_mode("steps-unasked")) {
        const struct pj_wire_message message = {.type = PJ_WIRE_STEP, .step = {.doing = "nothing"}};
        send_or_exit(&message);
    }
    if (is_mode("loads-unasked"))
        tell_loaded(0, 0);
    if (is_mode("closes")) {
        (void)close(SOCKET);
        hang();
    }
}

static void tell_step(const char *doing)
{
    const struct pj_wire_message message = {.type = PJ_WIRE_STEP, .step = {.doing = doing}};
    send_or_exit(&message);
}

static void write_error(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        _exit(94);
}

static void start_badly(void)
{
    if (is_mode("hangs-in-start"))
        hang();
    if (is_mode("hangs-in-step")) {
        tell_step("opening a library");
        tell_step("calling cuInit");
        hang();
    }
    if (is_mode("crashes-in-step")) {
        tell_step("calling cuInit");
        write_error("a first line\nfree(): invalid pointer\n\n");
        die_by(SIGABRT);
    }
    while (is_mode("steps-forever"))
        tell_step("doing this and that");
    if (is_mode("leaves-a-child")) { /* which has the socket, too */
        if (fork() == 0)
            hang();
        _exit(0);
    }
    if (is_mode("floods")) {
        for (int i = 0; i < 100000; i++) {
            if (dprintf(STDERR_FILENO, "line %d\n", i) < 0)
                break;
        }
    }
}

int main(void)
{
    (void)signal(SIGPIPE, SIG_IGN); /* as the program does */
    misbehave_at_once();
    greet();
    for (;;) {
        struct pj_arena arena = {0};
        struct pj_wire_message message;
        struct pj_wire_descriptors descriptors = {.count = 0};
        if (!receive_or_exit(&arena, &message, &descriptors))
            return 0;
        if (message.type == PJ_WIRE_START)
            start_badly();
        if (message.type == PJ_WIRE_START)
            tell_started(&message.start);
        if (message.type == PJ_WIRE_START && is_mode("deaf"))
            answer_deaf();
        if (message.type == PJ_WIRE_LOAD)
            load(&message.load, &descriptors);
        if (message.type == PJ_WIRE_MAKE)
            make(&message.make, &descriptors);
        pj_wire_close(&descriptors);
        pj_arena_free(&arena);
    }
}
