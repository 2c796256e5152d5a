/* SPDX-License-Identifier: Apache-2.0 */
/* Sends and receives messages, with a descriptor where one goes along. */
#include "job/wire.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "base/buffer.h"
#include "base/file.h"
#include "job/wire_codec.h"
#include "version.h"

const char *pj_wire_build_id(void)
{
    return "prejit " PREJIT_VERSION " wire 1"; /* raise the last number with every change of a message */
}

int pj_wire_send(int socket, const struct pj_wire_message *message, int fd, struct pj_error **err)
{
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    int r = pj_wire_encode(message, &bytes, err);
    if (r < 0)
        return r;
    struct iovec part = {.iov_base = bytes.data, .iov_len = bytes.size};
    struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    memset(&control, 0, sizeof control);
    if (fd >= 0) {
        header.msg_control = control.bytes;
        header.msg_controllen = sizeof control.bytes;
        struct cmsghdr *first = CMSG_FIRSTHDR(&header);
        first->cmsg_level = SOL_SOCKET;
        first->cmsg_type = SCM_RIGHTS;
        first->cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(first), &fd, sizeof fd);
    }
    for (;;) {
        if (sendmsg(socket, &header, MSG_NOSIGNAL) >= 0)
            return 0;
        if (errno != EINTR)
            return pj_error_errno(err, PJ_ERROR_WORKER, errno, "cannot send a message");
    }
}

/* Takes the first descriptor of the control data; any further ones are closed. */
static int take_descriptor(struct msghdr *header)
{
    int taken = -1;
    for (struct cmsghdr *item = CMSG_FIRSTHDR(header); item; item = CMSG_NXTHDR(header, item)) {
        if (item->cmsg_level != SOL_SOCKET || item->cmsg_type != SCM_RIGHTS)
            continue;
        size_t count = (item->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(item) + i * sizeof fd, sizeof fd);
            if (taken < 0)
                taken = fd;
            else
                pj_close(fd);
        }
    }
    return taken;
}

int pj_wire_receive(int socket, struct pj_arena *arena, struct pj_wire_message *ret_message, int *ret_fd,
                    struct pj_error **err)
{
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    char *room = pj_buffer_reserve(&bytes, PJ_WIRE_MAX_BYTES);
    if (!room)
        return pj_error_no_memory(err);
    struct iovec part = {.iov_base = room, .iov_len = PJ_WIRE_MAX_BYTES};
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(4 * sizeof(int))];
    } control;
    struct msghdr header = {.msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = control.bytes,
                            .msg_controllen = sizeof control.bytes};
    ssize_t got;
    do
        got = recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        return pj_error_set(err, PJ_ERROR_BUSY, "no message is waiting");
    if (got < 0 && errno == ECONNRESET)
        return 0;
    if (got < 0)
        return pj_error_errno(err, PJ_ERROR_WORKER, errno, "cannot receive a message");
    PJ_CLEANUP_CLOSE int fd = take_descriptor(&header);
    if (got == 0) /* closed; or an empty message, which nobody of ours sends: what came with it is closed */
        return 0;
    if (header.msg_flags & MSG_TRUNC)
        return pj_error_set(err, PJ_ERROR_WORKER, "a message is longer than the %d bytes allowed",
                            PJ_WIRE_MAX_BYTES);
    int r = pj_wire_decode(room, (size_t)got, arena, ret_message, err);
    if (r < 0)
        return r;
    *ret_fd = PJ_STEAL_FD(fd);
    return 1;
}
