/* SPDX-License-Identifier: Apache-2.0 */
/* Run lock, preparation, and their notes. */
#include "session/frame/opening.h"

#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "session/doctor/doctor.h"
#include "session/run/outcome.h"
#include "session/run/unreadable.h"

static void on_wait(void *context, long pid)
{
    struct pj_lock_wait *wait = context;
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
    const struct pj_lock_wait *wait = context;
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
    const struct pj_lock_wait *wait = context;
    const struct pj_options *options = wait->session->options;
    options->at_point(options->at_point_context, point);
}

/* Who sets the limit is who has to change it. */
static const char *limit_manifest(const struct pj_session *session)
{
    if (session->location.limit_source != PJ_CACHE_FROM_MANIFEST)
        return NULL;
    return strcmp(session->manifest->name, "-") == 0 ? "the manifest" : session->manifest->name;
}

static int open_store(struct pj_session *session, struct pj_lock_wait *wait, struct pj_error **err)
{
    const struct pj_store_options options = {
        .path = session->location.path,
        .limit_bytes = session->location.limit_bytes,
        .limit_manifest = limit_manifest(session),
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

int pj_opening_check(const struct pj_session *session, struct pj_error **err)
{
    PJ_CLEANUP_FINDING_LIST struct pj_finding_list findings = {0};
    int r = pj_doctor_findings(&session->root, session->location.path, session->location.limit_bytes,
                               session->options->driver,
                               session->cache_absent ? PJ_DOCTOR_PLACE : PJ_DOCTOR_CACHE, &findings, err);
    if (r == 0)
        r = pj_doctor_refuse(&findings, err);
    return r;
}

int pj_opening_take_store(struct pj_session *session, bool *ret_waited, struct pj_error **err)
{
    struct pj_lock_wait wait = {.session = session};
    session->lock_wait = wait;
    int r = pj_unreadable_refuse(session->location.path, open_store(session, &session->lock_wait, err), err);
    if (r == 0) {
        *ret_waited = session->lock_wait.waited;
        session->cache_absent = false; /* the store has judged what it opened or made */
    }
    return r;
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
    char path[PJ_ENTRY_PATH_TEXT];
    if (r == 0 && done->entries_dangerous > 0)
        r = pj_session_note(session, err,
                            "%zu unlisted %s believed by the driver and cannot be loaded, so every program "
                            "that needs it fails until "
                            "it is removed, the first: %s; which: prejit cache ls",
                            done->entries_dangerous,
                            done->entries_dangerous == 1 ? "entry is" : "entries are",
                            pj_entry_path(done->dangerous_hash, path));
    return r;
}

int pj_opening_prepare(struct pj_session *session, struct pj_error **err)
{
    struct pj_store_preparation prepared = {0};
    int r =
        pj_unreadable_refuse(session->location.path, pj_store_prepare(session->store, &prepared, err), err);
    if (r == 0 && !prepared.can_commit)
        session->format = PJ_FORMAT_OTHER;
    return r == 0 ? note_preparation(session, &prepared, err) : r;
}

/* What a smaller limit in one program does, it does at that program's next store, long after this run [24].
 */
int pj_opening_note_room(struct pj_session *session, struct pj_error **err)
{
    struct pj_store_statistics statistics;
    pj_store_statistics(session->store, &statistics);
    char total[PJ_SIZE_TEXT], limit[PJ_SIZE_TEXT];
    if (statistics.total_bytes > session->location.limit_bytes)
        return pj_session_note(
            session, err,
            "the cache holds %s, more than its limit of %s: the next store evicts the oldest "
            "entries; raise the limit to %" PRIu64 " bytes or more",
            pj_text_from_size(statistics.total_bytes, total),
            pj_text_from_limit(session->location.limit_bytes, limit), statistics.total_bytes);
    if (statistics.total_bytes > PJ_CACHE_DEFAULT_LIMIT_BYTES)
        return pj_session_note(
            session, err,
            "the cache holds %s, more than the driver's default limit of 1.0 GiB: a program "
            "without CUDA_CACHE_MAXSIZE=%" PRIu64
            " in its environment evicts the oldest entries at its next store",
            pj_text_from_size(statistics.total_bytes, total), session->location.limit_bytes);
    return 0;
}

/* `variables`: "CUDA_FORCE_JIT", or two. */
static int blame_forced_jit(struct pj_session *session, const struct pj_buffer *variables,
                            struct pj_error **err)
{
    if (variables->size == 0)
        return pj_buffer_check(variables, err);
    const char *reason =
        pj_arena_printf(&session->arena,
                        "programs that are started with this environment compile at every load, "
                        "whatever the cache holds: unset %s",
                        pj_buffer_text(variables));
    if (!reason || variables->failed)
        return pj_error_no_memory(err);
    pj_session_blame(session, PJ_EXIT_COLD, reason);
    return 0;
}

/* Root does not work in such a cache. Others may have reason to share one. */
static int note_open_cache(struct pj_session *session, const struct pj_program *program,
                           struct pj_error **err)
{
    PJ_CLEANUP_FINDING_LIST struct pj_finding_list findings = {0};
    bool exists;
    int r = pj_check_path(program, session->location.path, &exists, &findings, err);
    for (size_t i = 0; i < findings.count && r == 0; i++) {
        const struct pj_finding *finding = &findings.items[i];
        if (finding->code == PJ_FINDING_CACHE_OPEN || finding->code == PJ_FINDING_PATH_OF_OTHER_USER)
            r = pj_session_note(session, err, "%s: %s: its entries may be anybody's code; %s",
                                finding->subject, finding->found, finding->cure);
    }
    return r;
}

/* The run has workers with an environment of their own, so it notices nothing. */
int pj_opening_note_environment(struct pj_session *session, struct pj_error **err)
{
    PJ_CLEANUP_BUFFER struct pj_buffer forced = {0};
    PJ_CLEANUP_PROGRAM struct pj_program program = {.root = ""};
    PJ_CLEANUP_FINDING_LIST struct pj_finding_list findings = {0};
    int r = pj_program_own(&program, err);
    if (r == 0)
        r = pj_check_variables(&program, &findings, err);
    for (size_t i = 0; i < findings.count && r == 0; i++) {
        const struct pj_finding *finding = &findings.items[i];
        if (finding->code == PJ_FINDING_JIT_FORCED || finding->code == PJ_FINDING_JIT_DISABLED)
            r = pj_session_note(session, err,
                                "%s: %s, in programs that are started with this environment; %s",
                                finding->subject, finding->found, finding->cure);
        if (finding->code == PJ_FINDING_JIT_FORCED)
            pj_buffer_printf(&forced, "%s%s", forced.size > 0 ? " and " : "", finding->subject);
    }
    if (r == 0 && geteuid() != 0)
        r = note_open_cache(session, &program, err);
    return r == 0 ? blame_forced_jit(session, &forced, err) : r;
}
