/* SPDX-License-Identifier: Apache-2.0 */
/* A link under way: what was given at its start, the code of its inputs so far, what it will answer. */
#ifndef FAKE_LINK_H
#define FAKE_LINK_H

#include "base.h"
#include "driver.h"
#include "link_set.h"
#include "options.h"

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
    struct fake_link_set set;
    struct fake_buffer cubin; /* the result, the caller's until cuLinkDestroy */
};

/* Takes one input into the link: an entry is looked up or made for each PTX that is to be compiled. `bytes`
   need not end in a NUL. */
CUresult fake_link_add(struct fake_link *link, CUjitInputType type, const unsigned char *bytes, size_t length,
                       const char *name);

/* PTX as an input: looked up, compiled, stored under a key with `option_text` and all of `text`, which a NUL
   ends behind `length`. The compiler reads to the first NUL. */
CUresult fake_link_add_ptx(struct fake_link *link, const char *text, size_t length, const char *option_text,
                           const char *name);

/* Machine code as an input: CUDA_ERROR_NO_BINARY_FOR_GPU where it is for another architecture, though with
   `family` one of lower minor number will do. */
CUresult fake_link_add_cubin(struct fake_link *link, const unsigned char *bytes, size_t length, bool family,
                             const char *name);

/* Whether it was created with options that get into keys. */
bool fake_link_has_options(const struct fake_link *link);

/* These add what the link's architecture takes of each fat binary in them. */
CUresult fake_link_add_fatbin(struct fake_link *link, const unsigned char *bytes, size_t length,
                              const char *name);
CUresult fake_link_add_object(struct fake_link *link, const unsigned char *bytes, size_t length,
                              const char *name);
CUresult fake_link_add_library(struct fake_link *link, const unsigned char *bytes, size_t length);

#endif
