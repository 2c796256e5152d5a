/* SPDX-License-Identifier: Apache-2.0 */
/* The same cases by compilers that need no driver, and how their code compares. */
#include <stdlib.h>
#include <string.h>

#include "host/toolkit.h"
#include "image/code.h"
#include "session/make/maker.h"
#include "session/profile/profile.h"

/* Orders of one compiler: one for each text of each case that it can compile alike. */
struct batch {
    struct pj_profile_work *work;
    enum pj_wire_library library;
    struct pj_making *makings;
    struct pj_making_part *parts;
    size_t *trials, *texts; /* of each order */
    size_t count;
};

static int find_ptxas(struct pj_profile_work *work, const char ***paths, size_t *count, struct pj_error **err)
{
    const struct pj_host_root root = pj_host_root_from_environment();
    int r = pj_toolkit_ptxas(&root, work->options->ptxas, pj_toolkit_home(), getenv("PATH"),
                             &work->trial.arena, paths, count, err);
    if (r == 0 && *count == 0)
        return pj_error_set(
            err, PJ_ERROR_ENVIRONMENT,
            "no ptxas was found (CUDA_HOME, PATH, /usr/local/cuda): install the CUDA toolkit (package "
            "cuda-nvcc), or name it with --ptxas PATH");
    return r;
}

static int find_library(struct batch *batch, const char ***paths, size_t *count, struct pj_error **err)
{
    struct pj_profile_work *work = batch->work;
    const struct pj_host_root root = pj_host_root_from_environment();
    if (batch->library == PJ_LIBRARY_PTXAS)
        return find_ptxas(work, paths, count, err);
    return pj_toolkit_candidates(&root, PJ_TOOLKIT_NVJITLINK, work->options->nvjitlink, pj_toolkit_home(),
                                 &work->trial.arena, paths, count, err);
}

/* "-arch=sm_90" and the words of the key's option text, which are ptxas' own. */
static int ptxas_arguments(struct batch *batch, const struct pj_profile_trial *trial,
                           struct pj_making *making, struct pj_error **err)
{
    struct pj_arena *arena = &batch->work->trial.arena;
    const char **arguments = pj_arena_calloc(arena, 2 * PJ_JIT_OPTION_COUNT + 4, sizeof *arguments);
    if (!arguments)
        return pj_error_no_memory(err);
    size_t used = 0;
    bool complete = (arguments[used++] = pj_arena_printf(arena, "-arch=sm_%u", trial->arch)) != NULL;
    for (const char *word = trial->option_text; *word;) {
        size_t length = strcspn(word, " ");
        complete &= (arguments[used++] = pj_arena_strndup(arena, word, length)) != NULL;
        word += length + (word[length] == ' ');
    }
    making->arguments = arguments;
    making->argument_count = used;
    return complete ? 0 : pj_error_no_memory(err);
}

static int linker_arguments(struct batch *batch, const struct pj_profile_trial *trial,
                            struct pj_making *making, struct pj_error **err)
{
    struct pj_arena *arena = &batch->work->trial.arena;
    const char **arguments = pj_arena_calloc(arena, 2, sizeof *arguments);
    if (!arguments)
        return pj_error_no_memory(err);
    arguments[0] = pj_arena_printf(arena, "-arch=sm_%u", trial->arch);
    making->arguments = arguments;
    making->argument_count = 1;
    return arguments[0] ? 0 : pj_error_no_memory(err);
}

static int add_order(struct batch *batch, size_t index, size_t text, struct pj_error **err)
{
    const struct pj_profile_trial *trial = &batch->work->trials[index];
    struct pj_making *making = &batch->makings[batch->count];
    struct pj_making_part *part = &batch->parts[batch->count];
    bool ptxas = batch->library == PJ_LIBRARY_PTXAS;
    *part = (struct pj_making_part){
        .type = ptxas ? 0 : PJ_NVJITLINK_PTX,
        .name = "case.ptx",
        .bytes = trial->of->load.texts[text],
        .size_bytes = strlen(trial->of->load.texts[text]),
    };
    pj_sha256_of(part->bytes, (size_t)part->size_bytes, &part->sha256);
    *making = (struct pj_making){
        .title = trial->of->title,
        .outputs = PJ_OUTPUT_LOG | PJ_OUTPUT_CUBIN,
        .parts = part,
        .part_count = 1,
        .quiet = true,
    };
    batch->trials[batch->count] = index;
    batch->texts[batch->count++] = text;
    return ptxas ? ptxas_arguments(batch, trial, making, err) : linker_arguments(batch, trial, making, err);
}

/* nvJitLink gives a linked cubin: that is comparable with a plain load alone [33]. Of the same PTX out of a
 * fatbin it would say the same once more. */
static bool compiles(const struct batch *batch, const struct pj_profile_trial *trial)
{
    return trial->predicted &&
           (batch->library == PJ_LIBRARY_PTXAS ||
            (!trial->of->load.link && !trial->of->load.image && trial->option_text[0] == '\0'));
}

static int add_orders(struct batch *batch, struct pj_error **err)
{
    int r = 0;
    for (size_t i = 0; i < batch->work->count && r == 0; i++) {
        const struct pj_profile_trial *trial = &batch->work->trials[i];
        for (size_t k = 0; k < trial->of->load.text_count && r == 0 && compiles(batch, trial); k++)
            r = add_order(batch, i, k, err);
    }
    return r;
}

