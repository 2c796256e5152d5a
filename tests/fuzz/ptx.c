/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: any bytes as PTX; what is said about them must be complete and must follow from them. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "image/kind.h"
#include "image/ptx.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

/* Names are non-empty, different, and stand in the text. */
static void check_kernels(const struct pj_ptx *ptx, const uint8_t *data)
{
    for (size_t i = 0; i < ptx->kernel_count; i++) {
        const char *name = ptx->kernels[i];
        require(name[0] != '\0');
        require(memmem(data, ptx->text_size, name, strlen(name)) != NULL);
        for (size_t k = 0; k < i && i < 100; k++)
            require(strcmp(ptx->kernels[k], name) != 0);
    }
    require(pj_ptx_missing_kernel(ptx, ptx->kernels, ptx->kernel_count) == ptx->kernel_count);
}

/* What a linker must find is called here and not defined here; what is defined is in order. */
static void check_linking(const struct pj_ptx *ptx, const uint8_t *data)
{
    require(ptx->need_count == 0 || ptx->unresolved != NULL);
    for (size_t i = 0; i < ptx->need_count; i++) {
        const char *name = ptx->needs[i].name;
        require(name[0] != '\0' && ptx->needs[i].line > 0);
        require(memmem(data, ptx->text_size, name, strlen(name)) != NULL);
        require(!pj_ptx_defines(ptx, name));
    }
    for (size_t i = 0; i < ptx->defined_count; i++) {
        require(i == 0 || strcmp(ptx->defined[i - 1], ptx->defined[i]) < 0);
        require(pj_ptx_defines(ptx, ptx->defined[i]));
    }
    require(ptx->defined_count >= ptx->kernel_count);
}

static void check_message(const struct pj_ptx_finding *finding, const struct pj_ptx *ptx, const uint8_t *data)
{
    require((finding->code == PJ_PTX_OK) == (finding->message == NULL));
    size_t lines = 1;
    for (size_t i = 0; i < ptx->text_size; i++)
        lines += data[i] == '\n';
    require(finding->line <= lines);
    if (!finding->message)
        return;
    for (const char *c = finding->message; *c; c++)
        require(*c >= ' ' && *c != 0x7f);
    require(strlen(finding->message) < 1000);
}

static void check_targets(const struct pj_ptx *ptx, struct pj_arena *arena)
{
    static const uint16_t devices[] = {70, 90, 103, 121};
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        struct pj_ptx_finding finding;
        const struct pj_isa isa = {8, 5};
        require(pj_ptx_check_target(ptx, devices[i], isa, arena, &finding, NULL) == 0);
        require(finding.code == PJ_PTX_OK || finding.code == PJ_PTX_NEWER_THAN_DRIVER ||
                finding.code == PJ_PTX_NEWER_THAN_GPU);
        require((finding.code == PJ_PTX_OK) == (finding.message == NULL));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    struct pj_ptx ptx;
    struct pj_ptx_finding finding;
    require(pj_image_kind_text(data, size) != NULL);
    require(pj_ptx_read(data, size, &arena, &ptx, &finding, NULL) == 0);
    require((finding.code == PJ_PTX_NOT_PTX) == (pj_image_kind_of(data, size) != PJ_IMAGE_PTX));
    require(ptx.text_size <= size);
    check_message(&finding, &ptx, data);
    if (!pj_ptx_usable(finding.code))
        return 0;
    require(ptx.version.major > 0 && ptx.target.number > 0 && ptx.address_size == 64);
    require((finding.code == PJ_PTX_NEEDS_LINKING) == (ptx.unresolved != NULL));
    if (finding.code == PJ_PTX_OK)
        require(ptx.kernel_count > 0);
    check_kernels(&ptx, data);
    check_linking(&ptx, data);
    check_targets(&ptx, &arena);
    return 0;
}
