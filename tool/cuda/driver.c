/* SPDX-License-Identifier: Apache-2.0 */
/* Opens libcuda and fills the symbol table. */
#include "cuda/driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

#define TEXT_OF_(name) #name
#define TEXT_OF(name)  TEXT_OF_(name)

struct symbol {
    const char *name;
    size_t offset;
    bool required;
};

#define REQUIRED(name) {TEXT_OF(name), offsetof(struct pj_cuda, name##_), true},
#define OPTIONAL(name) {TEXT_OF(name), offsetof(struct pj_cuda, name##_), false},
/* The field is pasted before the macro of the function's name is expanded, the text after. */
static const struct symbol symbols[] = {PJ_CUDA_REQUIRED(REQUIRED) PJ_CUDA_OPTIONAL(OPTIONAL)};

int pj_cuda_open(const char *path, struct pj_cuda *ret_cuda, struct pj_error **err)
{
    const char *name = path ? path : "libcuda.so.1";
    void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char *reason = dlerror();
        return pj_error_set(err, PJ_ERROR_ENVIRONMENT, "cannot open the CUDA driver: %s",
                            reason ? reason : name);
    }
    struct pj_cuda cuda = {.handle = handle};
    for (size_t i = 0; i < PJ_COUNT(symbols); i++) {
        void *address = dlsym(handle, symbols[i].name);
        if (!address && symbols[i].required) {
            (void)dlclose(handle);
            return pj_error_set(err, PJ_ERROR_ENVIRONMENT,
                                "%s has no function %s: it is no CUDA driver, or one from before CUDA 11",
                                name, symbols[i].name);
        }
        memcpy((char *)&cuda + symbols[i].offset, &address, sizeof address);
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
