/* SPDX-License-Identifier: Apache-2.0 */
/* The scenario of the stand-in toolkit libraries: in what they differ from healthy ones. */
#ifndef TOOLKIT_STAGE_H
#define TOOLKIT_STAGE_H

#include "../base.h"
#include "../ptx.h"

enum toolkit_act { TOOLKIT_CRASH, TOOLKIT_HANG, TOOLKIT_SLOW, TOOLKIT_SPOIL };

/* What is wrong with the cubin that ptxas says it made. */
enum toolkit_spoiled {
    TOOLKIT_SPOILED_ARCH,     /* for another architecture */
    TOOLKIT_SPOILED_LINKABLE, /* to be linked where it should be loadable, and the other way round */
    TOOLKIT_SPOILED_KERNELS,  /* without any kernel */
    TOOLKIT_SPOILED_CUT,
    TOOLKIT_SPOILED_RANDOM,
};

/* One `directive kernel=GLOB …` line. */
struct toolkit_rule {
    enum toolkit_act act;
    unsigned line;   /* of the scenario file: also the slot of its counter */
    char *kernel;    /* a pattern of fnmatch */
    unsigned target; /* 0: whatever the architecture */
    long times;      /* -1: always */
    double ms;       /* slow */
    enum toolkit_spoiled spoiled;
};

struct toolkit_stage {
    int major, minor;
    unsigned build;  /* ptxas: 88 of 13.0.88 */
    char *label;     /* ptxas: of its build; "none" = it tells none */
    char *stamp;     /* ptxas: of the driver whose code it makes */
    bool other_code; /* ptxas: its code is not the driver's */
    int *archs;      /* ascending */
    size_t arch_count;
    bool unstable;
    bool no_trace;
    bool hang_version;
    bool no_builtins;     /* NVRTC: its builtins library cannot be opened */
    unsigned lto_version; /* the newest LTO-IR it takes, and the one it makes */
    char *state_path;
    char *log_path;
    struct toolkit_rule *rules;
    size_t rule_count;
};

/* The scenario of the file `scenario` beside the library, else the default. A bad file ends the process. */
const struct toolkit_stage *toolkit_stage(void);

/* The newest PTX version that a toolkit of this version makes, major * 10 + minor. */
unsigned toolkit_stage_isa(const struct toolkit_stage *stage);

bool toolkit_stage_has_arch(const struct toolkit_stage *stage, unsigned arch);

/* Dies, hangs or takes its time where a rule says so for one of the kernels. */
void toolkit_stage_strike(const struct toolkit_stage *stage, const struct fake_ptx *ptx, unsigned arch);

/* The rule that spoils what is made of this text; NULL = none. */
const struct toolkit_rule *toolkit_stage_spoils(const struct toolkit_stage *stage, const struct fake_ptx *ptx,
                                                unsigned arch);

/* One line for the scenario's `log` file. */
void toolkit_stage_log(const struct toolkit_stage *stage, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
