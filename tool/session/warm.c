/* SPDX-License-Identifier: Apache-2.0 */
/* The main job: compile what is missing, commit, prove, record. */
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "session/accept.h"
#include "session/as_user.h"
#include "session/engine.h"
#include "session/outcome.h"
#include "session/receipt_file.h"
#include "session/result.h"
#include "session/reuse.h"

struct lock_wait {
    struct pj_session *session;
    bool waited;
};

static void on_wait(void *context, long pid)
{
    struct lock_wait *wait = context;
    wait->waited = true;
    if (pid > 0)
        pj_session_message(wait->session, "waiting for another prejit (process %ld) that works on %s", pid,
                           wait->session->location.path);
    else
        pj_session_message(wait->session, "waiting for another prejit that works on %s",
                           wait->session->location.path);
}

static bool is_interrupted(void *context)
{
    const struct lock_wait *wait = context;
    struct pollfd signals = {.fd = wait->session->options->interrupt_fd, .events = POLLIN};
    return poll(&signals, 1, 0) > 0;
}

/* Waiting counts towards the run's deadline. */
static double lock_wait_ms(const struct pj_options *options)
{
    bool sooner = options->deadline_ms > 0 && options->deadline_ms < options->lock_wait_ms;
    return sooner ? options->deadline_ms : options->lock_wait_ms;
}

static void at_point(void *context, const char *point)
{
    const struct lock_wait *wait = context;
    const struct pj_options *options = wait->session->options;
    options->at_point(options->at_point_context, point);
}

static int open_store(struct pj_session *session, struct lock_wait *wait, struct pj_error **err)
{
    const struct pj_store_options options = {
        .path = session->location.path,
        .limit_bytes = session->location.limit_bytes,
        .evict = session->options->evict,
        .lock_wait_ms = lock_wait_ms(session->options),
        .check_payload = pj_check_payload,
        .on_wait = on_wait,
        .is_interrupted = is_interrupted,
        .context = wait,
        .at_point = session->options->at_point ? at_point : NULL,
    };
    return pj_store_open(&options, &session->store, err);
}

static int note_preparation(struct pj_session *session, const struct pj_store_preparation *done,
                            struct pj_error **err)
{
    int r = 0;
    if (done->index_repaired)
        r = pj_session_note(session, err, "the cache's index %s; it was rebuilt from the sound entries",
                            pj_index_state_text(done->index_found));
    if (r == 0 && done->entries_adopted > 0)
        r = pj_session_note(session, err, "%zu sound %s that the index did not list %s listed now",
                            done->entries_adopted, done->entries_adopted == 1 ? "entry" : "entries",
                            done->entries_adopted == 1 ? "is" : "are");
    if (r == 0 && done->entries_harvested > 0)
        r = pj_session_note(session, err, "%zu %s taken over from a run that was killed",
                            done->entries_harvested,
                            done->entries_harvested == 1 ? "entry was" : "entries were");
    return r;
}

/* What a smaller limit in one program does, it does at that program's next store, long after this run [24].
 */
static int note_room(struct pj_session *session, struct pj_error **err)
{
    struct pj_store_statistics statistics;
    pj_store_statistics(session->store, &statistics);
    char total[PJ_SIZE_TEXT];
    size_t stale = statistics.stale_evicted, own = statistics.evicted;
    int r = 0;
    if (stale > 0)
        r = pj_session_note(session, err, "%zu %s of other driver builds made room", stale,
                            stale == 1 ? "entry" : "entries");
    if (r == 0 && own > 0)
        r = pj_session_note(session, err, "%zu %s of this driver build made room (--evict)", own,
                            own == 1 ? "entry" : "entries");
    if (r == 0 && statistics.total_bytes > PJ_CACHE_DEFAULT_LIMIT_BYTES)
        r = pj_session_note(session, err,
                            "the cache holds %s, more than the driver's default limit of 1.0 GiB: a program "
                            "without CUDA_CACHE_MAXSIZE=%" PRIu64
                            " in its environment evicts the oldest entries at its next store",
                            pj_text_from_size(statistics.total_bytes, total), session->location.limit_bytes);
    return r;
}

/* The driver's format is not ours. Working in place is right only where no store of this driver can delete
 * what lies there [20]: it has just shown that it accepts the index, or there is nothing to lose. */
