/* SPDX-License-Identifier: Apache-2.0 */
/* The compiler of an offline run: which one it is, and its orders. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "host/toolkit.h"
#include "image/complaint.h"
#include "session/make/end.h"
#include "session/offline/private.h"
#include "session/run/outcome.h"

#define COMMIT_AFTER_MS 5000.0 /* what is done by then survives a kill */

/* ptxas where there is one: its code is the driver's [33]. nvJitLink where it was asked for, or alone is
 * there. */
static int find_compiler(struct pj_offline *offline, const char ***ret_paths, size_t *ret_count,
                         struct pj_error **err)
{
    struct pj_session *session = offline->session;
    const struct pj_options *options = session->options;
    *ret_count = 0;
    offline->library = PJ_LIBRARY_PTXAS;
    if (options->ptxas || !options->nvjitlink) {
        int r = pj_toolkit_ptxas(&session->root, options->ptxas, pj_toolkit_home(), getenv("PATH"),
                                 &session->arena, ret_paths, ret_count, err);
        if (r < 0 || *ret_count > 0)
            return r;
    }
    offline->library = PJ_LIBRARY_NVJITLINK;
    return pj_toolkit_candidates(&session->root, PJ_TOOLKIT_NVJITLINK, options->nvjitlink, pj_toolkit_home(),
                                 &session->arena, ret_paths, ret_count, err);
}

/* What the maker says when there is no nvJitLink, to somebody who would rather have ptxas. */
static int neither(struct pj_error *problem, struct pj_error **err)
{
    int r = problem->code;
    return r == PJ_ERROR_NO_MEMORY
               ? pj_error_no_memory(err)
               : pj_error_set(err, (enum pj_error_code)r,
                              "no ptxas was found (--ptxas PATH, CUDA_HOME, PATH, /usr/local/cuda), and no "
                              "nvJitLink in its place: install ptxas (package cuda-nvcc), whose code is the "
                              "driver's; %s",
                              pj_error_message(problem));
}

static int take(void *context, struct pj_making *making, struct pj_error **err);

int pj_offline_open_compiler(struct pj_offline *offline, struct pj_error **err)
{
    struct pj_session *session = offline->session;
    const struct pj_options *options = session->options;
    const char **paths = NULL;
    size_t count = 0;
    int r = find_compiler(offline, &paths, &count, err);
    const char *temporary = NULL;
    if (r == 0 && session->store) /* none where doctor only asks */
        r = pj_store_named_folder(session->store, "temporary", &temporary, err);
    if (r < 0)
        return r;
    struct pj_maker_options maker = pj_maker_options_of(session, offline->library, "compile");
    maker.paths = paths;
    maker.path_count = count;
    maker.temporary = temporary; /* ptxas keeps calls of other files' functions in one */
    maker.taken = take;
    maker.context = offline;
    PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
    r = pj_maker_open(&maker, &offline->maker, &problem);
    if (r < 0 && offline->library == PJ_LIBRARY_NVJITLINK && !options->nvjitlink && r == PJ_ERROR_ENVIRONMENT)
        return neither(problem, err);
    if (r < 0)
        *err = PJ_STEAL(problem);
    return r;
}

/* Reports and profiles call it by name and exact version, which a library may tell by what it makes only. */
static int check_compiler(struct pj_offline *offline, bool made, struct pj_error **err)
{
    struct pj_session *session = offline->session;
    const struct pj_compiler *compiler = pj_maker_compiler(offline->maker);
    const char *tool = offline->library == PJ_LIBRARY_PTXAS ? "ptxas" : "nvjitlink";
    const char *version = compiler->library.build ? compiler->library.build : compiler->library.version;
    if (offline->checked)
        return 0;
    offline->checked = made || compiler->library.build;
    int r = offline->checked ? pj_offline_check_compiler(offline, compiler, tool, err) : 0;
    if (r < 0)
        return r;
    session->offline.compiler_path = compiler->library.path;
    offline->compiler = session->offline.compiler = pj_arena_printf(
        &session->arena, "%s %s", offline->library == PJ_LIBRARY_PTXAS ? "ptxas" : "nvJitLink", version);
    return offline->compiler ? 0 : pj_error_no_memory(err);
}

static void fail(struct pj_offline_unit *unit, enum pj_verdict verdict, const char *code, const char *reason)
{
    unit->failure = verdict;
    unit->reason_code = code;
    unit->reason = reason;
}

