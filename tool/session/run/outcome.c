/* SPDX-License-Identifier: Apache-2.0 */
/* Outcomes: started from the plan, failed, judged. */
#include "session/run/outcome.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "cache/entry.h"
#include "session/run/obstacle.h"

static const enum pj_verdict fate_verdicts[] = {
    [PJ_JOB_REJECTED] = PJ_VERDICT_REJECTED,
    [PJ_JOB_INCOMPATIBLE] = PJ_VERDICT_INCOMPATIBLE,
    [PJ_JOB_CRASHED] = PJ_VERDICT_CRASHED,
    [PJ_JOB_TIMED_OUT] = PJ_VERDICT_TIMED_OUT,
    [PJ_JOB_OUT_OF_MEMORY] = PJ_VERDICT_OUT_OF_MEMORY,
    [PJ_JOB_NOT_TRIED] = PJ_VERDICT_INCONCLUSIVE,
    [PJ_JOB_SKIPPED] = PJ_VERDICT_SKIPPED,
};

void pj_outcome_from_plan(struct pj_outcome *outcome, const struct pj_job *job)
{
    *outcome = (struct pj_outcome){.reason_code = job->reason_code, .reason = job->reason, .log = job->log};
    if (job->fate == PJ_JOB_OPEN ||
        job->fate == PJ_JOB_LEFT_OUT) /* none of the latter after pj_plan_settle */
        return;
    pj_outcome_fail(outcome, fate_verdicts[job->fate], job->reason_code, job->reason);
    outcome->passing = job->fate == PJ_JOB_NOT_TRIED;
}

int pj_outcome_set_entries(struct pj_session *session, struct pj_outcome *outcome, const uint64_t *hashes,
                           size_t count, struct pj_error **err)
{
    struct pj_outcome_entry *entries = pj_arena_calloc(&session->arena, count + 1, sizeof *entries);
    if (!entries)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < count; i++)
        entries[i].hash = hashes[i];
    outcome->entries = entries;
    outcome->entry_count = count;
    return 0;
}

void pj_outcome_fail(struct pj_outcome *outcome, enum pj_verdict verdict, const char *reason_code,
                     const char *reason)
{
    outcome->stage = PJ_STAGE_FAILED;
    outcome->verdict = verdict;
    outcome->reason_code = reason_code;
    outcome->reason = reason;
}

int pj_outcome_keep_entries(struct pj_session *session, const struct pj_outcome *outcome,
                            struct pj_error **err)
{
    int r = 0;
    for (size_t i = 0; session->store && i < outcome->entry_count && r == 0; i++)
        r = pj_store_keep(session->store, outcome->entries[i].hash, err);
    return r;
}

int pj_outcome_why_too_large(struct pj_session *session, const char **ret_reason, struct pj_error **err)
{
    PJ_CLEANUP_FREE char *message = NULL;
    int r = pj_store_why_too_large(session->store, &message, err);
    if (r < 0)
        return r;
    const char *reason = pj_arena_strdup(&session->arena, message);
    if (!reason)
        return pj_error_no_memory(err);
    *ret_reason = reason;
    return 0;
}

const char *pj_outcome_cause(const struct pj_job *job)
{
    bool is_one =
        job->reason_code && strcmp(job->reason_code, pj_ptx_finding_name(PJ_PTX_NEEDS_LINKING)) == 0;
    return is_one ? job->reason : NULL;
}

bool pj_outcome_is_open(const struct pj_outcome *outcome)
{
    return outcome->stage != PJ_STAGE_FAILED && outcome->stage != PJ_STAGE_CARRIED &&
           outcome->verdict == PJ_VERDICT_NONE;
}

void pj_outcome_forget_evidence(struct pj_outcome *outcome)
{
    bool listed = outcome->evidence.entry_listed_before;
    enum pj_witness present = outcome->evidence.entry_present;
    outcome->evidence = (struct pj_evidence){.entry_listed_before = listed, .entry_present = present};
    outcome->warm.count = 0;
    outcome->verdict = PJ_VERDICT_NONE;
    outcome->reason_code = outcome->reason = NULL;
}

void pj_outcome_note_content(int cache_fd, struct pj_outcome_entry *entry)
{
    enum { NS_PER_SECOND = 1000000000 };
    entry->checksum = 0;
    entry->ctime_ns = 0;
    (void)pj_entry_peek_checksum(cache_fd, entry->hash, &entry->checksum, &entry->ctime_ns);
    if (entry->ctime_ns % NS_PER_SECOND == 0) /* a later store may fall into the same second */
        entry->ctime_ns = 0;
}

