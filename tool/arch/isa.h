/* SPDX-License-Identifier: Apache-2.0 */
/* PTX ISA versions: those that exist, the lowest for a target, the highest for a CUDA version. */
#ifndef PREJIT_ARCH_ISA_H
#define PREJIT_ARCH_ISA_H

#include <stdbool.h>

#include "arch/arch.h"

/** A PTX ISA version; compared as numbers: 8.10 is above 8.9. major 0 = none. */
struct pj_isa {
    uint16_t major, minor;
};

int pj_isa_compare(struct pj_isa a, struct pj_isa b);

/** By which compilers know a version: ten times major plus minor, so that 8.10 is the 9.0 of another
 * spelling. What a version allows goes by pj_isa_compare: 8.10 takes what 8.8 takes, and not what 9.0 does
 * [77]. */
unsigned pj_isa_number(struct pj_isa isa);

/** Is there a version of this number? Newer ones are not known, which is no proof that they are wrong. */
bool pj_isa_known(struct pj_isa isa);

/** The newest known version. */
struct pj_isa pj_isa_newest(void);

/** Lowest ISA that may name `target` in `.target`; false where the target is not in the table. */
bool pj_isa_lowest_for(struct pj_arch target, struct pj_isa *ret_isa);

/** Highest ISA that a driver of `cuda_version` (13000 = 13.0, as cuDriverGetVersion counts) takes; false
 * where the version is newer than the table. Source: the release notes in NVIDIA's PTX ISA manual. */
bool pj_isa_highest_for_cuda(int cuda_version, struct pj_isa *ret_isa);

/** The last CUDA version in the table whose toolkit writes no PTX above `isa`; 0 below the table. */
int pj_isa_last_cuda_version(struct pj_isa isa);

#endif
