/* SPDX-License-Identifier: Apache-2.0 */
/* The report as JSON of schema prejit-report/1, one job at a time. */
#include "base/memory.h"
#include "report/json_value.h"
#include "report/render.h"
#include "report/trouble.h"
#include "version.h"

/* An object or array that is being built; `failed` sticks, so that it is looked at once, at the end. */
struct builder {
    json_t *value;
    bool failed;
};

static void set(struct builder *builder, const char *name, json_t *value)
{
    if (!pj_json_set(builder->value, name, value))
        builder->failed = true;
}

static void push(struct builder *builder, json_t *value)
{
    if (!pj_json_push(builder->value, value))
        builder->failed = true;
}

/* What was built, or NULL where memory was out. */
static json_t *finish(struct builder *builder)
{
    if (builder->failed) {
        json_decref(builder->value);
        builder->value = NULL;
    }
    return builder->value;
}

static json_t *make_tool(void)
{
    struct builder tool = {.value = json_object()};
    set(&tool, "name", json_string("prejit"));
    set(&tool, "version", json_string(PREJIT_VERSION));
    return finish(&tool);
}

static json_t *make_device(const struct pj_report_device *device)
{
    struct builder object = {.value = json_object()};
    set(&object, "name", pj_json_text(device->name));
    set(&object, "arch", pj_json_text(device->arch));
    set(&object, "uuid", pj_json_text(device->uuid));
    return finish(&object);
}

static json_t *make_host(const struct pj_report_host *host)
{
    struct builder devices = {.value = json_array()};
    for (size_t i = 0; i < host->device_count; i++)
        push(&devices, make_device(&host->devices[i]));
    struct builder object = {.value = json_object()};
    set(&object, "driver_version", pj_json_text(host->driver_version));
    set(&object, "kernel_driver", pj_json_text(host->kernel_driver));
    /* A version is no number: 13.1 and 13.10 differ. */
    set(&object, "cuda_version",
        host->cuda_version > 0
            ? json_sprintf("%d.%d", host->cuda_version / 1000, host->cuda_version % 1000 / 10)
            : json_null());
    set(&object, "stamp", pj_json_text(host->stamp));
    set(&object, "devices", finish(&devices));
    return finish(&object);
}

static json_t *make_toolkit(const struct pj_report_library *nvrtc)
{
    struct builder library = {.value = nvrtc->path ? json_object() : json_null()};
    if (nvrtc->path) {
        set(&library, "path", pj_json_text(nvrtc->path));
        set(&library, "version", pj_json_text(nvrtc->version));
        set(&library, "build", pj_json_text(nvrtc->build));
    }
    struct builder object = {.value = json_object()};
    set(&object, "nvrtc", finish(&library));
    return finish(&object);
}

static json_t *make_cache(const struct pj_report_cache *cache)
{
    struct builder object = {.value = json_object()};
    set(&object, "path", pj_json_text(cache->path));
    set(&object, "limit_bytes", pj_json_count(cache->path != NULL, cache->limit_bytes));
    set(&object, "bytes", pj_json_count(cache->has_content, cache->bytes));
    set(&object, "entries", pj_json_count(cache->has_content, cache->entries));
    return finish(&object);
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
    struct builder object = {.value = json_object()};
    set(&object, "jobs", pj_json_count(true, summary.jobs));
    for (size_t i = 0; i < PJ_COUNT(verdict_counts); i++)
        set(&object, verdict_counts[i].name,
            pj_json_count(true, summary.verdicts[verdict_counts[i].verdict]));
    set(&object, "failed", pj_json_count(true, summary.failed));
    set(&object, "compiled", pj_json_count(true, summary.compiled));
    set(&object, "reused", pj_json_count(true, summary.reused));
    set(&object, "repaired", pj_json_count(true, summary.repaired));
    set(&object, "left_out", pj_json_count(true, report->left_out));
    set(&object, "nothing_to_do", json_boolean(report->nothing_to_do));
    set(&object, "seconds", pj_json_seconds(report->seconds >= 0, report->seconds));
    return finish(&object);
}

