/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the images of a plan: each file once, hashed and judged, its bytes given back at once. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/file.h"
#include "job/plan_private.h"

#define IMAGE_MAX_BYTES (UINT64_C(1) << 30)

const char *pj_plan_manifest_name(const struct pj_manifest *manifest)
{
    return strcmp(manifest->name, "-") == 0 ? "<stdin>" : manifest->name;
}

/* What is wrong with a file is said of the file: a glob's modules do not show which one it is. */
static int name_file(struct pj_plan *plan, struct pj_plan_image *image, struct pj_error **err)
{
    if (pj_ptx_usable(image->finding.code))
        return 0;
    image->finding.message = pj_arena_printf(&plan->arena, "%s: %s", image->path, image->finding.message);
    return image->finding.message ? 0 : pj_error_no_memory(err);
}

static int read_image(struct pj_plan *plan, struct pj_plan_image *image, struct pj_buffer *bytes,
                      struct pj_error **err)
{
    PJ_CLEANUP_CLOSE int fd = -1;
    int r = pj_file_open_regular(AT_FDCWD, image->path, &fd, &image->status, err);
    if (r < 0)
        return r;
    pj_buffer_reset(bytes);
    r = pj_file_read_fd(fd, image->path, IMAGE_MAX_BYTES, bytes, err);
    if (r < 0)
        return r;
    const char *text = pj_buffer_text(bytes);
    image->size_bytes = bytes->size;
    pj_sha256_of(text, bytes->size, &image->sha256);
    r = pj_ptx_read(text, bytes->size, &plan->arena, &image->ptx, &image->finding, err);
    return r < 0 ? r : name_file(plan, image, err);
}

/* An image that cannot be read: a fault of the manifest where the module is required, else a rejected job. */
static int cannot_read(struct pj_plan *plan, const struct pj_module *module, struct pj_plan_image *image,
                       struct pj_error *problem, struct pj_buffer *faults, struct pj_error **err)
{
    if (problem->code == PJ_ERROR_NO_MEMORY)
        return pj_error_no_memory(err);
    if (module->required) {
        pj_buffer_printf(faults, "%s%s:%zu: module '%s': %s", faults->size ? "\n" : "",
                         pj_plan_manifest_name(plan->manifest), module->line, module->name,
                         pj_error_message(problem));
        return pj_buffer_check(faults, err);
    }
    image->finding.code = PJ_PTX_NOT_PTX;
    image->finding.message = pj_arena_strdup(&plan->arena, pj_error_message(problem));
    return image->finding.message ? 0 : pj_error_no_memory(err);
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp((*(const struct pj_plan_image *const *)a)->path,
                  (*(const struct pj_plan_image *const *)b)->path);
}

/* Distinct paths: modules that name the same file share one image. */
static int distinct_images(struct pj_plan *plan, const bool *selected, struct pj_error **err)
{
    size_t count = plan->manifest->module_count;
    plan->images = pj_arena_calloc(&plan->arena, count, sizeof *plan->images);
    plan->module_images = pj_arena_calloc(&plan->arena, count, sizeof *plan->module_images);
    PJ_CLEANUP_FREE struct pj_plan_image **sorted = calloc(count + 1, sizeof *sorted);
    PJ_CLEANUP_FREE struct pj_plan_image *wanted = calloc(count + 1, sizeof *wanted);
    if (!plan->images || !plan->module_images || !sorted || !wanted)
        return pj_error_no_memory(err);
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        if (!selected[i])
            continue;
        wanted[i] = (struct pj_plan_image){.path = plan->manifest->modules[i].path};
        sorted[used++] = &wanted[i];
    }
    qsort(sorted, used, sizeof *sorted, compare_paths);
    for (size_t i = 0; i < used; i++) {
        if (i == 0 || strcmp(sorted[i]->path, sorted[i - 1]->path) != 0)
            plan->images[plan->image_count++].path = sorted[i]->path;
        plan->module_images[sorted[i] - wanted] = &plan->images[plan->image_count - 1];
    }
    return 0;
}

/* Modules whose PTX has to be made first. */
static int refuse_unprepared(const struct pj_plan *plan, const bool *selected, struct pj_error **err)
{
    const struct pj_manifest *manifest = plan->manifest;
    for (size_t i = 0; i < manifest->module_count; i++) {
        const struct pj_module *module = &manifest->modules[i];
        if (selected[i] && module->kind != PJ_MODULE_PTX)
            return pj_error_set(
                err, PJ_ERROR_UNSUPPORTED,
                "%s:%zu: module '%s': modules with `%s:` cannot be planned by this version of "
                "prejit: leave it out with -m",
                pj_plan_manifest_name(manifest), module->line, module->name,
                module->kind == PJ_MODULE_SOURCE ? "source" : "link");
    }
    return 0;
}

int pj_plan_read_images(struct pj_plan *plan, const bool *selected, struct pj_error **err)
{
    int r = refuse_unprepared(plan, selected, err);
    if (r == 0)
        r = distinct_images(plan, selected, err);
    if (r < 0)
        return r;
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    PJ_CLEANUP_BUFFER struct pj_buffer faults = {0};
    PJ_CLEANUP_FREE bool *done = calloc(plan->image_count + 1, sizeof *done);
    if (!done)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < plan->manifest->module_count && r == 0; i++) {
        if (!selected[i])
            continue;
        struct pj_plan_image *image = &plan->images[plan->module_images[i] - plan->images];
        if (done[image - plan->images])
            continue;
        done[image - plan->images] = true;
        PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
        if (read_image(plan, image, &bytes, &problem) < 0)
            r = cannot_read(plan, &plan->manifest->modules[i], image, problem, &faults, err);
    }
    if (r < 0)
        return r;
    if (faults.size > 0)
        return pj_error_set(err, PJ_ERROR_MANIFEST, "%s", pj_buffer_text(&faults));
    return 0;
}

int pj_plan_reread(const struct pj_plan_image *image, struct pj_buffer *bytes, bool *ret_same,
                   struct pj_error **err)
{
    PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
    pj_buffer_reset(bytes);
    if (pj_file_read(AT_FDCWD, image->path, IMAGE_MAX_BYTES, bytes, &problem) < 0) {
        *ret_same = false;
        return problem->code == PJ_ERROR_NO_MEMORY ? pj_error_no_memory(err) : 0;
    }
    struct pj_sha256 digest;
    pj_sha256_of(pj_buffer_text(bytes), bytes->size, &digest);
    *ret_same = memcmp(digest.bytes, image->sha256.bytes, sizeof digest.bytes) == 0;
    return 0;
}
