/* SPDX-License-Identifier: Apache-2.0 */
/* NVRTC on the sources, or nvJitLink on files to be linked: once, once more for a comparison and the list of
 * headers, and what is made of it. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "arch/nvrtc_options.h"
#include "base/clock.h"
#include "host/toolkit.h"
#include "session/prepare/clock_macros.h"
#include "session/prepare/header_places.h"
#include "session/prepare/headers.h"
#include "session/prepare/private.h"
#include "session/receipt/input.h"

/* One item's orders. `first` is what a program would get. `second` repeats it with the list of headers, which
 * does not change the PTX; `third` repeats it for an NVRTC that does not know that option, and in another
 * second where a header asks for the time. */
struct work {
    const struct pj_prepare_item *item;
    const char *header_note; /* as in the report */
    struct pj_making first, second, third;
    bool tried;
    struct pj_plan_file *files; /* what the PTX comes from; headers where `second` lists them */
    size_t file_count;
    const char *doubt; /* why nothing is to be concluded from these files later; NULL = nothing */
    const char *asks_for_time;
};

struct batch {
    struct pj_session *session;
    enum pj_wire_library library;
    struct pj_compiler *known; /* the session's */
    struct pj_maker *maker;
    const char *include;
    struct work *works;
    size_t count;
    struct timespec begin; /* of the first compilation: headers that changed since are not what NVRTC read */
};

static int set_fate(const struct batch *batch, const struct work *work, enum pj_job_fate fate,
                    const char *code, const char *reason, struct pj_error **err)
{
    struct pj_job *job = &batch->session->plan->jobs[work->item->job];
    job->fate = fate;
    job->reason_code = code;
    job->reason = reason;
    return reason ? 0 : pj_error_no_memory(err);
}

static int open_maker(struct batch *batch, struct pj_error **err)
{
    struct pj_session *session = batch->session;
    struct pj_maker_options maker = pj_maker_options_of(session, batch->library, "prepare");
    maker.paths = batch->known->paths;
    maker.path_count = batch->known->path_count;
    int r = pj_maker_open(&maker, &batch->maker, err);
    const struct pj_compiler *compiler = r == 0 ? pj_maker_compiler(batch->maker) : NULL;
    return compiler && compiler->known && batch->library == PJ_LIBRARY_NVRTC
               ? pj_toolkit_include(compiler->library.path, pj_toolkit_home(), &session->arena,
                                    &batch->include, err)
               : r;
}

/* Where the options name an architecture, NVRTC itself says whether it knows it. */
static bool is_known(const struct batch *batch, const struct work *work)
{
    struct pj_nvrtc_options options;
    const struct pj_module *module = work->item->source.module;
    if (batch->library != PJ_LIBRARY_NVRTC)
        return true;
    pj_nvrtc_options_read(module->nvrtc, module->nvrtc_count, &options);
    return options.has_architecture ||
           pj_source_knows(pj_maker_compiler(batch->maker), work->item->source.arch.number);
}

static int make_orders(struct batch *batch, struct work *work, struct pj_error **err)
{
    struct pj_session *session = batch->session;
    const struct pj_compiler *compiler = pj_maker_compiler(batch->maker);
    const struct pj_source *source = &work->item->source;
    int r;
    work->tried = true;
    if (batch->library == PJ_LIBRARY_NVJITLINK) { /* all files are known, so the second is a repetition */
        r = pj_linked_order(source, compiler, &session->arena, &work->first, err);
        work->second = work->first;
        work->second.quiet = true;
        return r;
    }
    r = pj_source_order(source, compiler, batch->include, PJ_OUTPUT_LOG | PJ_OUTPUT_PTX, false,
                        &session->arena, &work->first, err);
    if (r == 0)
        r = pj_source_order(source, compiler, batch->include,
                            PJ_OUTPUT_LOG | PJ_OUTPUT_HEADERS | PJ_OUTPUT_PTX, true, &session->arena,
                            &work->second, err);
    work->third = work->first;
    work->second.quiet = work->third.quiet = true;
    return r;
}

