/* SPDX-License-Identifier: Apache-2.0 */
/* Entries that prejit assembled, loaded by the driver with JIT disabled, and run. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cache/store.h"
#include "session/profile/profile.h"
#include "session/run/outcome.h"

enum { THREADS = 1000, JIT_COMPILATION_DISABLED = 223 };

static int open_store(const char *cache, struct pj_store **ret_store, struct pj_error **err)
{
    const struct pj_store_options options = {
        .path = cache, .limit_bytes = PJ_PRIVATE_CACHE_BYTES, .check_payload = pj_check_payload};
    struct pj_store_preparation done;
    int r = pj_store_open(&options, ret_store, err);
    return r == 0 ? pj_store_prepare(*ret_store, &done, err) : r;
}

/* Puts the entry of text number `index` into the store's private folder and commits it. */
static int store_entry(struct pj_profile_work *work, struct pj_profile_trial *trial, struct pj_store *store,
                       size_t index, struct pj_error **err)
{
    const char *folder = NULL;
    PJ_CLEANUP_BUFFER struct pj_buffer file = {0};
    struct pj_commit_item item = {0};
    char path[PJ_ENTRY_PATH_TEXT];
    int r = pj_profile_entry_assemble(work, trial, index, &trial->cubins[index], &file, &item.hash, err);
    if (r == 0)
        r = pj_store_private_folder(store, 0, &folder, err);
    PJ_CLEANUP_FREE char *full = r == 0 ? pj_path_join(folder, pj_entry_path(item.hash, path)) : NULL;
    if (r == 0 && !full)
        r = pj_error_no_memory(err);
    if (r < 0)
        return r;
    char *slash = strrchr(full, '/');
    *slash = '\0';
    r = pj_directory_create(full, 0700, err);
    *slash = '/';
    if (r == 0)
        r = pj_file_replace(AT_FDCWD, full, pj_buffer_text(&file), file.size, 0600, err);
    if (r == 0)
        r = pj_store_commit(store, work->stamp, &item, 1, err);
    if (r == 0 && item.result != PJ_COMMIT_STORED && item.result != PJ_COMMIT_PRESENT)
        r = pj_profile_problem(work, trial, err, "the entry assembled was not stored: %s",
                               item.message ? item.message : "it was pending");
    free(item.message);
    return r;
}

static int store_case(struct pj_profile_work *work, struct pj_profile_trial *trial, const char *cache,
                      struct pj_error **err)
{
    struct pj_store *store = NULL;
    int r = open_store(cache, &store, err);
    for (size_t k = 0; k < trial->of->load.text_count && r == 0 && !trial->problem; k++)
        r = store_entry(work, trial, store, k, err);
    if (r == 0)
        r = pj_store_remove_run_folder(store, err);
    pj_store_close(store, false);
    return r;
}

static int judge_values(struct pj_profile_work *work, struct pj_profile_trial *trial,
                        const struct pj_trial_answer *answer, struct pj_error **err)
{
    if (answer->died || answer->result != 0)
        return pj_profile_problem(work, trial, err, "the entry assembled did not load: %s%s%s",
                                  answer->result_name, *answer->result_name && *answer->log ? " " : "",
                                  answer->log);
    if (answer->value_count != THREADS)
        return pj_profile_problem(work, trial, err, "the kernel gave %zu values, not %d", answer->value_count,
                                  THREADS);
    for (uint32_t i = 0; i < THREADS; i++) {
        if (answer->values[i] != pj_profile_expected(i))
            return pj_profile_problem(work, trial, err, "the kernel computed %d for %u, and %d is right",
                                      answer->values[i], i, pj_profile_expected(i));
    }
    trial->ran = true;
    return 0;
}

static int run_case(struct pj_profile_work *work, struct pj_profile_trial *trial, const char *cache,
                    struct pj_error **err)
{
    struct pj_trial_answer answer;
    int r = store_case(work, trial, cache, err);
    if (r == 0 && !trial->problem)
        r = pj_trial_run(&work->trial, cache, &trial->of->load, PJ_PROFILE_KERNEL, THREADS, &answer, err);
    return r == 0 && !trial->problem ? judge_values(work, trial, &answer, err) : r;
}

/* A module that nobody stored must not load: else a hit means nothing. */
static int check_canary(struct pj_profile_work *work, const char *cache, struct pj_error **err)
{
    const struct pj_trial_load load = pj_profile_other_load();
    struct pj_trial_answer answer;
    int r = pj_trial_run(&work->trial, cache, &load, "other", THREADS, &answer, err);
    work->canary_held = r == 0 && !answer.died && answer.result == JIT_COMPILATION_DISABLED;
    return r;
}

/* A cache of the driver's, entries assembled beside its own, one more store of the driver's: nothing is gone.
 */
static int run_beside(struct pj_profile_work *work, struct pj_error **err)
{
    const struct pj_trial_load other = pj_profile_other_load();
    struct pj_profile_trial *plain = &work->trials[0], *next = &work->trials[1];
    struct pj_trial_answer answer;
    const char *cache = NULL;
    struct pj_snapshot snapshot = {0};
    plain->ran = false;
    int r = pj_trial_cache(&work->trial, "beside", &cache, err);
    if (r == 0)
        r = pj_trial_compile(&work->trial, cache, &other, &answer, err);
    if (r == 0)
        r = run_case(work, plain, cache, err);
    if (r == 0)
        r = pj_trial_compile(&work->trial, cache, &next->of->load, &answer, err);
    if (r == 0)
        r = pj_snapshot_take(cache, &snapshot, err);
    size_t listed = 0;
    for (size_t i = 0; r == 0 && i < snapshot.count; i++)
        listed += snapshot.entries[i].index_position != PJ_NOT_LISTED;
    bool kept = r == 0 && snapshot.index_state == PJ_INDEX_VALID && snapshot.count == 3 && listed == 3;
    pj_snapshot_free(&snapshot);
    work->profile.proven[PJ_PROFILE_BESIDE] = kept && plain->ran;
    return r;
}

int pj_profile_run(struct pj_profile_work *work, struct pj_error **err)
{
    const char *cache = NULL;
    int r = pj_trial_cache(&work->trial, "assembled", &cache, err);
    for (size_t i = 0; i < work->count && r == 0; i++) {
        struct pj_profile_trial *trial = &work->trials[i];
        if (trial->predicted && !trial->problem && trial->of->kind != PJ_PROFILE_FOREIGN)
            r = run_case(work, trial, cache, err);
    }
    if (r == 0)
        r = check_canary(work, cache, err);
    bool plain_ran = work->trials[0].ran;
    if (r == 0)
        r = run_beside(work, err);
    work->trials[0].ran = plain_ran;
    return r;
}
