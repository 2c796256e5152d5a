/* SPDX-License-Identifier: Apache-2.0 */
/* Opens NVRTC and fills the symbol table. */
#include "cuda/nvrtc.h"

#include <stdio.h>

#include "base/memory.h"
#include "cuda/library.h"

#define REQUIRED(name) {PJ_CUDA_TEXT(name), offsetof(struct pj_nvrtc, name##_), true},
#define OPTIONAL(name) {PJ_CUDA_TEXT(name), offsetof(struct pj_nvrtc, name##_), false},
static const struct pj_cuda_symbol symbols[] = {PJ_NVRTC_REQUIRED(REQUIRED) PJ_NVRTC_OPTIONAL(OPTIONAL)};

int pj_nvrtc_open(const char *name, struct pj_nvrtc *ret_nvrtc, struct pj_error **err)
{
    struct pj_nvrtc nvrtc = {0};
    const char *missing = NULL;
    int r = pj_cuda_library_open(name, "NVRTC", &nvrtc.handle, err);
    if (r < 0)
        return r;
    pj_cuda_library_fill(nvrtc.handle, symbols, PJ_COUNT(symbols), &nvrtc, &missing);
    if (missing) {
        char version[32] = "a version that it does not tell";
        int major = 0, minor = 0;
        if (nvrtc.nvrtcVersion_ && nvrtc.nvrtcVersion_(&major, &minor) == NVRTC_SUCCESS)
            (void)snprintf(version, sizeof version, "version %d.%d", major, minor);
        pj_cuda_library_close(nvrtc.handle);
        return pj_error_set(err, PJ_ERROR_ENVIRONMENT,
                            "%s (%s) has no function %s, which NVRTC has from version 11.2 on: name a whole, "
                            "newer one with --nvrtc PATH",
                            name, version, missing);
    }
    *ret_nvrtc = nvrtc;
    return 0;
}
