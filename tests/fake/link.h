/* SPDX-License-Identifier: Apache-2.0 */
/* A link under way: what was given at its start, the code of its inputs so far, what it will answer. */
#ifndef FAKE_LINK_H
#define FAKE_LINK_H

#include "base.h"
#include "cubin.h"
#include "driver.h"
#include "options.h"

/* One piece of relocatable code. */
struct fake_link_object {
    char *name; /* of the input, for the log */
    struct fake_cubin cubin;
};

/* Where the caller wants a log: the slot of its size is written again and again, so the size is kept. */
struct fake_link_log {
    char *buffer;
    unsigned capacity;
    void **size_slot; /* NULL: not wanted */
    struct fake_buffer text;
};

struct fake_link {
    uint64_t mark; /* tells a link from what is none */
    struct fake_driver *driver;
    struct fake_context *context;
    CUjit_option options[CU_JIT_NUM_OPTIONS]; /* those that mean something to the compiler */
    void *values[CU_JIT_NUM_OPTIONS];
    unsigned option_count;
    unsigned arch; /* of the result */
    struct fake_link_log error_log, info_log;
    void **wall_time_slot;
    double wall_time_ms; /* all compilations so far, and the link itself */
    struct fake_link_object *objects;
    size_t object_count;
    uint64_t seed;            /* of the bytes of all objects */
    struct fake_buffer cubin; /* the result, the caller's until cuLinkDestroy */
};

/* Takes one input into the link: an entry is looked up or made for each PTX that is to be compiled. `bytes`
   need not end in a NUL. */
CUresult fake_link_add(struct fake_link *link, CUjitInputType type, const unsigned char *bytes, size_t length,
                       const char *name);

/* PTX as an input: looked up, compiled, stored under a key with `option_text`. */
CUresult fake_link_add_ptx(struct fake_link *link, const char *text, size_t length, const char *option_text,
                           const char *name);

/* Machine code as an input: CUDA_ERROR_NO_BINARY_FOR_GPU where it is for another architecture. */
CUresult fake_link_add_cubin(struct fake_link *link, const unsigned char *bytes, size_t length,
                             const char *name);

/* CUDA_ERROR_INVALID_SOURCE, and a line in the log, where a name is defined twice or not at all. */
CUresult fake_link_check_doubles(struct fake_link *link);
CUresult fake_link_check_undefined(struct fake_link *link, size_t first_object);

/* The executable of all objects. */
void fake_link_write(const struct fake_link *link, struct fake_buffer *ret_cubin);

#endif
