/* SPDX-License-Identifier: Apache-2.0 */
/* S2: a private entry is checked and made ready next to the cache; hash directories get the mode and the
 * group of their siblings. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cache/scan.h"
#include "cache/store_private.h"

char *pj_stage_name(uint64_t hash, char ret_name[PJ_STAGE_NAME_TEXT])
{
    (void)snprintf(ret_name, PJ_STAGE_NAME_TEXT, "%016" PRIx64, hash);
    return ret_name;
}

void pj_stage_remove(const struct pj_store *store, uint64_t hash)
{
    char name[PJ_STAGE_NAME_TEXT];
    (void)unlinkat(store->stage_fd, pj_stage_name(hash, name), 0);
}

/* A directory below `parent` whose name is one hex digit: the sibling whose mode is taken over. */
static bool find_sibling(int parent, struct stat *ret_status)
{
    for (const char *digit = "0123456789abcdef"; *digit; digit++) {
        char name[2] = {*digit, '\0'};
        if (fstatat(parent, name, ret_status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(ret_status->st_mode))
            return true;
    }
    return false;
}

/* Only root and members of a group may give it to a file. Without the group, its share of the mode would open
 * the cache to another one, so the group gets what everybody gets. */
static mode_t take_over_group(int fd, const struct stat *status, const struct stat *from)
{
    mode_t mode = from->st_mode & 07777;
    if (status->st_gid == from->st_gid || fchown(fd, (uid_t)-1, from->st_gid) == 0)
        return mode;
    mode_t others = mode & 0007;
    return (mode & 0707) | (mode_t)(others << 3);
}

/* The driver makes 0700 [cache-model 19]; a cache that was opened for others stays open for them. */
static void take_over(int fd, const struct stat *from)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return;
    mode_t mode = take_over_group(fd, &status, from);
    if ((status.st_mode & 07777) != mode)
        (void)fchmod(fd, mode);
}

void pj_stage_like_entries(const struct pj_store *store, int fd)
{
    struct pj_snapshot files = {.exists = true};
    char path[PJ_ENTRY_PATH_TEXT];
    struct stat status;
    if (pj_scan_entries(store->cache_fd, &files, NULL) == 0 && files.count > 0 &&
        fstatat(store->cache_fd, pj_entry_path(files.entries[0].hash, path), &status, AT_SYMLINK_NOFOLLOW) ==
            0)
        take_over(fd, &status);
    pj_snapshot_free(&files);
}

static int make_folder(int parent, const char *name, const struct stat *like, int *ret_fd,
                       struct pj_error **err)
{
    bool made = mkdirat(parent, name, 0700) == 0;
    if (!made && errno != EEXIST)
        return pj_error_errno(err, errno == EACCES ? PJ_ERROR_ENVIRONMENT : PJ_ERROR_IO, errno,
                              "cannot create the hash directory %s", name);
    PJ_CLEANUP_CLOSE int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return pj_error_errno(err, PJ_ERROR_ENVIRONMENT, errno, "cannot use the hash directory %s", name);
    if (made && like)
        take_over(fd, like);
    *ret_fd = PJ_STEAL_FD(fd);
    return 0;
}

static int make_folders(const struct pj_store *store, uint64_t hash, struct pj_error **err)
{
    char path[PJ_ENTRY_PATH_TEXT];
    (void)pj_entry_path(hash, path);
    path[1] = path[3] = '\0';
    struct stat like;
    bool found = find_sibling(store->cache_fd, &like);
    PJ_CLEANUP_CLOSE int first = -1;
    int r = make_folder(store->cache_fd, path, found ? &like : NULL, &first, err);
    if (r < 0)
        return r;
    if (!find_sibling(first, &like) && fstat(first, &like) != 0)
        return pj_error_errno(err, PJ_ERROR_IO, errno, "cannot stat the hash directory %s", path);
    PJ_CLEANUP_CLOSE int second = -1;
    r = make_folder(first, path + 2, &like, &second, err);
    if (r == 0 && faccessat(second, ".", W_OK | X_OK, AT_EACCESS) != 0)
        r = pj_error_errno(err, PJ_ERROR_ENVIRONMENT, errno, "cannot write to the hash directory %s/%s", path,
                           path + 2);
    if (r == 0)
        pj_store_point(store, "S2.folders-made");
    return r;
}

static int copy_entry(const struct pj_store *store, const char *name, const struct pj_entry_contents *entry,
                      struct pj_error **err)
{
    PJ_CLEANUP_CLOSE int fd =
        openat(store->stage_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0)
        return pj_error_errno(err, PJ_ERROR_IO, errno, "cannot create %s/.prejit/%s/%s", store->path,
                              store->run_name, name);
    return pj_file_pwrite(fd, name, entry->bytes.data, entry->bytes.size, 0, err);
}

