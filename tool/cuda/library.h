/* SPDX-License-Identifier: Apache-2.0 */
/* A shared library as a table of typed function pointers: what the driver, NVRTC and nvJitLink have in
 * common.
 */
#ifndef PREJIT_CUDA_LIBRARY_H
#define PREJIT_CUDA_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/** One function: where its pointer goes within the table. */
struct pj_cuda_symbol {
    const char *name;
    size_t offset;
    bool required;
};

#define PJ_CUDA_TEXT_(name) #name
#define PJ_CUDA_TEXT(name)  PJ_CUDA_TEXT_(name)

/** Opens `name`, a path or what the loader finds under it; the handle stays open for good, because CUDA's
 * libraries are not made to be unloaded. PJ_ERROR_ENVIRONMENT with the loader's reason. `what` is for
 * messages: "the CUDA driver", "NVRTC". */
int pj_cuda_library_open(const char *name, const char *what, void **ret_handle, struct pj_error **err);

/** The address of a function, NULL where the library does not have it. */
void *pj_cuda_library_find(void *handle, const char *name);

/** Fills the table at `base`. *ret_missing is the name of the first required function that the library lacks,
 * or NULL. */
void pj_cuda_library_fill(void *handle, const struct pj_cuda_symbol *symbols, size_t count, void *base,
                          const char **ret_missing);

/** Gives a library that is not what was looked for back. */
void pj_cuda_library_close(void *handle);

#endif
