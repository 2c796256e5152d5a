/* SPDX-License-Identifier: Apache-2.0 */
/* Loads and saves the receipt of a cache. */
#include "session/receipt/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "cache/format.h"
#include "session/receipt/inputs.h"
#include "session/run/result.h"

bool pj_receipt_is_trusted(int fd)
{
    struct stat status;
    return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
           (status.st_uid == geteuid() || status.st_uid == 0) && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* `name` in the open folder `.prejit`; *ret_receipt stays NULL where it is not there or not to be believed.
 */
static int read_receipt(int own, const char *name, struct pj_receipt **ret_receipt, struct pj_error **err)
{
    PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    PJ_CLEANUP_CLOSE int fd = openat(own, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 || !pj_receipt_is_trusted(fd))
        return 0;
    int r = pj_file_read_fd(fd, name, PJ_RECEIPT_MAX_BYTES, &text, &problem);
    if (r == 0)
        r = pj_receipt_read(pj_buffer_text(&text), text.size, ret_receipt, &problem);
    return r == PJ_ERROR_NO_MEMORY ? pj_error_no_memory(err) : 0;
}

enum { ARCHIVE_NAME_TEXT = 40, ARCHIVES_MAX = 16 };

/* Several manifests may fill one cache. The receipt of the last run is receipt.json; those of other requests
 * stand beside it, so that each of them still has nothing to do. */
static const char *archive_name(const char *request, char ret_name[ARCHIVE_NAME_TEXT])
{
    (void)snprintf(ret_name, ARCHIVE_NAME_TEXT, "receipt-%016" PRIx64 ".json",
                   pj_fnv1a(PJ_FNV_START, request, strlen(request)));
    return ret_name;
}

static bool is_for(const struct pj_receipt *receipt, const char *request)
{
    return receipt->selection && strcmp(receipt->selection, request) == 0;
}

/* The folder `.prejit` of the cache; *ret_own stays -1 where it cannot be opened. */
static int open_own(const char *cache_path, int *ret_own, struct pj_error **err)
{
    PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
    PJ_CLEANUP_CLOSE int cache = -1;
    int r = pj_directory_open(AT_FDCWD, cache_path, true, &cache, &problem);
    if (r == 0)
        r = pj_directory_open(cache, ".prejit", false, ret_own, &problem);
    return r == PJ_ERROR_NO_MEMORY ? pj_error_no_memory(err) : 0;
}

int pj_receipt_load(const char *cache_path, const char *request, struct pj_receipt **ret_receipt,
                    struct pj_error **err)
{
    PJ_CLEANUP_CLOSE int own = -1;
    struct pj_receipt *last = NULL, *archived = NULL;
    char name[ARCHIVE_NAME_TEXT];
    *ret_receipt = NULL;
    int r = open_own(cache_path, &own, err);
    if (r < 0 || own < 0)
        return r;
    r = read_receipt(own, "receipt.json", &last, err);
    if (r == 0 && !(last && is_for(last, request)))
        r = read_receipt(own, archive_name(request, name), &archived, err);
    if (archived && is_for(archived, request)) {
        pj_receipt_free(last);
        last = archived;
    } else {
        pj_receipt_free(archived);
    }
    /* That of another request still tells the driver's stamp and the GPUs. */
    if (r < 0)
        pj_receipt_free(last);
    else
        *ret_receipt = last;
    return r;
}

static bool starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static int visit_one(int own, const char *name,
                     int (*visit)(void *context, const struct pj_receipt *receipt, struct pj_error **err),
                     void *context, struct pj_error **err)
{
    struct pj_receipt *receipt = NULL;
    int r = read_receipt(own, name, &receipt, err);
    if (r == 0 && receipt)
        r = visit(context, receipt, err);
    pj_receipt_free(receipt);
    return r;
}

int pj_receipt_each(const char *cache_path,
                    int (*visit)(void *context, const struct pj_receipt *receipt, struct pj_error **err),
                    void *context, struct pj_error **err)
{
    PJ_CLEANUP_CLOSE int own = -1;
    int r = open_own(cache_path, &own, err);
    int fd = r == 0 && own >= 0 ? openat(own, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    DIR *directory = fd < 0 ? NULL : fdopendir(fd);
    if (!directory) {
        pj_close(fd);
        return r;
    }
    const struct dirent *item;
    while (r == 0 && (item = readdir(directory))) {
        const char *dot = strrchr(item->d_name, '.');
        if (starts_with(item->d_name, "receipt") && dot && strcmp(dot, ".json") == 0)
            r = visit_one(own, item->d_name, visit, context, err);
    }
    (void)closedir(directory);
    return r;
}

/* All of them, or none: some of a link's would look like all of them. */
static int fill_entries(struct pj_session *session, const struct pj_outcome *outcome,
                        struct pj_receipt_job *job, struct pj_error **err)
{
    job->entries = pj_arena_calloc(&session->arena, outcome->entry_count + 1, sizeof *job->entries);
    if (!job->entries)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < outcome->entry_count; i++) {
        const struct pj_outcome_entry *entry = &outcome->entries[i];
        if (entry->file_bytes == 0) /* not in the cache */
            return 0;
        job->entries[i] = (struct pj_receipt_entry){.hash = entry->hash,
                                                    .size_bytes = entry->file_bytes,
                                                    .mtime_seconds = entry->mtime_seconds,
                                                    .checksum = entry->checksum,
                                                    .ctime_ns = entry->ctime_ns};
    }
    job->entry_count = outcome->entry_count;
    return 0;
}

static int fill_jobs(struct pj_session *session, struct pj_receipt *receipt, struct pj_error **err)
{
    const struct pj_plan *plan = session->plan;
    receipt->jobs = pj_arena_calloc(&session->arena, plan->job_count + 1, sizeof *receipt->jobs);
    if (!receipt->jobs)
        return pj_error_no_memory(err);
    receipt->job_count = plan->job_count;
    for (size_t i = 0; i < plan->job_count; i++) {
        struct pj_receipt_job *job = &receipt->jobs[i];
        job->content = plan->jobs[i].content;
        job->inputs_unknown = plan->jobs[i].files_unknown;
        int r = pj_result_row(session, i, &job->row, err);
        if (r == 0)
            r = fill_entries(session, &session->outcomes[i], job, err);
        if (r < 0)
            return r;
    }
    return pj_receipt_fill_inputs(session, receipt, err);
}

static bool is_before(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

/* Temporary files of runs that were killed while they wrote go (this run has the lock, so nobody else
 * writes), and the oldest archives beyond the number that is kept. */
static void tidy(int own)
{
    size_t archives = 0;
    char oldest[ARCHIVE_NAME_TEXT] = "";
    struct timespec oldest_time = {0};
    int fd = openat(own, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = fd < 0 ? NULL : fdopendir(fd);
    if (!directory) {
        pj_close(fd);
        return;
    }
    const struct dirent *item;
    while ((item = readdir(directory))) {
        struct stat status;
        if (starts_with(item->d_name, "receipt.json.")) {
            (void)unlinkat(own, item->d_name, 0);
        } else if (starts_with(item->d_name, "receipt-") && strlen(item->d_name) < sizeof oldest &&
                   fstatat(own, item->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0) {
            archives++;
            if (oldest[0] == '\0' || is_before(&status.st_mtim, &oldest_time)) {
                (void)snprintf(oldest, sizeof oldest, "%.*s", ARCHIVE_NAME_TEXT - 1, item->d_name);
                oldest_time = status.st_mtim;
            }
        }
    }
    (void)closedir(directory);
    if (archives > ARCHIVES_MAX)
        (void)unlinkat(own, oldest, 0);
}

/* The last run's receipt steps aside where it is another request's; ours has no archive any more. */
static int make_place(int own, const char *request, struct pj_error **err)
{
    char name[ARCHIVE_NAME_TEXT];
    struct pj_receipt *last = NULL;
    int r = read_receipt(own, "receipt.json", &last, err);
    if (r == 0 && last && last->selection && !is_for(last, request))
        (void)renameat(own, "receipt.json", own, archive_name(last->selection, name));
    pj_receipt_free(last);
    (void)unlinkat(own, archive_name(request, name), 0);
    return r;
}

/* Nothing would read it; what is there is an earlier run's. */
static int refuse_size(int own, size_t size, struct pj_error **err)
{
    (void)unlinkat(own, "receipt.json", 0);
    return pj_error_set(err, PJ_ERROR_UNSUPPORTED, "it would have %zu bytes, at most %d are kept", size,
                        PJ_RECEIPT_MAX_BYTES);
}

int pj_receipt_save(struct pj_session *session, struct pj_error **err)
{
    struct pj_receipt receipt = session->now;
    const struct pj_machine *machine = &session->machine;
    receipt.driver_files = machine->files;
    receipt.driver_file_count = machine->file_count;
    receipt.nvrtc_search = session->nvrtc.search;
    receipt.nvrtc_files = session->nvrtc.files;
    receipt.nvrtc_file_count = session->nvrtc.file_count;
    receipt.nvrtc = session->nvrtc.library;
    receipt.nvjitlink_search = session->nvjitlink.search;
    receipt.nvjitlink_files = session->nvjitlink.files;
    receipt.nvjitlink_file_count = session->nvjitlink.file_count;
    receipt.nvjitlink = session->nvjitlink.library;
    receipt.offline = session->offline;
    receipt.host.driver_version = machine->driver_version;
    receipt.host.cuda_version = machine->cuda_version;
    receipt.host.stamp = session->stamp;
    receipt.host.devices = machine->devices;
    receipt.host.device_count = machine->device_count;
    receipt.left_out = session->plan->left_out.count;
    receipt.unserved = session->unserved;
    receipt.unserved_count = session->unserved_count;
    receipt.cache_format = session->format == PJ_FORMAT_KNOWN ? PJ_CACHE_FORMAT : 0;
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    PJ_CLEANUP_CLOSE int own = -1;
    int r = fill_jobs(session, &receipt, err);
    if (r == 0)
        r = pj_receipt_write(&receipt, &text, err);
    if (r == 0)
        r = pj_directory_open(pj_store_directory(session->store), ".prejit", false, &own, err);
    if (r == 0)
        r = make_place(own, receipt.selection, err);
    if (r == 0)
        tidy(own);
    if (r == 0 && text.size > PJ_RECEIPT_MAX_BYTES)
        r = refuse_size(own, text.size, err);
    if (r == 0)
        r = pj_file_replace(own, "receipt.json", pj_buffer_text(&text), text.size, 0644, err);
    return r < 0 ? pj_error_wrap(err, r, "writing the receipt of %s", session->location.path) : 0;
}

/* Is what lies there still what was read? */
static int is_unchanged(int own, const char *name, const struct pj_buffer *text, bool *ret_same,
                        struct pj_error **err)
{
    PJ_CLEANUP_BUFFER struct pj_buffer found = {0};
    struct pj_receipt *there = NULL;
    *ret_same = false;
    int r = read_receipt(own, name, &there, err);
    if (r < 0 || !there)
        return r;
    r = pj_receipt_write(there, &found, err);
    pj_receipt_free(there);
    *ret_same = r == 0 && found.size == text->size && memcmp(found.data, text->data, text->size) == 0;
    return r;
}

int pj_receipt_renew(const struct pj_session *session, int cache_fd, struct pj_error **err)
{
    struct pj_receipt receipt = *session->receipt;
    PJ_CLEANUP_BUFFER struct pj_buffer before = {0};
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    PJ_CLEANUP_CLOSE int own = -1;
    char archive[ARCHIVE_NAME_TEXT];
    const char *names[] = {"receipt.json", archive_name(receipt.selection, archive)};
    int r = pj_receipt_write(&receipt, &before, err);
    receipt.boot_id = session->now.boot_id;
    if (r == 0)
        r = pj_receipt_write(&receipt, &text, err);
    if (r == 0)
        r = pj_directory_open(cache_fd, ".prejit", false, &own, err);
    for (size_t i = 0; r == 0 && i < PJ_COUNT(names); i++) {
        bool same = false;
        r = is_unchanged(own, names[i], &before, &same, err);
        if (r == 0 && same)
            return pj_file_replace(own, names[i], text.data, text.size, 0644, err);
    }
    return r;
}
