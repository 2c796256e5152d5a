/* SPDX-License-Identifier: Apache-2.0 */
/* From the driver at hand to its profile. */
#include "session/profile/profile.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "arch/isa.h"
#include "base/clock.h"
#include "base/text.h"
#include "cache/format.h"
#include "report/column.h"
#include "session/profile/json.h"
#include "session/run/worker_program.h"
#include "version.h"

static int make_trials(struct pj_profile_work *work, struct pj_error **err)
{
    struct pj_profile_case *cases = NULL;
    struct pj_arena *arena = &work->trial.arena;
    int r = pj_profile_fatbins_make(&work->fatbins, err);
    if (r == 0)
        r = pj_profile_cases(work->trial.arch, &work->fatbins, arena, &cases, &work->count, err);
    if (r < 0)
        return r;
    work->trials = pj_arena_calloc(arena, work->count, sizeof *work->trials);
    if (!work->trials)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < work->count; i++) {
        PJ_CLEANUP_BUFFER struct pj_buffer options = {0};
        PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
        struct pj_profile_trial *trial = &work->trials[i];
        bool link = cases[i].load.link;
        pj_jit_options_key_text(&cases[i].load.options, &options);
        pj_buffer_printf(&text, "%s%s%s", link ? "-c" : "", link && options.size ? " " : "",
                         pj_buffer_text(&options));
        trial->of = &cases[i];
        trial->arch = cases[i].load.target ? cases[i].load.target : work->trial.arch;
        trial->option_text =
            options.failed || text.failed ? NULL : pj_arena_strdup(arena, pj_buffer_text(&text));
        if (!trial->option_text)
            return pj_error_no_memory(err);
    }
    return 0;
}

static bool is_proven(const struct pj_profile_work *work, const struct pj_profile_trial *trial)
{
    bool foreign = trial->of->kind == PJ_PROFILE_FOREIGN;
    return trial->predicted && !trial->problem && (foreign || (trial->ran && work->canary_held));
}

/* A kind is proven where each of its cases is. An older driver does not know every architecture: those are
 * no cases, and not in the profile. */
static void judge_kinds(struct pj_profile_work *work)
{
    bool any[PJ_PROFILE_KIND_COUNT] = {false}, all[PJ_PROFILE_KIND_COUNT];
    for (size_t i = 0; i < PJ_PROFILE_KIND_COUNT; i++)
        all[i] = true;
    for (size_t i = 0; i < work->count; i++) {
        enum pj_profile_kind kind = work->trials[i].of->kind;
        if (work->trials[i].unknown_arch)
            continue;
        any[kind] = true;
        all[kind] = all[kind] && is_proven(work, &work->trials[i]);
    }
    for (size_t i = 0; i < PJ_PROFILE_KIND_COUNT; i++) {
        if (i != PJ_PROFILE_BESIDE)
            work->profile.proven[i] = any[i] && all[i];
    }
    work->profile.proven[PJ_PROFILE_BESIDE] &= work->canary_held;
}

static int compare_archs(const void *a, const void *b)
{
    return (int)*(const uint16_t *)a - (int)*(const uint16_t *)b;
}

static int fill_profile(struct pj_profile_work *work, struct pj_error **err)
{
    struct pj_profile *profile = &work->profile;
    struct pj_arena *arena = &work->trial.arena;
    char day[16];
    time_t now = time(NULL);
    struct tm parts;
    profile->archs = pj_arena_calloc(arena, work->count, sizeof *profile->archs);
    if (!profile->archs)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < work->count; i++) {
        const struct pj_profile_trial *trial = &work->trials[i];
        /* The first case told the stamp, so the driver compiles for the device's own. */
        if (i == 0 || (trial->predicted && trial->of->kind == PJ_PROFILE_FOREIGN))
            profile->archs[profile->arch_count++] = trial->arch;
    }
    qsort(profile->archs, profile->arch_count, sizeof *profile->archs, compare_archs);
    if (!pj_isa_highest_for_cuda(work->trial.cuda_version, &profile->ptx_isa))
        profile->ptx_isa = pj_isa_newest();
    (void)strftime(day, sizeof day, "%Y-%m-%d", gmtime_r(&now, &parts));
    profile->driver_version = work->trial.driver_version;
    profile->cuda_version = work->trial.cuda_version;
    profile->stamp = work->stamp;
    profile->cache_format = PJ_CACHE_FORMAT;
    profile->gpu = work->trial.gpu;
    profile->made_with = "prejit " PREJIT_VERSION;
    profile->made_on = pj_arena_strdup(arena, day);
    judge_kinds(work);
    return profile->made_on ? 0 : pj_error_no_memory(err);
}

