/* SPDX-License-Identifier: Apache-2.0 */
/* The compilers as people call them, and where they come from. */
#include "session/make/private.h"

static const struct {
    const char *name, *package, *option, *kind;
} libraries[PJ_LIBRARY_COUNT] = {
    [PJ_LIBRARY_NVRTC] = {"NVRTC", "cuda-nvrtc", "--nvrtc", "library"},
    [PJ_LIBRARY_NVJITLINK] = {"nvJitLink", "libnvjitlink", "--nvjitlink", "library"},
    [PJ_LIBRARY_PTXAS] = {"ptxas", "cuda-nvcc", "--ptxas", "program"},
};

const char *pj_maker_library_name(const struct pj_maker *maker)
{
    return libraries[maker->options.library].name;
}

int pj_maker_cannot_open(const struct pj_maker *maker, const struct pj_wire_started *started,
                         struct pj_error **err)
{
    enum pj_wire_library which = maker->options.library;
    return pj_error_set(
        err, PJ_ERROR_ENVIRONMENT,
        "no usable %s was found:\n%s;\ninstall the CUDA toolkit (package %s), set CUDA_HOME to it, or name "
        "the %s with %s PATH",
        pj_maker_library_name(maker), started->message, libraries[which].package, libraries[which].kind,
        libraries[which].option);
}
