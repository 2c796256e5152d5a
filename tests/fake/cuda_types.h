/* SPDX-License-Identifier: Apache-2.0 */
/* NVIDIA's header with its functions made visible: the emulation hides everything else. */
#ifndef FAKE_CUDA_TYPES_H
#define FAKE_CUDA_TYPES_H

#pragma GCC visibility push(default)
#include <cuda.h>
#pragma GCC visibility pop

#endif
