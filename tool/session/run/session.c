/* SPDX-License-Identifier: Apache-2.0 */
/* What a run has for everybody: notes, messages, times, its end. */
#include "session/run/session.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "session/run/outcome.h"

int pj_session_open_cache(const struct pj_session *session, int *ret_fd, struct pj_error **err)
{
    const char *path = session->location.path;
    if (session->cache_absent)
        return pj_error_errno(err, PJ_ERROR_IO, ENOENT, "cannot open the directory %s", path);
    return pj_directory_open(AT_FDCWD, path, true, ret_fd, err);
}

int pj_session_snapshot(const struct pj_session *session, struct pj_snapshot *ret_snapshot,
                        struct pj_error **err)
{
    if (!session->cache_absent)
        return pj_snapshot_take(session->location.path, ret_snapshot, err);
    *ret_snapshot = (struct pj_snapshot){.exists = false, .index_state = PJ_INDEX_ABSENT};
    return 0;
}

int pj_session_note(struct pj_session *session, struct pj_error **err, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *copy = pj_arena_vprintf(&session->arena, format, arguments);
    va_end(arguments);
    if (!copy || !pj_array_reserve((void **)&session->notes, session->note_count, &session->note_capacity,
                                   sizeof *session->notes))
        return pj_error_no_memory(err);
    session->notes[session->note_count++] = copy;
    return 0;
}

void pj_session_blame(struct pj_session *session, enum pj_exit status, const char *reason)
{
    if (session->exit_reason && pj_exit_combine(session->exit_status, status) == session->exit_status)
        return;
    session->exit_reason = reason;
    session->exit_status = status;
}

double pj_session_timeout_ms(const struct pj_session *session)
{
    return session->options->timeout_ms > 0 ? session->options->timeout_ms : PJ_DEFAULT_TIMEOUT_MS;
}

double pj_patience_ms(double timeout_ms)
{
    return timeout_ms > 0 ? timeout_ms : PJ_DEFAULT_PATIENCE_MS;
}

double pj_session_deadline_ms(const struct pj_session *session)
{
    return session->options->deadline_ms > 0 ? session->begin_ms + session->options->deadline_ms
                                             : (double)INFINITY;
}

void pj_session_message(const struct pj_session *session, const char *format, ...)
{
    const struct pj_observer *observer = &session->options->observer;
    if (!observer->message)
        return;
    va_list arguments;
    char *text = NULL;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;
    va_end(arguments);
    if (text)
        observer->message(observer->context, text);
    free(text);
}

void pj_session_settle_early_end(struct pj_session *session)
{
    if (!session->interrupted && !session->deadline_passed)
        return;
    for (size_t i = 0; session->outcomes && i < session->plan->job_count; i++) {
        struct pj_outcome *outcome = &session->outcomes[i];
        /* Judged without a single load: why there was none is known here. */
        bool not_tried = outcome->verdict == PJ_VERDICT_INCONCLUSIVE && outcome->reason_code &&
                         strcmp(outcome->reason_code, "not-tried") == 0;
        if (!not_tried && !pj_outcome_is_open(outcome))
            continue;
        outcome->verdict = PJ_VERDICT_INCONCLUSIVE;
        outcome->passing = true;
        outcome->reason_code = session->interrupted ? "interrupted" : "deadline";
        outcome->reason = session->interrupted ? "the run was interrupted" : "the run's deadline passed";
    }
}

/* A run that fails leaves what is compiled to the next one, which takes it over. */
static bool has_uncommitted(const struct pj_session *session)
{
    for (size_t i = 0; session->outcomes && i < session->plan->job_count; i++) {
        if (session->outcomes[i].stage == PJ_STAGE_COMPILED)
            return true;
    }
    return false;
}

void pj_session_free(struct pj_session *session)
{
    if (!session)
        return;
    pj_store_close(session->store, has_uncommitted(session));
    pj_plan_free(session->plan);
    pj_receipt_free(session->receipt);
    pj_manifest_free(session->manifest);
    pj_cache_location_free(&session->location);
    pj_way_free(&session->way);
    free(session->notes);
    pj_arena_free(&session->now.arena);
    pj_arena_free(&session->arena);
    free(session);
}

void pj_session_free_pointer(struct pj_session **session)
{
    pj_session_free(*session);
}
