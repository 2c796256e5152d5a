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
    return "prejit " PREJIT_VERSION " wire 4"; /* raise the last number with every change of a message */
}

void pj_wire_close(struct pj_wire_descriptors *descriptors)
{
    for (size_t i = 0; i < descriptors->count; i++)
        pj_close(descriptors->fds[i]);
    descriptors->count = 0;
}

/* Room for the control data of a message with all the descriptors that one may have. */
union control {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(PJ_WIRE_DESCRIPTORS_MAX * sizeof(int))];
};

int pj_wire_send(int socket, const struct pj_wire_message *message,
                 const struct pj_wire_descriptors *descriptors, struct pj_error **err)
{
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    int r = pj_wire_encode(message, &bytes, err);
    if (r < 0)
        return r;
    struct iovec part = {.iov_base = bytes.data, .iov_len = bytes.size};
    struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
    union control control;
    memset(&control, 0, sizeof control);
    if (descriptors && descriptors->count > 0) {
        size_t size = descriptors->count * sizeof descriptors->fds[0];
        header.msg_control = control.bytes;
        header.msg_controllen = CMSG_SPACE(size);
        struct cmsghdr *first = CMSG_FIRSTHDR(&header);
        first->cmsg_level = SOL_SOCKET;
        first->cmsg_type = SCM_RIGHTS;
        first->cmsg_len = CMSG_LEN(size);
        memcpy(CMSG_DATA(first), descriptors->fds, size);
    }
    for (;;) {
        if (sendmsg(socket, &header, MSG_NOSIGNAL) >= 0)
            return 0;
        if (errno != EINTR)
            return pj_error_errno(err, PJ_ERROR_WORKER, errno, "cannot send a message");
    }
}

/* Takes the descriptors of the control data; any beyond the room for them are closed. */
static void take_descriptors(struct msghdr *header, struct pj_wire_descriptors *descriptors)
{
    for (struct cmsghdr *item = CMSG_FIRSTHDR(header); item; item = CMSG_NXTHDR(header, item)) {
        if (item->cmsg_level != SOL_SOCKET || item->cmsg_type != SCM_RIGHTS)
            continue;
        size_t count = (item->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(item) + i * sizeof fd, sizeof fd);
            if (descriptors->count < PJ_WIRE_DESCRIPTORS_MAX)
                descriptors->fds[descriptors->count++] = fd;
            else
                pj_close(fd);
        }
    }
}

int pj_wire_receive(int socket, struct pj_arena *arena, struct pj_wire_message *ret_message,
                    struct pj_wire_descriptors *ret_descriptors, struct pj_error **err)
{
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    char *room = pj_buffer_reserve(&bytes, PJ_WIRE_MAX_BYTES);
    if (!room)
        return pj_error_no_memory(err);
    struct iovec part = {.iov_base = room, .iov_len = PJ_WIRE_MAX_BYTES};
    union control control;
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
    PJ_CLEANUP_DESCRIPTORS struct pj_wire_descriptors descriptors = {0};
    take_descriptors(&header, &descriptors);
    if (got == 0) /* closed; or an empty message, which nobody of ours sends: what came with it is closed */
        return 0;
    if (header.msg_flags & MSG_CTRUNC)
        return pj_error_set(err, PJ_ERROR_WORKER,
                            "descriptors of a message are missing: more than the %d allowed, or no more can "
                            "be opened",
                            PJ_WIRE_DESCRIPTORS_MAX);
    if (header.msg_flags & MSG_TRUNC)
        return pj_error_set(err, PJ_ERROR_WORKER, "a message is longer than the %d bytes allowed",
                            PJ_WIRE_MAX_BYTES);
    int r = pj_wire_decode(room, (size_t)got, arena, ret_message, err);
    if (r < 0)
        return r;
    *ret_descriptors = descriptors;
    descriptors.count = 0;
    return 1;
}
