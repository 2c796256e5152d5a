/* SPDX-License-Identifier: Apache-2.0 */
/* Opens nvJitLink and fills the symbol table, by plain or by versioned names. */
#include "cuda/nvjitlink.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "cuda/library.h"

#define FUNCTION(name, field)                                                                                \
    {                                                                                                        \
        name, offsetof(struct pj_nvjitlink, field), true                                                     \
    }
/* Names without their prefix, and without a version. */
static const struct pj_cuda_symbol functions[] = {
    FUNCTION("Create", create),
    FUNCTION("Destroy", destroy),
    FUNCTION("AddData", add_data),
    FUNCTION("Complete", complete),
    FUNCTION("GetLinkedCubinSize", cubin_size),
    FUNCTION("GetLinkedCubin", cubin),
    FUNCTION("GetLinkedPtxSize", ptx_size),
    FUNCTION("GetLinkedPtx", ptx),
    FUNCTION("GetErrorLogSize", error_log_size),
    FUNCTION("GetErrorLog", error_log),
    FUNCTION("GetInfoLogSize", info_log_size),
    FUNCTION("GetInfoLog", info_log),
};

enum { NAME_TEXT = 64, NEWEST_MAJOR = 13, OLDEST_MAJOR = 12, NEWEST_MINOR = 9 };

/* `major` 0: the plain name. */
static void *find(void *handle, const char *function, int major, int minor)
{
    char name[NAME_TEXT];
    if (major == 0)
        (void)snprintf(name, sizeof name, "nvJitLink%s", function);
    else
        (void)snprintf(name, sizeof name, "__nvJitLink%s_%d_%d", function, major, minor);
    return pj_cuda_library_find(handle, name);
}

/* The newest version whose names the library has; 0 where it has none. */
static int versioned_names(void *handle, int *ret_minor)
{
    for (int major = NEWEST_MAJOR; major >= OLDEST_MAJOR; major--) {
        for (int minor = NEWEST_MINOR; minor >= 0; minor--) {
            if (!find(handle, "Create", major, minor))
                continue;
            *ret_minor = minor;
            return major;
        }
    }
    return 0;
}

/* Fills the table; gives the function that is missing, or NULL. */
static const char *fill(struct pj_nvjitlink *linker, int major, int minor)
{
    for (size_t i = 0; i < PJ_COUNT(functions); i++) {
        void *address = find(linker->handle, functions[i].name, major, minor);
        if (!address)
            return functions[i].name;
        memcpy((char *)linker + functions[i].offset, &address, sizeof address);
    }
    return NULL;
}

/* Releases before 12.3 do not tell their version; the names they have do. */
static int version_of(void *handle, int major, int minor)
{
    nvJitLinkResult (*version)(unsigned int *, unsigned int *) = NULL;
    unsigned int told_major = 0, told_minor = 0;
    void *address = pj_cuda_library_find(handle, "nvJitLinkVersion");
    memcpy(&version, &address, sizeof address);
    if (version && version(&told_major, &told_minor) == NVJITLINK_SUCCESS && told_major < 1000 &&
        told_minor < 100)
        return (int)told_major * 1000 + (int)told_minor * 10;
    return major * 1000 + minor * 10;
}

int pj_nvjitlink_open(const char *name, struct pj_nvjitlink *ret_linker, struct pj_error **err)
{
    struct pj_nvjitlink linker = {0};
    int r = pj_cuda_library_open(name, "nvJitLink", &linker.handle, err);
    if (r < 0)
        return r;
    int minor = 0, major = versioned_names(linker.handle, &minor);
    linker.version = version_of(linker.handle, major, minor);
    bool plain = find(linker.handle, "Create", 0, 0) != NULL;
    const char *missing = fill(&linker, plain ? 0 : major, minor);
    if (missing) {
        char version[32] = "";
        if (linker.version)
            (void)snprintf(version, sizeof version, " (version %d.%d)", linker.version / 1000,
                           linker.version % 1000 / 10);
        pj_cuda_library_close(linker.handle);
        return pj_error_set(
            err, PJ_ERROR_ENVIRONMENT,
            "%s%s has neither nvJitLink%s nor a versioned form of it, which nvJitLink has from version "
            "12.0 on: name a whole one with --nvjitlink PATH",
            name, version, missing);
    }
    *ret_linker = linker;
    return 0;
}

const char *pj_nvjitlink_result_name(nvJitLinkResult result)
{
    static const char *const names[] = {
        [NVJITLINK_SUCCESS] = "NVJITLINK_SUCCESS",
        [NVJITLINK_ERROR_UNRECOGNIZED_OPTION] = "NVJITLINK_ERROR_UNRECOGNIZED_OPTION",
        [NVJITLINK_ERROR_MISSING_ARCH] = "NVJITLINK_ERROR_MISSING_ARCH",
        [NVJITLINK_ERROR_INVALID_INPUT] = "NVJITLINK_ERROR_INVALID_INPUT",
        [NVJITLINK_ERROR_PTX_COMPILE] = "NVJITLINK_ERROR_PTX_COMPILE",
        [NVJITLINK_ERROR_NVVM_COMPILE] = "NVJITLINK_ERROR_NVVM_COMPILE",
        [NVJITLINK_ERROR_INTERNAL] = "NVJITLINK_ERROR_INTERNAL",
        [NVJITLINK_ERROR_THREADPOOL] = "NVJITLINK_ERROR_THREADPOOL",
        [NVJITLINK_ERROR_UNRECOGNIZED_INPUT] = "NVJITLINK_ERROR_UNRECOGNIZED_INPUT",
        [NVJITLINK_ERROR_FINALIZE] = "NVJITLINK_ERROR_FINALIZE",
        [NVJITLINK_ERROR_FINALIZE + 1] = "NVJITLINK_ERROR_NULL_INPUT",
        [NVJITLINK_ERROR_FINALIZE + 2] = "NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS",
        [NVJITLINK_ERROR_FINALIZE + 3] = "NVJITLINK_ERROR_INCORRECT_INPUT_TYPE",
        [NVJITLINK_ERROR_FINALIZE + 4] = "NVJITLINK_ERROR_ARCH_MISMATCH",
        [NVJITLINK_ERROR_FINALIZE + 5] = "NVJITLINK_ERROR_OUTDATED_LIBRARY",
        [NVJITLINK_ERROR_FINALIZE + 6] = "NVJITLINK_ERROR_MISSING_FATBIN",
        [NVJITLINK_ERROR_FINALIZE + 7] = "NVJITLINK_ERROR_UNRECOGNIZED_ARCH",
        [NVJITLINK_ERROR_FINALIZE + 8] = "NVJITLINK_ERROR_UNSUPPORTED_ARCH",
        [NVJITLINK_ERROR_FINALIZE + 9] = "NVJITLINK_ERROR_LTO_NOT_ENABLED",
    };
    return (size_t)result < PJ_COUNT(names) ? names[result] : NULL;
}
