/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: any bytes as PTX; what is said about them must be complete and must follow from them. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "image/kind.h"
#include "image/ptx.h"
#include "image/ptx_link.h"

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

/* Functions are in order, and each call is of one of them. */
static void check_linking(const struct pj_ptx *ptx, const uint8_t *data)
{
    size_t kernels = 0, calls = 0;
    for (size_t i = 0; i < ptx->function_count; i++) {
        const struct pj_ptx_function *function = &ptx->functions[i];
        require(function->name[0] != '\0' && (function->line == 0) == function->is_defined);
        require(memmem(data, ptx->text_size, function->name, strlen(function->name)) != NULL);
        require(i == 0 || strcmp(function[-1].name, function->name) < 0);
        require(pj_ptx_find(ptx, function->name) == function);
        require(function->is_defined || (!function->is_kernel && function->call_count == 0));
        require(function->first_call + function->call_count <= ptx->call_count);
        kernels += function->is_kernel;
        calls += function->call_count;
    }
    require(kernels == ptx->kernel_count && calls == ptx->call_count);
    for (size_t i = 0; i < ptx->call_count; i++)
        require(ptx->calls[i] < ptx->function_count);
}

/* A link of it alone, and of it twice, lacks the same, and nothing that it does not call. */
static void check_lack(const struct pj_ptx *ptx)
{
    const struct pj_ptx *const texts[] = {ptx, ptx};
    struct pj_ptx_lack lack, again;
    int lacks = pj_ptx_find_lack(texts, 1, &lack, NULL);
    require(lacks == 0 || (lacks == 1 && ptx->unresolved));
    require(pj_ptx_find_lack(texts, 2, &again, NULL) == lacks);
    if (lacks == 0)
        return;
    require(lack.text == 0 && !lack.missing->is_defined && lack.caller->is_defined);
    require(again.missing == lack.missing && again.caller == lack.caller);
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
    check_lack(&ptx);
    check_targets(&ptx, &arena);
    return 0;
}
