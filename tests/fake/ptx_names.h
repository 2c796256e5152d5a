/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of names met in a PTX text, the instructions of the language, and its published versions. */
#ifndef FAKE_PTX_NAMES_H
#define FAKE_PTX_NAMES_H

#include <stdbool.h>
#include <stddef.h>

struct fake_names {
    char **names;
    size_t count;
    size_t *slots; /* where each name is, + 1, at a place that its digest tells; 0 where nothing is */
    size_t slot_count;
};

/* Not again where it is there already. */
void fake_names_add(struct fake_names *names, const char *name, size_t length);
bool fake_names_have(const struct fake_names *names, const char *name, size_t length);
void fake_names_free(struct fake_names *names);

/* `opcode` without its dotted suffixes. */
bool fake_ptx_knows_instruction(const char *opcode, size_t length);
/* Functions that the driver supplies, so that calling them needs no definition. */
bool fake_ptx_supplies_function(const char *name);
/* `isa` is major * 10 + minor; false for numbers that were never a version of PTX. */
bool fake_ptx_version_exists(unsigned isa);

#endif