static bool get_case(const void *row, struct pj_cell *cell)
{
    const struct pj_profile_trial *trial = row;
    pj_buffer_puts(&cell->text, trial->of->title);
    return true;
}

static bool get_kind(const void *row, struct pj_cell *cell)
{
    const struct pj_profile_trial *trial = row;
    pj_buffer_puts(&cell->text, pj_profile_kind_name(trial->of->kind));
    return true;
}

static bool get_target(const void *row, struct pj_cell *cell)
{
    const struct pj_profile_trial *trial = row;
    pj_buffer_printf(&cell->text, "sm_%u", trial->arch);
    return true;
}

static bool get_predicted(const void *row, struct pj_cell *cell)
{
    const struct pj_profile_trial *trial = row;
    cell->flag = trial->predicted;
    return !trial->unknown_arch;
}

static bool get_ran(const void *row, struct pj_cell *cell)
{
    const struct pj_profile_trial *trial = row;
    cell->flag = trial->ran;
    return trial->of->kind != PJ_PROFILE_FOREIGN;
}

static bool get_problem(const void *row, struct pj_cell *cell)
{
    const struct pj_profile_trial *trial = row;
    pj_buffer_puts(&cell->text, trial->problem ? trial->problem : "");
    return trial->problem != NULL;
}

static const struct pj_column columns[] = {
    {"CASE", "case", PJ_COLUMN_TEXT, false, get_case},
    {"KIND", "kind", PJ_COLUMN_TEXT, false, get_kind},
    {"TARGET", "target", PJ_COLUMN_TEXT, false, get_target},
    {"ENTRY AS PREDICTED", "predicted", PJ_COLUMN_FLAG, false, get_predicted},
    {"ASSEMBLED, RUN", "ran", PJ_COLUMN_FLAG, false, get_ran},
    {NULL, "problem", PJ_COLUMN_TEXT, false, get_problem},
};

/* "; other code: sm_75, sm_80" */
static void put_other_code(const struct pj_profile_work *work, size_t compiler, struct pj_buffer *text)
{
    const char *separator = "; other code: ";
    for (size_t i = 0; i < work->count; i++) {
        if (!work->trials[i].other_code[compiler])
            continue;
        pj_buffer_printf(text, "%s%s", separator, work->trials[i].of->title);
        separator = ", ";
    }
}

static size_t count_proven(const struct pj_profile *profile)
{
    size_t proven = 0;
    for (size_t i = 0; i < PJ_PROFILE_KIND_COUNT; i++)
        proven += profile->proven[i];
    return proven;
}

/* The ptxas that was tried, where it makes other code: `warm --offline` will not take it. */
static const struct pj_profile_compiler *other_ptxas(const struct pj_profile_work *work)
{
    for (size_t i = 0; i < work->count && work->profile.compiler_count > 0; i++) {
        if (work->trials[i].other_code[0])
            return &work->profile.compilers[0];
    }
    return NULL;
}

static void put_answer(const struct pj_profile_work *work, struct pj_buffer *text)
{
    const struct pj_profile *profile = &work->profile;
    const struct pj_profile_compiler *other = other_ptxas(work);
    size_t proven = count_proven(profile);
    if (!work->canary_held)
        pj_buffer_puts(
            text,
            "a module that nobody stored loaded with JIT disabled: nothing is proven with this driver\n");
    for (size_t i = 0; i < profile->compiler_count; i++) {
        const struct pj_profile_compiler *compiler = &profile->compilers[i];
        pj_buffer_printf(text, "%s %s: the driver's code in %u of %u cases", compiler->tool,
                         compiler->version, compiler->same, compiler->cases);
        put_other_code(work, i, text);
        pj_buffer_putc(text, '\n');
    }
    pj_buffer_printf(text, "%sdriver %s: %zu of %d kinds proven",
                     proven == PJ_PROFILE_KIND_COUNT && !other ? "" : "exit 1: ", profile->driver_version,
                     proven, (int)PJ_PROFILE_KIND_COUNT);
    const char *separator = "; not proven: ";
    for (size_t i = 0; i < PJ_PROFILE_KIND_COUNT; i++) {
        if (profile->proven[i])
            continue;
        pj_buffer_printf(text, "%s%s", separator, pj_profile_kind_name((enum pj_profile_kind)i));
        separator = ", ";
    }
    if (other)
        pj_buffer_printf(text,
                         "; warm --offline will not take ptxas %s, whose code is another: give profile the "
                         "ptxas of CUDA %d.%d with --ptxas PATH",
                         other->version, profile->cuda_version / 1000, profile->cuda_version % 1000 / 10);
    pj_buffer_putc(text, '\n');
}