static json_t *make_phases(const struct pj_report_phases *phases)
{
    struct builder object = {.value = json_object()};
    set(&object, "prepare_ms",
        pj_json_number(pj_report_ms_known(phases->has_prepare, phases->prepare_ms), phases->prepare_ms));
    set(&object, "compile_ms",
        pj_json_number(pj_report_ms_known(phases->has_compile, phases->compile_ms), phases->compile_ms));
    set(&object, "prove_ms",
        pj_json_number(pj_report_ms_known(phases->has_prove, phases->prove_ms), phases->prove_ms));
    return finish(&object);
}

static json_t *make_store(const struct pj_report *report)
{
    const struct pj_report_store *store = &report->store;
    if (!report->has_store)
        return json_null();
    struct builder object = {.value = json_object()};
    set(&object, "lock_holds", pj_json_count(true, store->lock_holds));
    set(&object, "longest_hold_ms",
        pj_json_number(pj_report_ms_known(true, store->longest_hold_ms), store->longest_hold_ms));
    set(&object, "longest_wait_ms",
        pj_json_number(pj_report_ms_known(true, store->longest_wait_ms), store->longest_wait_ms));
    set(&object, "stale_evicted", pj_json_count(true, store->stale_evicted));
    set(&object, "evicted", pj_json_count(true, store->evicted));
    return finish(&object);
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
    struct builder object = {.value = json_object()};
    for (unsigned i = 0; i < PJ_JIT_OPTION_COUNT; i++) {
        const struct pj_jit_option_info *info = pj_jit_option_info((enum pj_jit_option)i);
        if (options->given >> i & 1)
            set(&object, info->name, make_option(info, options->values[i]));
    }
    return finish(&object);
}

static json_t *make_cold(const struct pj_report_job *job)
{
    if (!pj_report_ms_known(job->has_cold_ms, job->cold_ms))
        return json_null();
    struct builder object = {.value = json_object()};
    set(&object, "value", pj_json_number(true, job->cold_ms));
    set(&object, "source", json_string(job->cold_from_receipt ? "receipt" : "this-run"));
    return finish(&object);
}

static json_t *make_warm(const struct pj_samples *warm)
{
    double median, minimum, maximum;
    if (!pj_samples_summary(warm, &median, &minimum, &maximum))
        return json_null();
    struct builder samples = {.value = json_array()};
    for (size_t i = 0; i < warm->count && i < PJ_SAMPLES_MAX; i++) {
        if (pj_report_ms_known(true, warm->ms[i]))
            push(&samples, pj_json_number(true, warm->ms[i]));
    }
    struct builder object = {.value = json_object()};
    set(&object, "median", pj_json_number(true, median));
    set(&object, "min", pj_json_number(true, minimum));
    set(&object, "max", pj_json_number(true, maximum));
    set(&object, "samples", finish(&samples));
    return finish(&object);
}

static json_t *make_witness(enum pj_witness witness)
{
    return witness == PJ_WITNESS_UNKNOWN ? json_null() : json_boolean(witness == PJ_WITNESS_YES);
}

static json_t *make_witnesses(const struct pj_witnesses *witnesses)
{
    struct builder object = {.value = json_object()};
    set(&object, "jit_disabled", make_witness(witnesses->jit_disabled));
    set(&object, "canary", make_witness(witnesses->canary));
    set(&object, "wall_time_zero", make_witness(witnesses->wall_time_zero));
    set(&object, "entry_present", make_witness(witnesses->entry_present));
    set(&object, "faster", make_witness(witnesses->faster));
    return finish(&object);
}