static int refuse_danger(struct pj_engine *engine, struct pj_error **err)
{
    const struct pj_session *session = engine->session;
    bool accepts = true;
    struct pj_snapshot snapshot = {0};
    int r = pj_snapshot_take(session->location.path, &snapshot, err);
    size_t files = snapshot.count;
    pj_snapshot_free(&snapshot);
    if (r == 0 && files > 0)
        r = pj_accept_ask(engine, &accepts, err);
    if (r < 0 || accepts || session->interrupted)
        return r;
    return pj_error_set(err, PJ_ERROR_ENVIRONMENT,
                        "this driver does not accept the index of %s: its next store there would delete %zu "
                        "entry files of another driver. "
                        "Nothing was touched. Use an empty cache directory, or move this one away",
                        session->location.path, files);
}

static size_t collect(const struct pj_session *session, bool (*wanted)(const struct pj_outcome *),
                      size_t *jobs)
{
    size_t count = 0;
    for (size_t i = 0; i < session->plan->job_count; i++) {
        if (wanted(&session->outcomes[i]))
            jobs[count++] = i;
    }
    return count;
}

static int judge_open(struct pj_session *session, struct pj_error **err)
{
    int r = 0;
    for (size_t i = 0; i < session->plan->job_count && r == 0; i++) {
        if (pj_outcome_is_open(&session->outcomes[i]))
            r = pj_outcome_judge(session, i, err);
    }
    return r;
}

static bool repairable(const struct pj_outcome *outcome)
{
    return outcome->stage == PJ_STAGE_PRESENT &&
           (outcome->verdict == PJ_VERDICT_MISSED || outcome->verdict == PJ_VERDICT_EVICTED);
}

/* What the driver did not find is compiled once more; an entry that it believes and cannot load must go
 * first, it would never be replaced [22]. */
static int send_back(struct pj_session *session, const size_t *jobs, size_t count, struct pj_error **err)
{
    for (size_t i = 0; i < count; i++) {
        struct pj_outcome *outcome = &session->outcomes[jobs[i]];
        if (outcome->evidence.poisoned > 0 && outcome->has_entry && session->format == PJ_FORMAT_KNOWN) {
            int r = pj_store_remove(session->store, outcome->entry_hash, err);
            if (r < 0)
                return r;
        }
        outcome->evidence.entry_present = PJ_WITNESS_UNKNOWN;
        pj_outcome_forget_evidence(outcome);
        outcome->stage = PJ_STAGE_WAITING;
    }
    return 0;
}

enum { REPAIR_ROUNDS = 1, REPAIR_ROUNDS_IN_PLACE = 3 };

static int compile_prove_repair(struct pj_engine *engine, struct pj_error **err)
{
    struct pj_session *session = engine->session;
    PJ_CLEANUP_FREE size_t *jobs = calloc(session->plan->job_count + 1, sizeof *jobs);
    if (!jobs)
        return pj_error_no_memory(err);
    for (unsigned round = 0;; round++) {
        int r = pj_engine_compile_and_prove(engine, session->manifest->verify_samples, err);
        if (r == 0 && session->format == PJ_FORMAT_OTHER && !engine->compile.in_place)
            return 0; /* work_in_place takes over */
        if (r == 0 && !session->interrupted && !session->deadline_passed)
            r = pj_engine_prove_missed_alone(engine, err);
        if (r == 0)
            r = judge_open(session, err);
        size_t count = collect(session, repairable, jobs);
        unsigned rounds = engine->compile.in_place ? REPAIR_ROUNDS_IN_PLACE : REPAIR_ROUNDS;
        if (r < 0 || count == 0 || round >= rounds || session->interrupted || session->deadline_passed)
            return r;
        r = send_back(session, jobs, count, err);
        if (r < 0)
            return r;
    }
}

/* That nothing was stored means nothing where stores of this format were not recognised, or were tried in a
 * private cache only. */
static bool is_waiting(const struct pj_outcome *outcome)
{
    return outcome->stage == PJ_STAGE_WAITING || outcome->stage == PJ_STAGE_COMPILED ||
           (outcome->stage == PJ_STAGE_FAILED && outcome->verdict == PJ_VERDICT_LOST);
}

/* An unknown format: what is there already is found out by asking the driver, the rest is compiled straight
 * into the cache. */
