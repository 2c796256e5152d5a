/* SPDX-License-Identifier: Apache-2.0 */
/* Private to arch: every architecture that PTX may name, with its letters and lowest PTX ISA versions. */
#ifndef PREJIT_ARCH_TABLE_H
#define PREJIT_ARCH_TABLE_H

#include "arch/arch.h"

/** One architecture. ISA versions are ten times major plus minor; 0 where the letter does not exist. The
 *  clauses follow "code runs"; they are NULL where the letter does not exist. */
struct pj_arch_row {
    uint16_t number;
    uint8_t isa_plain, isa_a, isa_f;
    const char *where_plain, *where_a, *where_f;
};

/** Row of `number`, or NULL. */
const struct pj_arch_row *pj_arch_row_find(uint16_t number);

/** Lowest ISA of `arch`, ten times major plus minor; 0 where no such architecture exists. */
unsigned pj_arch_row_isa(struct pj_arch arch);

#endif
