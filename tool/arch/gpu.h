/* SPDX-License-Identifier: Apache-2.0 */
/* GPUs by the names that people and nvidia-smi give them. Internal. */
#ifndef PREJIT_ARCH_GPU_H
#define PREJIT_ARCH_GPU_H

#include "arch/arch.h"

/** The architecture of the GPU that `name` means: `h100`, `RTX 4090`, `NVIDIA A100-SXM4-40GB`. Case, blanks,
 * `-` and `_` make no difference. False for a name that the table does not have, or that stands for GPUs of
 * several architectures, as `RTX 6000` does. */
bool pj_gpu_arch(const char *name, struct pj_arch *ret_arch);

#endif
