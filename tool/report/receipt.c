/* SPDX-License-Identifier: Apache-2.0 */
/* The members of a receipt, each named once for both directions. */
#include "report/receipt.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>

#include "report/receipt_members.h"

static const char *const kind_words[] = {
    [PJ_TARGET_KIND_NATIVE] = "native", [PJ_TARGET_KIND_FOREIGN] = "foreign"};
static const char *const origin_words[] = {[PJ_ORIGIN_NONE] = "",
                                           [PJ_ORIGIN_COMPILED] = "compiled",
                                           [PJ_ORIGIN_REUSED] = "reused",
                                           [PJ_ORIGIN_REPAIRED] = "repaired"};
static const char *const witness_words[] = {
    [PJ_WITNESS_UNKNOWN] = "", [PJ_WITNESS_YES] = "yes", [PJ_WITNESS_NO] = "no"};

static void unsigned_member(struct pj_codec *codec, const char *name, unsigned *value)
{
    uint64_t wide = *value;
    pj_codec_member(codec, name);
    pj_codec_unsigned(codec, UINT_MAX, &wide);
    if (pj_codec_reading(codec))
        *value = (unsigned)wide;
}

static void seconds_member(struct pj_codec *codec, const char *name, int64_t *value)
{
    pj_codec_member(codec, name);
    pj_codec_signed(codec, value);
}

static void ms_member(struct pj_codec *codec, const char *name, bool *has, double *value)
{
    bool present = *has && pj_codec_ms_fits(*value);
    pj_codec_member(codec, name);
    if (pj_codec_optional(codec, &present))
        pj_codec_ms(codec, value);
    if (pj_codec_reading(codec))
        *has = present;
}

static void bytes_member(struct pj_codec *codec, const char *name, bool *has, uint64_t *value)
{
    pj_codec_member(codec, name);
    if (pj_codec_optional(codec, has))
        pj_codec_unsigned(codec, UINT64_MAX, value);
}

static void witness_member(struct pj_codec *codec, const char *name, enum pj_witness *witness)
{
    unsigned value = *witness;
    pj_codec_member(codec, name);
    pj_codec_word(codec, witness_words, PJ_COUNT(witness_words), &value);
    if (pj_codec_reading(codec))
        *witness = (enum pj_witness)value;
}

static void option_member(struct pj_codec *codec, struct pj_jit_options *options, enum pj_jit_option option)
{
    const struct pj_jit_option_info *info = pj_jit_option_info(option);
    uint64_t value = options->values[option];
    if (!pj_codec_reading(codec)) {
        if (options->given >> option & 1) {
            pj_codec_member(codec, info->name);
            pj_codec_unsigned(codec, UINT32_MAX, &value);
        }
        return;
    }
    if (!pj_codec_try_member(codec, info->name))
        return;
    pj_codec_unsigned(codec, info->maximum, &value);
    if (pj_codec_ok(codec) && value < info->minimum)
        pj_codec_fail(codec, "a value that the option takes");
    options->given |= UINT32_C(1) << option;
    options->values[option] = (uint32_t)value;
}

static void options_members(struct pj_codec *codec, struct pj_jit_options *options)
{
    pj_codec_member(codec, "options");
    pj_codec_open(codec, '{');
    for (unsigned i = 0; i < PJ_JIT_OPTION_COUNT; i++)
        option_member(codec, options, (enum pj_jit_option)i);
    pj_codec_close(codec, '}');
}

static void samples_member(struct pj_codec *codec, struct pj_samples *samples)
{
    struct pj_samples good = {0};
    if (!pj_codec_reading(codec)) {
        for (size_t i = 0; i < samples->count && i < PJ_SAMPLES_MAX; i++) {
            if (pj_codec_ms_fits(samples->ms[i]))
                good.ms[good.count++] = samples->ms[i];
        }
    }
    pj_codec_member(codec, "warm_ms");
    pj_codec_open(codec, '[');
    size_t i = 0;
    for (; pj_codec_more(codec, i, good.count); i++) {
        if (i == PJ_SAMPLES_MAX)
            pj_codec_fail(codec, "at most 16 samples");
        else
            pj_codec_ms(codec, &good.ms[i]);
    }
    pj_codec_close(codec, ']');
    if (!pj_codec_reading(codec) || !pj_codec_ok(codec))
        return;
    good.count = i;
    *samples = good;
}

