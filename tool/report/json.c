/* SPDX-License-Identifier: Apache-2.0 */
/* The report as JSON of schema prejit-report/1, one job at a time. */
#include <string.h>

#include "base/memory.h"
#include "report/envelope.h"
#include "report/json_builder.h"
#include "report/render.h"
#include "report/saving.h"
#include "report/trouble.h"

static json_t *make_device(const struct pj_report_device *device)
{
    struct pj_json_builder object = {.value = json_object()};
    pj_json_member(&object, "name", pj_json_text(device->name));
    pj_json_member(&object, "arch", pj_json_text(device->arch));
    pj_json_member(&object, "uuid", pj_json_text(device->uuid));
    return pj_json_finish(&object);
}

static json_t *make_host(const struct pj_report_host *host)
{
    struct pj_json_builder devices = {.value = json_array()};
    for (size_t i = 0; i < host->device_count; i++)
        pj_json_item(&devices, make_device(&host->devices[i]));
    struct pj_json_builder object = {.value = json_object()};
    pj_json_member(&object, "driver_version", pj_json_text(host->driver_version));
    pj_json_member(&object, "kernel_driver", pj_json_text(host->kernel_driver));
    /* A version is no number: 13.1 and 13.10 differ. */
    pj_json_member(&object, "cuda_version",
                   host->cuda_version > 0
                       ? json_sprintf("%d.%d", host->cuda_version / 1000, host->cuda_version % 1000 / 10)
                       : json_null());
    pj_json_member(&object, "stamp", pj_json_text(host->stamp));
    pj_json_member(&object, "devices", pj_json_finish(&devices));
    return pj_json_finish(&object);
}

static json_t *make_toolkit(const struct pj_report *report)
{
    struct pj_json_builder object = {.value = json_object()};
    pj_json_member(&object, "nvrtc", pj_json_library(&report->nvrtc));
    pj_json_member(&object, "nvjitlink", pj_json_library(&report->nvjitlink));
    return pj_json_finish(&object);
}

static json_t *make_offline(const struct pj_report_offline *offline)
{
    if (offline->profile_count == 0)
        return json_null();
    struct pj_json_builder profiles = {.value = json_array()};
    for (size_t i = 0; i < offline->profile_count; i++) {
        struct pj_json_builder profile = {.value = json_object()};
        pj_json_member(&profile, "driver_version", pj_json_text(offline->profiles[i].driver_version));
        pj_json_member(&profile, "stamp", pj_json_text(offline->profiles[i].stamp));
        pj_json_item(&profiles, pj_json_finish(&profile));
    }
    struct pj_json_builder object = {.value = json_object()};
    pj_json_member(&object, "profiles", pj_json_finish(&profiles));
    pj_json_member(&object, "compiler", pj_json_text(offline->compiler));
    pj_json_member(&object, "compiler_path", pj_json_text(offline->compiler_path));
    return pj_json_finish(&object);
}

static json_t *make_cache(const struct pj_report_cache *cache)
{
    struct pj_json_builder object = {.value = json_object()};
    pj_json_member(&object, "path", pj_json_text(cache->path));
    pj_json_member(&object, "limit_bytes", pj_json_count(cache->path != NULL, cache->limit_bytes));
    pj_json_member(&object, "bytes", pj_json_count(cache->has_content, cache->bytes));
    pj_json_member(&object, "entries", pj_json_count(cache->has_content, cache->entries));
    return pj_json_finish(&object);
}