static int put_table(const struct pj_profile_work *work, struct pj_buffer *text, struct pj_error **err)
{
    PJ_CLEANUP_FREE const void **rows = calloc(work->count + 1, sizeof *rows);
    if (!rows)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < work->count; i++)
        rows[i] = &work->trials[i];
    const struct pj_column_table table = {
        .columns = columns, .column_count = PJ_COUNT(columns), .rows = rows, .row_count = work->count};
    int r = pj_column_text(&table, true, text, err);
    if (r < 0)
        return r;
    pj_buffer_putc(text, '\n');
    for (size_t i = 0; i < work->count; i++) {
        const struct pj_profile_trial *trial = &work->trials[i];
        if (trial->problem)
            pj_buffer_printf(text, "%s: %s\n", trial->of->title, trial->problem);
    }
    put_answer(work, text);
    return pj_buffer_check(text, err);
}

static int render(struct pj_profile_work *work, char **ret_profile, char **ret_text, int *ret_exit_code,
                  struct pj_error **err)
{
    PJ_CLEANUP_BUFFER struct pj_buffer profile = {0};
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    int r = pj_profile_write(&work->profile, &profile, err);
    const struct pj_profile_document document = {
        .work = work,
        .case_columns = columns,
        .case_column_count = PJ_COUNT(columns),
        .profile = pj_buffer_text(&profile),
        .exit_code = count_proven(&work->profile) < PJ_PROFILE_KIND_COUNT || other_ptxas(work) ? 1 : 0,
    };
    if (r == 0)
        r = work->options->json ? pj_profile_json(&document, &text, err) : put_table(work, &text, err);
    if (r < 0)
        return r;
    PJ_CLEANUP_FREE char *profile_copy = strdup(pj_buffer_text(&profile));
    PJ_CLEANUP_FREE char *text_copy = strdup(pj_buffer_text(&text));
    if (!profile_copy || !text_copy)
        return pj_error_no_memory(err);
    *ret_exit_code = document.exit_code;
    *ret_profile = PJ_STEAL(profile_copy);
    *ret_text = PJ_STEAL(text_copy);
    return 0;
}

static void free_work(struct pj_profile_work *work)
{
    for (size_t i = 0; work->trials && i < work->count; i++) {
        for (size_t k = 0; k < PJ_PROFILE_TEXTS_MAX; k++) {
            pj_buffer_free(&work->trials[i].payloads[k]);
            pj_buffer_free(&work->trials[i].cubins[k]);
        }
    }
    pj_profile_fatbins_free(&work->fatbins);
    pj_trial_close(&work->trial);
}

/* A profile says for which build it is, and that no call to the driver tells. */
static int check_driver(const struct pj_profile_work *work, struct pj_error **err)
{
    if (work->trial.driver_version)
        return 0;
    return pj_error_set(err, PJ_ERROR_ENVIRONMENT,
                        "the file of the CUDA driver, %s, has no version at the end of its name, so that the "
                        "profile could not say which driver it is of: name the file that has, with "
                        "--driver PATH/libcuda.so.VERSION",
                        work->trial.driver_file ? work->trial.driver_file : "which nothing tells");
}

int pj_profile_make(const struct pj_profile_options *options, char **ret_profile, char **ret_text,
                    int *ret_exit_code, struct pj_error **err)
{
    struct pj_profile_work work = {.options = options};
    int r = pj_worker_program_check(options->worker_program, err);
    if (r == 0)
        r = pj_trial_open(options, &work.trial, err);
    if (r == 0)
        r = check_driver(&work, err);
    if (r == 0)
        r = make_trials(&work, err);
    if (r == 0)
        r = pj_profile_learn(&work, err);
    if (r == 0)
        r = pj_profile_predict(&work, err);
    if (r == 0)
        r = pj_profile_compile(&work, err);
    if (r == 0)
        r = pj_profile_run(&work, err);
    if (r == 0)
        r = fill_profile(&work, err);
    if (r == 0)
        r = render(&work, ret_profile, ret_text, ret_exit_code, err);
    free_work(&work);
    return r;
}