static void verdict_member(struct pj_codec *codec, enum pj_verdict *verdict)
{
    const char *words[PJ_VERDICT_COUNT];
    unsigned value = *verdict;
    for (unsigned i = 0; i < PJ_VERDICT_COUNT; i++)
        words[i] = pj_verdict_name((enum pj_verdict)i);
    pj_codec_member(codec, "verdict");
    pj_codec_word(codec, words, PJ_VERDICT_COUNT, &value);
    if (pj_codec_reading(codec))
        *verdict = (enum pj_verdict)value;
}

static void witnesses_members(struct pj_codec *codec, struct pj_witnesses *witnesses)
{
    pj_codec_member(codec, "witnesses");
    pj_codec_open(codec, '{');
    witness_member(codec, "jit_disabled", &witnesses->jit_disabled);
    witness_member(codec, "canary", &witnesses->canary);
    witness_member(codec, "wall_time_zero", &witnesses->wall_time_zero);
    witness_member(codec, "entry_present", &witnesses->entry_present);
    witness_member(codec, "faster", &witnesses->faster);
    pj_codec_close(codec, '}');
}

static void name_member(struct pj_codec *codec, const char **name)
{
    pj_codec_text(codec, name, false);
}

static PJ_DEFINE_MEMBER_LIST(name_list, const char *, name_member)

    /* Of a job that has one name nothing more is written. */
    static void names_member(struct pj_codec *codec, struct pj_report_job *row)
{
    if (pj_codec_reading(codec) ? pj_codec_has_member(codec, "modules") : row->module_count > 0)
        name_list(codec, "modules", &row->modules, &row->module_count);
}

static void row_members(struct pj_codec *codec, struct pj_report_job *row)
{
    unsigned kind = row->target_kind, origin = row->origin;
    pj_member_name(codec, "id", &row->id);
    pj_member_name(codec, "module", &row->module);
    names_member(codec, row);
    pj_member_name(codec, "target", &row->target);
    pj_codec_member(codec, "target_kind");
    pj_codec_word(codec, kind_words, PJ_COUNT(kind_words), &kind);
    if (pj_codec_reading(codec))
        row->target_kind = (enum pj_target_kind)kind;
    options_members(codec, &row->options);
    pj_member_flag(codec, "required", &row->required);
    verdict_member(codec, &row->verdict);
    pj_member_text(codec, "reason_code", &row->reason_code);
    pj_member_text(codec, "reason", &row->reason);
    pj_member_flag(codec, "passing", &row->passing);
    pj_member_flag(codec, "slow", &row->slow);
    pj_codec_member(codec, "origin");
    pj_codec_word(codec, origin_words, PJ_COUNT(origin_words), &origin);
    if (pj_codec_reading(codec))
        row->origin = (enum pj_origin)origin;
    pj_member_text(codec, "offline_compiler", &row->offline_compiler);
    ms_member(codec, "compile_ms", &row->has_compile_ms, &row->compile_ms);
    ms_member(codec, "cold_ms", &row->has_cold_ms, &row->cold_ms);
    pj_member_flag(codec, "cold_from_receipt", &row->cold_from_receipt);
    samples_member(codec, &row->warm);
    witnesses_members(codec, &row->witnesses);
    bytes_member(codec, "peak_rss_bytes", &row->has_peak_rss, &row->peak_rss_bytes);
    pj_member_text(codec, "log", &row->log);
    ms_member(codec, "to_ptx_ms", &row->has_to_ptx_ms, &row->to_ptx_ms);
    pj_member_text(codec, "header_note", &row->header_note);
}

static void entry_members(struct pj_codec *codec, struct pj_receipt_entry *entry)
{
    pj_codec_open(codec, '{');
    pj_member_u64(codec, "hash", &entry->hash);
    pj_member_u64(codec, "size_bytes", &entry->size_bytes);
    seconds_member(codec, "mtime_seconds", &entry->mtime_seconds);
    pj_member_u64(codec, "checksum", &entry->checksum);
    pj_codec_member(codec, "ctime_ns");
    pj_codec_signed(codec, &entry->ctime_ns);
    pj_codec_close(codec, '}');
}