/* Counts of jobs by verdict; together they are all jobs. */
static const struct {
    const char *name;
    enum pj_verdict verdict;
} verdict_counts[] = {
    {"proven", PJ_VERDICT_PROVEN},
    {"stored", PJ_VERDICT_STORED},
    {"skipped", PJ_VERDICT_SKIPPED},
    {"rejected", PJ_VERDICT_REJECTED},
    {"incompatible", PJ_VERDICT_INCOMPATIBLE},
    {"crashed", PJ_VERDICT_CRASHED},
    {"timed_out", PJ_VERDICT_TIMED_OUT},
    {"out_of_memory", PJ_VERDICT_OUT_OF_MEMORY},
    {"missed", PJ_VERDICT_MISSED},
    {"lost", PJ_VERDICT_LOST},
    {"evicted", PJ_VERDICT_EVICTED},
    {"too_large", PJ_VERDICT_TOO_LARGE},
    {"inconclusive", PJ_VERDICT_INCONCLUSIVE},
    {"undecided", PJ_VERDICT_NONE},
};
_Static_assert(PJ_COUNT(verdict_counts) == PJ_VERDICT_COUNT, "every verdict is counted");

static json_t *make_summary(const struct pj_report *report)
{
    struct pj_report_summary summary;
    pj_report_summarise(report, &summary);
    struct pj_json_builder object = {.value = json_object()};
    pj_json_member(&object, "jobs", pj_json_count(true, summary.jobs));
    for (size_t i = 0; i < PJ_COUNT(verdict_counts); i++)
        pj_json_member(&object, verdict_counts[i].name,
                       pj_json_count(true, summary.verdicts[verdict_counts[i].verdict]));
    pj_json_member(&object, "failed", pj_json_count(true, summary.failed));
    pj_json_member(&object, "compiled", pj_json_count(true, summary.compiled));
    pj_json_member(&object, "reused", pj_json_count(true, summary.reused));
    pj_json_member(&object, "repaired", pj_json_count(true, summary.repaired));
    pj_json_member(&object, "left_out", pj_json_count(true, report->left_out));
    pj_json_member(&object, "nothing_to_do", json_boolean(report->nothing_to_do));
    pj_json_member(&object, "seconds", pj_json_seconds(report->seconds >= 0, report->seconds));
    return pj_json_finish(&object);
}

static json_t *make_saving(const struct pj_report_saving *saving)
{
    if (!saving->target)
        return json_null();
    struct pj_json_builder object = {.value = json_object()};
    pj_json_member(&object, "target", pj_json_text(saving->target));
    pj_json_member(&object, "jobs", pj_json_count(true, saving->jobs));
    pj_json_member(&object, "cold_ms", pj_json_number(true, saving->cold_ms));
    pj_json_member(&object, "median_cold_ms", pj_json_number(true, saving->median_cold_ms));
    pj_json_member(&object, "median_warm_ms", pj_json_number(true, saving->median_warm_ms));
    return pj_json_finish(&object);
}

static json_t *make_phases(const struct pj_report_phases *phases)
{
    struct pj_json_builder object = {.value = json_object()};
    pj_json_member(
        &object, "prepare_ms",
        pj_json_number(pj_report_ms_known(phases->has_prepare, phases->prepare_ms), phases->prepare_ms));
    pj_json_member(
        &object, "compile_ms",
        pj_json_number(pj_report_ms_known(phases->has_compile, phases->compile_ms), phases->compile_ms));
    pj_json_member(&object, "prove_ms",
                   pj_json_number(pj_report_ms_known(phases->has_prove, phases->prove_ms), phases->prove_ms));
    return pj_json_finish(&object);
}

static json_t *make_store(const struct pj_report *report)
{
    const struct pj_report_store *store = &report->store;
    if (!report->has_store)
        return json_null();
    struct pj_json_builder object = {.value = json_object()};
    pj_json_member(&object, "lock_holds", pj_json_count(true, store->lock_holds));
    pj_json_member(&object, "longest_hold_ms",
                   pj_json_number(pj_report_ms_known(true, store->longest_hold_ms), store->longest_hold_ms));
    pj_json_member(&object, "longest_wait_ms",
                   pj_json_number(pj_report_ms_known(true, store->longest_wait_ms), store->longest_wait_ms));
    pj_json_member(&object, "stale_evicted", pj_json_count(true, store->stale_evicted));
    pj_json_member(&object, "evicted", pj_json_count(true, store->evicted));
    return pj_json_finish(&object);
}