static int plan_work(struct batch *batch, struct pj_error **err)
{
    int r = 0;
    for (size_t i = 0; i < batch->count && r == 0; i++) {
        struct work *work = &batch->works[i];
        if (is_known(batch, work)) {
            r = make_orders(batch, work, err);
            continue;
        }
        struct pj_job *job = &batch->session->plan->jobs[work->item->job];
        job->left_out_why =
            pj_source_why_left_out(pj_maker_compiler(batch->maker), job->target, &batch->session->arena);
        if (!job->left_out_why)
            return pj_error_no_memory(err);
        r = set_fate(
            batch, work, job->explicit_target ? PJ_JOB_INCOMPATIBLE : PJ_JOB_LEFT_OUT, "nvrtc-does-not-know",
            pj_source_why_not(pj_maker_compiler(batch->maker), job->target, &batch->session->arena), err);
    }
    return r;
}

/* An NVRTC may not know how to list headers. */
static bool is_unlisted(const struct batch *batch, const struct work *work)
{
    return batch->library == PJ_LIBRARY_NVRTC && work->second.end == PJ_MAKING_REFUSED;
}

/* Runs the orders that `choose` picks out of the works, and puts them back. */
static int run_round(struct batch *batch, struct pj_making *(*choose)(struct work *), struct pj_error **err)
{
    PJ_CLEANUP_FREE struct pj_making *makings = calloc(batch->count + 1, sizeof *makings);
    PJ_CLEANUP_FREE struct work **owners = calloc(batch->count + 1, sizeof *owners);
    size_t count = 0;
    if (!makings || !owners)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < batch->count; i++) {
        struct pj_making *making = batch->works[i].tried ? choose(&batch->works[i]) : NULL;
        if (!making)
            continue;
        owners[count] = &batch->works[i];
        makings[count++] = *making;
    }
    int r = count > 0 ? pj_maker_run(batch->maker, makings, count, err) : 0;
    for (size_t i = 0; i < count; i++)
        *choose(owners[i]) = makings[i];
    return r;
}

static struct pj_making *choose_first(struct work *work)
{
    return &work->first;
}

static struct pj_making *choose_second(struct work *work)
{
    return work->first.end == PJ_MAKING_MADE ? &work->second : NULL;
}

static struct pj_making *choose_third(struct work *work)
{
    bool asks = work->asks_for_time && work->second.end == PJ_MAKING_MADE;
    bool unlisted = work->second.end == PJ_MAKING_REFUSED && work->third.argument_count > 0;
    return unlisted || asks ? &work->third : NULL;
}

/* With the list of headers where there is one, else the source and its headers in memory. */
static int find_files(struct batch *batch, struct work *work, struct pj_error **err)
{
    struct pj_session *session = batch->session;
    const char *date = NULL, *directory = session->manifest->directory;
    bool listed = work->second.end == PJ_MAKING_MADE;
    const char *list = listed ? pj_buffer_text(pj_making_result(&work->second, PJ_OUTPUT_HEADERS)) : "";
    int r = pj_headers_files(&work->item->source, list, directory, &batch->begin, &session->arena,
                             &work->files, &work->file_count, &work->doubt, err);
    if (batch->library != PJ_LIBRARY_NVRTC)
        return r;
    if (r == 0)
        r = pj_prepare_hidden_header(&work->second, work->item->source.module->nvrtc_count, list,
                                     &session->arena, &work->header_note, err);
    if (r == 0 && listed)
        r = pj_header_places_add(&work->second, list, directory, &session->arena, &work->files,
                                 &work->file_count, err);
    if (r == 0)
        r = pj_clock_macros_find(work->files, work->file_count, &work->asks_for_time, &date, err);
    if (r < 0 || !date || work->doubt)
        return r;
    work->doubt = pj_arena_printf(&session->arena, "%s asks for the date (__DATE__)", date);
    return work->doubt ? 0 : pj_error_no_memory(err);
}