static json_t *make_entries(const struct pj_report_job *job)
{
    struct builder array = {.value = json_array()};
    for (size_t i = 0; i < job->entry_count; i++) {
        struct builder entry = {.value = json_object()};
        set(&entry, "name", pj_json_text(job->entries[i].name));
        set(&entry, "bytes", pj_json_count(job->entries[i].has_bytes, job->entries[i].bytes));
        push(&array, finish(&entry));
    }
    return finish(&array);
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

static json_t *make_job(const struct pj_report_job *job)
{
    struct builder object = {.value = json_object()};
    const char *verdict = pj_verdict_name(job->verdict);
    set(&object, "id", pj_json_text(job->id));
    set(&object, "module", pj_json_text(job->module));
    set(&object, "target", pj_json_text(job->target));
    set(&object, "target_kind",
        json_string(job->target_kind == PJ_TARGET_KIND_FOREIGN ? "foreign" : "native"));
    set(&object, "options", make_options(&job->options));
    set(&object, "required", json_boolean(job->required));
    set(&object, "verdict", pj_json_text(*verdict ? verdict : NULL));
    set(&object, "reason_code", pj_json_text(job->reason_code));
    set(&object, "reason", pj_json_text(job->reason));
    set(&object, "origin", make_origin(job->origin));
    set(&object, "compile_ms",
        pj_json_number(pj_report_ms_known(job->has_compile_ms, job->compile_ms), job->compile_ms));
    set(&object, "cold_ms", make_cold(job));
    set(&object, "warm_ms", make_warm(&job->warm));
    set(&object, "witnesses", make_witnesses(&job->witnesses));
    set(&object, "entries", make_entries(job));
    set(&object, "peak_rss_bytes", pj_json_count(job->has_peak_rss, job->peak_rss_bytes));
    set(&object, "log", pj_json_text(job->log));
    return finish(&object);
}

static json_t *make_variable(const struct pj_report_variable *variable)
{
    struct builder object = {.value = json_object()};
    set(&object, "name", pj_json_text(variable->name));
    set(&object, "value", pj_json_text(variable->value));
    return finish(&object);
}

/* Dumps `value` (stolen; NULL = memory is out) behind `before`. Failure sticks to the buffer. */
static void put(struct pj_buffer *buffer, const char *before, json_t *value)
{
    PJ_CLEANUP_JSON json_t *owned = value;
    pj_buffer_puts(buffer, before);
    if (!owned || pj_json_dump(owned, buffer, NULL) != 0)
        buffer->failed = true;
}

int pj_render_json(const struct pj_report *report, struct pj_buffer *buffer, struct pj_error **err)
{
    put(buffer, "{\n  \"schema\": ", json_string("prejit-report/1"));
    put(buffer, ",\n  \"tool\": ", make_tool());
    put(buffer, ",\n  \"command\": ", pj_json_text(report->command));
    put(buffer, ",\n  \"host\": ", make_host(&report->host));
    put(buffer, ",\n  \"toolkit\": ", make_toolkit(&report->nvrtc));
    put(buffer, ",\n  \"cache\": ", make_cache(&report->cache));
    put(buffer, ",\n  \"summary\": ", make_summary(report));
    put(buffer, ",\n  \"phases\": ", make_phases(&report->phases));
    put(buffer, ",\n  \"store\": ", make_store(report));
    pj_buffer_puts(buffer, ",\n  \"jobs\": [");
    for (size_t i = 0; i < report->job_count && !buffer->failed; i++)
        put(buffer, i == 0 ? "\n    " : ",\n    ", make_job(&report->jobs[i]));
    pj_buffer_puts(buffer,
                   report->job_count > 0 ? "\n  ],\n  \"environment\": [" : "],\n  \"environment\": [");
    for (size_t i = 0; i < report->environment_count; i++)
        put(buffer, i == 0 ? "" : ", ", make_variable(&report->environment[i]));
    pj_buffer_puts(buffer, "],\n  \"notes\": [");
    for (size_t i = 0; i < report->note_count; i++)
        put(buffer, i == 0 ? "" : ", ", pj_json_text(report->notes[i]));
    put(buffer, "],\n  \"exit_reason\": ", pj_json_text(report->exit_reason));
    put(buffer, ",\n  \"exit_code\": ", json_integer(report->exit_code));
    pj_buffer_puts(buffer, "\n}\n");
    return pj_buffer_check(buffer, err);
}

int pj_render_json_refusal(const char *command, const struct pj_error *refusal, int exit_code,
                           struct pj_buffer *buffer, struct pj_error **err)
{
    struct builder error = {.value = json_object()};
    set(&error, "code", json_string(pj_error_code_name(pj_error_code(refusal))));
    set(&error, "message", pj_json_text(pj_error_message(refusal)));
    put(buffer, "{\n  \"schema\": ", json_string("prejit-report/1"));
    put(buffer, ",\n  \"tool\": ", make_tool());
    put(buffer, ",\n  \"command\": ", pj_json_text(command));
    put(buffer, ",\n  \"error\": ", finish(&error));
    put(buffer, ",\n  \"exit_code\": ", json_integer(exit_code));
    pj_buffer_puts(buffer, "\n}\n");
    return pj_buffer_check(buffer, err);
}
