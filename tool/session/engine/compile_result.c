/* SPDX-License-Identifier: Apache-2.0 */
/* What a compile worker's answer, or its death, means for the job; and the way of entries into the cache. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "image/complaint.h"
#include "session/engine/compile_private.h"
#include "session/run/machine.h"
#include "session/run/outcome.h"

/* "saxpy sm_90", as the table and the answer name it. Where memory is out, the name is less pretty. */
static const char *title_of(const struct pj_job *job, struct pj_buffer *buffer)
{
    pj_buffer_printf(buffer, "%s sm_%u", job->name, job->target);
    return buffer->failed ? job->id : pj_buffer_text(buffer);
}

void pj_compile_tell_started(const struct pj_compile *compile, size_t job)
{
    const struct pj_observer *observer = &compile->session->options->observer;
    PJ_CLEANUP_BUFFER struct pj_buffer title = {0};
    if (observer->started)
        observer->started(observer->context, job, title_of(&compile->session->plan->jobs[job], &title));
}

void pj_compile_tell(const struct pj_compile *compile, size_t job, const char *outcome, bool attention)
{
    const struct pj_observer *observer = &compile->session->options->observer;
    const struct pj_job *of = &compile->session->plan->jobs[job];
    PJ_CLEANUP_BUFFER struct pj_buffer title = {0};
    if (observer->finished)
        observer->finished(observer->context, job, title_of(of, &title), of->size_bytes, outcome, attention);
}

void pj_compile_again(struct pj_compile *compile, size_t job)
{
    const struct pj_observer *observer = &compile->session->options->observer;
    compile->session->outcomes[job].stage = PJ_STAGE_WAITING;
    compile->alone[compile->alone_count++] = job;
    if (observer->requeued)
        observer->requeued(observer->context, job);
}

static int fail(struct pj_compile *compile, size_t job, enum pj_verdict verdict, const char *code,
                const char *reason, struct pj_error **err)
{
    const char *copy = pj_arena_strdup(&compile->session->arena, reason);
    if (!copy)
        return pj_error_no_memory(err);
    pj_outcome_fail(&compile->session->outcomes[job], verdict, code, copy);
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    pj_buffer_printf(&text, "%s: %s", pj_verdict_name(verdict), copy);
    pj_compile_tell(compile, job, pj_buffer_text(&text), true);
    return 0;
}

int pj_compile_blame(struct pj_compile *compile, size_t job, const struct pj_death *death,
                     struct pj_error **err)
{
    struct pj_outcome *outcome = &compile->session->outcomes[job];
    bool late = death->cause == PJ_DEATH_TIMED_OUT, memory = death->cause == PJ_DEATH_OUT_OF_MEMORY;
    PJ_CLEANUP_BUFFER struct pj_buffer reason = {0};
    char limit[PJ_DURATION_TEXT];
    if (!late && outcome->attempts++ == 0) {
        pj_compile_again(compile, job);
        return 0;
    }
    if (late)
        pj_buffer_printf(&reason, "gave up after %s (--timeout)",
                         pj_text_from_ms(pj_session_timeout_ms(compile->session), limit));
    else if (outcome->attempts == 2)
        pj_buffer_printf(&reason, "%s, tried twice", death->text);
    else
        pj_buffer_printf(&reason, "%s, tried %u times", death->text, outcome->attempts);
    if (reason.failed)
        return pj_error_no_memory(err);
    enum pj_verdict verdict = late     ? PJ_VERDICT_TIMED_OUT
                              : memory ? PJ_VERDICT_OUT_OF_MEMORY
                                       : PJ_VERDICT_CRASHED;
    return fail(compile, job, verdict, pj_verdict_name(verdict), pj_buffer_text(&reason), err);
}

enum { OUT_OF_MEMORY = 2, JIT_COMPILER_NOT_FOUND = 221 };

/* The driver links in a context only. */
static int take_no_context(struct pj_compile *compile, size_t job, const struct pj_wire_loaded *loaded,
                           struct pj_error **err)
{
    PJ_CLEANUP_BUFFER struct pj_buffer reason = {0};
    bool memory = loaded->result == OUT_OF_MEMORY;
    pj_buffer_printf(&reason, "linking needs a context on the GPU: %s", loaded->result_name);
    if (reason.failed)
        return pj_error_no_memory(err);
    compile->session->outcomes[job].passing = memory;
    return memory ? fail(compile, job, PJ_VERDICT_INCONCLUSIVE, "gpu-memory", pj_buffer_text(&reason), err)
                  : fail(compile, job, PJ_VERDICT_REJECTED, "no-context", pj_buffer_text(&reason), err);
}

