/* SPDX-License-Identifier: Apache-2.0 */
/* A shared library with no more than names of functions: those of NVRTC before CUDA 12, and those of
 * nvJitLink 12.1 (some) and 12.2 (all). What it is called with does not matter. */
#define NAME(name, answer)                                                                                   \
    int name(void);                                                                                          \
    __attribute__((visibility("default"))) int name(void)                                                    \
    {                                                                                                        \
        return answer;                                                                                       \
    }

NAME(nvrtcVersion, 1)
NAME(nvrtcGetErrorString, 1)
NAME(nvrtcGetNumSupportedArchs, 1)
NAME(nvrtcGetSupportedArchs, 1)
NAME(nvrtcCreateProgram, 1)
NAME(nvrtcDestroyProgram, 1)
NAME(nvrtcCompileProgram, 1)
NAME(nvrtcGetPTXSize, 1)
NAME(nvrtcGetPTX, 1)
NAME(nvrtcGetCUBINSize, 1)
NAME(nvrtcGetCUBIN, 1)
NAME(nvrtcGetProgramLogSize, 1)
NAME(nvrtcGetProgramLog, 1)
NAME(nvrtcAddNameExpression, 1)
NAME(nvrtcGetLoweredName, 1)

NAME(__nvJitLinkCreate_12_1, 121)
NAME(__nvJitLinkComplete_12_1, 121)

NAME(__nvJitLinkCreate_12_2, 122)
NAME(__nvJitLinkDestroy_12_2, 122)
NAME(__nvJitLinkAddData_12_2, 122)
NAME(__nvJitLinkComplete_12_2, 122)
NAME(__nvJitLinkGetLinkedCubinSize_12_2, 122)
NAME(__nvJitLinkGetLinkedCubin_12_2, 122)
NAME(__nvJitLinkGetLinkedPtxSize_12_2, 122)
NAME(__nvJitLinkGetLinkedPtx_12_2, 122)
NAME(__nvJitLinkGetErrorLogSize_12_2, 122)
NAME(__nvJitLinkGetErrorLog_12_2, 122)
NAME(__nvJitLinkGetInfoLogSize_12_2, 122)
NAME(__nvJitLinkGetInfoLog_12_2, 122)