static int find_all_files(struct batch *batch, bool *ret_ask_for_time, struct pj_error **err)
{
    int r = 0;
    *ret_ask_for_time = false;
    for (size_t i = 0; i < batch->count && r == 0; i++) {
        struct work *work = &batch->works[i];
        if (!work->tried || work->first.end != PJ_MAKING_MADE)
            continue;
        r = find_files(batch, work, err);
        *ret_ask_for_time |= work->asks_for_time != NULL;
    }
    return r;
}

/* A source that asks for the time gives other PTX only in another second. */
static void wait_for_next_second(void)
{
    const struct timespec second = {.tv_sec = 1};
    (void)nanosleep(&second, NULL);
}

static int compile_all(struct batch *batch, struct pj_error **err)
{
    bool ask_for_time = false;
    (void)clock_gettime(CLOCK_REALTIME_COARSE, &batch->begin);
    int r = run_round(batch, choose_first, err);
    if (r == 0)
        r = run_round(batch, choose_second, err);
    if (r == 0)
        r = find_all_files(batch, &ask_for_time, err);
    if (r == 0 && ask_for_time)
        wait_for_next_second();
    return r == 0 ? run_round(batch, choose_third, err) : r;
}

/* What an order that made nothing means for the job. */
static int take_failure(struct batch *batch, const struct work *work, struct pj_making *making,
                        struct pj_error **err)
{
    struct pj_session *session = batch->session;
    struct pj_job *job = &session->plan->jobs[work->item->job];
    const char *log = pj_buffer_text(pj_making_result(making, PJ_OUTPUT_LOG));
    /* Which headers it read, and may be mended, is not known. */
    job->files_unknown = batch->library == PJ_LIBRARY_NVRTC;
    switch (making->end) {
    case PJ_MAKING_REFUSED: {
        const char *line = pj_maker_first_error(log, &session->arena);
        bool nvrtc = batch->library == PJ_LIBRARY_NVRTC;
        const char *hint = nvrtc ? pj_source_missing_folder(work->item->source.module,
                                                            session->manifest->directory, &session->arena)
                                 : "";
        job->log = *log ? pj_arena_strdup(&session->arena, log) : NULL;
        if (!line || !hint || (*log && !job->log))
            return pj_error_no_memory(err);
        return set_fate(batch, work, PJ_JOB_REJECTED, nvrtc ? "refused-by-nvrtc" : "refused-by-nvjitlink",
                        pj_arena_printf(&session->arena, "%s refused it: %s%s%s%s",
                                        pj_prepare_name(batch->library), *line ? line : making->failed_call,
                                        *line ? "" : ": ", *line ? "" : making->result_name, hint),
                        err);
    }
    case PJ_MAKING_CRASHED:
        return set_fate(batch, work, PJ_JOB_CRASHED, "crashed", making->reason, err);
    case PJ_MAKING_TIMED_OUT:
        return set_fate(batch, work, PJ_JOB_TIMED_OUT, "timed-out", making->reason, err);
    case PJ_MAKING_OUT_OF_MEMORY:
        return set_fate(batch, work, PJ_JOB_OUT_OF_MEMORY, "out-of-memory", making->reason, err);
    case PJ_MAKING_IMPOSSIBLE:
        return set_fate(batch, work, PJ_JOB_REJECTED, "not-handed-over", making->reason, err);
    case PJ_MAKING_CHANGED:
        return set_fate(batch, work, PJ_JOB_REJECTED, "image-changed", making->reason, err);
    case PJ_MAKING_NOT_TRIED:
    case PJ_MAKING_MADE:
    default:
        return set_fate(batch, work, PJ_JOB_NOT_TRIED, "not-tried", "not tried", err);
    }
}

