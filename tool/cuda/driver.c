/* SPDX-License-Identifier: Apache-2.0 */
/* Opens libcuda and fills the symbol table. */
#include "cuda/driver.h"

#include <stdio.h>

#include "base/memory.h"
#include "cuda/library.h"

#define REQUIRED(name) {PJ_CUDA_TEXT(name), offsetof(struct pj_cuda, name##_), true},
#define OPTIONAL(name) {PJ_CUDA_TEXT(name), offsetof(struct pj_cuda, name##_), false},
/* The field is pasted before the macro of the function's name is expanded, the text after. */
static const struct pj_cuda_symbol symbols[] = {PJ_CUDA_REQUIRED(REQUIRED) PJ_CUDA_OPTIONAL(OPTIONAL)};

int pj_cuda_open(const char *path, struct pj_cuda *ret_cuda, struct pj_error **err)
{
    const char *name = path ? path : PJ_CUDA_LIBRARY, *missing = NULL;
    struct pj_cuda cuda = {0};
    int r = pj_cuda_library_open(name, "the CUDA driver", &cuda.handle, err);
    if (r < 0)
        return r;
    pj_cuda_library_fill(cuda.handle, symbols, PJ_COUNT(symbols), &cuda, &missing);
    if (missing) {
        pj_cuda_library_close(cuda.handle);
        return pj_error_set(err, PJ_ERROR_ENVIRONMENT,
                            "%s has no function %s: it is no CUDA driver, or one from before CUDA 11", name,
                            missing);
    }
    *ret_cuda = cuda;
    return 0;
}

const char *pj_cuda_result_name(const struct pj_cuda *cuda, CUresult result)
{
    static _Thread_local char unknown[32];
    const char *name = NULL;
    if (cuda->cuGetErrorName_(result, &name) == CUDA_SUCCESS && name)
        return name;
    (void)snprintf(unknown, sizeof unknown, "CUresult %d", (int)result);
    return unknown;
}
