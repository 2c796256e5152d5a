/* SPDX-License-Identifier: Apache-2.0 */
/* Cubins for every module and target, by the toolkit's libraries alone. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "host/toolkit.h"
#include "report/phrase.h"
#include "session/build/private.h"
#include "session/run/given_file.h"
#include "session/run/worker_program.h"

enum { LEFT_OUT_NAMED_MAX = 6, NOTES_OF_EARLIER = 2 };

static int parse_targets(struct pj_build *build, struct pj_error **err)
{
    const struct pj_build_options *options = build->options;
    struct pj_target_spec *targets =
        pj_arena_calloc(&build->arena, options->target_count + 1, sizeof *targets);
    if (!targets)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < options->target_count; i++) {
        if (pj_target_parse(options->targets[i], &targets[i], err) < 0) {
            int r = pj_error_recode(err, PJ_ERROR_USAGE, 0);
            return pj_error_wrap(err, r, "-t");
        }
    }
    build->selection = (struct pj_plan_selection){
        .targets = targets,
        .target_count = options->target_count,
        .modules = options->modules,
        .module_count = options->module_count,
    };
    return 0;
}

int pj_build_open(struct pj_build *build, enum pj_wire_library library, struct pj_maker **ret_maker,
                  struct pj_error **err)
{
    const struct pj_build_options *options = build->options;
    bool nvrtc = library == PJ_LIBRARY_NVRTC;
    const char **paths = NULL;
    size_t count = 0;
    int r = pj_toolkit_candidates(&build->root, nvrtc ? PJ_TOOLKIT_NVRTC : PJ_TOOLKIT_NVJITLINK,
                                  nvrtc ? options->nvrtc : options->nvjitlink, pj_toolkit_home(),
                                  &build->arena, &paths, &count, err);
    if (r < 0)
        return r;
    const struct pj_maker_options maker = {
        .library = library,
        .paths = paths,
        .path_count = count,
        .directory = build->manifest->directory,
        .worker_program = options->worker_program,
        .root = build->root,
        .interrupt_fd = options->interrupt_fd,
        .timeout_ms = options->timeout_ms > 0 ? options->timeout_ms : PJ_DEFAULT_TIMEOUT_MS,
        .patience_ms = pj_patience_ms(options->timeout_ms),
        .deadline_ms = options->deadline_ms > 0 ? build->begin_ms + options->deadline_ms : (double)INFINITY,
        .workers = options->workers,
        .observer = &options->observer,
        .phase = "build",
        .arena = &build->arena,
    };
    return pj_maker_open(&maker, ret_maker, err);
}

void pj_build_close(struct pj_build *build, struct pj_maker *maker, const char *build_of_output,
                    struct pj_report_library *ret_library)
{
    const struct pj_compiler *compiler = pj_maker_compiler(maker);
    if (compiler->known)
        *ret_library = compiler->library;
    if (!ret_library->build)
        ret_library->build = build_of_output;
    build->interrupted |= pj_maker_interrupted(maker);
    build->deadline_passed |= pj_maker_deadline_passed(maker);
    pj_maker_free(maker);
}

static int run(struct pj_build *build, struct pj_error **err)
{
    int r = pj_given_manifest_load(build->options->manifest, &build->manifest, err);
    if (r == 0)
        r = parse_targets(build, err);
    if (r == 0)
        r = pj_plan_read(build->manifest, &build->selection, &build->plan, err);
    if (r == 0)
        r = pj_build_plan(build, err);
    if (r == 0)
        r = pj_build_open_out_dir(build, err);
    if (r == 0)
        r = pj_build_open_linker(build, err);
    if (r == 0)
        r = pj_build_compile(build, err);
    return r == 0 ? pj_build_link(build, err) : r;
}

/* Is `k` a unit of the same module as `i`, both left out for the same kind of reason, whose text may name the
 * target? */
static bool is_alike(const struct pj_build *build, size_t i, size_t k)
{
    const struct pj_build_work *a = &build->works[i], *b = &build->works[k];
    return a->module == b->module && b->left_out && strcmp(a->unit->reason_code, b->unit->reason_code) == 0;
}

static bool is_told(const struct pj_build *build, size_t i)
{
    for (size_t k = i; k-- > 0 && build->works[k].module == build->works[i].module;) {
        if (is_alike(build, i, k))
            return true;
    }
    return false;
}

/* "physics: sm_75, sm_80 left out: NVRTC 11.2 …": of each module and kind of reason, with the text of the
 * first. */
