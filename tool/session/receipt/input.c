/* SPDX-License-Identifier: Apache-2.0 */
/* Notes a file that a job was made from, and tells later whether it is still the same. */
#include "session/receipt/input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/file.h"

#define INPUT_MAX_BYTES (UINT64_C(1) << 30)
#define NS_PER_SECOND   INT64_C(1000000000)

static struct timespec from_ns(int64_t ns)
{
    int64_t part = ns % NS_PER_SECOND, below = part < 0;
    return (struct timespec){.tv_sec = ns / NS_PER_SECOND - below, .tv_nsec = part + below * NS_PER_SECOND};
}

/* A write that comes after the file was read gives its inode another time, unless it comes within one tick of
 * the file system's clock. Whole seconds are no such time: FAT and squashfs give the mtime for it, and images
 * that are made to be the same each time give one time, and the same inodes, to whatever lies in them. */
static bool is_settled(const struct timespec *changed, const struct timespec *begin)
{
    return pj_clock_ns(changed) % NS_PER_SECOND != 0 &&
           pj_clock_ns(changed) <= pj_clock_ns(begin) - NS_PER_SECOND / 10;
}

struct pj_receipt_input pj_receipt_input_of(const struct pj_session *session, const struct pj_plan_file *file)
{
    bool settled = is_settled(&file->status.st_ctim, &session->begin_time);
    return (struct pj_receipt_input){
        .file = {.path = file->path,
                 .device = file->status.st_dev,
                 .inode = settled ? file->status.st_ino : 0,
                 .size_bytes = (uint64_t)file->status.st_size,
                 .mtime_seconds = file->status.st_mtim.tv_sec},
        .ctime_ns = pj_clock_ns(&file->status.st_ctim),
        .sha256 = file->sha256,
        .named = file->named,
        .absent = file->absent,
    };
}

struct pj_plan_file pj_receipt_input_file(const struct pj_receipt_input *input)
{
    return (struct pj_plan_file){
        .path = input->file.path,
        .sha256 = input->sha256,
        .named = input->named,
        .absent = input->absent,
        .status = {.st_dev = input->file.device,
                   .st_ino = input->file.inode,
                   .st_size = (off_t)input->file.size_bytes,
                   .st_mtim.tv_sec = input->file.mtime_seconds,
                   .st_ctim = from_ns(input->ctime_ns)},
    };
}

int pj_receipt_input_same(const struct pj_receipt_input *input, bool *ret_same, struct pj_error **err)
{
    const struct pj_receipt_file *file = &input->file;
    struct stat status;
    *ret_same = false;
    if (input->absent) {
        *ret_same = stat(file->path, &status) != 0 && (errno == ENOENT || errno == ENOTDIR);
        return 0;
    }
    if (stat(file->path, &status) != 0 || !S_ISREG(status.st_mode) ||
        (uint64_t)status.st_size != file->size_bytes)
        return 0;
    if (pj_clock_ns(&status.st_ctim) == input->ctime_ns && status.st_ino == file->inode) {
        *ret_same = true;
        return 0;
    }
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
    if (pj_file_read(AT_FDCWD, file->path, INPUT_MAX_BYTES, &bytes, &problem) < 0)
        return pj_error_code(problem) == PJ_ERROR_NO_MEMORY ? pj_error_no_memory(err) : 0;
    struct pj_sha256 digest;
    pj_sha256_of(pj_buffer_text(&bytes), bytes.size, &digest);
    *ret_same = memcmp(&digest, &input->sha256, sizeof digest) == 0;
    return 0;
}