static int take_unstable(struct batch *batch, const struct work *work, const char *before, const char *after,
                         const char *when, struct pj_error **err)
{
    struct pj_arena *arena = &batch->session->arena;
    struct pj_job *job = &batch->session->plan->jobs[work->item->job];
    const char *difference = pj_prepare_first_difference(before, after, arena);
    job->files = work->files; /* any of them may be mended */
    job->file_count = work->file_count;
    job->files_unknown =
        work->doubt || (batch->library == PJ_LIBRARY_NVRTC && work->second.end != PJ_MAKING_MADE);
    if (!difference)
        return pj_error_no_memory(err);
    return set_fate(
        batch, work, PJ_JOB_REJECTED, "unstable-output",
        pj_arena_printf(arena,
                        "%s gave other PTX %s: %s; a program that compiles it anew never finds what was "
                        "warmed: make %s give the same PTX each time",
                        pj_prepare_name(batch->library), when, difference,
                        batch->library == PJ_LIBRARY_NVRTC ? "the source" : "its files"),
        err);
}

static int keep(struct batch *batch, const struct work *work, const char *ptx, size_t size,
                const struct pj_plan_file *files, size_t file_count, const char *log, struct pj_error **err)
{
    struct pj_session *session = batch->session;
    if (!session->store)
        return 0;
    const struct pj_compiler *compiler = pj_maker_compiler(batch->maker);
    PJ_CLEANUP_FREE struct pj_receipt_input *inputs = calloc(file_count + 1, sizeof *inputs);
    if (!inputs)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < file_count; i++)
        inputs[i] = pj_receipt_input_of(session, &files[i]);
    struct pj_prepared prepared = {
        .request = work->item->request,
        .compiler_search = batch->known->search,
        .compiler_files = compiler->files,
        .compiler_file_count = compiler->file_count,
        .compiler = batch->known->library,
        .inputs = inputs,
        .input_count = file_count,
        .ptx_bytes = size,
        .log = log,
        .ms = work->first.call_ms,
        .header_note = work->header_note,
    };
    pj_sha256_of(ptx, size, &prepared.ptx_sha256);
    /* It spares the next run work, no more: that it cannot be kept is worth a line. */
    PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
    int r = pj_prepared_save(session, &prepared, ptx, &problem);
    if (r == PJ_ERROR_NO_MEMORY)
        return pj_error_no_memory(err);
    return r == 0 ? 0
                  : pj_session_note(session, err, "%s; the next run compiles it again",
                                    pj_error_message(problem));
}

static int take_ptx(struct batch *batch, struct work *work, bool listed, struct pj_error **err)
{
    struct pj_session *session = batch->session;
    struct pj_job *job = &session->plan->jobs[work->item->job];
    const struct pj_buffer *ptx = pj_making_result(&work->first, PJ_OUTPUT_PTX);
    const char *log = pj_buffer_text(pj_making_result(&work->first, PJ_OUTPUT_LOG));
    const char *copy = pj_arena_strndup(&session->arena, pj_buffer_text(ptx), ptx->size);
    job->log = *log ? pj_arena_strdup(&session->arena, log) : NULL;
    if (!batch->known->library.build)
        batch->known->library.build = pj_toolkit_build_in(pj_buffer_text(ptx), ptx->size, &session->arena);
    job->has_to_ptx_ms = true;
    job->to_ptx_ms = work->first.call_ms;
    job->header_note = work->header_note;
    if (!copy || (*log && !job->log))
        return pj_error_no_memory(err);
    int r = work->item->kept_ptx
                ? 0
                : pj_prepare_adopt(session, work->item, copy, ptx->size, work->files, work->file_count, err);
    job->files_unknown = !listed || work->doubt;
    if (r == 0 && work->doubt)
        return pj_session_note(session, err, "%s: %s: the next run compiles it again", work->first.title,
                               work->doubt);
    return r == 0 && listed ? keep(batch, work, copy, ptx->size, work->files, work->file_count, job->log, err)
                            : r;
}

