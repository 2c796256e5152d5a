/* SPDX-License-Identifier: Apache-2.0 */
/* How much of the machine this process may use: cores, memory, and whether the kernel killed for memory. */
#ifndef PREJIT_HOST_LIMITS_H
#define PREJIT_HOST_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/root.h"

/** Cores this process may use: the affinity mask, cut by the CPU quota (rounded up) of its cgroup and of
 * every cgroup around it; at least 1. */
size_t pj_host_cores(const struct pj_host_root *root);

/** Bytes of memory that can still be used: MemAvailable, cut by what the limit of its cgroup, and of every
 * cgroup around it, leaves (file pages that the kernel can give up count as left); 0 = not known. */
uint64_t pj_host_memory_available(const struct pj_host_root *root);

/** The oom_kill counter of the nearest cgroup that has one (v2 memory.events, v1 memory.oom_control); false
 * where none has. */
bool pj_host_oom_kills(const struct pj_host_root *root, uint64_t *ret_count);

#endif
