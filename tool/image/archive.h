/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the members of an ar archive where its bytes lie. */
#ifndef PREJIT_IMAGE_ARCHIVE_H
#define PREJIT_IMAGE_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/** A place among the members. */
struct pj_archive {
    const char *bytes;
    size_t size, at;
    const char *long_names; /* GNU's table of names that do not fit a header, once it was met */
    size_t long_names_size;
};

/** A member. The name lies in the given bytes and is not terminated. */
struct pj_member {
    const char *name;
    size_t name_size;
    size_t offset, size; /* its bytes */
};

/** Begins to list the members of `size` bytes. PJ_ERROR_FORMAT where it is no archive, and for a thin one,
 * which holds names alone: the message says how to make a whole one. */
int pj_archive_start(const void *bytes, size_t size, struct pj_archive *ret, struct pj_error **err);

/** 1 and *ret_member, 0 at the end, or PJ_ERROR_FORMAT with the byte offset. Symbol tables and the table of
 * long names are passed over; GNU's and BSD's ways to write long names are known. */
int pj_archive_next(struct pj_archive *archive, struct pj_member *ret_member, struct pj_error **err);

#endif