/* One repetition against the first compilation; *ret_same false where the job's fate is settled. */
static int compare(struct batch *batch, const struct work *work, struct pj_making *first,
                   struct pj_making *again, bool *ret_same, struct pj_error **err)
{
    *ret_same = false;
    if (again->end != PJ_MAKING_MADE)
        return take_failure(batch, work, again, err);
    const char *ptx = pj_buffer_text(pj_making_result(first, PJ_OUTPUT_PTX));
    const char *other = pj_buffer_text(pj_making_result(again, PJ_OUTPUT_PTX));
    *ret_same = strcmp(ptx, other) == 0;
    return *ret_same ? 0 : take_unstable(batch, work, ptx, other, "at the second compilation", err);
}

static int conclude(struct batch *batch, struct work *work, struct pj_error **err)
{
    bool listed = !is_unlisted(batch, work), same = true;
    if (work->first.end != PJ_MAKING_MADE)
        return take_failure(batch, work, &work->first, err);
    int r = listed ? compare(batch, work, &work->first, &work->second, &same, err) : 0;
    if (r == 0 && same && (!listed || work->asks_for_time))
        r = compare(batch, work, &work->first, &work->third, &same, err);
    if (r < 0 || !same)
        return r;
    const char *ptx = pj_buffer_text(pj_making_result(&work->first, PJ_OUTPUT_PTX));
    if (work->item->kept_ptx && strcmp(work->item->kept_ptx, ptx) != 0)
        return take_unstable(batch, work, work->item->kept_ptx, ptx,
                             "than an earlier run with the same files", err);
    return take_ptx(batch, work, listed, err);
}

/* Headers that are not known may change, and nobody would see it. */
static int note_unknown_headers(struct batch *batch, struct pj_error **err)
{
    for (size_t i = 0; i < batch->count; i++) {
        const struct work *work = &batch->works[i];
        if (work->tried && is_unlisted(batch, work) && work->third.end == PJ_MAKING_MADE)
            return pj_session_note(
                batch->session, err,
                "this NVRTC does not tell which headers it reads: sources are compiled anew at every "
                "run");
    }
    return 0;
}

static int run_batch(struct batch *batch, struct pj_error **err)
{
    struct pj_session *session = batch->session;
    int r = open_maker(batch, err);
    const struct pj_compiler *compiler = r == 0 ? pj_maker_compiler(batch->maker) : NULL;
    bool met = compiler && compiler->known; /* else the run ended before */
    if (r == 0 && met)
        r = plan_work(batch, err);
    if (r == 0 && met)
        r = compile_all(batch, err);
    if (r < 0)
        return r;
    const char *search = batch->known->search;
    const char **paths = batch->known->paths;
    size_t path_count = batch->known->path_count;
    *batch->known = *compiler;
    batch->known->search = search;
    batch->known->paths = paths;
    batch->known->path_count = path_count;
    session->interrupted |= pj_maker_interrupted(batch->maker);
    session->deadline_passed |= pj_maker_deadline_passed(batch->maker);
    r = note_unknown_headers(batch, err);
    for (size_t i = 0; i < batch->count && r == 0; i++) {
        if (batch->works[i].tried || !met)
            r = conclude(batch, &batch->works[i], err);
    }
    return r;
}

int pj_prepare_compile(struct pj_session *session, enum pj_wire_library library,
                       const struct pj_prepare_item *items, size_t count, struct pj_error **err)
{
    struct batch batch = {.session = session,
                          .library = library,
                          .known = pj_prepare_compiler(session, library),
                          .count = count};
    batch.works = calloc(count + 1, sizeof *batch.works);
    if (!batch.works)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < count; i++)
        batch.works[i].item = &items[i];
    int r = run_batch(&batch, err);
    pj_maker_free(batch.maker);
    for (size_t i = 0; i < count; i++) {
        pj_making_free(&batch.works[i].first);
        pj_making_free(&batch.works[i].second);
        pj_making_free(&batch.works[i].third);
    }
    free(batch.works);
    return r;
}