static void device_members(struct pj_codec *codec, struct pj_report_device *device)
{
    pj_codec_open(codec, '{');
    pj_member_text(codec, "name", &device->name);
    pj_member_text(codec, "arch", &device->arch);
    pj_member_text(codec, "uuid", &device->uuid);
    pj_codec_close(codec, '}');
}

static PJ_DEFINE_MEMBER_LIST(device_list, struct pj_report_device,
                             device_members) static PJ_DEFINE_MEMBER_LIST(entry_list, struct pj_receipt_entry,
                                                                          entry_members)

    /* Reading: the row's entries, which are not written. An entry is the file h0/h1/h2...h15 below the cache
     * [1].
     */
    static void make_row_entries(struct pj_codec *codec, struct pj_receipt_job *job)
{
    struct pj_report_entry *entries = pj_arena_calloc(codec->arena, job->entry_count + 1, sizeof *entries);
    if (!entries) {
        pj_codec_fail_memory(codec);
        return;
    }
    for (size_t i = 0; i < job->entry_count; i++) {
        uint64_t hash = job->entries[i].hash;
        entries[i].name = pj_arena_printf(codec->arena, "%x/%x/%014" PRIx64, (unsigned)(hash >> 60),
                                          (unsigned)(hash >> 56 & 15), hash & (UINT64_MAX >> 8));
        entries[i].has_bytes = job->entries[i].size_bytes > 0;
        entries[i].bytes = job->entries[i].size_bytes;
        if (!entries[i].name) {
            pj_codec_fail_memory(codec);
            return;
        }
    }
    job->row.entries = entries;
    job->row.entry_count = job->entry_count;
}

static PJ_DEFINE_MEMBER_LIST(position_list, uint32_t, pj_codec_position)

    static void job_members(struct pj_codec *codec, struct pj_receipt_job *job)
{
    pj_codec_open(codec, '{');
    row_members(codec, &job->row);
    pj_codec_member(codec, "content");
    pj_codec_digest(codec, &job->content);
    position_list(codec, "inputs", &job->inputs, &job->input_count);
    pj_member_flag(codec, "inputs_unknown", &job->inputs_unknown);
    entry_list(codec, "entries", &job->entries, &job->entry_count);
    if (pj_codec_reading(codec) && pj_codec_ok(codec))
        make_row_entries(codec, job);
    pj_codec_close(codec, '}');
}

static PJ_DEFINE_MEMBER_LIST(job_list, struct pj_receipt_job, job_members)

    static void host_members(struct pj_codec *codec, struct pj_report_host *host)
{
    uint64_t cuda_version = host->cuda_version > 0 ? (uint64_t)host->cuda_version : 0;
    pj_codec_member(codec, "host");
    pj_codec_open(codec, '{');
    pj_member_text(codec, "driver_version", &host->driver_version);
    pj_member_text(codec, "kernel_driver", &host->kernel_driver);
    pj_codec_member(codec, "cuda_version");
    pj_codec_unsigned(codec, INT_MAX, &cuda_version);
    if (pj_codec_reading(codec))
        host->cuda_version = (int)cuda_version;
    pj_member_text(codec, "stamp", &host->stamp);
    device_list(codec, "devices", &host->devices, &host->device_count);
    pj_codec_close(codec, '}');
}

static void profile_members(struct pj_codec *codec, struct pj_report_profile *profile)
{
    pj_codec_open(codec, '{');
    pj_member_name(codec, "driver_version", &profile->driver_version);
    pj_member_name(codec, "stamp", &profile->stamp);
    pj_codec_close(codec, '}');
}

static PJ_DEFINE_MEMBER_LIST(profile_list, struct pj_report_profile, profile_members)

    static void offline_members(struct pj_codec *codec, struct pj_report_offline *offline)
{
    pj_codec_member(codec, "offline");
    pj_codec_open(codec, '{');
    profile_list(codec, "profiles", &offline->profiles, &offline->profile_count);
    pj_member_text(codec, "compiler", &offline->compiler);
    pj_member_text(codec, "compiler_path", &offline->compiler_path);
    pj_codec_close(codec, '}');
}

static void unserved_members(struct pj_codec *codec, struct pj_report_unserved *unserved)
{
    pj_codec_open(codec, '{');
    pj_member_name(codec, "target", &unserved->target);
    pj_member_flag(codec, "required", &unserved->required);
    name_list(codec, "modules", &unserved->modules, &unserved->module_count);
    pj_codec_close(codec, '}');
}

