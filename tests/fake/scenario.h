/* SPDX-License-Identifier: Apache-2.0 */
/* The scenario: a text file that says in what this emulated driver differs from a healthy one. */
#ifndef FAKE_SCENARIO_H
#define FAKE_SCENARIO_H

#include "arch.h"
#include "cuda_types.h"
#include "ptx.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fake_device_plan {
    struct fake_arch arch;
    char *name;
    CUuuid uuid;
};

enum fake_act {
    FAKE_ACT_CRASH,
    FAKE_ACT_CRASH_PROVE,
    FAKE_ACT_HANG_PROVE,
    FAKE_ACT_HANG,
    FAKE_ACT_KILL,
    FAKE_ACT_REFUSE,
    FAKE_ACT_SLOW,
    FAKE_ACT_MEMORY,
    FAKE_ACT_PAYLOAD,
    FAKE_ACT_BAD_PAYLOAD,
    FAKE_ACT_UNLOADABLE,
};

enum fake_payload { FAKE_PAYLOAD_ARCH, FAKE_PAYLOAD_RANDOM, FAKE_PAYLOAD_CUT };

/* One `directive kernel=GLOB …` line. */
struct fake_rule {
    enum fake_act act;
    unsigned line;   /* of the scenario file: also the slot of its counter */
    char *kernel;    /* a pattern of fnmatch */
    unsigned target; /* 0: whatever the architecture */
    long times;      /* -1: always */
    char *path;      /* kill: the stand-in for memory.events */
    CUresult result; /* refuse */
    char *text;      /* refuse: the error log */
    double number;   /* slow: ms; memory: MiB; payload: bytes */
    enum fake_payload payload;
    unsigned payload_arch;
};

struct fake_scenario {
    char *path; /* NULL: no file, all as by default */
    struct fake_device_plan *devices;
    size_t device_count;
    int driver_version;
    unsigned newest_isa; /* major * 10 + minor */
    char *stamp;
    double init_ms;
    CUresult init_fail;
    long init_fail_after; /* so many succeed first; -1: none */
    unsigned init_fail_line;
    double context_ms;
    CUresult context_fail;
    long context_fail_times;
    unsigned context_fail_line;
    double compile_base_ms;
    double compile_us_per_kb;
    bool burn;
    uint32_t format;
    bool alternate_layout;
    bool alternate_key_order;
    bool extra_dirs;
    bool header_only_index_deletes;
    bool ignore_disable_jit;
    bool no_library_load;
    unsigned long lose_store_every; /* 0: never */
    unsigned lose_store_line;
    unsigned *disabled_architectures;
    size_t disabled_count;
    char *state_path;
    char *log_path;
    struct fake_rule *rules;
    size_t rule_count;
};

/* The scenario of NVIDIA_FAKE_SCENARIO, else of the file `scenario` beside this library, else the default. A
   bad file ends the process. Never freed: it lives as long as the library. */
const struct fake_scenario *fake_scenario(void);

/* The first rule of that kind for one of the kernels, whose `times` are not used up (and uses one up); else
 * NULL. */
const struct fake_rule *fake_scenario_rule(enum fake_act act, const struct fake_ptx *ptx, unsigned target);
bool fake_scenario_has(enum fake_act act);
bool fake_scenario_is_disabled(unsigned arch);

/* A number kept for a line of the scenario across processes in its `state` file; returns how often it was
 * asked before. */
unsigned long fake_scenario_count(unsigned line);

/* One line for the scenario's `log` file, `word` first, then the process and what follows. */
void fake_scenario_log(const char *word, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
