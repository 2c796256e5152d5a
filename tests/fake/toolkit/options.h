/* SPDX-License-Identifier: Apache-2.0 */
/* The options of a compilation by the stand-in NVRTC. */
#ifndef TOOLKIT_OPTIONS_H
#define TOOLKIT_OPTIONS_H

#include "../arch.h"
#include "../base.h"
#include "../ptx_names.h"
#include "stage.h"

struct toolkit_options {
    struct fake_arch arch;
    bool real_arch;   /* sm_NN: machine code as well */
    bool lto;         /* LTO-IR in place of PTX */
    bool relocatable; /* -rdc=true, -dc */
    bool line_info;   /* the program's name gets into the PTX */
    bool trace;
    bool verbose; /* ptxas' -v */
    struct fake_names folders;
    uint64_t digest; /* of the options that change the code */
};

/* False, and NVRTC's complaint, where one is unknown. Free with toolkit_options_free either way. */
bool toolkit_options_read(const struct toolkit_stage *stage, int count, const char *const *options,
                          struct toolkit_options *ret_options, struct fake_buffer *log);
void toolkit_options_free(struct toolkit_options *options);

#endif
