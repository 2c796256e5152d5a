/* SPDX-License-Identifier: Apache-2.0 */
/* Relocatable code that is linked together: which names are defined, twice or not at all, and the cubin of it
 * all. */
#ifndef FAKE_LINK_SET_H
#define FAKE_LINK_SET_H

#include "base.h"
#include "cubin.h"

struct fake_link_object {
    char *name; /* of the input, for the log */
    struct fake_cubin cubin;
};

struct fake_link_set {
    struct fake_link_object *objects;
    size_t count;
    uint64_t seed; /* of the bytes of all objects */
};

/* Takes the cubin over; `bytes` are where it was read from. */
void fake_link_set_add(struct fake_link_set *set, struct fake_cubin cubin, const unsigned char *bytes,
                       size_t length, const char *name);

/* A line in the log, and false, for the first name that is defined twice and not weak. */
bool fake_link_set_is_unique(const struct fake_link_set *set, struct fake_buffer *log);

/* A line in the log for each name that objects from `first` on use and none defines; false where there are
 * any. */
bool fake_link_set_is_complete(const struct fake_link_set *set, size_t first, struct fake_buffer *log);

/* The executable of all objects. */
void fake_link_set_write(const struct fake_link_set *set, unsigned arch, struct fake_buffer *ret_cubin);

void fake_link_set_free(struct fake_link_set *set);

#endif
