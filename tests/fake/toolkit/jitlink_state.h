/* SPDX-License-Identifier: Apache-2.0 */
/* A link of the stand-in nvJitLink, and its inputs. */
#ifndef TOOLKIT_JITLINK_STATE_H
#define TOOLKIT_JITLINK_STATE_H

#include "../arch.h"
#include "../link_set.h"
#include "stage.h"

struct jitlink {
    uint64_t mark;
    const struct toolkit_stage *stage;
    struct fake_arch arch; /* number 0: the options were refused */
    bool lto;
    bool verbose;
    bool ptx;       /* -ptx: gives PTX, and no cubin */
    bool has_other; /* an input that is no LTO-IR */
    struct fake_link_set set;
    bool completed;
    struct fake_buffer cubin, ptx_text, error_log, info_log;
};

/* Takes one input; one of enum jitlink_result. */
int jitlink_add(struct jitlink *link, int type, const unsigned char *bytes, size_t length, const char *name);

#endif
