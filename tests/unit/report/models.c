/* SPDX-License-Identifier: Apache-2.0 */
/* The models: plain ones, and ones whose values no renderer may trust. */
#include "models.h"

#include <math.h>
#include <string.h>

const char *const model_names[] = {"bare",    "warm", "offline", "against", "unserved", "noop",
                                   "trouble", "plan", "hostile", "many",    NULL};

/* Room for the entries of each job; entry_count says how many it has. */
enum { ENTRIES_MAX = 3 };

static struct pj_report *make_report(struct pj_arena *arena, const char *command, size_t jobs)
{
    struct pj_report *report = pj_arena_alloc(arena, sizeof *report);
    if (!report)
        return NULL;
    report->command = command;
    report->manifest = "m.yaml";
    report->job_count = jobs;
    report->jobs = pj_arena_calloc(arena, jobs + 1, sizeof *report->jobs);
    if (!report->jobs)
        return NULL;
    for (size_t i = 0; i < jobs; i++) {
        struct pj_report_job *job = &report->jobs[i];
        char *module = pj_arena_printf(arena, "m%zu", i);
        char *id = pj_arena_printf(arena, "m%zu@sm_90", i);
        if (!module || !id)
            return NULL;
        *job = (struct pj_report_job){.id = id,
                                      .module = module,
                                      .target = "sm_90",
                                      .required = true,
                                      .entries = pj_arena_calloc(arena, ENTRIES_MAX, sizeof *job->entries)};
        if (!job->entries)
            return NULL;
    }
    return report;
}

static void prove(struct pj_report_job *job, enum pj_origin origin)
{
    job->verdict = PJ_VERDICT_PROVEN;
    job->origin = origin;
    job->has_cold_ms = true;
    job->cold_ms = 312.5;
    job->has_compile_ms = origin == PJ_ORIGIN_COMPILED;
    job->compile_ms = 320.25;
    job->cold_from_receipt = origin == PJ_ORIGIN_REUSED;
    job->warm = (struct pj_samples){.ms = {1.0, 0.9, 1.3}, .count = 3};
    job->witnesses = (struct pj_witnesses){.jit_disabled = PJ_WITNESS_YES,
                                           .canary = PJ_WITNESS_YES,
                                           .wall_time_zero = PJ_WITNESS_YES,
                                           .entry_present = PJ_WITNESS_YES,
                                           .faster = PJ_WITNESS_YES};
    job->entry_count = 1;
    job->entries[0] =
        (struct pj_report_entry){.name = "c/a/920786966c763d", .has_bytes = true, .bytes = 290000};
    job->has_peak_rss = true;
    job->peak_rss_bytes = 56000000;
}

static struct pj_report_host make_host(struct pj_arena *arena)
{
    struct pj_report_host host = {.driver_version = "580.159.04",
                                  .kernel_driver = "580.159.04",
                                  .cuda_version = 13000,
                                  .stamp = "Apr 29 202617:12:06"};
    host.devices = pj_arena_calloc(arena, 1, sizeof *host.devices);
    if (host.devices) {
        host.devices[0] = (struct pj_report_device){"NVIDIA H200", "sm_90", "GPU-0"};
        host.device_count = 1;
    }
    return host;
}

struct pj_report *model_proven(struct pj_arena *arena, size_t count)
{
    struct pj_report *report = make_report(arena, "warm", count);
    if (!report)
        return NULL;
    for (size_t i = 0; i < count; i++)
        prove(&report->jobs[i], PJ_ORIGIN_REUSED);
    report->host = make_host(arena);
    report->cache = (struct pj_report_cache){.path = "/var/cache/app/nv",
                                             .limit_bytes = UINT64_C(1) << 30,
                                             .has_content = true,
                                             .bytes = 20000000,
                                             .entries = count};
    report->seconds = 2.9;
    return report;
}

