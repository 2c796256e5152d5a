/* SPDX-License-Identifier: Apache-2.0 */
/* From cubins to entries in the cache, and what that comes to for the jobs. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "cache/assemble.h"
#include "cache/format.h"
#include "image/code.h"
#include "image/cubin.h"
#include "session/offline/private.h"
#include "session/run/obstacle.h"
#include "session/run/outcome.h"

enum { PRIVATE_FOLDER = 0 };

static int reject(struct pj_offline *offline, struct pj_offline_unit *unit, const char *what,
                  const char *detail, struct pj_error **err)
{
    unit->failure = PJ_VERDICT_REJECTED;
    unit->reason_code = "bad-cubin";
    unit->reason = pj_arena_printf(&offline->session->arena, "%s made a cubin that is not used: %s%s",
                                   offline->compiler, what, detail);
    return unit->reason ? 0 : pj_error_no_memory(err);
}

/* A driver believes whatever has the right key and checksum [22]: nothing else looks at it before a program
 * does. */
static int check_cubin(struct pj_offline *offline, struct pj_offline_unit *unit,
                       const struct pj_buffer *bytes, struct pj_error **err)
{
    PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
    const struct pj_ptx *ptx = &unit->image->ptx;
    struct pj_cubin cubin;
    char found[32];
    int r = pj_cubin_read(pj_buffer_text(bytes), bytes->size, &cubin, &problem);
    if (r == PJ_ERROR_NO_MEMORY)
        return pj_error_no_memory(err);
    if (r < 0)
        return reject(offline, unit, pj_error_message(problem), "", err);
    if (cubin.arch_number != unit->target) {
        (void)snprintf(found, sizeof found, "sm_%u", cubin.arch_number);
        return reject(offline, unit, "it holds code for ", found, err);
    }
    bool linkable = strncmp(unit->option_text, "-c", 2) == 0 &&
                    (unit->option_text[2] == ' ' || unit->option_text[2] == '\0');
    if (cubin.relocatable != linkable)
        return reject(offline, unit, linkable ? "it cannot be linked any more" : "it is still to be linked",
                      "", err);
    size_t missing = 0;
    r = pj_code_missing_kernel(pj_buffer_text(bytes), bytes->size, ptx->kernels, ptx->kernel_count, &missing,
                               err);
    if (r < 0 || missing == ptx->kernel_count)
        return r;
    return reject(offline, unit, "it lacks the kernel ", ptx->kernels[missing], err);
}

static int open_folder(struct pj_offline *offline, struct pj_error **err)
{
    const char *path = NULL;
    if (offline->folder_fd >= 0)
        return 0;
    int r = pj_store_private_folder(offline->session->store, PRIVATE_FOLDER, &path, err);
    return r < 0 ? r : pj_directory_open(AT_FDCWD, path, false, &offline->folder_fd, err);
}

/* The machine's fault, which would be met at every further entry. */
static int cannot_write(const struct pj_offline *offline, int number, struct pj_error **err)
{
    return pj_error_errno(err, PJ_ERROR_ENVIRONMENT, number, "cannot write an entry below %s/.prejit",
                          offline->session->location.path);
}

static int write_entry(struct pj_offline *offline, uint64_t hash, struct pj_error **err)
{
    char path[PJ_ENTRY_PATH_TEXT], folder[PJ_ENTRY_PATH_TEXT];
    int r = open_folder(offline, err);
    if (r < 0)
        return r;
    (void)pj_entry_path(hash, path);
    for (size_t length = 1; length <= 3; length += 2) {
        (void)snprintf(folder, sizeof folder, "%.*s", (int)length, path);
        if (mkdirat(offline->folder_fd, folder, 0700) != 0 && errno != EEXIST)
            return cannot_write(offline, errno, err);
    }
    PJ_CLEANUP_CLOSE int fd =
        openat(offline->folder_fd, path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd < 0)
        return cannot_write(offline, errno, err);
    PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
    r = pj_file_pwrite(fd, path, pj_buffer_text(&offline->file_bytes), offline->file_bytes.size, 0, &problem);
    if (r == 0)
        return 0;
    (void)unlinkat(offline->folder_fd, path, 0);
    return cannot_write(offline, problem->errnum ? problem->errnum : EIO, err);
}

static int disk_is_full(struct pj_offline *offline, struct pj_offline_unit *unit, struct pj_error **err)
{
    unit->failure = PJ_VERDICT_LOST;
    unit->reason_code = "disk-full";
    unit->reason = "the disk is full, so its entry cannot be written";
    return pj_outcome_blame_disk(offline->session, err);
}