/* A second name for the private file, which stays where it is until the proof is through. */
static int link_entry(const struct pj_store *store, int folder_fd, uint64_t hash,
                      const struct pj_entry_contents *entry, struct pj_error **err)
{
    char staged[PJ_STAGE_NAME_TEXT], name[PJ_ENTRY_NAME_TEXT];
    PJ_CLEANUP_CLOSE int private_fd = -1;
    int r = pj_entry_folder_open(folder_fd, hash, &private_fd, err);
    if (r < 0)
        return r;
    (void)pj_stage_name(hash, staged);
    (void)unlinkat(store->stage_fd, staged, 0);
    if (private_fd >= 0 && linkat(private_fd, pj_entry_name(hash, name), store->stage_fd, staged, 0) == 0)
        return 0;
    return copy_entry(store, staged, entry, err);
}

/* Readers of the index are readers of the entry, whatever umask the worker had. */
static int finish_staged(const struct pj_store *store, uint64_t hash, const struct pj_entry_contents *entry,
                         struct pj_step *step, struct pj_error **err)
{
    char staged[PJ_STAGE_NAME_TEXT];
    struct stat status, index;
    PJ_CLEANUP_CLOSE int fd = openat(store->stage_fd, pj_stage_name(hash, staged),
                                     O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) != 0)
        return pj_error_errno(err, PJ_ERROR_IO, errno, "cannot open the staged entry %s", staged);
    if (!S_ISREG(status.st_mode) || (uint64_t)status.st_size != entry->bytes.size)
        return pj_error_set(err, PJ_ERROR_IO, "the entry %s changed while it was checked", staged);
    if (fstatat(store->cache_fd, "index", &index, 0) == 0 && S_ISREG(index.st_mode)) {
        mode_t shared = take_over_group(fd, &status, &index) & 0444;
        mode_t wanted = (status.st_mode & 0777) | shared;
        if (geteuid() ==
            0) /* the umask may have left it open: nobody else decides what root's programs load */
            wanted &= (mode_t) ~(S_IWGRP | S_IWOTH);
        if (wanted != (status.st_mode & 07777))
            (void)fchmod(fd, wanted);
    }
    step->staged_inode = status.st_ino;
    return 0;
}

/* What is in the cache under this name already? Read now, outside the lock; under the lock it is enough that
 * the file is still the same. */
static int look_at_present(struct pj_store *store, uint64_t hash, struct pj_step *step, struct pj_error **err)
{
    PJ_CLEANUP_ENTRY struct pj_entry_contents present = {.fd = -1};
    int r = pj_entry_load(store->cache_fd, hash, store->options.check_payload, &present, err);
    if (r < 0)
        return r;
    step->seen_sound = present.state == PJ_ENTRY_SOUND;
    step->seen = present.status;
    return 0;
}

static int reject(char **ret_message, uint64_t hash, const char *what, const char *detail,
                  struct pj_error **err)
{
    char path[PJ_ENTRY_PATH_TEXT];
    char *message = NULL;
    if (asprintf(&message, "the compiled entry %s %s%s", pj_entry_path(hash, path), what, detail) < 0)
        return pj_error_no_memory(err);
    *ret_message = message;
    return 0;
}

int pj_stage_entry(struct pj_store *store, int folder_fd, uint64_t hash, const char *stamp,
                   struct pj_step *ret_step, char **ret_message, struct pj_error **err)
{
    PJ_CLEANUP_ENTRY struct pj_entry_contents entry = {.fd = -1};
    int r = pj_entry_load(folder_fd, hash, store->options.check_payload, &entry, err);
    if (r < 0)
        return r;
    if (entry.state == PJ_ENTRY_ABSENT && !entry.message)
        return reject(ret_message, hash, "is not in its private folder: the driver stored nothing", "", err);
    if (entry.state != PJ_ENTRY_SOUND)
        return reject(ret_message, hash, "cannot be used: ", entry.message, err);
    if (stamp && strcmp(stamp, entry.key.stamp) != 0)
        return reject(ret_message, hash, "was stored by a driver of another build: its stamp is ",
                      entry.key.stamp, err);
    struct pj_step step = {.hash = hash, .kind = PJ_STEP_INSTALL, .folder = -1};
    step.file_bytes = entry.bytes.size;
    PJ_CLEANUP_ERROR struct pj_error *obstacle = NULL;
    r = make_folders(store, hash, &obstacle);
    if (r == PJ_ERROR_ENVIRONMENT) /* one folder; a disk that is full is everybody's */
        return reject(ret_message, hash, "cannot be stored: ", pj_error_message(obstacle), err);
    if (r < 0 && err)
        *err = PJ_STEAL(obstacle);
    if (r == 0)
        r = look_at_present(store, hash, &step, err);
    if (r == 0)
        r = link_entry(store, folder_fd, hash, &entry, err);
    if (r == 0)
        r = finish_staged(store, hash, &entry, &step, err);
    if (r < 0)
        return r;
    pj_store_point(store, "S2.staged");
    *ret_step = step;
    return 0;
}