static PJ_DEFINE_MEMBER_LIST(unserved_list, struct pj_report_unserved, unserved_members)

    static void receipt_members(struct pj_codec *codec, struct pj_receipt *receipt)
{
    pj_codec_literal(codec, "{\"schema\":\"prejit-receipt/4\"");
    codec->follows = true;
    pj_member_text(codec, "tool_version", &receipt->tool_version);
    pj_codec_member(codec, "manifest_sha256");
    pj_codec_digest(codec, &receipt->manifest_sha256);
    pj_member_text(codec, "selection", &receipt->selection);
    pj_member_u64(codec, "limit_bytes", &receipt->limit_bytes);
    unsigned_member(codec, "samples", &receipt->samples);
    pj_member_text(codec, "gpu_listing", &receipt->gpu_listing);
    pj_member_text(codec, "boot_id", &receipt->boot_id);
    pj_member_text(codec, "cuda_visible_devices", &receipt->cuda_visible_devices);
    pj_member_text(codec, "ld_library_path", &receipt->ld_library_path);
    pj_member_text(codec, "driver_option", &receipt->driver_option);
    seconds_member(codec, "ld_so_cache_mtime_seconds", &receipt->ld_so_cache_mtime_seconds);
    pj_member_files(codec, "driver_files", &receipt->driver_files, &receipt->driver_file_count);
    pj_member_text(codec, "nvrtc_search", &receipt->nvrtc_search);
    pj_member_files(codec, "nvrtc_files", &receipt->nvrtc_files, &receipt->nvrtc_file_count);
    pj_member_library(codec, "nvrtc", &receipt->nvrtc);
    pj_member_text(codec, "nvjitlink_search", &receipt->nvjitlink_search);
    pj_member_files(codec, "nvjitlink_files", &receipt->nvjitlink_files, &receipt->nvjitlink_file_count);
    pj_member_library(codec, "nvjitlink", &receipt->nvjitlink);
    host_members(codec, &receipt->host);
    offline_members(codec, &receipt->offline);
    unsigned_member(codec, "cache_format", &receipt->cache_format);
    uint64_t left_out = receipt->left_out;
    pj_codec_member(codec, "left_out");
    pj_codec_unsigned(codec, UINT32_MAX, &left_out);
    receipt->left_out = (size_t)left_out;
    unserved_list(codec, "unserved", &receipt->unserved, &receipt->unserved_count);
    pj_member_inputs(codec, "inputs", &receipt->inputs, &receipt->input_count);
    codec->position_count = receipt->input_count;
    job_list(codec, "jobs", &receipt->jobs, &receipt->job_count);
    pj_codec_literal(codec, "}\n");
}

int pj_receipt_write(const struct pj_receipt *receipt, struct pj_buffer *ret_text, struct pj_error **err)
{
    struct pj_codec codec = {.out = ret_text};
    /* The members are shared with reading, which fills them in; writing leaves what they point to alone. */
    struct pj_receipt shallow = *receipt;
    receipt_members(&codec, &shallow);
    return pj_codec_check(&codec, err);
}

int pj_receipt_read(const char *text, size_t size, struct pj_receipt **ret_receipt, struct pj_error **err)
{
    if (size > PJ_RECEIPT_MAX_BYTES)
        return pj_error_set(err, PJ_ERROR_FORMAT,
                            "reading the receipt: it has %zu bytes, at most %d are allowed; "
                            "`prejit warm` writes a new one",
                            size, PJ_RECEIPT_MAX_BYTES);
    struct pj_receipt *receipt = calloc(1, sizeof *receipt);
    if (!receipt)
        return pj_error_no_memory(err);
    struct pj_codec codec = {.arena = &receipt->arena, .begin = text, .at = text, .end = text + size};
    receipt_members(&codec, receipt);
    if (codec.at != codec.end)
        pj_codec_fail(&codec, "nothing more");
    int result = pj_codec_check(&codec, err);
    if (result) {
        pj_receipt_free(receipt);
        return result;
    }
    *ret_receipt = receipt;
    return 0;
}

void pj_receipt_free(struct pj_receipt *receipt)
{
    if (!receipt)
        return;
    pj_arena_free(&receipt->arena);
    free(receipt);
}
