/* SPDX-License-Identifier: Apache-2.0 */
/* Messages over a socket, with descriptors: delivered once, never left open. */
#include "messages.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/file.h"
#include "descriptors.h"

struct ends {
    int a, b;
};

static void make(struct ends *ends, int flags)
{
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | flags, 0, pair), 0);
    *ends = (struct ends){pair[0], pair[1]};
}

static void end(struct ends *ends)
{
    pj_close(ends->a);
    pj_close(ends->b);
}

static void test_messages(void **state)
{
    (void)state;
    struct ends ends;
    make(&ends, 0);
    struct pj_error *err = NULL;
    for (size_t i = 0; i < MESSAGE_TYPES; i++) {
        const struct pj_wire_message sent = message_make(i);
        expect_success(pj_wire_send(ends.a, &sent, NULL, &err), &err);
    }
    for (size_t i = 0; i < MESSAGE_TYPES; i++) {
        PJ_CLEANUP_ARENA struct pj_arena arena = {0};
        const struct pj_wire_message sent = message_make(i);
        struct pj_wire_message got;
        struct pj_wire_descriptors descriptors = {.count = 4711};
        assert_int_equal(pj_wire_receive(ends.b, &arena, &got, &descriptors, &err), 1);
        message_expect_equal(&sent, &got);
        assert_int_equal(descriptors.count, 0);
    }
    end(&ends);
}

/* Files that can be told apart: number `i` has `i` bytes. */
static void open_files(size_t count, struct pj_wire_descriptors *ret_files)
{
    *ret_files = (struct pj_wire_descriptors){.count = 0};
    for (size_t i = 0; i < count; i++) {
        int fd = memfd_create("file", MFD_CLOEXEC);
        assert_int_equal(ftruncate(fd, (off_t)i), 0);
        ret_files->fds[ret_files->count++] = fd;
    }
}

