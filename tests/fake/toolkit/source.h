/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA C++ as far as the stand-in NVRTC understands it: includes, kernels, #error. */
#ifndef TOOLKIT_SOURCE_H
#define TOOLKIT_SOURCE_H

#include "../base.h"
#include "../ptx_names.h"

struct toolkit_header {
    const char *name;
    const char *text;
};

struct toolkit_source {
    /* Given. */
    const char *name; /* of the program: its folder is looked in for quoted includes */
    const struct toolkit_header *headers;
    size_t header_count;
    struct fake_names folders; /* of -I, in order */
    bool trace;                /* names of the files read, to stderr */
    /* Found. */
    struct fake_names kernels;   /* `__global__ void NAME(` */
    struct fake_names templates; /* the same behind `template<…>` */
    uint64_t digest;             /* of all text that was read */
    struct fake_names guarded;   /* files that are read once only */
    struct fake_buffer log;      /* of the first error */
};

/* False, and the log, at an #error and at an include that is not found. */
bool toolkit_source_read(struct toolkit_source *source, const char *text);
void toolkit_source_free(struct toolkit_source *source);

#endif
