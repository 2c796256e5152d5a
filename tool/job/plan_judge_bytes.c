/* SPDX-License-Identifier: Apache-2.0 */
/* What is wrong with a file by itself, in the form it is used in. */
#include <string.h>

#include "image/kind.h"
#include "job/plan_private.h"

static int set_fault(struct pj_plan *plan, struct pj_plan_image *image, const char *code, const char *text,
                     struct pj_error **err)
{
    /* What is wrong with a file is said of the file: a glob's or a link's modules do not show which one it
     * is. */
    image->fault_code = code;
    image->fault = pj_arena_printf(&plan->arena, "%s: %s", image->path, text);
    return image->fault ? 0 : pj_error_no_memory(err);
}

static int judge_ptx(struct pj_plan *plan, struct pj_plan_image *image, const char *bytes, size_t size,
                     struct pj_error **err)
{
    struct pj_ptx_finding finding = {0};
    int r = pj_ptx_read(bytes, size, &plan->arena, &image->ptx, &finding, err);
    if (r < 0)
        return r;
    bool to_be_linked = image->form == PJ_FORM_INPUT &&
                        (finding.code == PJ_PTX_NEEDS_LINKING || finding.code == PJ_PTX_NO_KERNELS);
    if (finding.code == PJ_PTX_OK || to_be_linked)
        return 0;
    if (!pj_ptx_usable(finding.code))
        return set_fault(plan, image, pj_ptx_finding_name(finding.code), finding.message, err);
    image->warning_code = pj_ptx_finding_name(finding.code);
    image->warning = finding.message;
    return 0;
}

/* A container of a shape that hangs the driver or crashes it never gets to it [14]. */
static bool has_bad_shape(const struct pj_contents *contents)
{
    for (size_t i = 0; i < contents->count; i++) {
        if (contents->items[i].bad_shape)
            return true;
    }
    return false;
}

static int judge_input(struct pj_plan *plan, struct pj_plan_image *image, const char *bytes, size_t size,
                       struct pj_error **err)
{
    PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
    /* PTX has a reader of its own, which says more of what is wrong with it. */
    if (pj_image_kind_of(bytes, size) == PJ_IMAGE_PTX) {
        image->contents.kind = PJ_INPUT_PTX;
        image->contents.has_ptx = true;
        return judge_ptx(plan, image, bytes, size, err);
    }
    int r = pj_contents_read(bytes, size, &plan->arena, &image->contents, &problem);
    if (r == PJ_ERROR_NO_MEMORY)
        return pj_error_no_memory(err);
    if (r < 0)
        return set_fault(plan, image, "not-linkable", pj_error_message(problem), err);
    if (image->contents.nothing)
        return set_fault(
            plan, image, "no-device-code",
            "it holds no device code, so there is nothing in it to link: compile it with `nvcc -dc`, or "
            "leave it out",
            err);
    if (image->contents.kind == PJ_INPUT_OBJECT && !image->contents.has_linkable) /* [61] [64] */
        return set_fault(
            plan, image, "not-linkable",
            "its device code was compiled without -rdc=true, to be loaded as it is, and no linker takes it: "
            "compile it with `nvcc -dc`",
            err);
    if (has_bad_shape(&image->contents))
        return set_fault(
            plan, image, "bad-fatbin",
            "a fatbin in it has an entry whose size is no multiple of 8 and padding behind it, which hangs "
            "or crashes the driver: make it anew with fatbinary or nvcc",
            err);
    return 0;
}

static bool is_source_text(enum pj_image_kind kind)
{
    return kind == PJ_IMAGE_SOURCE || kind == PJ_IMAGE_UNKNOWN_TEXT;
}

static int judge_source(struct pj_plan *plan, struct pj_plan_image *image, const char *bytes, size_t size,
                        struct pj_error **err)
{
    enum pj_image_kind kind = pj_image_kind_of(bytes, size);
    if (kind == PJ_IMAGE_PTX)
        return set_fault(plan, image, "not-source",
                         "it is PTX, not CUDA C++: name it with `ptx:`, it needs no NVRTC", err);
    if (kind == PJ_IMAGE_EMPTY)
        return 0; /* a header may well be; a source may not: pj_plan_judge */
    if (is_source_text(kind) && !memchr(bytes, '\0', size))
        return 0;
    if (is_source_text(pj_image_kind_of(bytes, strnlen(bytes, size))))
        return set_fault(plan, image, "interior-nul",
                         "it has a NUL byte inside, and NVRTC reads to the first one only: remove it", err);
    bool cure = kind == PJ_IMAGE_GZIP || kind == PJ_IMAGE_BOM;
    const char *text =
        pj_arena_printf(&plan->arena, "it is %s, not CUDA C++: %s", pj_image_kind_text(bytes, size),
                        cure ? pj_image_kind_cure(kind) : "check that this is the file you mean");
    return text ? set_fault(plan, image, "not-source", text, err) : pj_error_no_memory(err);
}

/* Files that differ in what stands behind a NUL have one key. */
static void set_key(struct pj_plan_image *image, const char *bytes, size_t size)
{
    size_t text = strnlen(bytes, size);
    image->key = image->sha256;
    if (text < size && (image->form == PJ_FORM_PTX || image->contents.kind == PJ_INPUT_PTX))
        pj_sha256_of(bytes, text, &image->key);
}

int pj_plan_judge_bytes(struct pj_plan *plan, struct pj_plan_image *image, const char *bytes, size_t size,
                        struct pj_error **err)
{
    int r = image->form == PJ_FORM_INPUT    ? judge_input(plan, image, bytes, size, err)
            : image->form == PJ_FORM_SOURCE ? judge_source(plan, image, bytes, size, err)
                                            : judge_ptx(plan, image, bytes, size, err);
    set_key(image, bytes, size);
    return r;
}
