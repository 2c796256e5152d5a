/* SPDX-License-Identifier: Apache-2.0 */
/* Which cache the program reads, which one is filled, and what lies there. Numbers in brackets are lines of
 * docs/cache-model.md. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/text.h"
#include "cache/guard.h"
#include "session/doctor/doctor.h"
#include "session/run/given_file.h"

/* A copy in the arena of a path that the location owns. */
static int keep(struct pj_doctor *doctor, struct pj_cache_location *location, const char **ret_path,
                struct pj_error **err)
{
    *ret_path = pj_arena_strdup(&doctor->arena, location->path);
    pj_cache_location_free(location);
    return *ret_path ? 0 : pj_error_no_memory(err);
}

/* No place is no error here: the check of the variables has said why. */
static int locate_or_none(struct pj_doctor *doctor, const struct pj_cache_inputs *inputs,
                          struct pj_cache_location *location, const char **ret_path, struct pj_error **err)
{
    PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
    int r = pj_cache_locate(inputs, location, &problem);
    if (r == PJ_ERROR_NO_MEMORY)
        return pj_error_no_memory(err);
    return r < 0 ? 0 : keep(doctor, location, ret_path, err);
}

/* A relative path starts at the program's directory, not at ours [25]. */
static int locate_read(struct pj_doctor *doctor, struct pj_error **err)
{
    const struct pj_program *program = &doctor->program;
    const char *path = pj_program_variable(program, "CUDA_CACHE_PATH");
    PJ_CLEANUP_FREE char *full =
        path && *path && program->directory ? pj_path_join(program->directory, path) : NULL;
    if (path && *path && program->directory && !full)
        return pj_error_no_memory(err);
    struct pj_cache_location location = {.path = NULL};
    struct pj_cache_inputs inputs = {
        .cuda_cache_path = full ? full : path,
        .home = pj_program_variable(program, "HOME"),
        .any_path = true,
    };
    if (!program->environment_known)
        return 0;
    int r = locate_or_none(doctor, &inputs, &location, &doctor->read_path, err);
    doctor->read_source = location.path_source;
    if (r < 0)
        return r;
    const char *limit_path = NULL;
    inputs.cuda_cache_path = "/"; /* the limit alone is of interest now */
    inputs.cuda_cache_maxsize = pj_program_variable(program, "CUDA_CACHE_MAXSIZE");
    r = locate_or_none(doctor, &inputs, &location, &limit_path, err);
    doctor->limit_bytes = limit_path ? location.limit_bytes : 0;
    doctor->limit_source = location.limit_source;
    return r;
}

static void count_sources(const struct pj_manifest *manifest, struct pj_toolkit_needs *needs)
{
    for (size_t i = 0; i < manifest->module_count; i++) {
        bool source = manifest->modules[i].kind == PJ_MODULE_SOURCE;
        needs->sources += source;
        needs->required_sources += source && manifest->modules[i].required;
    }
}

/* What `warm` would fill: --cache, the manifest's, else what this environment says. */
static int locate_filled(struct pj_doctor *doctor, struct pj_error **err)
{
    const struct pj_doctor_options *options = doctor->options;
    PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
    if (!options->manifest && !options->cache)
        return 0;
    int r = options->manifest ? pj_given_manifest_load(options->manifest, &doctor->manifest, err) : 0;
    if (r < 0)
        return r;
    const struct pj_manifest *manifest = doctor->manifest;
    if (manifest)
        count_sources(manifest, &doctor->needs);
    const struct pj_cache_inputs inputs = {
        .option_path = options->cache,
        .manifest_path = manifest ? manifest->cache_path : NULL,
        .cuda_cache_path = getenv("CUDA_CACHE_PATH"),
        .home = getenv("HOME"),
        .any_path = true,
    };
    struct pj_cache_location location = {.path = NULL};
    r = pj_cache_locate(&inputs, &location, &problem);
    if (r == PJ_ERROR_NO_MEMORY)
        return pj_error_no_memory(err);
    if (r == PJ_ERROR_USAGE)
        return pj_error_set(err, PJ_ERROR_USAGE, "%s", pj_error_message(problem));
    if (r < 0)
        return pj_finding_add(&doctor->findings, PJ_FINDING_FILLED_CACHE_UNKNOWN,
                              options->manifest ? options->manifest : "the manifest", NULL, err, "%s",
                              pj_error_message(problem));
    doctor->filled_by = options->cache         ? "--cache names"
                        : manifest->cache_path ? "the manifest fills"
                                               : "warm from here fills";
    return keep(doctor, &location, &doctor->filled_path, err);
}