static int take_cubin(struct batch *batch, size_t order, struct pj_profile_compiler *compiler,
                      struct pj_error **err)
{
    struct pj_profile_trial *trial = &batch->work->trials[batch->trials[order]];
    struct pj_making *making = &batch->makings[order];
    struct pj_buffer *cubin = pj_making_result(making, PJ_OUTPUT_CUBIN);
    const struct pj_buffer *payload = &trial->payloads[batch->texts[order]];
    struct pj_code_difference difference;
    compiler->cases++;
    if (making->end != PJ_MAKING_MADE && batch->library != PJ_LIBRARY_PTXAS)
        return 0;
    if (making->end != PJ_MAKING_MADE)
        return making->reason
                   ? pj_profile_problem(batch->work, trial, err, "ptxas did not make it: %s", making->reason)
                   : pj_error_no_memory(err);
    int same = pj_code_compare(pj_buffer_text(payload), payload->size, pj_buffer_text(cubin), cubin->size,
                               &difference, err);
    if (same < 0)
        return same;
    compiler->same += same == 1;
    trial->other_code[compiler - batch->work->profile.compilers] |= same == 0;
    if (batch->library == PJ_LIBRARY_PTXAS) {
        trial->cubins[batch->texts[order]] = *cubin;
        *cubin = (struct pj_buffer){0};
    }
    return 0;
}

static int add_compiler(struct batch *batch, const struct pj_compiler *library, struct pj_error **err)
{
    struct pj_profile *profile = &batch->work->profile;
    struct pj_profile_compiler *compiler = &profile->compilers[profile->compiler_count];
    int r = 0;
    *compiler = (struct pj_profile_compiler){
        .tool = batch->library == PJ_LIBRARY_PTXAS ? "ptxas" : "nvjitlink",
        .version = library->library.build ? library->library.build : library->library.version,
        .build = library->label,
    };
    for (size_t i = 0; i < batch->count && r == 0; i++)
        r = take_cubin(batch, i, compiler, err);
    compiler->same_code = compiler->cases > 0 && compiler->same == compiler->cases;
    profile->compiler_count += compiler->cases > 0;
    return r;
}

static int run_batch(struct batch *batch, struct pj_error **err)
{
    const char **paths = NULL;
    size_t path_count = 0;
    PJ_CLEANUP_MAKER struct pj_maker *maker = NULL;
    int r = find_library(batch, &paths, &path_count, err);
    if (r < 0)
        return r;
    const struct pj_maker_options options = {
        .library = batch->library,
        .paths = paths,
        .path_count = path_count,
        .worker_program = batch->work->options->worker_program,
        .root = pj_host_root_from_environment(),
        .interrupt_fd = batch->work->options->interrupt_fd,
        .timeout_ms = batch->work->trial.timeout_ms,
        .patience_ms = pj_patience_ms(batch->work->options->timeout_ms),
        .deadline_ms = batch->work->trial.deadline_ms,
        .phase = "compile",
        .arena = &batch->work->trial.arena,
    };
    r = pj_maker_open(&options, &maker, err);
    if (r == 0)
        r = add_orders(batch, err);
    if (r == 0)
        r = pj_maker_run(maker, batch->makings, batch->count, err);
    if (r == 0 && pj_maker_interrupted(maker))
        r = pj_error_set(err, PJ_ERROR_INTERRUPTED, "interrupted");
    if (r == 0 && pj_maker_deadline_passed(maker))
        r = pj_trial_deadline_passed(err);
    return r == 0 ? add_compiler(batch, pj_maker_compiler(maker), err) : r;
}

static int compile_with(struct pj_profile_work *work, enum pj_wire_library library, struct pj_error **err)
{
    size_t most = work->count * PJ_PROFILE_TEXTS_MAX + 1;
    struct batch batch = {.work = work, .library = library};
    PJ_CLEANUP_FREE struct pj_making *makings = calloc(most, sizeof *makings);
    PJ_CLEANUP_FREE struct pj_making_part *parts = calloc(most, sizeof *parts);
    PJ_CLEANUP_FREE size_t *trials = calloc(most, sizeof *trials);
    PJ_CLEANUP_FREE size_t *texts = calloc(most, sizeof *texts);
    if (!makings || !parts || !trials || !texts)
        return pj_error_no_memory(err);
    batch.makings = makings;
    batch.parts = parts;
    batch.trials = trials;
    batch.texts = texts;
    int r = run_batch(&batch, err);
    for (size_t i = 0; i < batch.count; i++)
        pj_making_free(&makings[i]);
    return r;
}

int pj_profile_compile(struct pj_profile_work *work, struct pj_error **err)
{
    PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
    work->profile.compilers =
        pj_arena_calloc(&work->trial.arena, PJ_PROFILE_COMPILERS_MAX, sizeof *work->profile.compilers);
    if (!work->profile.compilers)
        return pj_error_no_memory(err);
    int r = compile_with(work, PJ_LIBRARY_PTXAS, err);
    if (r < 0)
        return r;
    /* nvJitLink is no must unless it was named: a profile without it is good for ptxas. */
    r = compile_with(work, PJ_LIBRARY_NVJITLINK, &problem);
    if (r == 0 || (r == PJ_ERROR_ENVIRONMENT && !work->options->nvjitlink))
        return 0;
    *err = PJ_STEAL(problem);
    return r;
}
