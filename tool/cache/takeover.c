/* SPDX-License-Identifier: Apache-2.0 */
/* The way to the lock on `index` when readers starve a writer.
 *
 * Programs that load without pause hold shared locks that overlap, and an exclusive one is then never
 * granted: Linux gives no turn to a writer (seen on a GPU machine: six such programs, 30 s in vain). But
 * whoever opens `index` anew, as the driver does at every load, opens the file that has the name now. So a
 * copy that is already locked takes the name; readers in the middle of a load end it on the old file, where
 * nothing is written any more. A program that had opened the old file to store, and stores only now, leaves
 * its entry unlisted: it hits all the same, and the next prepare lists it. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/clock.h"
#include "cache/lock.h"
#include "cache/scan.h"
#include "cache/store_private.h"

static const char staged_name[] = "index-copy";

enum { SHARED_WAIT_MS = 1000 };

/* Only a plain file whose owner, group and mode the copy can have: nobody may lose or gain access by it. */
static bool can_be_copied(const struct pj_store *store)
{
    struct stat status;
    return fstatat(store->cache_fd, "index", &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode) &&
           status.st_nlink == 1 && status.st_ino == store->index_status.st_ino &&
           status.st_dev == store->index_status.st_dev &&
           (geteuid() == 0 || (status.st_uid == geteuid() && status.st_gid == getegid()));
}

static int make_copy(struct pj_store *store, int *ret_fd, struct pj_error **err)
{
    const struct stat *status = &store->index_status;
    (void)unlinkat(store->run_fd, staged_name, 0);
    PJ_CLEANUP_CLOSE int fd =
        openat(store->run_fd, staged_name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return pj_error_errno(err, PJ_ERROR_IO, errno, "cannot create a copy of %s/index", store->path);
    int r = pj_lock_take(fd, true, 0, err); /* ours alone: nobody else knows the file */
    pj_buffer_reset(&store->index_bytes);
    if (r == 0)
        r = pj_file_read_fd(store->index_fd, "index", PJ_INDEX_MAX_BYTES, &store->index_bytes, err);
    if (r == 0)
        r = pj_file_pwrite(fd, staged_name, pj_buffer_text(&store->index_bytes), store->index_bytes.size, 0,
                           err);
    if (r == 0 && (status->st_uid != geteuid() || status->st_gid != getegid()) &&
        fchown(fd, status->st_uid, status->st_gid) != 0)
        r = pj_error_errno(err, PJ_ERROR_IO, errno, "cannot give a copy of %s/index its owner", store->path);
    if (r == 0 && fchmod(fd, status->st_mode & 07777) != 0)
        r = pj_error_errno(err, PJ_ERROR_IO, errno, "cannot give a copy of %s/index its mode", store->path);
    /* A name that came to stand for an empty file by a power cut would make the driver delete every entry. */
    if (r == 0 && fdatasync(fd) != 0)
        r = pj_error_errno(err, PJ_ERROR_IO, errno, "cannot flush a copy of %s/index", store->path);
    if (r == 0)
        *ret_fd = PJ_STEAL_FD(fd);
    return r;
}

int pj_index_file_take_over(struct pj_store *store, struct pj_error **err)
{
    PJ_CLEANUP_CLOSE int copy = -1;
    if (!can_be_copied(store))
        return pj_error_set(err, PJ_ERROR_BUSY, "%s/index is locked without pause by other processes",
                            store->path);
    /* Readers do not keep this one out, and while it is held nobody stores. */
    int r = pj_lock_take(store->index_fd, false, SHARED_WAIT_MS, err);
    if (r < 0)
        return r;
    r = make_copy(store, &copy, err);
    pj_store_point(store, "S3.index-copied");
    if (r == 0 && !pj_index_file_is_same(store))
        r = pj_error_set(err, PJ_ERROR_BUSY, "%s/index was replaced by another file", store->path);
    if (r == 0 && renameat(store->run_fd, staged_name, store->cache_fd, "index") != 0)
        r = pj_error_errno(err, PJ_ERROR_IO, errno, "cannot put a copy of %s/index into its place",
                           store->path);
    pj_lock_drop(store->index_fd);
    if (r < 0) {
        (void)unlinkat(store->run_fd, staged_name, 0);
        return r;
    }
    pj_close(store->index_fd);
    store->index_fd = PJ_STEAL_FD(copy);
    store->held_since_ms = pj_clock_ms();
    pj_store_point(store, "S3.index-taken-over");
    if (fstat(store->index_fd, &store->index_status) != 0)
        return pj_error_errno(err, PJ_ERROR_IO, errno, "cannot stat %s/index", store->path);
    return 0;
}