/* As many as may travel come over in their order, each closed at exec. */
static void test_descriptors(void **state)
{
    (void)state;
    static const size_t counts[] = {0, 1, 2, 3, PJ_WIRE_DESCRIPTORS_MAX - 1, PJ_WIRE_DESCRIPTORS_MAX};
    size_t before = count_descriptors();
    for (size_t c = 0; c < PJ_COUNT(counts); c++) {
        struct ends ends;
        struct pj_wire_descriptors files, theirs = {.count = 0};
        const struct pj_wire_message sent = message_make(3);
        struct pj_wire_message got;
        PJ_CLEANUP_ARENA struct pj_arena arena = {0};
        make(&ends, 0);
        open_files(counts[c], &files);
        assert_int_equal(pj_wire_send(ends.a, &sent, &files, NULL), 0);
        assert_int_equal(pj_wire_receive(ends.b, &arena, &got, &theirs, NULL), 1);
        assert_int_equal(theirs.count, counts[c]);
        for (size_t i = 0; i < theirs.count; i++) {
            struct stat status;
            assert_int_equal(fstat(files.fds[i], &status), 0); /* the sender's stays open */
            assert_int_equal(fstat(theirs.fds[i], &status), 0);
            assert_int_equal(status.st_size, i);
            assert_int_equal(fcntl(theirs.fds[i], F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
        }
        pj_wire_close(&theirs);
        assert_int_equal(theirs.count, 0);
        pj_wire_close(&theirs);
        pj_wire_close(&files);
        end(&ends);
        assert_int_equal(count_descriptors(), before);
    }
}

static void test_ends(void **state)
{
    (void)state;
    struct ends ends;
    struct pj_error *err = NULL;
    struct pj_wire_message got;
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    const struct pj_wire_message sent = message_make(0);
    struct pj_wire_descriptors descriptors = {.count = 4711};
    make(&ends, SOCK_NONBLOCK);
    expect_error(pj_wire_receive(ends.b, &arena, &got, &descriptors, &err), &err, PJ_ERROR_BUSY,
                 "no message is waiting");
    pj_close(ends.a);
    assert_int_equal(pj_wire_receive(ends.b, &arena, &got, &descriptors, &err), 0);
    assert_null(err);
    expect_error(pj_wire_send(ends.b, &sent, NULL, &err), &err, PJ_ERROR_WORKER,
                 "cannot send a message: Broken pipe"); /* and no SIGPIPE */
    assert_int_equal(descriptors.count, 4711);
    expect_error(pj_wire_receive(-1, &arena, &got, &descriptors, &err), &err, PJ_ERROR_WORKER,
                 "cannot receive a message: Bad file descriptor");
    pj_close(ends.b);
}

/* Sends any bytes with `count` descriptors of /dev/null. */
static void send_raw(int socket, const void *bytes, size_t size, size_t count)
{
    enum { MOST = 250 };
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(MOST * sizeof(int))];
    } control;
    memset(&control, 0, sizeof control);
    char none = 0;
    struct iovec part = {size ? (void *)(uintptr_t)bytes : &none, size};
    struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
    int fds[MOST];
    assert_in_range(count, 0, MOST);
    for (size_t i = 0; i < count; i++)
        fds[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (count) {
        header.msg_control = control.bytes;
        header.msg_controllen = CMSG_SPACE(count * sizeof(int));
        struct cmsghdr *first = CMSG_FIRSTHDR(&header);
        first->cmsg_level = SOL_SOCKET;
        first->cmsg_type = SCM_RIGHTS;
        first->cmsg_len = CMSG_LEN(count * sizeof(int));
        memcpy(CMSG_DATA(first), fds, count * sizeof(int));
    }
    assert_int_equal(sendmsg(socket, &header, MSG_NOSIGNAL), size);
    for (size_t i = 0; i < count; i++)
        pj_close(fds[i]);
}

/* What a hostile sender may attach is closed, whatever becomes of the message. */
static void test_hostile(void **state)
{
    static char large[PJ_WIRE_MAX_BYTES + 1];
    static const struct {
        size_t size;
        int result;
        const char *message;
    } cases[] = {
        {0, 0, NULL},
        {1, PJ_ERROR_WORKER, "a message of 1 bytes and type 0 is malformed"},
        {PJ_WIRE_MAX_BYTES, PJ_ERROR_WORKER, "a message of 65536 bytes and type 0 is malformed"},
        {PJ_WIRE_MAX_BYTES + 1, PJ_ERROR_WORKER, "a message is longer than the 65536 bytes allowed"},
    };
    (void)state;
    static const size_t attached[] = {0, 1, 2, 4, 5, 20, PJ_WIRE_DESCRIPTORS_MAX};
    size_t before = count_descriptors();
    for (size_t i = 0; i < PJ_COUNT(cases) * PJ_COUNT(attached); i++) {
        size_t at = i / PJ_COUNT(attached);
        struct ends ends;
        PJ_CLEANUP_ERROR struct pj_error *err = NULL;
        PJ_CLEANUP_ARENA struct pj_arena arena = {0};
        struct pj_wire_message got;
        struct pj_wire_descriptors descriptors = {.count = 0};
        make(&ends, 0);
        send_raw(ends.a, large, cases[at].size, attached[i % PJ_COUNT(attached)]);
        assert_int_equal(pj_wire_receive(ends.b, &arena, &got, &descriptors, &err), cases[at].result);
        if (cases[at].message)
            assert_string_equal(pj_error_message(err), cases[at].message);
        assert_int_equal(descriptors.count, 0);
        end(&ends);
        assert_int_equal(count_descriptors(), before);
    }
}

/* A right message with more descriptors than may come: it is refused, and all are closed. */
static void test_many_descriptors(void **state)
{
    (void)state;
    size_t before = count_descriptors();
    const uint32_t hello[] = {PJ_WIRE_HELLO, 0};
    struct ends ends;
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    struct pj_wire_message got;
    struct pj_wire_descriptors descriptors = {.count = 0};
    struct pj_error *err = NULL;
    make(&ends, 0);
    for (size_t surplus = 1; surplus <= 40; surplus += 13) {
        send_raw(ends.a, hello, sizeof hello, PJ_WIRE_DESCRIPTORS_MAX + surplus);
        expect_error(pj_wire_receive(ends.b, &arena, &got, &descriptors, &err), &err, PJ_ERROR_WORKER,
                     "descriptors of a message are missing: more than the 210 allowed, or no more can be "
                     "opened");
        assert_int_equal(descriptors.count, 0);
        assert_int_equal(count_descriptors(), before + 2);
    }
    end(&ends);
    assert_int_equal(count_descriptors(), before);
}

/* The receiver may open no more: a message that lacks one of its files is none. */
static void test_missing_descriptors(void **state)
{
    (void)state;
    size_t before = count_descriptors();
    struct ends ends;
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    struct pj_wire_message got;
    struct pj_wire_descriptors files, descriptors = {.count = 0};
    struct pj_error *err = NULL;
    struct rlimit limit, low;
    make(&ends, 0);
    open_files(5, &files);
    const struct pj_wire_message sent = message_make(3);
    assert_int_equal(pj_wire_send(ends.a, &sent, &files, NULL), 0);
    pj_wire_close(&files);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    low = limit;
    low.rlim_cur = (rlim_t)ends.b + 3;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    int r = pj_wire_receive(ends.b, &arena, &got, &descriptors, &err);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    expect_error(r, &err, PJ_ERROR_WORKER,
                 "descriptors of a message are missing: more than the 210 allowed, or no more can be opened");
    end(&ends);
    assert_int_equal(count_descriptors(), before);
}

/* A full queue is an error where the sender must not wait. */
static void test_nobody_reads(void **state)
{
    (void)state;
    struct ends ends;
    struct pj_error *err = NULL;
    const struct pj_wire_message sent = message_make(0);
    int r = 0;
    make(&ends, SOCK_NONBLOCK);
    for (int i = 0; i < 100000 && r == 0; i++)
        r = pj_wire_send(ends.a, &sent, NULL, &err);
    expect_error(r, &err, PJ_ERROR_WORKER, "cannot send a message: Resource temporarily unavailable");
    end(&ends);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_descriptors),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_many_descriptors),
        cmocka_unit_test(test_missing_descriptors),
        cmocka_unit_test(test_nobody_reads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