static int take_refusal(struct pj_compile *compile, size_t job, const struct pj_wire_loaded *loaded,
                        struct pj_error **err)
{
    struct pj_outcome *outcome = &compile->session->outcomes[job];
    PJ_CLEANUP_BUFFER struct pj_buffer reason = {0};
    size_t first_line = strcspn(loaded->log, "\n");
    if (loaded->result == JIT_COMPILER_NOT_FOUND && outcome->attempts++ == 0) {
        pj_compile_again(compile, job); /* seen in one start of ten where many start at once */
        return 0;
    }
    const struct pj_job *of = &compile->session->plan->jobs[job];
    bool link = of->link;
    if (link || loaded->result == 0) /* 0: only the log says so [13] [63] */
        pj_buffer_puts(&reason, link ? "the driver's linker refused it" : "the driver refused it");
    if (loaded->result != 0)
        pj_buffer_printf(&reason, "%s%s", link ? ": " : "", loaded->result_name);
    if (loaded->result == JIT_COMPILER_NOT_FOUND)
        pj_buffer_puts(&reason, ": libnvidia-ptxjitcompiler.so.1 of the driver's version is missing");
    if (first_line > 0)
        pj_buffer_printf(&reason, ": %.*s", (int)first_line, loaded->log);
    const char *cause = pj_outcome_cause(of) ? pj_outcome_cause(of) : pj_complaint_cure(loaded->log);
    if (cause && loaded->result != JIT_COMPILER_NOT_FOUND && loaded->result != OUT_OF_MEMORY)
        pj_buffer_printf(&reason, "; %s", cause);
    if (reason.failed)
        return pj_error_no_memory(err);
    return loaded->result == OUT_OF_MEMORY
               ? fail(compile, job, PJ_VERDICT_OUT_OF_MEMORY, "out-of-memory", pj_buffer_text(&reason), err)
               : fail(compile, job, PJ_VERDICT_REJECTED, "refused-by-driver", pj_buffer_text(&reason), err);
}

/* It has told its stamp. Left where it is, it would be taken for a module's entry should this run be killed
 * and harvested. */
static void remove_probe(const struct pj_compile_seat *seat, const char *path)
{
    uint64_t hash;
    if (!pj_entry_path_read(path, &hash)) /* a worker's word is no reason to remove another file */
        return;
    PJ_CLEANUP_FREE char *full = pj_path_join(seat->folder_path, path);
    if (full)
        (void)unlink(full);
}

/* Does the file system of the private folder lack what an entry of such an image may need? How large the code
 * is that it did not take is not known: a few lines of PTX may hold megabytes of data. */
static bool is_disk_full(const char *folder, uint64_t image_bytes)
{
    enum { CODE_BYTES = 4 << 20 };
    struct statvfs status;
    if (statvfs(folder, &status) == 0 && status.f_files > 0 && status.f_favail < 4)
        return true;
    return pj_directory_is_full(folder, 2 * image_bytes + CODE_BYTES);
}

static int take_probe(struct pj_compile *compile, struct pj_compile_seat *seat,
                      const struct pj_wire_loaded *loaded, struct pj_error **err)
{
    struct pj_session *session = compile->session;
    compile->probe_running = false;
    if (loaded->entry_count == 0 && compile->probe_attempts < 2) {
        compile->probe_wanted = true; /* nothing was stored: once more before the format is called unknown */
        return 0;
    }
    if (loaded->entry_count == 0 && is_disk_full(seat->folder_path, 0))
        return pj_error_errno(err, PJ_ERROR_ENVIRONMENT, ENOSPC,
                              "the driver can store nothing in the cache %s", session->location.path);
    if (loaded->entry_count != 1) {
        session->format = PJ_FORMAT_OTHER;
        return 0;
    }
    int r = pj_probe_learn(session, &compile->probe, seat->folder_path, loaded->entries[0].path,
                           session->machine.device_arch[0], err);
    if (r < 0 || session->format != PJ_FORMAT_KNOWN)
        return r;
    remove_probe(seat, loaded->entries[0].path);
    return session->outcomes ? pj_compile_find_present(compile, err) : 0;
}

static void note_times(struct pj_outcome *outcome, const struct pj_wire_loaded *loaded)
{
    double ms = loaded->has_wall_ms && loaded->wall_ms > 0 ? loaded->wall_ms : loaded->call_ms;
    outcome->has_compile_ms = outcome->has_cold_ms = true;
    outcome->compile_ms = outcome->cold_ms = ms;
    outcome->cold_from_receipt = false;
    outcome->peak_rss_bytes = loaded->peak_rss_bytes;
}