static json_t *make_option(const struct pj_jit_option_info *info, uint32_t value)
{
    switch (info->type) {
    case PJ_JIT_BOOLEAN:
        return json_boolean(value != 0);
    case PJ_JIT_CACHE_OPTION:
        return pj_json_text(pj_jit_cache_mode_name(value));
    case PJ_JIT_UNSIGNED:
        break;
    }
    return json_integer(value);
}

static json_t *make_options(const struct pj_jit_options *options)
{
    struct pj_json_builder object = {.value = json_object()};
    for (unsigned i = 0; i < PJ_JIT_OPTION_COUNT; i++) {
        const struct pj_jit_option_info *info = pj_jit_option_info((enum pj_jit_option)i);
        if (options->given >> i & 1)
            pj_json_member(&object, info->name, make_option(info, options->values[i]));
    }
    return pj_json_finish(&object);
}

static json_t *make_cold(const struct pj_report_job *job)
{
    if (!pj_report_ms_known(job->has_cold_ms, job->cold_ms))
        return json_null();
    struct pj_json_builder object = {.value = json_object()};
    pj_json_member(&object, "value", pj_json_number(true, job->cold_ms));
    pj_json_member(&object, "source", json_string(job->cold_from_receipt ? "receipt" : "this-run"));
    return pj_json_finish(&object);
}

static json_t *make_warm(const struct pj_samples *warm)
{
    double median, minimum, maximum;
    if (!pj_samples_summary(warm, &median, &minimum, &maximum))
        return json_null();
    struct pj_json_builder samples = {.value = json_array()};
    for (size_t i = 0; i < warm->count && i < PJ_SAMPLES_MAX; i++) {
        if (pj_report_ms_known(true, warm->ms[i]))
            pj_json_item(&samples, pj_json_number(true, warm->ms[i]));
    }
    struct pj_json_builder object = {.value = json_object()};
    pj_json_member(&object, "median", pj_json_number(true, median));
    pj_json_member(&object, "min", pj_json_number(true, minimum));
    pj_json_member(&object, "max", pj_json_number(true, maximum));
    pj_json_member(&object, "samples", pj_json_finish(&samples));
    return pj_json_finish(&object);
}

static json_t *make_witness(enum pj_witness witness)
{
    return witness == PJ_WITNESS_UNKNOWN ? json_null() : json_boolean(witness == PJ_WITNESS_YES);
}

static json_t *make_witnesses(const struct pj_witnesses *witnesses)
{
    struct pj_json_builder object = {.value = json_object()};
    pj_json_member(&object, "jit_disabled", make_witness(witnesses->jit_disabled));
    pj_json_member(&object, "canary", make_witness(witnesses->canary));
    pj_json_member(&object, "wall_time_zero", make_witness(witnesses->wall_time_zero));
    pj_json_member(&object, "entry_present", make_witness(witnesses->entry_present));
    pj_json_member(&object, "faster", make_witness(witnesses->faster));
    return pj_json_finish(&object);
}

static json_t *make_entries(const struct pj_report_job *job)
{
    struct pj_json_builder array = {.value = json_array()};
    for (size_t i = 0; i < job->entry_count; i++) {
        struct pj_json_builder entry = {.value = json_object()};
        pj_json_member(&entry, "name", pj_json_text(job->entries[i].name));
        pj_json_member(&entry, "bytes", pj_json_count(job->entries[i].has_bytes, job->entries[i].bytes));
        pj_json_item(&array, pj_json_finish(&entry));
    }
    return pj_json_finish(&array);
}