static struct pj_report *make_warm(struct pj_arena *arena)
{
    struct pj_report *report = model_proven(arena, 3);
    if (!report)
        return NULL;
    prove(&report->jobs[1], PJ_ORIGIN_COMPILED);
    report->jobs[2].origin = PJ_ORIGIN_REPAIRED;
    report->jobs[2].target_kind = PJ_TARGET_KIND_FOREIGN;
    report->jobs[2].target = "sm_80";
    report->jobs[2].id = "m2[max_registers=64]@sm_80";
    struct pj_jit_options *options = &report->jobs[2].options;
    options->given = 1u << PJ_JIT_MAX_REGISTERS | 1u << PJ_JIT_GENERATE_LINE_INFO | 1u << PJ_JIT_CACHE_MODE;
    options->values[PJ_JIT_MAX_REGISTERS] = 64;
    options->values[PJ_JIT_GENERATE_LINE_INFO] = 1;
    options->values[PJ_JIT_CACHE_MODE] = 2;
    report->environment = pj_arena_calloc(arena, 1, sizeof *report->environment);
    report->notes = pj_arena_calloc(arena, 1, sizeof *report->notes);
    if (!report->environment || !report->notes)
        return NULL;
    report->nvrtc =
        (struct pj_report_library){"/usr/local/cuda/lib64/libnvrtc.so.13.0.88", "13.0", "13.0.88"};
    report->nvjitlink = (struct pj_report_library){"/usr/local/cuda/lib64/libnvJitLink.so.13", "13.0", NULL};
    report->jobs[2].has_to_ptx_ms = true;
    report->jobs[2].to_ptx_ms = 63;
    report->environment[0] = (struct pj_report_variable){"CUDA_CACHE_PATH", "/var/cache/app/nv"};
    report->environment_count = 1;
    report->notes[0] = "2 stale entries of other driver builds (8.4 MB) were removed to make room";
    report->note_count = 1;
    report->phases = (struct pj_report_phases){.has_prepare = true,
                                               .prepare_ms = 480.25,
                                               .has_compile = true,
                                               .compile_ms = 2100.5,
                                               .has_prove = true,
                                               .prove_ms = 700};
    report->has_store = true;
    report->store = (struct pj_report_store){
        .lock_holds = 2, .longest_hold_ms = 1.25, .longest_wait_ms = 0.5, .stale_evicted = 2};
    return report;
}

/* One job of every verdict. */
static struct pj_report *make_trouble(struct pj_arena *arena)
{
    struct pj_report *report = make_report(arena, "warm", PJ_VERDICT_COUNT);
    if (!report)
        return NULL;
    for (unsigned i = 0; i < PJ_VERDICT_COUNT; i++)
        report->jobs[i].verdict = (enum pj_verdict)i;
    prove(&report->jobs[PJ_VERDICT_PROVEN], PJ_ORIGIN_COMPILED);
    report->jobs[PJ_VERDICT_REJECTED].reason_code = "invalid-ptx";
    report->jobs[PJ_VERDICT_REJECTED].reason = "CUDA_ERROR_INVALID_PTX";
    report->jobs[PJ_VERDICT_REJECTED].log = "ptxas fatal : Unresolved extern function 'f'\n";
    report->jobs[PJ_VERDICT_MISSED].reason = "entry deleted";
    report->exit_code = pj_report_exit(report);
    report->seconds = 1;
    return report;
}

static struct pj_report *make_plan(struct pj_arena *arena)
{
    struct pj_report *report = make_report(arena, "plan", 4);
    if (!report)
        return NULL;
    report->jobs[0].witnesses.entry_present = PJ_WITNESS_YES;
    report->jobs[0].entries[0].name = "c/a/920786966c763d";
    report->jobs[0].entry_count = 1;
    report->jobs[1].witnesses.entry_present = PJ_WITNESS_NO;
    report->jobs[1].entries[0].name = "c/a/920786966c763e";
    report->jobs[1].entry_count = 1;
    report->jobs[2].target = "native";
    report->jobs[3].verdict = PJ_VERDICT_SKIPPED;
    report->left_out = 2;
    return report;
}

/* Numbers that are none, text that is no UTF-8, counts that are too high. */
static struct pj_report *make_hostile(struct pj_arena *arena)
{
    struct pj_report *report = make_report(arena, "warm", 3);
    if (!report)
        return NULL;
    struct pj_report_job *job = &report->jobs[0];
    prove(job, PJ_ORIGIN_COMPILED);
    job->module = "\x1b[31mred\xff\xc3\xa9\"\\\n\tend";
    job->log = "first \xc0\xaf line\n\tsecond \xed\xa0\x80 \x01\r\nthird \xf0\x9f\x98\x80";
    job->compile_ms = NAN;
    job->cold_ms = INFINITY;
    job->warm = (struct pj_samples){.ms = {NAN, -INFINITY, -1}, .count = 1000};
    job->warm.ms[15] = 2;
    job->entry_count = ENTRIES_MAX; /* whose sum is more than there is */
    for (size_t i = 0; i < ENTRIES_MAX; i++)
        job->entries[i] =
            (struct pj_report_entry){.name = "c/a/920786966c763d", .has_bytes = true, .bytes = UINT64_MAX};
    report->jobs[1].warm = (struct pj_samples){.ms = {NAN}, .count = 1};
    report->jobs[1].has_cold_ms = true;
    report->jobs[1].cold_ms = 1e300;
    report->jobs[2].verdict = (enum pj_verdict)99;
    report->cache = (struct pj_report_cache){.path = "/c\xff\x01", .limit_bytes = UINT64_MAX};
    report->seconds = NAN;
    report->has_store = true;
    report->store.longest_hold_ms = INFINITY;
    report->phases.has_prove = true;
    report->phases.prove_ms = NAN;
    report->notes = pj_arena_calloc(arena, 1, sizeof *report->notes);
    if (!report->notes)
        return NULL;
    report->notes[0] = "\x7f\xfe";
    report->note_count = 1;
    report->exit_reason = "caf\xe9";
    report->exit_code = (enum pj_exit)143;
    return report;
}

