/* SPDX-License-Identifier: Apache-2.0 */
/* Which sources are to be compiled, and what is taken from an earlier run. */
#include "session/prepare/prepare.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "arch/nvrtc_options.h"
#include "base/clock.h"
#include "host/toolkit.h"
#include "session/prepare/private.h"
#include "session/receipt/input.h"

static const struct {
    const char *name, *missing_code, *missing, *what;
    enum pj_toolkit_library where;
} libraries[] = {
    [PJ_LIBRARY_NVRTC] = {"NVRTC", "no-nvrtc", "NVRTC, which the sources need, is not to be had", "sources",
                          PJ_TOOLKIT_NVRTC},
    [PJ_LIBRARY_NVJITLINK] = {"nvJitLink", "no-nvjitlink",
                              "nvJitLink, which the links need, is not to be had", "links",
                              PJ_TOOLKIT_NVJITLINK},
};

static const enum pj_wire_library both[] = {PJ_LIBRARY_NVRTC, PJ_LIBRARY_NVJITLINK};

const char *pj_prepare_name(enum pj_wire_library library)
{
    return libraries[library].name;
}

struct pj_compiler *pj_prepare_compiler(struct pj_session *session, enum pj_wire_library library)
{
    return library == PJ_LIBRARY_NVRTC ? &session->nvrtc : &session->nvjitlink;
}

static enum pj_wire_library library_of(const struct pj_module *module)
{
    return module->kind == PJ_MODULE_SOURCE ? PJ_LIBRARY_NVRTC : PJ_LIBRARY_NVJITLINK;
}

static bool is_needed(const struct pj_session *session, enum pj_wire_library library)
{
    const struct pj_manifest *manifest = session->manifest;
    for (size_t i = 0; i < manifest->module_count; i++) {
        const struct pj_module *module = &manifest->modules[i];
        if (pj_module_is_prepared(module) && library_of(module) == library &&
            pj_plan_selects(&session->selection, module))
            return true;
    }
    return false;
}

/* The same bare name leads to another file where these differ. */
static void describe_loader(const struct pj_receipt *now, struct pj_buffer *text)
{
    if (now->ld_library_path)
        pj_buffer_printf(text, "LD_LIBRARY_PATH=%s\n", now->ld_library_path);
    pj_buffer_printf(text, "ld.so.cache %" PRId64 "\n", now->ld_so_cache_mtime_seconds);
}

static int search(struct pj_session *session, enum pj_wire_library library, struct pj_error **err)
{
    struct pj_compiler *compiler = pj_prepare_compiler(session, library);
    const struct pj_options *options = session->options;
    const char *home = pj_toolkit_home();
    if (compiler->search || !is_needed(session, library))
        return 0;
    int r = pj_toolkit_candidates(&session->root, libraries[library].where,
                                  library == PJ_LIBRARY_NVRTC ? options->nvrtc : options->nvjitlink, home,
                                  &session->arena, &compiler->paths, &compiler->path_count, err);
    if (r < 0)
        return r;
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    bool by_loader = false;
    for (size_t i = 0; i < compiler->path_count; i++) {
        pj_buffer_printf(&text, "%s\n", compiler->paths[i]);
        by_loader |= strchr(compiler->paths[i], '/') == NULL;
    }
    if (by_loader)
        describe_loader(&session->now, &text);
    if (home) /* its headers may be those that sources get, whatever library is opened */
        pj_buffer_printf(&text, "CUDA_HOME=%s\n", home);
    compiler->search = text.failed ? NULL : pj_arena_strdup(&session->arena, pj_buffer_text(&text));
    return compiler->search ? 0 : pj_error_no_memory(err);
}

int pj_prepare_search(struct pj_session *session, struct pj_error **err)
{
    int r = 0;
    for (size_t i = 0; i < PJ_COUNT(both) && r == 0; i++)
        r = search(session, both[i], err);
    return r;
}

static bool is_unprepared(const struct pj_job *job)
{
    return pj_job_needs_preparing(job) && job->target != 0;
}

static int collect(struct pj_session *session, struct pj_prepare_item **ret_items, size_t *ret_count,
                   struct pj_error **err)
{
    const struct pj_plan *plan = session->plan;
    size_t count = 0;
    for (size_t i = 0; i < plan->job_count; i++)
        count += is_unprepared(&plan->jobs[i]);
    struct pj_prepare_item *items = pj_arena_calloc(&session->arena, count + 1, sizeof *items);
    if (!items)
        return pj_error_no_memory(err);
    count = 0;
    for (size_t i = 0; i < plan->job_count; i++) {
        const struct pj_job *job = &plan->jobs[i];
        if (!is_unprepared(job))
            continue;
        PJ_CLEANUP_BUFFER struct pj_buffer request = {0};
        struct pj_prepare_item *item = &items[count++];
        item->job = i;
        item->library = library_of(&session->manifest->modules[job->module]);
        item->source = (struct pj_source){
            .module = &session->manifest->modules[job->module],
            .images = plan->module_images[job->module],
            .arch = {.number = job->target, .letter = job->letter},
        };
        int r = item->library == PJ_LIBRARY_NVRTC
                    ? pj_source_request(&item->source, session->manifest->directory, &request, err)
                    : pj_linked_request(&item->source, &request, err);
        if (r < 0)
            return r;
        item->request = pj_arena_strdup(&session->arena, pj_buffer_text(&request));
        if (!item->request)
            return pj_error_no_memory(err);
    }
    *ret_items = items;
    *ret_count = count;
    return 0;
}