/* A hit in the private cache, after a worker died behind its store, tells no compile time. */
static int take_success(struct pj_compile *compile, struct pj_compile_seat *seat, size_t job,
                        const struct pj_wire_loaded *loaded, const struct pj_compile_entries *entries,
                        struct pj_error **err)
{
    struct pj_outcome *outcome = &compile->session->outcomes[job];
    char took[PJ_DURATION_TEXT], text[64];
    if (entries->fresh || compile->in_place)
        note_times(outcome, loaded);
    outcome->origin = outcome->origin == PJ_ORIGIN_COMPILED ? PJ_ORIGIN_REPAIRED : PJ_ORIGIN_COMPILED;
    outcome->stage = compile->in_place ? PJ_STAGE_PRESENT : PJ_STAGE_COMPILED;
    if (entries->complete) {
        int r = pj_outcome_set_entries(compile->session, outcome, entries->hashes, entries->count, err);
        if (r < 0)
            return r;
        outcome->folder = seat->folder;
        if (compile->ready_since_ms <= 0)
            compile->ready_since_ms = pj_clock_ms();
    }
    if (outcome->has_compile_ms)
        (void)snprintf(text, sizeof text, "compiled in %s", pj_text_from_ms(outcome->compile_ms, took));
    else if (compile->session->plan->jobs[job].link)
        (void)snprintf(text, sizeof text, "compiled, partly with another link");
    else
        (void)snprintf(text, sizeof text, "compiled by an earlier try");
    pj_compile_tell(compile, job, text, false);
    return 0;
}

/* Its inputs are cubins, or fatbins and the like that hold a fitting one [46]. */
static int take_nothing_to_warm(struct pj_compile *compile, size_t job, struct pj_error **err)
{
    return fail(compile, job, PJ_VERDICT_SKIPPED, "nothing-to-warm", PJ_NOTHING_TO_WARM, err);
}

/* Compiled without an error, and nothing stored: the driver says nothing about a disk that is full [23]. */
static int take_nothing_stored(struct pj_compile *compile, const struct pj_compile_seat *seat, size_t job,
                               struct pj_error **err)
{
    struct pj_session *session = compile->session;
    const char *folder = compile->in_place ? session->location.path : seat->folder_path;
    if (compile->session->outcomes[job].attempts++ < PJ_COMPILE_AGAIN_MAX) {
        pj_compile_again(compile, job);
        return 0;
    }
    if (!is_disk_full(folder, session->plan->jobs[job].size_bytes))
        return fail(compile, job, PJ_VERDICT_LOST, "not-stored",
                    "the driver compiled it without an error and stored nothing", err);
    int r = pj_outcome_blame_disk(session, err);
    return r < 0 ? r
                 : fail(compile, job, PJ_VERDICT_LOST, "disk-full",
                        "the disk is full, so the driver stored nothing", err);
}

/* The linker stores its inputs' entries before it finds a fault [48], the JIT none. */
static int take_answer(struct pj_compile *compile, struct pj_compile_seat *seat, size_t index,
                       const struct pj_wire_loaded *loaded, struct pj_error **err)
{
    const struct pj_job *job = &compile->session->plan->jobs[index];
    if (loaded->no_context)
        return take_no_context(compile, index, loaded, err);
    if (job->link && loaded->refused)
        return take_refusal(compile, index, loaded, err);
    struct pj_compile_entries entries = {.hashes = NULL};
    int r = pj_compile_find_entries(compile, seat, job, loaded, &entries, err);
    bool nothing = entries.count == 0 && !compile->in_place;
    if (r == 0 && (entries.complete || (compile->in_place && !loaded->refused)))
        r = take_success(compile, seat, index, loaded, &entries, err);
    else if (r == 0 && loaded->refused)
        r = take_refusal(compile, index, loaded, err);
    else if (r == 0 && nothing && pj_compile_may_store_nothing(job) && !is_disk_full(seat->folder_path, 0))
        r = take_nothing_to_warm(compile, index, err);
    else if (r == 0)
        r = take_nothing_stored(compile, seat, index, err);
    free(entries.hashes);
    return r;
}

int pj_compile_take_result(struct pj_compile *compile, struct pj_compile_seat *seat,
                           const struct pj_wire_loaded *loaded, struct pj_error **err)
{
    struct pj_session *session = compile->session;
    if (loaded->file_count > 0) {
        int r = pj_machine_files(session, loaded->files, loaded->file_count, err);
        if (r < 0)
            return r;
    }
    if (loaded->job == PJ_PROBE_JOB)
        return take_probe(compile, seat, loaded, err);
    size_t job = (size_t)loaded->job;
    struct pj_outcome *outcome = &session->outcomes[job];
    compile->running--;
    session->phases.has_compile = true;
    session->phases.compile_ms = pj_clock_ms() - compile->begin_ms;
    if (loaded->image_changed)
        return fail(compile, job, PJ_VERDICT_REJECTED, "image-changed", PJ_FILE_CHANGED, err);
    if (loaded->log[0] != '\0') {
        outcome->log = pj_arena_strdup(&session->arena, loaded->log);
        if (!outcome->log)
            return pj_error_no_memory(err);
    }
    return take_answer(compile, seat, job, loaded, err);
}