static int work_in_place(struct pj_engine *engine, struct pj_error **err)
{
    struct pj_session *session = engine->session;
    pj_engine_restart_in_place(engine);
    int r = refuse_danger(engine, err);
    if (r == 0)
        r = pj_session_note(
            session, err,
            "this driver's cache format is not known to prejit %s: entries are compiled in place, "
            "without names, commit or checks by file",
            pj_result_tool_version());
    PJ_CLEANUP_FREE size_t *jobs = calloc(session->plan->job_count + 1, sizeof *jobs);
    if (r == 0 && !jobs)
        r = pj_error_no_memory(err);
    if (r < 0)
        return r;
    size_t count = collect(session, is_waiting, jobs);
    for (size_t i = 0; i < count; i++)
        session->outcomes[jobs[i]] =
            (struct pj_outcome){.stage = PJ_STAGE_PRESENT, .origin = PJ_ORIGIN_REUSED};
    r = pj_engine_prove(engine, jobs, count, 1, false, err);
    for (size_t i = 0; i < count && r == 0; i++) {
        struct pj_outcome *outcome = &session->outcomes[jobs[i]];
        if (outcome->evidence.hits == 0 && pj_outcome_is_open(outcome)) {
            outcome->stage = PJ_STAGE_WAITING;
            outcome->origin = PJ_ORIGIN_NONE;
        }
        pj_outcome_forget_evidence(outcome);
    }
    return r == 0 ? compile_prove_repair(engine, err) : r;
}

/* What cannot be removed now keeps the next run from having nothing to do: it tries again. */
static int remove_run_folder(struct pj_session *session, struct pj_error **err)
{
    PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
    if (pj_store_remove_run_folder(session->store, &problem) == 0)
        return 0;
    return pj_session_note(session, err, "%s; the next run tries again", pj_error_message(problem));
}

static int run(struct pj_session *session, struct pj_error **err)
{
    PJ_CLEANUP_ENGINE struct pj_engine *engine = NULL;
    int r = pj_engine_new(session, &engine, err);
    if (r == 0)
        r = pj_engine_meet_driver(engine, err);
    if (r == 0 && session->outcomes && session->format != PJ_FORMAT_OTHER)
        r = compile_prove_repair(engine, err);
    if (r == 0 && session->outcomes && session->format == PJ_FORMAT_OTHER)
        r = work_in_place(engine, err);
    if (r == 0 && (session->interrupted || session->deadline_passed)) {
        pj_compile_stop(&engine->compile);
        r = pj_compile_commit(&engine->compile, err);
    }
    pj_session_settle_early_end(session);
    return r;
}

int pj_warm(const struct pj_options *options, struct pj_result **ret_result, struct pj_error **err)
{
    PJ_CLEANUP_SESSION struct pj_session *session = NULL;
    struct lock_wait wait = {0};
    bool nothing_to_do = false;
    int r = pj_session_open(options, "warm", &session, err);
    if (r == 0)
        r = pj_as_user_refuse_foreign_cache(session, err);
    if (r == 0)
        r = pj_reuse_everything(session, &nothing_to_do, err);
    if (r < 0)
        return r;
    wait.session = session;
    if (!nothing_to_do) {
        r = open_store(session, &wait, err);
        if (r == 0 && wait.waited)
            r = pj_session_reload_receipt(session, err); /* the other run may have done it all */
        if (r == 0 && wait.waited)
            r = pj_reuse_everything(session, &nothing_to_do, err);
        if (r < 0)
            return r;
    }
    if (nothing_to_do)
        return pj_result_from_receipt(&session, ret_result, err);
    struct pj_store_preparation prepared = {0};
    r = pj_store_prepare(session->store, &prepared, err);
    if (r == 0)
        r = note_preparation(session, &prepared, err);
    if (r == 0 && !prepared.can_commit)
        session->format = PJ_FORMAT_OTHER;
    if (r == 0)
        r = run(session, err);
    if (r == 0)
        r = note_room(session, err);
    if (r == 0)
        r = remove_run_folder(session, err);
    if (r == 0 && !options->no_receipt && session->outcomes)
        r = pj_receipt_save(session, err);
    return r < 0 ? r : pj_result_from_session(&session, ret_result, err);
}
