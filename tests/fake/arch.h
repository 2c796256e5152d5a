/* SPDX-License-Identifier: Apache-2.0 */
/* Architectures as the driver takes them, and which PTX may be compiled for which. */
#ifndef FAKE_ARCH_H
#define FAKE_ARCH_H

#include <stdbool.h>

/* sm_90a is {90, 'a'}; no letter is 0. */
struct fake_arch {
    unsigned number;
    char letter;
};

/* Reads "sm_90a", and with `virtual_too` also "compute_90a"; false where it is neither. */
bool fake_arch_parse(const char *text, bool virtual_too, struct fake_arch *ret_arch);

/* A value of CU_JIT_TARGET. False for one that the header does not name. */
bool fake_arch_from_option(unsigned value, struct fake_arch *ret_arch);

/* Whether this driver still generates code for the architecture. */
bool fake_arch_is_output(unsigned number);

/* The lowest PTX ISA (major * 10 + minor) that knows a `.target`; 0 for an unknown target. */
unsigned fake_arch_lowest_isa(struct fake_arch target);

/* NULL where PTX with this `.target` runs on a device of that number, which has all its letters; else ptxas'
   complaint, in which %s may stand for the target's text. */
const char *fake_arch_objection(struct fake_arch target, unsigned device);

#endif