static int assemble(struct pj_offline *offline, struct pj_offline_unit *unit, const struct pj_buffer *cubin,
                    size_t profile, struct pj_error **err)
{
    struct pj_offline_entry *entry = &unit->entries[profile];
    uint64_t hash = 0;
    pj_buffer_reset(&offline->file_bytes);
    int r =
        pj_entry_assemble(offline->profiles[profile].stamp, unit->target,
                          pj_buffer_text(&offline->image_bytes), offline->image_bytes.size, unit->option_text,
                          pj_buffer_text(cubin), cubin->size, &offline->file_bytes, &hash, err);
    if (r == 0 && hash != entry->entry.hash)
        r = pj_error_set(err, PJ_ERROR_INTERNAL, "an entry of %s got another name than was predicted",
                         unit->image->path);
    if (r < 0)
        return r;
    PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
    r = write_entry(offline, hash, &problem);
    if (r < 0 && problem && pj_is_disk_full(problem->errnum))
        return disk_is_full(offline, unit, err); /* a smaller one may still find room */
    if (r < 0 && err)
        *err = PJ_STEAL(problem);
    if (r < 0)
        return r;
    entry->assembled = true;
    if (offline->ready_since_ms <= 0)
        offline->ready_since_ms = pj_clock_ms();
    return 0;
}

int pj_offline_take_made(struct pj_offline *offline, struct pj_offline_unit *unit, struct pj_making *making,
                         struct pj_error **err)
{
    const struct pj_buffer *cubin = pj_making_result(making, PJ_OUTPUT_CUBIN);
    const char *log = pj_buffer_text(pj_making_result(making, PJ_OUTPUT_LOG));
    bool same = false;
    unit->compile_ms = making->call_ms;
    unit->peak_rss_bytes = making->peak_rss_bytes;
    unit->log = *log ? pj_arena_strdup(&offline->session->arena, log) : NULL;
    if (*log && !unit->log)
        return pj_error_no_memory(err);
    int r = check_cubin(offline, unit, cubin, err);
    if (r < 0 || unit->failure)
        return r;
    r = pj_offline_read_image(offline, unit, &same, err);
    if (r == 0 && !same) {
        unit->failure = PJ_VERDICT_REJECTED;
        unit->reason_code = "image-changed";
        unit->reason = PJ_FILE_CHANGED;
        return 0;
    }
    unit->compiled = r == 0;
    for (size_t i = 0; i < offline->profile_count && r == 0; i++) {
        if (!unit->entries[i].there && !unit->failure)
            r = assemble(offline, unit, cubin, i, err);
    }
    return r;
}

static int take_item(struct pj_offline *offline, struct pj_offline_unit *unit, struct pj_offline_entry *entry,
                     struct pj_commit_item *item, struct pj_error **err)
{
    PJ_CLEANUP_FREE char *message = item->message;
    bool too_large = item->result == PJ_COMMIT_TOO_LARGE;
    item->message = NULL;
    if (item->result == PJ_COMMIT_STORED || item->result == PJ_COMMIT_PRESENT) {
        entry->there = entry->ours = true;
        entry->assembled = false;
        entry->entry.file_bytes = item->file_bytes;
        entry->entry.mtime_seconds = item->mtime_seconds;
        return 0;
    }
    if (item->result == PJ_COMMIT_PENDING)
        return 0;
    entry->assembled = false;
    if (item->result == PJ_COMMIT_DISK_FULL)
        return disk_is_full(offline, unit, err);
    unit->failure = too_large ? PJ_VERDICT_TOO_LARGE : PJ_VERDICT_LOST;
    unit->reason_code = too_large ? "too-large" : "entry-unsound";
    unit->reason = pj_obstacle_explain(offline->session, item->hash, message ? message : unit->reason_code);
    return unit->reason ? 0 : pj_error_no_memory(err);
}

/* Entries of one driver: the store takes those of one stamp at a time. */
static int commit_profile(struct pj_offline *offline, size_t profile, struct pj_error **err)
{
    PJ_CLEANUP_FREE struct pj_commit_item *items = calloc(offline->unit_count + 1, sizeof *items);
    PJ_CLEANUP_FREE size_t *owners = calloc(offline->unit_count + 1, sizeof *owners);
    size_t count = 0;
    if (!items || !owners)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < offline->unit_count; i++) {
        const struct pj_offline_entry *entry = &offline->units[i].entries[profile];
        if (!entry->assembled)
            continue;
        owners[count] = i;
        items[count++] = (struct pj_commit_item){.hash = entry->entry.hash, .folder = PRIVATE_FOLDER};
    }
    int r = count > 0 ? pj_store_commit(offline->session->store, offline->profiles[profile].stamp, items,
                                        count, err)
                      : 0;
    for (size_t i = 0; i < count; i++) {
        struct pj_offline_unit *unit = &offline->units[owners[i]];
        int taken = take_item(offline, unit, &unit->entries[profile], &items[i], r < 0 ? NULL : err);
        r = r < 0 ? r : taken;
    }
    return r;
}

/* The reason is one for all units, and the last commit knows it best. */
static int explain_too_large(struct pj_offline *offline, struct pj_error **err)
{
    const char *reason = NULL;
    for (size_t i = 0; i < offline->unit_count; i++) {
        struct pj_offline_unit *unit = &offline->units[i];
        if (unit->failure != PJ_VERDICT_TOO_LARGE)
            continue;
        int r = reason ? 0 : pj_outcome_why_too_large(offline->session, &reason, err);
        if (r < 0)
            return r;
        unit->reason = reason;
    }
    return 0;
}