static int input_files(struct pj_session *session, const struct pj_prepared *prepared,
                       struct pj_plan_file **ret_files, struct pj_error **err)
{
    struct pj_plan_file *files = pj_arena_calloc(&session->arena, prepared->input_count + 1, sizeof *files);
    if (!files)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < prepared->input_count; i++)
        files[i] = pj_receipt_input_file(&prepared->inputs[i]);
    *ret_files = files;
    return 0;
}

int pj_prepare_adopt(struct pj_session *session, const struct pj_prepare_item *item, const char *ptx,
                     size_t size, const struct pj_plan_file *files, size_t file_count, struct pj_error **err)
{
    const struct pj_plan_machine machine = {
        .devices = session->machine.archs,
        .device_count = session->machine.arch_count,
        .cuda_version = session->machine.cuda_version,
    };
    return pj_plan_prepared(session->plan, item->job, &machine, ptx, size, files, file_count, err);
}

/* What an earlier run kept, where it still holds. */
static int take_kept(struct pj_session *session, struct pj_prepare_item *item, struct pj_error **err)
{
    struct pj_prepared kept = {0};
    struct pj_compiler *compiler = pj_prepare_compiler(session, item->library);
    struct pj_job *job = &session->plan->jobs[item->job];
    int r = pj_prepared_load(session, compiler, item->request, &kept, &item->kept_ptx, err);
    if (r < 0 || !item->kept_ptx)
        return r;
    struct pj_plan_file *files = NULL;
    r = input_files(session, &kept, &files, err);
    if (r < 0)
        return r;
    if (!compiler->known) {
        compiler->library = kept.compiler;
        compiler->files = kept.compiler_files;
        compiler->file_count = kept.compiler_file_count;
    }
    job->log = kept.log;
    job->has_to_ptx_ms = true;
    job->to_ptx_ms = kept.ms;
    job->header_note = kept.header_note;
    return pj_prepare_adopt(session, item, item->kept_ptx, (size_t)kept.ptx_bytes, files, kept.input_count,
                            err);
}

/* Without its compiler a module fails, and everything else goes on; where one of them is required, the run's
 * status tells that the machine lacks it. */
static int fail_without(struct pj_session *session, const struct pj_prepare_item *items, size_t count,
                        const struct pj_error *error, struct pj_error **err)
{
    char *reason = pj_arena_strdup(&session->arena, pj_error_message(error));
    if (!reason)
        return pj_error_no_memory(err);
    for (char *end = strchr(reason, '\n'); end; end = strchr(end, '\n'))
        *end = ' '; /* a reason is one line */
    for (size_t i = 0; i < count; i++) {
        struct pj_job *job = &session->plan->jobs[items[i].job];
        job->fate = PJ_JOB_REJECTED;
        job->reason_code = libraries[items[i].library].missing_code;
        job->reason = reason;
        if (job->required)
            pj_session_blame(session, PJ_EXIT_ENVIRONMENT, libraries[items[i].library].missing);
    }
    return 0;
}

/* Does the command compile what was not kept? */
static bool compiles(const struct pj_session *session)
{
    return strcmp(session->command, "plan") != 0 || session->options->prepare ||
           session->options->check_stable;
}

static int note_not_compiled(struct pj_session *session, enum pj_wire_library library, size_t count,
                             struct pj_error **err)
{
    return pj_session_note(session, err, "%zu %s of %s %s not known before %s has run: add --prepare", count,
                           count == 1 ? "job" : "jobs", libraries[library].what, count == 1 ? "is" : "are",
                           libraries[library].name);
}

/* Those of the items that are one library's. */
static int prepare_with(struct pj_session *session, enum pj_wire_library library,
                        const struct pj_prepare_item *items, size_t count, struct pj_error **err)
{
    PJ_CLEANUP_FREE struct pj_prepare_item *own = calloc(count + 1, sizeof *own);
    PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
    size_t own_count = 0;
    if (!own)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < count; i++) {
        if (items[i].library == library)
            own[own_count++] = items[i];
    }
    if (own_count == 0)
        return 0;
    if (!compiles(session))
        return note_not_compiled(session, library, own_count, err);
    int r = pj_prepare_compile(session, library, own, own_count, &problem);
    if (r == PJ_ERROR_ENVIRONMENT)
        return fail_without(session, own, own_count, problem, err);
    if (r < 0 && err)
        *err = PJ_STEAL(problem);
    return r;
}

int pj_prepare_sources(struct pj_session *session, struct pj_error **err)
{
    struct pj_prepare_item *items = NULL;
    size_t count = 0, left = 0;
    int r = pj_prepare_search(session, err);
    if (r == 0)
        r = collect(session, &items, &count, err);
    for (size_t i = 0; i < count && r == 0; i++) {
        r = take_kept(session, &items[i], err);
        if (!items[i].kept_ptx || session->options->check_stable)
            items[left++] = items[i];
    }
    if (r < 0 || left == 0)
        return r;
    double begin = pj_clock_ms();
    for (size_t i = 0; i < PJ_COUNT(both) && r == 0; i++)
        r = prepare_with(session, both[i], items, left, err);
    session->phases.has_prepare = compiles(session);
    session->phases.prepare_ms = pj_clock_ms() - begin;
    return r;
}