static struct pj_report *make_offline(struct pj_arena *arena)
{
    struct pj_report *report = model_proven(arena, 2);
    struct pj_report_profile *profiles = pj_arena_calloc(arena, 2, sizeof *profiles);
    if (!report || !profiles)
        return NULL;
    profiles[0] = (struct pj_report_profile){"580.159.04", "Apr 29 202617:12:06"};
    profiles[1] = (struct pj_report_profile){"581.1", "May  1 202609:00:00"};
    report->offline = (struct pj_report_offline){profiles, 2, "ptxas 13.0.88", "/opt/bin/ptxas"};
    for (size_t i = 0; i < 2; i++) {
        report->jobs[i].verdict = PJ_VERDICT_STORED;
        report->jobs[i].warm.count = 0;
    }
    report->jobs[0].origin = PJ_ORIGIN_COMPILED;
    report->jobs[0].offline_compiler = "ptxas 13.0.88";
    return report;
}

/* Each way that a comparison with the driver's code can end. */
static struct pj_report *make_against(struct pj_arena *arena)
{
    struct pj_report *report = model_proven(arena, 4);
    if (!report)
        return NULL;
    report->command = "verify";
    report->against_driver = true;
    report->jobs[0].against_driver = PJ_AGAINST_OTHER;
    report->jobs[0].against_detail = "section .text.k differs";
    report->jobs[1].against_driver = PJ_AGAINST_SAME;
    report->jobs[2].against_driver = PJ_AGAINST_NOT_COMPARED;
    report->jobs[2].against_detail = "the driver crashed";
    report->jobs[3].verdict = PJ_VERDICT_SKIPPED;
    return report;
}

/* Two GPUs of one architecture for which required modules have no target; one that only `c` lacks, which is
 * not required. */
static struct pj_report *make_unserved(struct pj_arena *arena)
{
    static struct pj_report_device devices[] = {
        {"NVIDIA X", "sm_120", "GPU-0"}, {"NVIDIA Y", "sm_120", "GPU-1"}, {"NVIDIA Z", "sm_90", "GPU-2"}};
    static const char *required[] = {"a", "b"}, *optional[] = {"c"};
    static struct pj_report_unserved unserved[] = {
        {.target = "sm_120", .required = true, .modules = required, .module_count = 2},
        {.target = "sm_90", .modules = optional, .module_count = 1}};
    struct pj_report *report = model_proven(arena, 2);
    if (!report)
        return NULL;
    report->host.devices = devices;
    report->host.device_count = PJ_COUNT(devices);
    report->unserved = unserved;
    report->unserved_count = PJ_COUNT(unserved);
    report->exit_code = pj_report_exit(report);
    return report;
}

struct pj_report *model_make(struct pj_arena *arena, const char *name)
{
    if (strcmp(name, "bare") == 0)
        return pj_arena_alloc(arena, sizeof(struct pj_report));
    if (strcmp(name, "warm") == 0)
        return make_warm(arena);
    if (strcmp(name, "offline") == 0)
        return make_offline(arena);
    if (strcmp(name, "against") == 0)
        return make_against(arena);
    if (strcmp(name, "unserved") == 0)
        return make_unserved(arena);
    if (strcmp(name, "trouble") == 0)
        return make_trouble(arena);
    if (strcmp(name, "plan") == 0)
        return make_plan(arena);
    if (strcmp(name, "hostile") == 0)
        return make_hostile(arena);
    struct pj_report *report = model_proven(arena, strcmp(name, "many") == 0 ? 1000 : 64);
    if (report && strcmp(name, "noop") == 0) {
        report->nothing_to_do = true;
        report->seconds = 0.012;
        return report;
    }
    return strcmp(name, "many") == 0 ? report : NULL;
}
