/* SPDX-License-Identifier: Apache-2.0 */
/* The GPUs as the kernel driver lists them, read without opening CUDA. */
#ifndef PREJIT_HOST_GPUS_H
#define PREJIT_HOST_GPUS_H

#include <stddef.h>

#include "base/buffer.h"
#include "base/error.h"
#include "host/root.h"

/** Appends a canonical text of all that tells one set of GPUs from another: the version line of the kernel
 * driver, each GPU's bus address, model and UUID, and the device nodes that exist. Two equal texts mean the
 * same GPUs; a machine without any gives the same text each time. *ret_count = GPUs listed (0 also where the
 * listing is not there). */
int pj_host_gpu_listing(const struct pj_host_root *root, struct pj_buffer *ret_text, size_t *ret_count,
                        struct pj_error **err);

/** Names the boot of the kernel, and no other ("3f2c…"); NULL where it cannot be told; free(). */
char *pj_host_boot_id(const struct pj_host_root *root);

/** Version of the loaded kernel driver ("580.159.04") from /proc/driver/nvidia/version; NULL where it cannot
 * be told; free(). */
char *pj_host_kernel_driver(const struct pj_host_root *root);

#endif
