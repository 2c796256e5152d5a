/* SPDX-License-Identifier: Apache-2.0 */
/* Cubins, PTX and the index as files. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "session/build/private.h"

/* Makes the folders in front of the last slash of `path`. */
static int make_folders(const char *out_dir, const char *path, struct pj_error **err)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return 0;
    PJ_CLEANUP_FREE char *relative = strndup(path, (size_t)(slash - path));
    PJ_CLEANUP_FREE char *folder = relative ? pj_path_join(out_dir, relative) : NULL;
    return folder ? pj_directory_create(folder, 0777, err) : pj_error_no_memory(err);
}

static int write_file(const char *out_dir, const char *path, const struct pj_buffer *bytes,
                      struct pj_error **err)
{
    PJ_CLEANUP_FREE char *full = pj_path_join(out_dir, path);
    if (!full)
        return pj_error_no_memory(err);
    int r = make_folders(out_dir, path, err);
    return r == 0 ? pj_file_replace(AT_FDCWD, full, pj_buffer_text(bytes), bytes->size, 0644, err) : r;
}

static int write_unit(struct pj_build *build, struct pj_build_work *work, struct pj_error **err)
{
    struct pj_build_unit *unit = work->unit;
    const char *out_dir = build->options->out_dir;
    if (unit->has_ptx)
        unit->ptx.path = pj_arena_printf(&build->arena, "%s.%s.ptx", unit->module, unit->target);
    unit->cubin.path = pj_arena_printf(&build->arena, "%s.%s.cubin", unit->module, unit->target);
    if (!unit->cubin.path || (unit->has_ptx && !unit->ptx.path))
        return pj_error_no_memory(err);
    if (build->options->check)
        return 0;
    int r = write_file(out_dir, unit->cubin.path, &work->cubin, err);
    if (r == 0 && unit->has_ptx)
        r = write_file(out_dir, unit->ptx.path, pj_making_result(&work->compile, PJ_OUTPUT_PTX), err);
    return r;
}

static int remove_file(const char *out_dir, const char *module, const char *target, const char *ending,
                       struct pj_error **err)
{
    PJ_CLEANUP_FREE char *path = NULL;
    if (asprintf(&path, "%s/%s.%s.%s", out_dir, module, target, ending) < 0) {
        path = NULL;
        return pj_error_no_memory(err);
    }
    if (unlink(path) != 0 && errno != ENOENT && errno != ENOTDIR)
        return pj_error_errno(err, PJ_ERROR_IO, errno, "cannot remove what an earlier run left: %s", path);
    return 0;
}

/* What an earlier run made of a module that fails now is old code: whoever takes *.cubin shall not ship it.
 */
static int remove_stale(struct pj_build *build, const struct pj_build_unit *unit, struct pj_error **err)
{
    const char *out_dir = build->options->out_dir;
    if (build->options->check || unit->verdict == PJ_BUILD_NOT_TRIED)
        return 0;
    int r = remove_file(out_dir, unit->module, unit->target, "cubin", err);
    return r == 0 ? remove_file(out_dir, unit->module, unit->target, "ptx", err) : r;
}

int pj_build_write(struct pj_build *build, struct pj_error **err)
{
    int r = build->options->check ? 0 : pj_build_remove_leftovers(build, err);
    for (size_t i = 0; i < build->count && r == 0; i++) {
        struct pj_build_work *work = &build->works[i];
        if (work->unit->verdict == PJ_BUILD_BUILT) {
            r = write_unit(build, work, err);
            continue;
        }
        work->unit->has_ptx = false; /* not written: the unit as a whole failed */
        r = remove_stale(build, work->unit, err);
    }
    return r < 0 ? pj_error_wrap(err, r, "writing to %s", build->options->out_dir) : 0;
}

/* What was made is the same at every build, and so is what tells of it: image layers are reused. */
static int render_without_times(struct pj_build *build, struct pj_buffer *text, struct pj_error **err)
{
    struct pj_build_report report = build->report;
    report.seconds = -1;
    report.units = pj_arena_calloc(&build->arena, report.unit_count + 1, sizeof *report.units);
    if (!report.units)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < report.unit_count; i++) {
        report.units[i] = build->report.units[i];
        report.units[i].has_ms = false;
    }
    return pj_build_render_json(&report, text, err);
}

int pj_build_write_index(struct pj_build *build, struct pj_error **err)
{
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    int r = render_without_times(build, &text, err);
    if (r == 0)
        r = write_file(build->options->out_dir, PJ_BUILD_INDEX, &text, err);
    return r < 0 ? pj_error_wrap(err, r, "writing to %s", build->options->out_dir) : 0;
}