const char *pj_outcome_damage_code(enum pj_entry_state state)
{
    return state == PJ_ENTRY_PAYLOAD_WRONG ? "entry-wrong"
           : state == PJ_ENTRY_IN_THE_WAY  ? "entry-in-the-way"
           : state == PJ_ENTRY_UNREADABLE  ? "entry-unreadable"
                                           : "entry-damaged";
}

static int check_one(int cache_fd, struct pj_outcome_entry *entry, enum pj_entry_state *ret_state,
                     char **ret_message, struct pj_error **err)
{
    char stamp[PJ_STAMP_MAX + 1], path[PJ_ENTRY_PATH_TEXT];
    struct stat status;
    int r = pj_entry_check(cache_fd, entry->hash, pj_check_payload, ret_state, stamp, ret_message, err);
    entry->file_bytes = 0;
    if (r == 0 && *ret_state == PJ_ENTRY_SOUND &&
        fstatat(cache_fd, pj_entry_path(entry->hash, path), &status, AT_SYMLINK_NOFOLLOW) == 0) {
        entry->file_bytes = (uint64_t)status.st_size;
        entry->mtime_seconds = status.st_mtim.tv_sec;
        pj_outcome_note_content(cache_fd, entry);
    }
    return r;
}

/* "its entry 5/2/1cade9d7c37378 is truncated" */
static const char *describe_problem(struct pj_session *session, uint64_t hash, enum pj_entry_state state,
                                    const char *message)
{
    char path[PJ_ENTRY_PATH_TEXT];
    (void)pj_entry_path(hash, path);
    if (state == PJ_ENTRY_PAYLOAD_WRONG)
        return pj_arena_printf(&session->arena, "its entry %s is wrong: %s", path, message);
    if (state == PJ_ENTRY_IN_THE_WAY || state == PJ_ENTRY_UNREADABLE) {
        const char *text = pj_arena_printf(&session->arena, "its entry %s is %s: %s", path,
                                           pj_entry_state_text(state), message);
        return text ? pj_obstacle_explain(session, hash, text) : NULL;
    }
    return pj_arena_printf(&session->arena, "its entry %s is %s", path, pj_entry_state_text(state));
}

int pj_outcome_check_entry(struct pj_session *session, size_t job, int cache_fd,
                           enum pj_entry_state *ret_state, const char **ret_problem, struct pj_error **err)
{
    struct pj_outcome *outcome = &session->outcomes[job];
    *ret_state = PJ_ENTRY_ABSENT;
    if (ret_problem)
        *ret_problem = NULL;
    if (outcome->entry_count == 0 || cache_fd < 0)
        return 0;
    enum pj_entry_state first_unsound = PJ_ENTRY_SOUND;
    for (size_t i = 0; i < outcome->entry_count; i++) {
        PJ_CLEANUP_FREE char *message = NULL;
        enum pj_entry_state state = PJ_ENTRY_ABSENT;
        int r = check_one(cache_fd, &outcome->entries[i], &state, &message, err);
        if (r < 0)
            return pj_error_wrap(err, r, "looking at the cache %s", session->location.path);
        if (first_unsound != PJ_ENTRY_SOUND || state == PJ_ENTRY_SOUND)
            continue;
        first_unsound = state;
        if (!message || !ret_problem)
            continue;
        *ret_problem = describe_problem(session, outcome->entries[i].hash, state, message);
        if (!*ret_problem)
            return pj_error_no_memory(err);
    }
    *ret_state = first_unsound;
    outcome->evidence.entry_present = first_unsound == PJ_ENTRY_SOUND ? PJ_WITNESS_YES : PJ_WITNESS_NO;
    return 0;
}

/* What each reason code of a judgement means, for people. */
static const struct {
    const char *code, *text;
} reason_texts[] = {
    {"control-failed",
     "a module that nobody ever compiled loaded too, so a hit proves nothing with this driver"},
    {"control-missing", "the load that must fail was not made"},
    {"entry-unusable", "the entry is there and the driver cannot load it"},
    {"evicted", "entry deleted"},
    {"entry-absent", "no entry in the cache"},
    {"not-found-by-driver", "the driver did not find it in this cache"},
    {"gpu-memory", "out of GPU memory"},
    {"no-context", "no context could be made on the GPU"},
    {"unexpected-answer", "the driver gave an answer that proves neither hit nor miss"},
    {"not-tried", "not tried"},
    {"wall-time-not-zero", "the driver reported compile time although JIT was disabled"},
    {"entry-unsound", "the driver loads it, but the entry file is damaged or for another architecture"},
};

static const char *reason_text(const char *code)
{
    for (size_t i = 0; i < PJ_COUNT(reason_texts); i++) {
        if (strcmp(reason_texts[i].code, code) == 0)
            return reason_texts[i].text;
    }
    return code;
}

enum { NUMBER_TEXT = 48 };

