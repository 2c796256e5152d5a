/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the files of a plan: each once, hashed and judged, its bytes given back at once. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/nearby.h"
#include "job/plan_private.h"

#define IMAGE_MAX_BYTES (UINT64_C(1) << 30)

const char *pj_plan_manifest_name(const struct pj_manifest *manifest)
{
    return strcmp(manifest->name, "-") == 0 ? "<stdin>" : manifest->name;
}

size_t pj_plan_file_count(const struct pj_module *module)
{
    return (module->kind == PJ_MODULE_LINK ? module->input_count : 1) + module->header_count;
}

static const char *file_path(const struct pj_module *module, size_t index)
{
    size_t own = module->kind == PJ_MODULE_LINK ? module->input_count : 1;
    if (index >= own)
        return module->headers[index - own].path;
    return module->kind == PJ_MODULE_LINK ? module->inputs[index] : module->path;
}

static enum pj_plan_form form_of(const struct pj_module *module)
{
    return module->kind == PJ_MODULE_LINK     ? PJ_FORM_INPUT
           : module->kind == PJ_MODULE_SOURCE ? PJ_FORM_SOURCE
                                              : PJ_FORM_PTX;
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
    return pj_plan_judge_bytes(plan, image, text, bytes->size, err);
}

/* A file that is not there, and that the manifest's folder has under another name or in another folder: gives
 * the message with that one. */
static const char *with_meant(const struct pj_plan *plan, const struct pj_plan_image *image,
                              const struct pj_error *problem, struct pj_buffer *text)
{
    PJ_CLEANUP_BUFFER struct pj_buffer meant = {0};
    bool missing = problem->errnum == ENOENT || problem->errnum == ENOTDIR;
    bool found = missing && pj_nearby_file(image->path, &meant);
    text->failed |= meant.failed;
    if (!found)
        return pj_error_message(problem);
    const char *folder = plan->manifest->directory, *path = pj_buffer_text(&meant);
    size_t length = strlen(folder);
    if (strncmp(path, folder, length) == 0 && path[length] == '/' && image->path[0] != '/')
        path += length + 1; /* as the manifest is to write it */
    pj_buffer_printf(text, "%s: did you mean %s?", pj_error_message(problem), path);
    return pj_buffer_text(text);
}

/* An image that cannot be read: a fault of the manifest where the module is required, else a rejected job. */
static int cannot_read(struct pj_plan *plan, const struct pj_module *module, struct pj_plan_image *image,
                       struct pj_error *problem, struct pj_buffer *faults, struct pj_error **err)
{
    if (problem->code == PJ_ERROR_NO_MEMORY)
        return pj_error_no_memory(err);
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    const char *message = with_meant(plan, image, problem, &text);
    if (text.failed)
        return pj_error_no_memory(err);
    if (module->required) {
        pj_buffer_printf(faults, "%s%s:%zu: module '%s': %s", faults->size ? "\n" : "",
                         pj_plan_manifest_name(plan->manifest), module->line, module->name, message);
        return pj_buffer_check(faults, err);
    }
    image->fault_code = "unreadable";
    image->fault = pj_arena_strdup(&plan->arena, message);
    return image->fault ? 0 : pj_error_no_memory(err);
}

/* A file that a module names, and its number among all that are named. */
struct wish {
    const char *path;
    enum pj_plan_form form;
    size_t number;
};

static int compare_files(const void *a, const void *b)
{
    const struct wish *x = a, *y = b;
    int order = strcmp(x->path, y->path);
    return order != 0 ? order : (int)x->form - (int)y->form;
}

static int compare_wishes(const void *a, const void *b)
{
    const struct wish *x = a, *y = b;
    int order = compare_files(a, b);
    return order != 0 ? order : (x->number > y->number) - (x->number < y->number);
}

/* One wish for each file of each selected module; `wishes` has room for all. */
static size_t collect_wishes(const struct pj_plan *plan, const bool *selected, struct wish *wishes)
{
    size_t used = 0;
    for (size_t i = 0; i < plan->manifest->module_count; i++) {
        const struct pj_module *module = &plan->manifest->modules[i];
        for (size_t k = 0; selected[i] && k < pj_plan_file_count(module); k++) {
            wishes[used] =
                (struct wish){.path = file_path(module, k), .form = form_of(module), .number = used};
            used++;
        }
    }
    return used;
}