static json_t *make_origin(enum pj_origin origin)
{
    switch (origin) {
    case PJ_ORIGIN_COMPILED:
        return json_string("compiled");
    case PJ_ORIGIN_REUSED:
        return json_string("reused");
    case PJ_ORIGIN_REPAIRED:
        return json_string("repaired");
    case PJ_ORIGIN_NONE:
        break;
    }
    return json_null();
}

static json_t *make_against(const struct pj_report_job *job)
{
    if (job->against_driver == PJ_AGAINST_NONE)
        return json_null();
    struct pj_json_builder object = {.value = json_object()};
    pj_json_member(&object, "result", json_string(pj_against_name(job->against_driver)));
    pj_json_member(&object, "detail", pj_json_text(job->against_detail));
    return pj_json_finish(&object);
}

/* What a plan knows of a job that has no verdict, which is that of a run. */
static json_t *make_planned(const struct pj_report *report, const struct pj_report_job *job)
{
    if (!pj_report_is_plan(report) || job->verdict != PJ_VERDICT_NONE)
        return json_null();
    switch (job->witnesses.entry_present) {
    case PJ_WITNESS_YES:
        return json_string("present");
    case PJ_WITNESS_NO:
        return json_string("to-compile");
    case PJ_WITNESS_UNKNOWN:
        break;
    }
    return json_string("unknown");
}

static json_t *make_modules(const struct pj_report_job *job)
{
    struct pj_json_builder names = {.value = json_array()};
    for (size_t i = 0; i < job->module_count; i++)
        pj_json_item(&names, pj_json_text(job->modules[i]));
    if (job->module_count == 0)
        pj_json_item(&names, pj_json_text(job->module));
    return pj_json_finish(&names);
}

static json_t *make_job(const struct pj_report *report, const struct pj_report_job *job)
{
    struct pj_json_builder object = {.value = json_object()};
    const char *verdict = pj_verdict_name(job->verdict);
    pj_json_member(&object, "id", pj_json_text(job->id));
    pj_json_member(&object, "module", pj_json_text(job->module_count > 0 ? job->modules[0] : job->module));
    pj_json_member(&object, "modules", make_modules(job));
    pj_json_member(&object, "target", pj_json_text(job->target));
    pj_json_member(&object, "target_kind",
                   json_string(job->target_kind == PJ_TARGET_KIND_FOREIGN ? "foreign" : "native"));
    pj_json_member(&object, "options", make_options(&job->options));
    pj_json_member(&object, "required", json_boolean(job->required));
    pj_json_member(&object, "verdict", pj_json_text(*verdict ? verdict : NULL));
    pj_json_member(&object, "planned", make_planned(report, job));
    pj_json_member(&object, "reason_code", pj_json_text(job->reason_code));
    pj_json_member(&object, "reason", pj_json_text(job->reason));
    pj_json_member(&object, "origin", make_origin(job->origin));
    pj_json_member(&object, "offline_compiler", pj_json_text(job->offline_compiler));
    pj_json_member(&object, "against_driver", make_against(job));
    pj_json_member(&object, "to_ptx_ms",
                   pj_json_number(pj_report_ms_known(job->has_to_ptx_ms, job->to_ptx_ms), job->to_ptx_ms));
    pj_json_member(&object, "compile_ms",
                   pj_json_number(pj_report_ms_known(job->has_compile_ms, job->compile_ms), job->compile_ms));
    pj_json_member(&object, "cold_ms", make_cold(job));
    pj_json_member(&object, "warm_ms", make_warm(&job->warm));
    pj_json_member(&object, "witnesses", make_witnesses(&job->witnesses));
    pj_json_member(&object, "entries", make_entries(job));
    pj_json_member(&object, "peak_rss_bytes", pj_json_count(job->has_peak_rss, job->peak_rss_bytes));
    pj_json_member(&object, "log", pj_json_text(job->log));
    return pj_json_finish(&object);
}

