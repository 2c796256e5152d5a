/* SPDX-License-Identifier: Apache-2.0 */
/* nvJitLink, the linker for PTX, cubins and LTO-IR, as a typed table of symbols. Only worker processes ever
 * open it. */
#ifndef PREJIT_CUDA_NVJITLINK_H
#define PREJIT_CUDA_NVJITLINK_H

#define NVJITLINK_NO_INLINE    /* else every user has a copy of wrappers that call a library it is not linked \
                                  to */
#include <nvJitLink.h>

#include "base/error.h"

/** The types are those of the header's functions, whose names differ from version to version. */
struct pj_nvjitlink {
    void *handle;
    int version; /* 13000 = 13.0 */
    nvJitLinkResult (*create)(nvJitLinkHandle *handle, uint32_t option_count, const char **options);
    nvJitLinkResult (*destroy)(nvJitLinkHandle *handle);
    nvJitLinkResult (*add_data)(nvJitLinkHandle handle, nvJitLinkInputType type, const void *data,
                                size_t size, const char *name);
    nvJitLinkResult (*complete)(nvJitLinkHandle handle);
    nvJitLinkResult (*cubin_size)(nvJitLinkHandle handle, size_t *size);
    nvJitLinkResult (*cubin)(nvJitLinkHandle handle, void *cubin);
    nvJitLinkResult (*ptx_size)(nvJitLinkHandle handle, size_t *size);
    nvJitLinkResult (*ptx)(nvJitLinkHandle handle, char *ptx);
    nvJitLinkResult (*error_log_size)(nvJitLinkHandle handle, size_t *size);
    nvJitLinkResult (*error_log)(nvJitLinkHandle handle, char *log);
    nvJitLinkResult (*info_log_size)(nvJitLinkHandle handle, size_t *size);
    nvJitLinkResult (*info_log)(nvJitLinkHandle handle, char *log);
};

/** Opens `name` (a path, or what the loader finds under it). Its functions are looked up by their plain
 * names, and where these are missing (12.0 to 12.2) by the versioned ones, `__nvJitLinkCreate_12_0`, the
 * newest first. PJ_ERROR_ENVIRONMENT where the library is not there or misses a function. */
int pj_nvjitlink_open(const char *name, struct pj_nvjitlink *ret_linker, struct pj_error **err);

/** "NVJITLINK_ERROR_PTX_COMPILE"; NULL for a number that the header does not know. */
const char *pj_nvjitlink_result_name(nvJitLinkResult result);

#endif
