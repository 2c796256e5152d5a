/* SPDX-License-Identifier: Apache-2.0 */
/* The models: plain ones, and one whose values no renderer may trust. */
#include "build_models.h"

#include <math.h>
#include <string.h>

const char *const build_model_names[] = {"empty", "built",   "check", "trouble",
                                         "early", "hostile", "many",  NULL};

/* Room in each unit, whatever its counts say. */
enum { ROOM = 3 };

static const struct pj_build_kernel kernel = {.name = "saxpy",
                                              .has_registers = true,
                                              .registers = 10,
                                              .has_shared = true,
                                              .shared_bytes = 256,
                                              .has_stack = true,
                                              .has_spills = true,
                                              .has_constant = true,
                                              .constant_bytes = 376};

static struct pj_build_report *make_report(struct pj_arena *arena, size_t units)
{
    struct pj_build_report *report = pj_arena_alloc(arena, sizeof *report);
    if (!report)
        return NULL;
    report->manifest = "m.yaml";
    report->out_dir = "out";
    report->seconds = 2.1;
    report->unit_count = units;
    report->units = pj_arena_calloc(arena, units + 1, sizeof *report->units);
    report->notes = pj_arena_calloc(arena, ROOM, sizeof *report->notes);
    if (!report->units || !report->notes)
        return NULL;
    for (size_t i = 0; i < units; i++) {
        struct pj_build_unit *unit = &report->units[i];
        *unit = (struct pj_build_unit){
            .module = pj_arena_printf(arena, "u%zu", i),
            .target = "sm_90",
            .compiler = "nvjitlink",
            .required = true,
            .arguments = pj_arena_calloc(arena, ROOM, sizeof *unit->arguments),
            .inputs = pj_arena_calloc(arena, ROOM, sizeof *unit->inputs),
            .kernels = pj_arena_calloc(arena, ROOM, sizeof *unit->kernels),
            .warnings = pj_arena_calloc(arena, ROOM, sizeof *unit->warnings),
        };
        if (!unit->module || !unit->arguments || !unit->inputs || !unit->kernels || !unit->warnings)
            return NULL;
        unit->inputs[0] = (struct pj_build_file){.path = "a.ptx", .kind = "ptx", .bytes = 512};
        memset(&unit->inputs[0].sha256, 0xab, sizeof unit->inputs[0].sha256);
        unit->input_count = 1;
    }
    return report;
}

static struct pj_build_name name_list[] = {{"scale<5>", "_Z5scaleILi5EEvPi"}};

static void succeed(struct pj_build_unit *unit)
{
    unit->verdict = PJ_BUILD_BUILT;
    unit->has_ms = true;
    unit->ms = 312.5;
    unit->arguments[0] = "-arch=sm_90";
    unit->argument_count = 1;
    unit->has_cubin = true;
    unit->cubin = (struct pj_build_file){.path = "u.sm_90.cubin", .bytes = 4832};
    unit->kernels[0] = kernel;
    unit->kernel_count = 1;
    unit->names = name_list;
    unit->name_count = PJ_COUNT(name_list);
}

struct pj_build_report *build_model_built(struct pj_arena *arena, size_t count)
{
    struct pj_build_report *report = make_report(arena, count);
    for (size_t i = 0; report && i < count; i++)
        succeed(&report->units[i]);
    if (report)
        report->nvjitlink =
            (struct pj_report_library){"/cuda/lib64/libnvJitLink.so.13.0.88", "13.0", "13.0.88"};
    return report;
}

/* A source beside what is linked, with everything that is known. */
static struct pj_build_report *make_built(struct pj_arena *arena)
{
    struct pj_build_report *report = build_model_built(arena, 2);
    if (!report)
        return NULL;
    struct pj_build_unit *unit = &report->units[1];
    unit->module = "solver";
    unit->target = "sm_90a";
    unit->compiler = "nvrtc, nvjitlink";
    unit->inputs[0] = (struct pj_build_file){.path = "src/a.cu", .kind = "source", .bytes = 1200};
    unit->inputs[1] = (struct pj_build_file){.path = "inc/a.h", .kind = "header", .bytes = 12};
    unit->input_count = 2;
    unit->arguments[1] = "-DNAME=a b";
    unit->argument_count = 2;
    unit->has_ptx = true;
    unit->ptx = (struct pj_build_file){.path = "u.sm_90a.ptx", .bytes = 1700};
    unit->kernels[1] = (struct pj_build_kernel){.name = "_Z5scalePf",
                                                .has_registers = true,
                                                .registers = 24,
                                                .has_spills = true,
                                                .spill_store_bytes = 8,
                                                .spill_load_bytes = 12};
    unit->kernel_count = 2;
    unit->warnings[0] = "src/a.cu(4): warning #177-D: variable \"unused\" was declared but never referenced";
    unit->warnings[1] = "stack is large";
    unit->warning_count = 2;
    report->nvrtc = (struct pj_report_library){"/cuda/lib64/libnvrtc.so.13", "13.0", NULL};
    report->left_out = 1;
    report->notes[0] = "a fact";
    report->note_count = 1;
    return report;
}

