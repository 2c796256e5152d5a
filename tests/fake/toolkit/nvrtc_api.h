/* SPDX-License-Identifier: Apache-2.0 */
/* What libnvrtc offers, declared here so that no toolkit is needed to build the stand-in. */
#ifndef TOOLKIT_NVRTC_API_H
#define TOOLKIT_NVRTC_API_H

#include "results.h"

#include <stddef.h>

struct nvrtc_program;

#define TOOLKIT_API __attribute__((visibility("default")))

TOOLKIT_API const char *nvrtcGetErrorString(int result);
TOOLKIT_API int nvrtcVersion(int *major, int *minor);
TOOLKIT_API int nvrtcGetNumSupportedArchs(int *count);
TOOLKIT_API int nvrtcGetSupportedArchs(int *archs);
TOOLKIT_API int nvrtcCreateProgram(struct nvrtc_program **program, const char *source, const char *name,
                                   int header_count, const char *const *headers, const char *const *names);
TOOLKIT_API int nvrtcDestroyProgram(struct nvrtc_program **program);
TOOLKIT_API int nvrtcCompileProgram(struct nvrtc_program *program, int option_count,
                                    const char *const *options);
TOOLKIT_API int nvrtcGetPTXSize(struct nvrtc_program *program, size_t *bytes);
TOOLKIT_API int nvrtcGetPTX(struct nvrtc_program *program, char *ptx);
TOOLKIT_API int nvrtcGetCUBINSize(struct nvrtc_program *program, size_t *bytes);
TOOLKIT_API int nvrtcGetCUBIN(struct nvrtc_program *program, char *cubin);
TOOLKIT_API int nvrtcGetLTOIRSize(struct nvrtc_program *program, size_t *bytes);
TOOLKIT_API int nvrtcGetLTOIR(struct nvrtc_program *program, char *ltoir);
TOOLKIT_API int nvrtcGetProgramLogSize(struct nvrtc_program *program, size_t *bytes);
TOOLKIT_API int nvrtcGetProgramLog(struct nvrtc_program *program, char *log);
TOOLKIT_API int nvrtcAddNameExpression(struct nvrtc_program *program, const char *expression);
TOOLKIT_API int nvrtcGetLoweredName(struct nvrtc_program *program, const char *expression,
                                    const char **lowered);

#endif