static json_t *make_unserved(const struct pj_report *report, const struct pj_report_unserved *unserved)
{
    struct pj_json_builder devices = {.value = json_array()};
    struct pj_json_builder modules = {.value = json_array()};
    for (size_t i = 0; i < report->host.device_count; i++) {
        if (strcmp(report->host.devices[i].arch, unserved->target) == 0)
            pj_json_item(&devices, make_device(&report->host.devices[i]));
    }
    for (size_t i = 0; i < unserved->module_count; i++)
        pj_json_item(&modules, pj_json_text(unserved->modules[i]));
    struct pj_json_builder object = {.value = json_object()};
    pj_json_member(&object, "target", pj_json_text(unserved->target));
    pj_json_member(&object, "devices", pj_json_finish(&devices));
    pj_json_member(&object, "modules", pj_json_finish(&modules));
    pj_json_member(&object, "required", json_boolean(unserved->required));
    return pj_json_finish(&object);
}

static json_t *make_variable(const struct pj_report_variable *variable)
{
    struct pj_json_builder object = {.value = json_object()};
    pj_json_member(&object, "name", pj_json_text(variable->name));
    pj_json_member(&object, "value", pj_json_text(variable->value));
    return pj_json_finish(&object);
}

int pj_render_json(const struct pj_report *report, struct pj_buffer *buffer, struct pj_error **err)
{
    struct pj_report_saving saving;
    int r = pj_report_saving(report, &saving, err);
    if (r < 0)
        return r;
    const struct pj_envelope envelope = {.command = report->command, .exit_code = (int)report->exit_code};
    pj_envelope_begin(&envelope, buffer);
    pj_json_append(buffer, ",\n  \"host\": ", make_host(&report->host));
    pj_json_append(buffer, ",\n  \"toolkit\": ", make_toolkit(report));
    pj_json_append(buffer, ",\n  \"offline\": ", make_offline(&report->offline));
    pj_json_append(buffer, ",\n  \"cache\": ", make_cache(&report->cache));
    pj_json_append(buffer, ",\n  \"summary\": ", make_summary(report));
    pj_json_append(buffer, ",\n  \"saving\": ", make_saving(&saving));
    pj_json_append(buffer, ",\n  \"phases\": ", make_phases(&report->phases));
    pj_json_append(buffer, ",\n  \"store\": ", make_store(report));
    pj_buffer_puts(buffer, ",\n  \"jobs\": [");
    for (size_t i = 0; i < report->job_count && !buffer->failed; i++)
        pj_json_append(buffer, i == 0 ? "\n    " : ",\n    ", make_job(report, &report->jobs[i]));
    pj_buffer_puts(buffer, report->job_count > 0 ? "\n  ],\n  \"unserved\": [" : "],\n  \"unserved\": [");
    for (size_t i = 0; i < report->unserved_count; i++)
        pj_json_append(buffer, i == 0 ? "" : ", ", make_unserved(report, &report->unserved[i]));
    pj_buffer_puts(buffer, "],\n  \"environment\": [");
    for (size_t i = 0; i < report->environment_count; i++)
        pj_json_append(buffer, i == 0 ? "" : ", ", make_variable(&report->environment[i]));
    pj_buffer_puts(buffer, "],\n  \"notes\": [");
    for (size_t i = 0; i < report->note_count; i++)
        pj_json_append(buffer, i == 0 ? "" : ", ", pj_json_text(report->notes[i]));
    pj_json_append(buffer, "],\n  \"exit_reason\": ", pj_json_text(report->exit_reason));
    return pj_envelope_end(&envelope, buffer, err);
}

int pj_render_json_refusal(const char *command, const struct pj_error *refusal, int exit_code,
                           struct pj_buffer *buffer, struct pj_error **err)
{
    const struct pj_envelope envelope = {.command = command, .error = refusal, .exit_code = exit_code};
    pj_envelope_begin(&envelope, buffer);
    return pj_envelope_end(&envelope, buffer, err);
}
