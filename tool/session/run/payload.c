/* SPDX-License-Identifier: Apache-2.0 */
/* Is the payload of an entry the code of the PTX in its key? */
#include <string.h>

#include "base/memory.h"
#include "image/code.h"
#include "image/cubin.h"
#include "image/ptx.h"
#include "session/run/outcome.h"

/* Names of C++ may be as long as they like. */
enum { NAME_SHOWN_BYTES = 200 };

static int refuse_kernel(const char *what, const char *kernel, const char *why, struct pj_error **err)
{
    bool cut = strlen(kernel) > NAME_SHOWN_BYTES;
    return pj_error_set(err, PJ_ERROR_FORMAT, "it %s the kernel '%.*s%s'%s", what, NAME_SHOWN_BYTES, kernel,
                        cut ? "..." : "", why);
}

static int check_kernels(const void *payload, size_t size, const struct pj_ptx *ptx, struct pj_error **err)
{
    size_t missing = 0;
    const char *other = NULL;
    int r = pj_code_missing_kernel(payload, size, ptx->kernels, ptx->kernel_count, &missing, err);
    if (r == 0 && missing < ptx->kernel_count)
        return refuse_kernel("lacks", ptx->kernels[missing], " of its PTX: it is the code of another module",
                             err);
    if (r == 0)
        r = pj_code_other_kernel(payload, size, ptx->kernels, ptx->kernel_count, &other, err);
    if (r == 0 && other)
        return refuse_kernel("has", other, ", which its PTX does not: it is the code of another module", err);
    return r;
}

int pj_check_payload(const void *payload, size_t size, const struct pj_cache_key *key, struct pj_error **err)
{
    struct pj_cubin cubin;
    int r = pj_cubin_read(payload, size, &cubin, err);
    if (r < 0)
        return r;
    if (cubin.arch_number != key->arch_number)
        return pj_error_set(err, PJ_ERROR_FORMAT, "it holds code for sm_%u under the key of sm_%u",
                            cubin.arch_number, key->arch_number);
    struct pj_arena arena = {0};
    struct pj_ptx ptx = {0};
    struct pj_ptx_finding finding = {0};
    r = pj_ptx_read(key->image, key->image_size, &arena, &ptx, &finding, err);
    bool complete = finding.code == PJ_PTX_OK || finding.code == PJ_PTX_NEEDS_LINKING ||
                    finding.code == PJ_PTX_NO_KERNELS;
    if (r == 0 && complete)
        r = check_kernels(payload, size, &ptx, err);
    pj_arena_free(&arena);
    return r;
}
