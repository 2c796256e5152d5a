/* SPDX-License-Identifier: Apache-2.0 */
/* NVRTC, the compiler from CUDA C++ to PTX, as a typed table of symbols. Only worker processes ever open it.
 */
#ifndef PREJIT_CUDA_NVRTC_H
#define PREJIT_CUDA_NVRTC_H

#include <nvrtc.h>

#include "base/error.h"

#define PJ_NVRTC_REQUIRED(X)                                                                                 \
    X(nvrtcVersion)                                                                                          \
    X(nvrtcGetErrorString)                                                                                   \
    X(nvrtcGetNumSupportedArchs)                                                                             \
    X(nvrtcGetSupportedArchs)                                                                                \
    X(nvrtcCreateProgram)                                                                                    \
    X(nvrtcDestroyProgram)                                                                                   \
    X(nvrtcCompileProgram)                                                                                   \
    X(nvrtcGetPTXSize)                                                                                       \
    X(nvrtcGetPTX)                                                                                           \
    X(nvrtcGetCUBINSize)                                                                                     \
    X(nvrtcGetCUBIN)                                                                                         \
    X(nvrtcGetProgramLogSize)                                                                                \
    X(nvrtcGetProgramLog)                                                                                    \
    X(nvrtcAddNameExpression)                                                                                \
    X(nvrtcGetLoweredName)

/* CUDA 12 and later. */
#define PJ_NVRTC_OPTIONAL(X)                                                                                 \
    X(nvrtcGetLTOIRSize)                                                                                     \
    X(nvrtcGetLTOIR)

#define PJ_NVRTC_FIELD(name) __typeof__(&name) name##_;
struct pj_nvrtc {
    void *handle;
    PJ_NVRTC_REQUIRED(PJ_NVRTC_FIELD)
    PJ_NVRTC_OPTIONAL(PJ_NVRTC_FIELD)
};
#undef PJ_NVRTC_FIELD

/** Opens `name` (a path, or what the loader finds under it). PJ_ERROR_ENVIRONMENT where it is not there, or
 * misses a function that versions from CUDA 11.2 on have: the message names both, and the version found. */
int pj_nvrtc_open(const char *name, struct pj_nvrtc *ret_nvrtc, struct pj_error **err);

#endif
