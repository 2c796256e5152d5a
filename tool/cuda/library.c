/* SPDX-License-Identifier: Apache-2.0 */
/* The one place that calls the dynamic loader. */
#include "cuda/library.h"

#include <dlfcn.h>
#include <string.h>

int pj_cuda_library_open(const char *name, const char *what, void **ret_handle, struct pj_error **err)
{
    void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char *reason = dlerror();
        return pj_error_set(err, PJ_ERROR_ENVIRONMENT, "cannot open %s: %s", what, reason ? reason : name);
    }
    *ret_handle = handle;
    return 0;
}

void *pj_cuda_library_find(void *handle, const char *name)
{
    return dlsym(handle, name);
}

void pj_cuda_library_fill(void *handle, const struct pj_cuda_symbol *symbols, size_t count, void *base,
                          const char **ret_missing)
{
    *ret_missing = NULL;
    for (size_t i = 0; i < count; i++) {
        void *address = dlsym(handle, symbols[i].name);
        if (!address && symbols[i].required && !*ret_missing)
            *ret_missing = symbols[i].name;
        memcpy((char *)base + symbols[i].offset, &address, sizeof address);
    }
}

void pj_cuda_library_close(void *handle)
{
    (void)dlclose(handle);
}
