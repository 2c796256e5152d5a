/* SPDX-License-Identifier: Apache-2.0 */
/* Cubins, PTX and the index as files. */
#include <fcntl.h>
#include <string.h>

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

/* What NVRTC made is of use where the rest of the way failed: a source that calls what another file defines
 * has to be linked with that file. */
static int write_ptx(struct pj_build *build, struct pj_build_work *work, struct pj_error **err)
{
    struct pj_build_unit *unit = work->unit;
    unit->ptx.path = pj_arena_printf(&build->arena, "%s.%s.ptx", unit->module, unit->target);
    if (!unit->ptx.path)
        return pj_error_no_memory(err);
    return build->options->check ? 0
                                 : write_file(build->options->out_dir, unit->ptx.path,
                                              pj_making_result(&work->compile, PJ_OUTPUT_PTX), err);
}

static int write_unit(struct pj_build *build, struct pj_build_work *work, struct pj_error **err)
{
    struct pj_build_unit *unit = work->unit;
    const char *out_dir = build->options->out_dir;
    unit->cubin.path = pj_arena_printf(&build->arena, "%s.%s.cubin", unit->module, unit->target);
    if (!unit->cubin.path)
        return pj_error_no_memory(err);
    int r = build->options->check ? 0 : write_file(out_dir, unit->cubin.path, &work->cubin, err);
    return r == 0 && unit->has_ptx ? write_ptx(build, work, err) : r;
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
        work->unit->has_ptx &= work->link.end == PJ_MAKING_REFUSED; /* else it is of no use by itself */
        r = pj_build_remove_stale(build, work->unit, err);
        if (r == 0 && work->unit->has_ptx)
            r = write_ptx(build, work, err);
    }
    return r < 0 ? pj_error_wrap(err, r, "writing to %s", build->options->out_dir) : 0;
}

/* What was made is the same at every build, and so is what tells of it: image layers are reused. Times are
 * not in it, nor what lay in the folder before. */
static int render_index(struct pj_build *build, struct pj_buffer *text, struct pj_error **err)
{
    struct pj_build_report report = build->report;
    report.seconds = -1;
    report.note_count = build->lasting_notes;
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
    int r = render_index(build, &text, err);
    if (r == 0)
        r = write_file(build->options->out_dir, PJ_BUILD_INDEX, &text, err);
    return r < 0 ? pj_error_wrap(err, r, "writing to %s", build->options->out_dir) : 0;
}
