/* SPDX-License-Identifier: Apache-2.0 */
/* A program of the stand-in NVRTC, and its compilation. */
#ifndef TOOLKIT_NVRTC_PROGRAM_H
#define TOOLKIT_NVRTC_PROGRAM_H

#include "../base.h"
#include "../ptx_names.h"
#include "source.h"
#include "stage.h"

struct nvrtc_program {
    uint64_t mark;
    char *source;
    char *name;
    struct toolkit_header *headers;
    size_t header_count;
    struct fake_names expressions;
    bool compiled;
    struct fake_names lowered; /* one for each expression, after a compilation that succeeded */
    struct fake_buffer log, ptx, cubin, ltoir;
};

/* Fills log and results; one of enum nvrtc_result. */
int toolkit_program_compile(struct nvrtc_program *program, const struct toolkit_stage *stage,
                            int option_count, const char *const *options);

#endif
