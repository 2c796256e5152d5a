/* SPDX-License-Identifier: Apache-2.0 */
/* What runs that died had compiled: committed where it is sound, and their folders removed. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cache/scan.h"
#include "cache/store_private.h"

static bool is_disk_full(const struct pj_error *problem)
{
    return problem && pj_is_disk_full(problem->errnum);
}

static int stage_folder(struct pj_store *store, int folder, const struct pj_snapshot *files,
                        struct pj_step *steps, size_t *ret_count, struct pj_error **err)
{
    size_t count = 0;
    for (size_t i = 0; i < files->count; i++) {
        PJ_CLEANUP_FREE char *message = NULL;
        PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
        int r =
            pj_stage_entry(store, folder, files->entries[i].hash, NULL, &steps[count], &message, &problem);
        if (r < 0 && is_disk_full(problem)) { /* what does not go in shall not fill the disk */
            char path[PJ_ENTRY_PATH_TEXT];
            (void)unlinkat(folder, pj_entry_path(files->entries[i].hash, path), 0);
            continue;
        }
        if (r < 0 && err)
            *err = PJ_STEAL(problem);
        if (r < 0)
            return r;
        count += message == NULL;
    }
    *ret_count = count;
    return 0;
}

/* One private cache. Nothing is evicted for it: whether it is still wanted is not known here. */
static int harvest_folder(struct pj_store *store, int folder, struct pj_store_preparation *done,
                          struct pj_error **err)
{
    struct pj_snapshot files = {.exists = true};
    PJ_CLEANUP_FREE struct pj_step *steps = NULL;
    size_t count = 0;
    int r = pj_scan_entries(folder, &files, err);
    if (r == 0 && files.count > 0) {
        steps = calloc(files.count, sizeof *steps);
        r = steps ? stage_folder(store, folder, &files, steps, &count, err) : pj_error_no_memory(err);
    }
    PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
    bool run = r == 0;
    if (run)
        r = pj_round_run(store, steps, count, NULL, &problem);
    if (run && r < 0 && is_disk_full(problem))
        r = 0; /* they go with their folder */
    else if (run && r < 0 && err)
        *err = PJ_STEAL(problem);
    for (size_t i = 0; i < count; i++) {
        pj_stage_remove(store, steps[i].hash);
        done->entries_harvested += r == 0 && steps[i].outcome == PJ_STEP_DONE;
    }
    pj_snapshot_free(&files);
    return r;
}

/* The private caches alone: what lies in folders of other names was never meant for the cache. */
static bool is_private_cache(const char *name)
{
    return name[0] == 'w' && name[1] != '\0' && name[1 + strspn(name + 1, "0123456789")] == '\0';
}

static int harvest_run(struct pj_store *store, int run, struct pj_store_preparation *done,
                       struct pj_error **err)
{
    int copy = fcntl(run, F_DUPFD_CLOEXEC, 0);
    PJ_CLEANUP_CLOSEDIR DIR *directory = copy < 0 ? NULL : fdopendir(copy);
    if (!directory) {
        int saved = errno;
        pj_close(copy);
        return pj_error_errno(err, PJ_ERROR_IO, saved, "cannot list the folder of a run that died");
    }
    for (;;) {
        errno = 0;
        const struct dirent *item = readdir(directory);
        if (!item)
            return errno
                       ? pj_error_errno(err, PJ_ERROR_IO, errno, "cannot list the folder of a run that died")
                       : 0;
        if (!is_private_cache(item->d_name))
            continue;
        PJ_CLEANUP_CLOSE int folder =
            openat(run, item->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        int r = folder < 0 ? 0 : harvest_folder(store, folder, done, err);
        if (r < 0)
            return r;
    }
}

/* Folders of other users stay: they could not be removed, and what is in them is not this user's. */
static int harvest_one(struct pj_store *store, const char *name, struct pj_store_preparation *done,
                       struct pj_error **err)
{
    struct stat status;
    PJ_CLEANUP_CLOSE int run =
        openat(store->prejit_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (run < 0 || fstat(run, &status) != 0 || status.st_uid != geteuid())
        return 0;
    int r = harvest_run(store, run, done, err);
    if (r < 0)
        return r;
    pj_store_point(store, "S0.harvested");
    r = pj_tree_remove(store->prejit_fd, name, err);
    if (r < 0)
        return r;
    done->rubbish_removed++;
    pj_store_point(store, "S0.run-removed");
    return 0;
}

int pj_store_harvest(struct pj_store *store, struct pj_store_preparation *done, struct pj_error **err)
{
    int fd = -1;
    int r = pj_directory_open(store->prejit_fd, ".", false, &fd, err);
    if (r < 0)
        return r;
    PJ_CLEANUP_CLOSEDIR DIR *directory = fdopendir(fd);
    if (!directory) {
        pj_close(fd);
        return pj_error_no_memory(err);
    }
    size_t before = done->entries_harvested;
    const struct dirent *item;
    while (r == 0 && (item = readdir(directory))) {
        long pid;
        uint64_t ticks;
        bool superseded;
        if (!pj_run_name_parse(item->d_name, &pid, &ticks, &superseded) ||
            strcmp(item->d_name, store->run_name) == 0 || pj_run_is_alive(item->d_name))
            continue;
        r = harvest_one(store, item->d_name, done, err);
    }
    if (r == 0 && done->entries_harvested > before)
        r = pj_store_flush(store, err);
    return r;
}