static int note_left_out(struct pj_build *build, struct pj_error **err)
{
    struct pj_build_report *report = &build->report;
    report->notes = pj_arena_calloc(&build->arena, build->count + NOTES_OF_EARLIER, sizeof *report->notes);
    if (!report->notes)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < build->count; i++) {
        PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
        const char *targets[LEFT_OUT_NAMED_MAX];
        size_t count = 0;
        if (!build->works[i].left_out || is_told(build, i))
            continue;
        for (size_t k = i; k < build->count && build->works[k].module == build->works[i].module; k++) {
            if (is_alike(build, i, k) && count++ < LEFT_OUT_NAMED_MAX)
                targets[count - 1] = build->works[k].unit->target;
        }
        pj_phrase_names(&text, targets, count, LEFT_OUT_NAMED_MAX);
        report->notes[report->note_count] =
            pj_arena_printf(&build->arena, "%s: %s left out: %s", build->works[i].unit->module,
                            pj_buffer_text(&text), build->works[i].unit->reason);
        if (text.failed || !report->notes[report->note_count++])
            return pj_error_no_memory(err);
    }
    return 0;
}

/* Units that were left out late go; the others stand in the order of the manifest. */
static int fill_report(struct pj_build *build, struct pj_error **err)
{
    struct pj_build_report *report = &build->report;
    pj_build_keep_one(build);
    report->manifest = build->options->manifest;
    report->out_dir = build->options->check ? NULL : build->options->out_dir;
    report->units = pj_arena_calloc(&build->arena, build->count + 1, sizeof *report->units);
    if (!report->units)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < build->count; i++) {
        if (build->works[i].left_out)
            report->left_out++;
        else
            report->units[report->unit_count++] = *build->works[i].unit;
    }
    report->ended_by = build->interrupted       ? "interrupted"
                       : build->deadline_passed ? "the deadline passed"
                                                : NULL;
    report->seconds = (pj_clock_ms() - build->begin_ms) / 1e3;
    report->exit_code = pj_build_exit(report);
    int r = note_left_out(build, err);
    build->lasting_notes = report->note_count;
    return r == 0 ? pj_build_note_earlier(build, err) : r;
}

static int render(const struct pj_build *build, char **ret_text, char **ret_answer, struct pj_error **err)
{
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    PJ_CLEANUP_BUFFER struct pj_buffer answer = {0};
    int r = build->options->json ? pj_build_render_json(&build->report, &text, err)
                                 : pj_build_render_table(&build->report, build->options->verbose, &text, err);
    bool below_table = !build->options->json && !build->options->quiet;
    if (r == 0)
        r = pj_build_render_answer(&build->report, below_table, &answer, err);
    if (r < 0)
        return r;
    PJ_CLEANUP_FREE char *text_copy = strdup(pj_buffer_text(&text));
    PJ_CLEANUP_FREE char *answer_copy = strdup(pj_buffer_text(&answer));
    if (!text_copy || !answer_copy)
        return pj_error_no_memory(err);
    *ret_text = PJ_STEAL(text_copy);
    *ret_answer = PJ_STEAL(answer_copy);
    return 0;
}

static void free_build(struct pj_build *build)
{
    for (size_t i = 0; i < build->count; i++) {
        pj_making_free(&build->works[i].compile);
        pj_making_free(&build->works[i].link);
        pj_buffer_free(&build->works[i].cubin);
    }
    free(build->works);
    pj_maker_free(build->linker);
    pj_plan_free(build->plan);
    pj_manifest_free(build->manifest);
    pj_arena_free(&build->arena);
}

int pj_build(const struct pj_build_options *options, char **ret_text, char **ret_answer, int *ret_exit_code,
             bool *ret_interrupted, struct pj_error **err)
{
    struct pj_build build = {
        .options = options, .root = pj_host_root_from_environment(), .begin_ms = pj_clock_ms()};
    (void)clock_gettime(CLOCK_REALTIME_COARSE, &build.begin);
    int r = pj_worker_program_check(options->worker_program, err);
    if (r == 0)
        r = run(&build, err);
    if (r == 0)
        r = pj_build_write(&build, err);
    if (r == 0)
        r = fill_report(&build, err);
    if (r == 0 && !options->check)
        r = pj_build_write_index(&build, err);
    if (r == 0)
        r = render(&build, ret_text, ret_answer, err);
    if (r == 0) {
        *ret_exit_code = (int)build.report.exit_code;
        *ret_interrupted = build.interrupted;
    } else if (build.made_out_dir) {
        (void)rmdir(options->out_dir);
    }
    free_build(&build);
    return r;
}