/* Two names of one directory are one cache. Ours and that of a process with another root are compared by
 * what they are, too. */
static bool is_same(const struct pj_doctor *doctor)
{
    PJ_CLEANUP_FREE char *read = pj_program_path(&doctor->program, doctor->read_path);
    struct stat a, b;
    if (doctor->program.root[0] == '\0' && strcmp(doctor->read_path, doctor->filled_path) == 0)
        return true;
    return read && stat(read, &a) == 0 && stat(doctor->filled_path, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

int pj_doctor_locate(struct pj_doctor *doctor, struct pj_error **err)
{
    int r = locate_read(doctor, err);
    if (r == 0)
        r = locate_filled(doctor, err);
    if (r < 0 || !doctor->filled_path || !doctor->read_path || is_same(doctor))
        return r;
    doctor->elsewhere = true;
    return pj_finding_add(&doctor->findings, PJ_FINDING_CACHE_ELSEWHERE, "CUDA_CACHE_PATH",
                          doctor->filled_path, err, "%s reads %s, %s %s", doctor->program.who,
                          doctor->read_path, doctor->filled_by, doctor->filled_path);
}

/* May the program read this entry, and pass its two directories? */
static bool may_read(const struct pj_program *program, const char *cache, uint64_t hash, char culprit[64],
                     bool *ret_failed)
{
    static const size_t lengths[] = {1, 3, PJ_ENTRY_PATH_TEXT - 1};
    char path[PJ_ENTRY_PATH_TEXT];
    (void)pj_entry_path(hash, path);
    for (size_t i = 0; i < PJ_COUNT(lengths); i++) {
        bool last = i + 1 == PJ_COUNT(lengths);
        struct stat status;
        PJ_CLEANUP_BUFFER struct pj_buffer full = {0};
        pj_buffer_printf(&full, "%s%s/%.*s", program->root, cache, (int)lengths[i], path);
        *ret_failed |= full.failed;
        if (full.failed || stat(full.data, &status) != 0)
            return true;
        if (pj_program_may(program, full.data, &status, last ? PJ_MAY_READ : PJ_MAY_PASS))
            continue;
        (void)snprintf(culprit, 64, "%.*s (owner %lu, mode %04o)", (int)lengths[i], path,
                       (unsigned long)status.st_uid, (unsigned)(status.st_mode & 07777u));
        return false;
    }
    return true;
}

static int check_entries(const struct pj_program *program, const char *path,
                         const struct pj_snapshot *snapshot, struct pj_finding_list *findings,
                         struct pj_error **err)
{
    char culprit[64] = "", first[64] = "";
    size_t closed = 0;
    bool failed = false;
    for (size_t i = 0; i < snapshot->count && !failed; i++) {
        if (may_read(program, path, snapshot->entries[i].hash, culprit, &failed))
            continue;
        if (closed++ == 0)
            memcpy(first, culprit, sizeof first);
    }
    if (failed)
        return pj_error_no_memory(err);
    if (closed == 0)
        return 0;
    struct stat status;
    PJ_CLEANUP_FREE char *full = pj_program_path(program, path);
    if (!full)
        return pj_error_no_memory(err);
    if (stat(full, &status) == 0 && pj_check_is_foreign(program, &status))
        return pj_check_closed(program, path, &status, "cannot read all of its entries", findings, err);
    return pj_finding_add(findings, PJ_FINDING_ENTRIES_UNREADABLE, path, program->user_text, err,
                          "user %s cannot read %zu of %zu entries, because of %s", program->user_text, closed,
                          snapshot->count, first);
}

static int check_index_state(const char *path, const struct pj_snapshot *snapshot,
                             struct pj_finding_list *findings, struct pj_error **err)
{
    if (snapshot->index_state == PJ_INDEX_VALID || snapshot->count == 0)
        return 0;
    PJ_CLEANUP_FREE char *index = pj_path_join(path, "index");
    if (!index)
        return pj_error_no_memory(err);
    return pj_finding_add(findings, PJ_FINDING_INDEX_DANGEROUS, index, NULL, err, "it %s; %zu %s at stake",
                          pj_index_state_text(snapshot->index_state), snapshot->count,
                          snapshot->count == 1 ? "entry is" : "entries are");
}

/* What the limit is held against: sizes as the index counts them, without the header [8]. */
static int check_limit(const char *path, const struct pj_snapshot *snapshot, uint64_t limit_bytes,
                       struct pj_finding_list *findings, struct pj_error **err)
{
    enum { HEADER_BYTES = PJ_ENTRY_HEADER_BYTES };
    uint64_t content = 0, largest = 0;
    char wanted[24], has[PJ_SIZE_TEXT], limit[PJ_SIZE_TEXT];
    for (size_t i = 0; i < snapshot->count; i++) {
        uint64_t size = snapshot->entries[i].size;
        size -= size < HEADER_BYTES ? size : HEADER_BYTES;
        content += size;
        largest = size > largest ? size : largest;
    }
    if (limit_bytes == 0 || content <= limit_bytes)
        return 0;
    /* With as much room again, so that the next module does not throw out the first. */
    uint64_t room = content > UINT64_MAX / 2 ? content : content * 2;
    (void)snprintf(wanted, sizeof wanted, "%" PRIu64, room < 1u << 20 ? UINT64_C(1) << 20 : room);
    (void)pj_text_from_limit(limit_bytes, limit);
    if (largest > limit_bytes) {
        int r = pj_finding_add(findings, PJ_FINDING_LIMIT_BELOW_ENTRY, "CUDA_CACHE_MAXSIZE", wanted, err,
                               "the limit is %s, and %s has an entry of %s", limit, path,
                               pj_text_from_size(largest, has));
        if (r < 0)
            return r;
    }
    return pj_finding_add(findings, PJ_FINDING_LIMIT_BELOW_CONTENT, "CUDA_CACHE_MAXSIZE", wanted, err,
                          "the limit is %s, and %s holds %s", limit, path, pj_text_from_size(content, has));
}

/* Root's programs alone, and in a cache of root's: others are warned of one that is open by its path. */
static int check_others(const struct pj_program *program, const char *path, const char *full,
                        const struct pj_snapshot *snapshot, struct pj_finding_list *findings,
                        struct pj_error **err)
{
    PJ_CLEANUP_WAY struct pj_way way = PJ_WAY_NONE;
    char entry[PJ_ENTRY_PATH_TEXT];
    struct stat status;
    if (program->uid != 0)
        return 0;
    way.fd = open(full, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (way.fd < 0 || fstat(way.fd, &status) != 0 || pj_way_judge(way.fd, &status) == PJ_WAY_OF_OTHER)
        return 0;
    int r = pj_guard_look_inside(way.fd, path, &way, err);
    if (r == 0 && way.fault != PJ_WAY_CLOSED)
        r = pj_finding_add(findings, PJ_FINDING_ROOT_AMONG_OTHERS, way.culprit, NULL, err,
                           "%s (owner %lu, group %lu, mode %04o), and %s runs as root",
                           way.fault == PJ_WAY_OF_OTHER ? "it belongs to another user"
                                                        : "others can write it",
                           (unsigned long)way.status.st_uid, (unsigned long)way.status.st_gid,
                           (unsigned)(way.status.st_mode & 07777u), program->who);
    if (r < 0 || snapshot->foreign_count == 0)
        return r;
    return pj_finding_add(
        findings, PJ_FINDING_ENTRIES_OF_OTHERS, path, NULL, err,
        "%zu of %zu entries belong to other users or can be written by them, the first: %s, "
        "of user %lu",
        snapshot->foreign_count, snapshot->count, pj_entry_path(snapshot->foreign_hash, entry),
        (unsigned long)snapshot->foreign_uid);
}

int pj_doctor_content(const struct pj_program *program, const char *path, uint64_t limit_bytes,
                      struct pj_finding_list *findings, bool *ret_known, uint64_t *ret_entries,
                      uint64_t *ret_bytes, struct pj_error **err)
{
    struct pj_snapshot snapshot = {0};
    PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
    PJ_CLEANUP_FREE char *full = pj_program_path(program, path);
    if (!full)
        return pj_error_no_memory(err);
    *ret_known = false;
    int r = pj_snapshot_take(full, &snapshot, &problem);
    if (r == PJ_ERROR_NO_MEMORY)
        return pj_error_no_memory(err);
    if (r < 0)
        return pj_finding_add(findings, PJ_FINDING_CACHE_UNREADABLE, path, NULL, err, "%s",
                              pj_error_message(problem));
    r = check_index_state(path, &snapshot, findings, err);
    if (r == 0)
        r = check_entries(program, path, &snapshot, findings, err);
    if (r == 0)
        r = check_others(program, path, full, &snapshot, findings, err);
    if (r == 0)
        r = check_limit(path, &snapshot, limit_bytes, findings, err);
    *ret_known = true;
    *ret_entries = snapshot.count;
    *ret_bytes = snapshot.bytes;
    pj_snapshot_free(&snapshot);
    return r;
}