/* Distinct paths: modules that name the same file share one image. */
static int distinct_images(struct pj_plan *plan, const bool *selected, struct pj_error **err)
{
    size_t modules = plan->manifest->module_count, files = 0, distinct = 0;
    for (size_t i = 0; i < modules; i++)
        files += selected[i] ? pj_plan_file_count(&plan->manifest->modules[i]) : 0;
    plan->module_images = pj_arena_calloc(&plan->arena, modules + 1, sizeof *plan->module_images);
    const struct pj_plan_image **slots = pj_arena_calloc(&plan->arena, files + 1, sizeof *slots);
    PJ_CLEANUP_FREE struct wish *wishes = calloc(files + 1, sizeof *wishes);
    if (!plan->module_images || !slots || !wishes)
        return pj_error_no_memory(err);
    size_t used = collect_wishes(plan, selected, wishes);
    qsort(wishes, used, sizeof *wishes, compare_wishes);
    for (size_t i = 0; i < used; i++)
        distinct += i == 0 || compare_files(&wishes[i], &wishes[i - 1]) != 0;
    plan->images = pj_arena_calloc(&plan->arena, distinct + 1, sizeof *plan->images);
    if (!plan->images)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < used; i++) {
        if (i == 0 || compare_files(&wishes[i], &wishes[i - 1]) != 0)
            plan->images[plan->image_count++] =
                (struct pj_plan_image){.path = wishes[i].path, .form = wishes[i].form};
        slots[wishes[i].number] = &plan->images[plan->image_count - 1];
    }
    for (size_t i = 0, at = 0; i < modules; i++) {
        if (!selected[i])
            continue;
        plan->module_images[i] = &slots[at];
        at += pj_plan_file_count(&plan->manifest->modules[i]);
    }
    return 0;
}

/* `done` is parallel to the plan's images. */
static int read_module(struct pj_plan *plan, size_t index, bool *done, struct pj_buffer *bytes,
                       struct pj_buffer *faults, struct pj_error **err)
{
    const struct pj_module *module = &plan->manifest->modules[index];
    int r = 0;
    for (size_t k = 0; k < pj_plan_file_count(module) && r == 0; k++) {
        size_t at = (size_t)(plan->module_images[index][k] - plan->images);
        if (done[at])
            continue;
        done[at] = true;
        PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
        if (read_image(plan, &plan->images[at], bytes, &problem) < 0)
            r = cannot_read(plan, module, &plan->images[at], problem, faults, err);
        struct pj_plan_image *image = &plan->images[at];
        image->file = (struct pj_plan_file){
            .path = image->path, .status = image->status, .sha256 = image->sha256, .named = true};
    }
    return r;
}

int pj_plan_read_images(struct pj_plan *plan, const bool *selected, struct pj_error **err)
{
    int r = distinct_images(plan, selected, err);
    if (r < 0)
        return r;
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    PJ_CLEANUP_BUFFER struct pj_buffer faults = {0};
    PJ_CLEANUP_FREE bool *done = calloc(plan->image_count + 1, sizeof *done);
    if (!done)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < plan->manifest->module_count && r == 0; i++) {
        if (selected[i])
            r = read_module(plan, i, done, &bytes, &faults, err);
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
    if (image->bytes) {
        pj_buffer_append(bytes, image->bytes, image->size_bytes);
        *ret_same = true;
        return pj_buffer_check(bytes, err);
    }
    if (pj_file_read(AT_FDCWD, image->path, IMAGE_MAX_BYTES, bytes, &problem) < 0) {
        *ret_same = false;
        return problem->code == PJ_ERROR_NO_MEMORY ? pj_error_no_memory(err) : 0;
    }
    struct pj_sha256 digest;
    pj_sha256_of(pj_buffer_text(bytes), bytes->size, &digest);
    *ret_same = memcmp(digest.bytes, image->sha256.bytes, sizeof digest.bytes) == 0;
    return 0;
}

int pj_job_open_image(const struct pj_job *job, size_t index, int *ret_fd, struct pj_error **err)
{
    const struct pj_plan_image *image = job->images[index];
    struct stat status;
    if (!image->bytes)
        return pj_file_open_regular(AT_FDCWD, image->path, ret_fd, &status, err);
    return pj_file_in_memory(image->bytes, (size_t)image->size_bytes, ret_fd, err);
}
