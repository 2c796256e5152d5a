/* SPDX-License-Identifier: Apache-2.0 */
/* What earlier builds left in the folder: what this one could not build goes, the rest is counted. Both are
 * said. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "report/phrase.h"
#include "session/build/private.h"

static const char cubin_ending[] = ".cubin";

static int remove_file(struct pj_build *build, const struct pj_build_unit *unit, const char *ending,
                       struct pj_error **err)
{
    const char *path = pj_arena_printf(&build->arena, "%s/%s.%s.%s", build->options->out_dir, unit->module,
                                       unit->target, ending);
    if (!path)
        return pj_error_no_memory(err);
    if (unlink(path) != 0) {
        if (errno == ENOENT || errno == ENOTDIR)
            return 0;
        return pj_error_errno(err, PJ_ERROR_IO, errno, "cannot remove what an earlier run left: %s", path);
    }
    if (build->report.removed < PJ_BUILD_REMOVED_NAMED_MAX)
        build->removed[build->report.removed] = path;
    build->report.removed++;
    return 0;
}

int pj_build_remove_stale(struct pj_build *build, const struct pj_build_unit *unit, struct pj_error **err)
{
    if (build->options->check || unit->verdict == PJ_BUILD_NOT_TRIED)
        return 0;
    int r = remove_file(build, unit, "cubin", err);
    return r == 0 ? remove_file(build, unit, "ptx", err) : r;
}

/* Is it named as this program names cubins: "MODULE.sm_90a.cubin"? */
static bool is_named_like_ours(const char *name)
{
    size_t size = strlen(name), ending = sizeof cubin_ending - 1;
    char target[16];
    struct pj_arch arch;
    PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
    if (size <= ending || strcmp(name + size - ending, cubin_ending) != 0)
        return false;
    const char *dot = memrchr(name, '.', size - ending);
    size_t length = dot ? (size_t)(name + size - ending - dot - 1) : 0;
    if (!dot || dot == name || length >= sizeof target)
        return false;
    (void)snprintf(target, sizeof target, "%.*s", (int)length, dot + 1);
    return strncmp(target, "sm_", 3) == 0 && pj_arch_parse(target, &arch, &problem) == 0;
}

/* The cubins that this run's index does not list. */
struct unlisted {
    const char *first; /* in the order of their paths */
    size_t count;
};

static int take_name(struct pj_build *build, const struct pj_build_output *outputs, size_t output_count,
                     const char *folder, const char *name, struct unlisted *unlisted, struct pj_error **err)
{
    PJ_CLEANUP_BUFFER struct pj_buffer path = {0};
    pj_buffer_printf(&path, "%s%s", folder, name);
    if (path.failed)
        return pj_error_no_memory(err);
    const struct pj_build_output *output = pj_build_find_output(outputs, output_count, pj_buffer_text(&path));
    if (output && output->work && output->work->unit->verdict == PJ_BUILD_BUILT)
        return 0;
    unlisted->count++;
    if (unlisted->first && strcmp(unlisted->first, pj_buffer_text(&path)) < 0)
        return 0;
    unlisted->first = pj_arena_strdup(&build->arena, pj_buffer_text(&path));
    return unlisted->first ? 0 : pj_error_no_memory(err);
}

static bool is_file(int dirfd, const char *name)
{
    struct stat status;
    return fstatat(dirfd, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode);
}

static int look_into(struct pj_build *build, const struct pj_build_output *outputs, size_t output_count,
                     const char *folder, struct unlisted *unlisted, struct pj_error **err)
{
    PJ_CLEANUP_FREE char *path = pj_path_join(build->options->out_dir, *folder ? folder : ".");
    if (!path)
        return pj_error_no_memory(err);
    PJ_CLEANUP_CLOSEDIR DIR *directory = opendir(path);
    int r = 0;
    for (const struct dirent *item; directory && r == 0 && (item = readdir(directory));) {
        if (is_named_like_ours(item->d_name) && is_file(dirfd(directory), item->d_name))
            r = take_name(build, outputs, output_count, folder, item->d_name, unlisted, err);
    }
    return r;
}

static int find_unlisted(struct pj_build *build, struct unlisted *unlisted, struct pj_error **err)
{
    struct pj_build_output *outputs = NULL;
    const char **folders = NULL;
    size_t output_count = 0, folder_count = 0;
    int r = pj_build_outputs(build, &outputs, &output_count, err);
    if (r == 0)
        r = pj_build_folders(build, &folders, &folder_count, err);
    for (size_t i = 0; i < folder_count && r == 0; i++)
        r = look_into(build, outputs, output_count, folders[i], unlisted, err);
    return r;
}

static int add_note(struct pj_build *build, struct pj_buffer *text, struct pj_error **err)
{
    struct pj_build_report *report = &build->report;
    report->notes[report->note_count] = pj_arena_strdup(&build->arena, pj_buffer_text(text));
    return !text->failed && report->notes[report->note_count++] ? 0 : pj_error_no_memory(err);
}

static int note_removed(struct pj_build *build, struct pj_error **err)
{
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    size_t count = build->report.removed;
    if (count == 0)
        return 0;
    pj_buffer_puts(&text, "removed ");
    pj_phrase_names(&text, build->removed, count, PJ_BUILD_REMOVED_NAMED_MAX);
    pj_buffer_printf(&text, ", of an earlier run: this one could not build %s", count == 1 ? "it" : "them");
    return add_note(build, &text, err);
}

static int note_unlisted(struct pj_build *build, struct pj_error **err)
{
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    const char *out_dir = build->options->out_dir;
    struct unlisted unlisted = {0};
    int r = find_unlisted(build, &unlisted, err);
    if (r < 0 || unlisted.count == 0)
        return r;
    pj_buffer_printf(&text, "%s has ", out_dir);
    pj_phrase_count(&text, unlisted.count, "cubin that is not of this run, ",
                    "cubins that are not of this run, the first is ");
    pj_buffer_printf(&text, "%s: %s/%s does not list %s", unlisted.first, out_dir, PJ_BUILD_INDEX,
                     unlisted.count == 1 ? "it" : "them");
    return add_note(build, &text, err);
}

int pj_build_note_earlier(struct pj_build *build, struct pj_error **err)
{
    if (build->options->check)
        return 0;
    int r = note_removed(build, err);
    return r == 0 ? note_unlisted(build, err) : r;
}