/* One unit of every verdict. */
static struct pj_build_report *make_trouble(struct pj_arena *arena)
{
    struct pj_build_report *report = make_report(arena, PJ_BUILD_VERDICT_COUNT);
    if (!report)
        return NULL;
    for (unsigned i = 0; i < PJ_BUILD_VERDICT_COUNT; i++)
        report->units[i].verdict = (enum pj_build_verdict)i;
    succeed(&report->units[PJ_BUILD_BUILT]);
    struct pj_build_unit *rejected = &report->units[PJ_BUILD_REJECTED];
    rejected->compiler = "nvrtc";
    rejected->reason_code = "refused-by-compiler";
    rejected->reason = "NVRTC 13.0 refused it: NVRTC_ERROR_COMPILATION: a.cu(1): error: no";
    rejected->log = "a.cu(1): error: no\n  x = y;\n      ^\n\n1 error detected\n";
    report->units[PJ_BUILD_INCOMPATIBLE].reason_code = "newer-than-gpu";
    report->units[PJ_BUILD_INCOMPATIBLE].reason = "it runs on sm_90 and newer";
    report->units[PJ_BUILD_CRASHED].reason_code = "crashed";
    report->units[PJ_BUILD_CRASHED].reason = "the compiler was ended by signal 11";
    report->units[PJ_BUILD_TIMED_OUT].required = false;
    report->exit_code = pj_build_exit(report);
    return report;
}

static struct pj_build_report *make_early(struct pj_arena *arena)
{
    struct pj_build_report *report = build_model_built(arena, 3);
    if (!report)
        return NULL;
    report->units[2] =
        (struct pj_build_unit){.module = "late", .target = "sm_90", .compiler = "nvrtc", .required = true};
    report->ended_by = "the deadline passed";
    report->exit_code = pj_build_exit(report);
    return report;
}

static struct pj_build_report *make_hostile(struct pj_arena *arena)
{
    struct pj_build_report *report = build_model_built(arena, 2);
    if (!report)
        return NULL;
    struct pj_build_unit *unit = &report->units[0];
    unit->module = "\x1b[31mred\xff\xc3\xa9\"\\\n\tend";
    unit->reason = "no\nsecond \xff";
    unit->log = "first \xc0\xaf line\n\tsecond \xed\xa0\x80 \x01\r\nthird";
    unit->inputs[0].path = "/i\xff\x01";
    unit->inputs[0].bytes = UINT64_MAX;
    unit->arguments[0] = "-D\xff\x1b";
    unit->warnings[0] = "w\xff\x1b\n";
    unit->warning_count = 1;
    unit->ms = NAN;
    for (size_t i = 0; i < ROOM; i++)
        unit->kernels[i] = (struct pj_build_kernel){.name = "k\xff\x1b",
                                                    .has_shared = true,
                                                    .has_spills = true,
                                                    .shared_bytes = UINT64_MAX,
                                                    .spill_store_bytes = UINT64_MAX,
                                                    .spill_load_bytes = i};
    unit->kernel_count = ROOM;
    report->units[1].ms = -1;
    report->units[1].verdict = PJ_BUILD_REJECTED;
    report->out_dir = "/o\xff\x1b";
    report->manifest = "m\xff";
    report->nvrtc = (struct pj_report_library){"/n\xff\x1b", NULL, NULL};
    report->notes[0] = "n\xff\x1b";
    report->note_count = 1;
    report->ended_by = "\xff";
    report->seconds = NAN;
    return report;
}

struct pj_build_report *build_model_make(struct pj_arena *arena, const char *name)
{
    struct pj_build_report *report = NULL;
    if (strcmp(name, "empty") == 0)
        return make_report(arena, 0);
    if (strcmp(name, "built") == 0)
        return make_built(arena);
    if (strcmp(name, "check") == 0) {
        report = make_built(arena);
        if (report)
            report->out_dir = NULL;
        return report;
    }
    if (strcmp(name, "trouble") == 0)
        return make_trouble(arena);
    if (strcmp(name, "early") == 0)
        return make_early(arena);
    if (strcmp(name, "hostile") == 0)
        return make_hostile(arena);
    return strcmp(name, "many") == 0 ? build_model_built(arena, 1000) : NULL;
}
