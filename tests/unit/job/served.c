/* SPDX-License-Identifier: Apache-2.0 */
/* The worker's process, and the parent's half of the talk. */
#include "served.h"

#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/digest.h"
#include "job/worker.h"

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

void served_start(struct served *served, const char *cache, bool disable_jit, long parent)
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

void served_receive(struct served *served, enum pj_wire_type type, struct pj_wire_message *message)
{
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    PJ_CLEANUP_DESCRIPTORS struct pj_wire_descriptors descriptors = {.count = 0};
    int r;
    do { /* what it does on its way is told to whom it concerns */
        r = pj_wire_receive(served->socket, &served->arena, message, &descriptors, &err);
        if (r == 1 && message->type == PJ_WIRE_STEP)
            (void)snprintf(served->step, sizeof served->step, "%s", message->step.doing);
    } while (r == 1 && message->type == PJ_WIRE_STEP && type != PJ_WIRE_STEP);
    if (r < 0)
        fail_msg("%s", pj_error_message(err));
    assert_int_equal(r, 1);
    assert_int_equal(message->type, type);
    assert_int_equal(descriptors.count, 0);
}

void served_send(const struct served *served, const struct pj_wire_message *message, int fd)
{
    const struct pj_wire_descriptors descriptors = {.count = fd >= 0, .fds = {fd}};
    assert_int_equal(pj_wire_send(served->socket, message, &descriptors, NULL), 0);
}

void served_end(struct served *served, const char *message)
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

void served_kill(struct served *served)
{
    int status;
    assert_int_equal(kill(served->pid, SIGKILL), 0);
    assert_int_equal(waitpid(served->pid, &status, 0), served->pid);
    assert_true(WIFSIGNALED(status));
    pj_close(served->socket);
    pj_close(served->end);
    pj_arena_free(&served->arena);
}

int served_part(const char *text, struct pj_wire_part *ret_part)
{
    int fd = memfd_create("image", MFD_CLOEXEC);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    *ret_part = (struct pj_wire_part){.name = "a.ptx", .bytes = strlen(text)};
    pj_sha256_of(text, strlen(text), &ret_part->sha256);
    return fd;
}