/* `limit` as it was written and `measured` to three digits, more where these do not tell the two apart. */
static void put_numbers(double measured, double limit, char ret_measured[NUMBER_TEXT],
                        char ret_limit[NUMBER_TEXT])
{
    (void)snprintf(ret_limit, NUMBER_TEXT, "%.10g", limit);
    (void)snprintf(ret_measured, NUMBER_TEXT, measured < 1000 ? "%.3g" : "%.0f", measured);
    if (strcmp(ret_measured, ret_limit) == 0)
        (void)snprintf(ret_measured, NUMBER_TEXT, "%.10g", measured);
}

int pj_outcome_check_thresholds(struct pj_session *session, struct pj_outcome *outcome, struct pj_error **err)
{
    const struct pj_manifest *manifest = session->manifest;
    double median, minimum, maximum;
    if (outcome->verdict != PJ_VERDICT_PROVEN ||
        !pj_samples_summary(&outcome->warm, &median, &minimum, &maximum))
        return 0;
    if (outcome->has_cold_ms && outcome->cold_ms > 0)
        outcome->witnesses.faster = median < outcome->cold_ms ? PJ_WITNESS_YES : PJ_WITNESS_NO;
    bool late = manifest->has_max_warm_ms && median > manifest->max_warm_ms;
    bool no_gain = manifest->has_min_speedup && outcome->has_cold_ms &&
                   outcome->cold_ms < manifest->min_speedup * median;
    if (!late && !no_gain)
        return 0;
    char measured[NUMBER_TEXT], limit[NUMBER_TEXT];
    PJ_CLEANUP_BUFFER struct pj_buffer reason = {0};
    if (late) {
        put_numbers(median, manifest->max_warm_ms, measured, limit);
        pj_buffer_printf(&reason, "a warm load took %s ms, the manifest allows %s ms", measured, limit);
    }
    if (no_gain) {
        put_numbers(outcome->cold_ms / median, manifest->min_speedup, measured, limit);
        pj_buffer_printf(&reason, "%s was %s times as fast as the compile, the manifest asks for %s",
                         late ? "; it" : "a warm load", measured, limit);
    }
    outcome->reason = reason.failed ? NULL : pj_arena_strdup(&session->arena, pj_buffer_text(&reason));
    if (!outcome->reason)
        return pj_error_no_memory(err);
    outcome->slow = true;
    outcome->reason_code = "slower-than-asked";
    return 0;
}

/* Of a link's entries some may be there: then it says how many are not. *ret_reason is NULL where memory is
 * out. */
static bool explain_part(struct pj_session *session, const struct pj_outcome *outcome,
                         const char **ret_reason)
{
    size_t there = 0;
    for (size_t i = 0; i < outcome->entry_count; i++)
        there += outcome->entries[i].file_bytes > 0;
    if (there == 0 || there == outcome->entry_count || strcmp(outcome->reason_code, "entry-absent") != 0)
        return false;
    *ret_reason = pj_arena_printf(&session->arena, "%zu of its %zu entries %s not in the cache",
                                  outcome->entry_count - there, outcome->entry_count,
                                  outcome->entry_count - there == 1 ? "is" : "are");
    return true;
}

int pj_outcome_judge(struct pj_session *session, size_t job, struct pj_error **err)
{
    struct pj_outcome *outcome = &session->outcomes[job];
    struct pj_judgement judgement;
    pj_judge(&outcome->evidence, &judgement);
    outcome->verdict = judgement.verdict;
    outcome->passing = judgement.passing;
    outcome->witnesses = judgement.witnesses;
    if (judgement.reason_code) {
        /* What the driver itself said is worth more than our own words; it was put into `reason` with its
         * code. */
        bool told = outcome->reason && outcome->reason_code &&
                    strcmp(outcome->reason_code, judgement.reason_code) == 0;
        outcome->reason_code = judgement.reason_code;
        if (!told && !explain_part(session, outcome, &outcome->reason))
            outcome->reason = reason_text(judgement.reason_code);
        if (!outcome->reason)
            return pj_error_no_memory(err);
    } else { /* what one of several processes met is no reason any more; what the plan remarked stays */
        outcome->reason_code = session->plan ? session->plan->jobs[job].reason_code : NULL;
        outcome->reason = session->plan ? session->plan->jobs[job].reason : NULL;
    }
    return pj_outcome_check_thresholds(session, outcome, err);
}

int pj_outcome_blame_disk(struct pj_session *session, struct pj_error **err)
{
    const char *full = pj_arena_printf(&session->arena, "the disk of the cache %s is full: make room there",
                                       session->location.path);
    if (!full)
        return pj_error_no_memory(err);
    pj_session_blame(session, PJ_EXIT_ENVIRONMENT, full);
    return 0;
}
