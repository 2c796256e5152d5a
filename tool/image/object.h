/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the sections of an ELF file for a CPU where its bytes lie. */
#ifndef PREJIT_IMAGE_OBJECT_H
#define PREJIT_IMAGE_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/** A place among the sections. */
struct pj_object {
    const unsigned char *bytes;
    size_t size;
    bool relocatable;              /* what a compiler makes; false: a program or a shared library */
    uint64_t table, next, count;   /* section headers: offset, the next one, how many */
    uint64_t names_at, names_size; /* the section names */
};

/** A section with bytes in the file. `name` ends in NUL and lies in the given bytes. */
struct pj_section {
    const char *name;
    size_t offset, size;
};

/** Begins to list the sections of `size` bytes, aligned or not. PJ_ERROR_FORMAT where it is no 64-bit
 * little-endian object, program or shared library, or where a table lies outside of the file. */
int pj_object_start(const void *bytes, size_t size, struct pj_object *ret, struct pj_error **err);

/** 1 and *ret_section, 0 at the end, or PJ_ERROR_FORMAT for a section outside of the file. */
int pj_object_next(struct pj_object *object, struct pj_section *ret_section, struct pj_error **err);

#endif