int pj_offline_commit(struct pj_offline *offline, struct pj_error **err)
{
    int r = 0;
    offline->ready_since_ms = 0;
    for (size_t i = 0; i < offline->profile_count && r == 0; i++)
        r = commit_profile(offline, i, err);
    return r == 0 ? explain_too_large(offline, err) : r;
}

int pj_offline_check_listed(struct pj_offline *offline, struct pj_error **err)
{
    size_t most = offline->unit_count * offline->profile_count, count = 0;
    PJ_CLEANUP_FREE uint64_t *hashes = calloc(most + 1, sizeof *hashes);
    PJ_CLEANUP_FREE struct pj_offline_entry **entries = calloc(most + 1, sizeof *entries);
    PJ_CLEANUP_FREE bool *listed = calloc(most + 1, sizeof *listed);
    bool again = false;
    if (!hashes || !entries || !listed)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < most; i++) {
        struct pj_offline_unit *unit = &offline->units[i / offline->profile_count];
        struct pj_offline_entry *entry = &unit->entries[i % offline->profile_count];
        again |= entry->assembled; /* it is pending: its file was gone at once */
        if (!entry->ours)
            continue;
        hashes[count] = entry->entry.hash;
        entries[count++] = entry;
    }
    int r = count > 0 ? pj_store_listed(offline->session->store, hashes, count, listed, err) : 0;
    for (size_t i = 0; i < count && r == 0; i++) {
        if (listed[i])
            continue;
        entries[i]->there = false;
        entries[i]->assembled = again = true;
    }
    return r == 0 && again ? pj_offline_commit(offline, err) : r;
}

static int copy_entries(struct pj_offline *offline, size_t job, struct pj_error **err)
{
    struct pj_outcome *outcome = &offline->session->outcomes[job];
    size_t units = offline->job_unit_counts[job];
    outcome->entries = pj_arena_calloc(&offline->session->arena, units * offline->profile_count + 1,
                                       sizeof *outcome->entries);
    if (!outcome->entries)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < offline->profile_count; i++) {
        for (size_t k = 0; k < units; k++) {
            const struct pj_offline_unit *unit = &offline->units[offline->job_units[job][k]];
            if (unit->named)
                outcome->entries[outcome->entry_count++] = unit->entries[i].entry;
        }
    }
    return 0;
}

static void add_compile(struct pj_outcome *outcome, const struct pj_offline_unit *unit)
{
    outcome->origin = PJ_ORIGIN_COMPILED;
    outcome->has_compile_ms = outcome->has_cold_ms = true;
    outcome->compile_ms += unit->compile_ms;
    outcome->cold_ms += unit->compile_ms;
    if (unit->peak_rss_bytes > outcome->peak_rss_bytes)
        outcome->peak_rss_bytes = unit->peak_rss_bytes;
}

static int settle_job(struct pj_offline *offline, size_t job, struct pj_error **err)
{
    struct pj_outcome *outcome = &offline->session->outcomes[job];
    bool there = true, waiting = false;
    int r = copy_entries(offline, job, err);
    for (size_t i = 0; i < offline->job_unit_counts[job] && r == 0; i++) {
        const struct pj_offline_unit *unit = &offline->units[offline->job_units[job][i]];
        there &= !pj_offline_is_missing(offline, unit);
        waiting |= !unit->compiled && pj_offline_is_missing(offline, unit);
        if (unit->log)
            outcome->log = unit->log;
        if (unit->failure) {
            pj_outcome_fail(outcome, unit->failure, unit->reason_code, unit->reason);
            return 0;
        }
    }
    if (r < 0 || waiting) /* the run ended before it was compiled */
        return r;
    if (!there) {
        pj_outcome_fail(outcome, PJ_VERDICT_LOST, "not-kept",
                        "another program removed its entry again while prejit was working; run again");
        return 0;
    }
    for (size_t i = 0; i < offline->job_unit_counts[job]; i++) {
        const struct pj_offline_unit *unit = &offline->units[offline->job_units[job][i]];
        if (unit->compiled)
            add_compile(outcome, unit);
    }
    outcome->stage = PJ_STAGE_PRESENT;
    outcome->verdict = PJ_VERDICT_STORED;
    outcome->witnesses.entry_present = PJ_WITNESS_YES;
    if (outcome->origin == PJ_ORIGIN_COMPILED)
        outcome->offline_compiler = offline->compiler;
    else
        outcome->origin = PJ_ORIGIN_REUSED;
    return 0;
}

int pj_offline_settle(struct pj_offline *offline, struct pj_error **err)
{
    const struct pj_plan *plan = offline->session->plan;
    int r = 0;
    for (size_t i = 0; i < plan->job_count && r == 0; i++) {
        if (plan->jobs[i].fate == PJ_JOB_OPEN && offline->job_unit_counts[i] > 0)
            r = settle_job(offline, i, err);
    }
    return r;
}