static int take_failure(struct pj_offline *offline, struct pj_offline_unit *unit, struct pj_making *making,
                        struct pj_error **err)
{
    struct pj_arena *arena = &offline->session->arena;
    const char *log = pj_buffer_text(pj_making_result(making, PJ_OUTPUT_LOG)), *reason = making->reason;
    switch (making->end) {
    case PJ_MAKING_IMPOSSIBLE:
        fail(unit, PJ_VERDICT_REJECTED, "not-handed-over", reason);
        break;
    case PJ_MAKING_CHANGED:
        fail(unit, PJ_VERDICT_REJECTED, "image-changed", reason);
        break;
    case PJ_MAKING_CRASHED:
        fail(unit, PJ_VERDICT_CRASHED, "crashed", reason);
        break;
    case PJ_MAKING_TIMED_OUT:
        fail(unit, PJ_VERDICT_TIMED_OUT, "timed-out", reason);
        break;
    case PJ_MAKING_OUT_OF_MEMORY:
        fail(unit, PJ_VERDICT_OUT_OF_MEMORY, "out-of-memory", reason);
        break;
    case PJ_MAKING_REFUSED: {
        bool killed = pj_making_was_killed(making);
        const char *cause = killed ? NULL : pj_outcome_cause(&offline->session->plan->jobs[unit->job]);
        if (!killed && !cause)
            cause = pj_complaint_cure(log);
        reason = killed ? pj_arena_printf(arena, "%s was %s", offline->compiler, making->result_name)
                        : pj_arena_printf(arena, "%s refused it: %s%s%s", offline->compiler, reason,
                                          cause ? "; " : "", cause ? cause : "");
        fail(unit, killed ? PJ_VERDICT_CRASHED : PJ_VERDICT_REJECTED,
             killed ? "crashed" : "refused-by-compiler", reason);
        break;
    }
    case PJ_MAKING_MADE:
    case PJ_MAKING_NOT_TRIED:
        return 0;
    }
    unit->log = *log ? pj_arena_strdup(arena, log) : NULL;
    return !reason || (*log && !unit->log) ? pj_error_no_memory(err) : 0;
}

static int take(void *context, struct pj_making *making, struct pj_error **err)
{
    struct pj_offline *offline = context;
    struct pj_offline_unit *unit = &offline->units[offline->owners[making - offline->makings]];
    int r = making->end == PJ_MAKING_MADE ? check_compiler(offline, true, err) : 0;
    if (r == 0)
        r = making->end == PJ_MAKING_MADE ? pj_offline_take_made(offline, unit, making, err)
                                          : take_failure(offline, unit, making, err);
    pj_making_free(making);
    double now = pj_clock_ms();
    if (r == 0 && offline->ready_since_ms > 0 && now - offline->ready_since_ms > COMMIT_AFTER_MS)
        r = pj_offline_commit(offline, err);
    return r;
}

/* "saxpy sm_90", and of a link with several inputs the one that is compiled. */
static const char *title_of(const struct pj_offline *offline, const struct pj_offline_unit *unit)
{
    const struct pj_job *job = &offline->session->plan->jobs[unit->job];
    const char *slash = strrchr(unit->image->path, '/');
    struct pj_arena *arena = &offline->session->arena;
    if (job->image_count > 1)
        return pj_arena_printf(arena, "%s (%s) sm_%u", job->name, slash ? slash + 1 : unit->image->path,
                               unit->target);
    return pj_arena_printf(arena, "%s sm_%u", job->name, unit->target);
}

static int make_orders(struct pj_offline *offline, struct pj_error **err)
{
    struct pj_session *session = offline->session;
    offline->makings = pj_arena_calloc(&session->arena, offline->unit_count + 1, sizeof *offline->makings);
    offline->owners = pj_arena_calloc(&session->arena, offline->unit_count + 1, sizeof *offline->owners);
    if (!offline->makings || !offline->owners)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < offline->unit_count; i++) {
        struct pj_offline_unit *unit = &offline->units[i];
        if (unit->failure || !pj_offline_is_missing(offline, unit))
            continue;
        struct pj_making *making = &offline->makings[offline->making_count];
        const char *refusal = NULL;
        unit->part.type = offline->library == PJ_LIBRARY_NVJITLINK ? PJ_NVJITLINK_PTX : 0;
        *making = (struct pj_making){.title = title_of(offline, unit),
                                     .outputs = PJ_OUTPUT_LOG | PJ_OUTPUT_CUBIN,
                                     .parts = &unit->part,
                                     .part_count = 1,
                                     .weight_bytes = unit->image->size_bytes};
        if (!making->title)
            return pj_error_no_memory(err);
        int r =
            pj_offline_arguments(offline, unit, &making->arguments, &making->argument_count, &refusal, err);
        if (r < 0)
            return r;
        if (refusal)
            fail(unit, PJ_VERDICT_REJECTED, "not-for-this-compiler", refusal);
        else
            offline->owners[offline->making_count++] = i;
    }
    return 0;
}

static bool some_missing(const struct pj_offline *offline)
{
    for (size_t i = 0; i < offline->unit_count; i++) {
        if (!offline->units[i].failure && pj_offline_is_missing(offline, &offline->units[i]))
            return true;
    }
    return false;
}

static int run_orders(struct pj_offline *offline, struct pj_error **err)
{
    struct pj_session *session = offline->session;
    double begin = pj_clock_ms();
    int r = check_compiler(offline, false, err);
    if (r == 0)
        r = make_orders(offline, err);
    if (r == 0 && offline->making_count > 0)
        r = pj_maker_run(offline->maker, offline->makings, offline->making_count, err);
    for (size_t i = 0; i < offline->making_count; i++)
        pj_making_free(&offline->makings[i]); /* those of a run that ended early */
    session->phases.has_compile = true;
    session->phases.compile_ms = pj_clock_ms() - begin;
    return r;
}

int pj_offline_compile(struct pj_offline *offline, struct pj_error **err)
{
    struct pj_session *session = offline->session;
    if (session->interrupted || session->deadline_passed || !some_missing(offline))
        return 0;
    int r = pj_offline_open_compiler(offline, err);
    if (r < 0)
        return r;
    if (pj_maker_compiler(offline->maker)->known) /* else the run ended before the compiler was met */
        r = run_orders(offline, err);
    session->interrupted |= pj_maker_interrupted(offline->maker);
    session->deadline_passed |= pj_maker_deadline_passed(offline->maker);
    return r;
}
