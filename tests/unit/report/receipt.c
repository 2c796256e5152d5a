/* SPDX-License-Identifier: Apache-2.0 */
/* The receipt: everything comes back, anything else is refused with its place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/receipt.h"

static struct pj_report_device devices[] = {{"NVIDIA H200", "sm_90", "GPU-0"}, {"x", NULL, NULL}};
static struct pj_receipt_file driver_files[] = {
    {"/usr/lib/libcuda.so.1", 66306, UINT64_MAX, 91001, 1767225600},
    {"/odd\n\"\\\xff\xc3\xa9\x01/libnvidia", 0, 0, 0, INT64_MIN},
};
static struct pj_report_profile profiles[] = {{"580.159.04", "Apr 29 202617:12:06"}, {"x", "odd\n\xff"}};
static struct pj_receipt_input inputs[] = {
    {{"/k/saxpy.ptx", 66306, 42, 1234, 1767225600}, 11, {{0xab, 0xcd}}, true, false},
    {{"p", 0, 0, 0, INT64_MAX}, 11, {{0}}, false, true},
};
static uint32_t positions[] = {0, 1};
static struct pj_receipt_entry entries[] = {{UINT64_C(0xca920786966c763d), 290000, -5, 7, 8},
                                            {0, 0, 0, 0, 0},
                                            {UINT64_MAX, UINT64_MAX, INT64_MAX, UINT64_MAX, INT64_MIN}};
/* Made of these on reading. */
static struct pj_report_entry row_entries[] = {{"c/a/920786966c763d", true, 290000},
                                               {"0/0/00000000000000", false, 0},
                                               {"f/f/ffffffffffffff", true, UINT64_MAX}};
static struct pj_receipt_job jobs[] = {
    {.row = {.id = "saxpy[max_registers=64]@sm_80",
             .module = "saxpy",
             .target = "sm_80",
             .target_kind = PJ_TARGET_KIND_FOREIGN,
             .options = {.given = 1u << PJ_JIT_MAX_REGISTERS | 1u << PJ_JIT_CACHE_MODE,
                         .values = {[PJ_JIT_MAX_REGISTERS] = 64, [PJ_JIT_CACHE_MODE] = 2}},
             .required = true,
             .verdict = PJ_VERDICT_PROVEN,
             .origin = PJ_ORIGIN_COMPILED,
             .offline_compiler = "ptxas 13.0.88",
             .has_compile_ms = true,
             .compile_ms = 320.25,
             .has_cold_ms = true,
             .cold_ms = 312.5,
             .warm = {.ms = {0.875, 1, 12345678.125}, .count = 3},
             .witnesses = {.jit_disabled = PJ_WITNESS_YES, .canary = PJ_WITNESS_YES, .faster = PJ_WITNESS_NO},
             .entries = row_entries,
             .entry_count = PJ_COUNT(row_entries),
             .has_peak_rss = true,
             .peak_rss_bytes = UINT64_MAX},
     .content = {{0xab, 0xcd}},
     .inputs = positions,
     .input_count = PJ_COUNT(positions),
     .entries = entries,
     .entry_count = PJ_COUNT(entries)},
    {.row = {.id = "",
             .module = "m",
             .target = "sm_90",
             .verdict = PJ_VERDICT_NONE,
             .reason_code = "x",
             .reason = "",
             .passing = true,
             .slow = true,
             .cold_from_receipt = true,
             .origin = PJ_ORIGIN_REPAIRED,
             .log = "l1\nl2\t\x7f",
             .has_to_ptx_ms = true,
             .to_ptx_ms = 63.125,
             .header_note = "a.h came from /opt"},
     .inputs_unknown = true,
     .inputs = positions + 1,
     .input_count = 1},
};

static const char *unserved_modules[] = {"a", "b\n\xff"};
static struct pj_report_unserved unserved[] = {
    {.target = "sm_120", .required = true, .modules = unserved_modules, .module_count = 2},
    {.target = "sm_75", .modules = unserved_modules, .module_count = 1}};

static struct pj_receipt full(void)
{
    return (struct pj_receipt){.tool_version = "0.1.0",
                               .manifest_sha256 = {{1, 2, 3}},
                               .selection = "-t sm_90",
                               .limit_bytes = UINT64_MAX,
                               .samples = 3,
                               .gpu_listing = "0000:01:00.0\n",
                               .boot_id = "c0ffee",
                               .cuda_visible_devices = "",
                               .ld_library_path = NULL,
                               .driver_option = NULL,
                               .ld_so_cache_mtime_seconds = 1767225600,
                               .driver_files = driver_files,
                               .driver_file_count = PJ_COUNT(driver_files),
                               .nvrtc_search = "/opt/libnvrtc.so.13\nlibnvrtc.so.13",
                               .nvrtc_files = driver_files + 1,
                               .nvrtc_file_count = 1,
                               .nvrtc = {.path = "/opt/libnvrtc.so.13.0.88", .version = "13.0"},
                               .host = {.driver_version = "580.159.04",
                                        .cuda_version = 13000,
                                        .stamp = "Apr 29 202617:12:06",
                                        .devices = devices,
                                        .device_count = PJ_COUNT(devices)},
                               .nvjitlink_search = "libnvJitLink.so.13",
                               .nvjitlink_files = driver_files,
                               .nvjitlink_file_count = 1,
                               .nvjitlink = {.path = "/opt/libnvJitLink.so.13", .build = "13.0.88"},
                               .offline = {profiles, PJ_COUNT(profiles), "ptxas 13.0.88", "/opt/bin/ptxas"},
                               .cache_format = 65,
                               .left_out = 7,
                               .unserved = unserved,
                               .unserved_count = PJ_COUNT(unserved),
                               .inputs = inputs,
                               .input_count = PJ_COUNT(inputs),
                               .jobs = jobs,
                               .job_count = PJ_COUNT(jobs)};
}

static void write_receipt(const struct pj_receipt *receipt, struct pj_buffer *ret_text)
{
    assert_int_equal(pj_receipt_write(receipt, ret_text, NULL), 0);
}

static void assert_text(const char *found, const char *expected)
{
    assert_int_equal(found == NULL, expected == NULL);
    if (expected)
        assert_string_equal(found, expected);
}

static void assert_file(const struct pj_receipt_file *found, const struct pj_receipt_file *expected)
{
    assert_text(found->path, expected->path);
    assert_true(found->device == expected->device && found->inode == expected->inode);
    assert_true(found->size_bytes == expected->size_bytes && found->mtime_seconds == expected->mtime_seconds);
}

static void assert_row(const struct pj_report_job *found, const struct pj_report_job *expected)
{
    assert_text(found->id, expected->id);
    assert_text(found->module, expected->module);
    assert_text(found->target, expected->target);
    assert_int_equal(found->target_kind, expected->target_kind);
    assert_int_equal(found->options.given, expected->options.given);
    assert_memory_equal(found->options.values, expected->options.values, sizeof found->options.values);
    assert_int_equal(found->required, expected->required);
    assert_int_equal(found->verdict, expected->verdict);
    assert_text(found->reason_code, expected->reason_code);
    assert_text(found->reason, expected->reason);
    assert_int_equal(found->passing, expected->passing);
    assert_int_equal(found->slow, expected->slow);
    assert_int_equal(found->origin, expected->origin);
    assert_text(found->offline_compiler, expected->offline_compiler);
    assert_true(found->has_compile_ms == expected->has_compile_ms &&
                found->compile_ms == expected->compile_ms);
    assert_true(found->has_cold_ms == expected->has_cold_ms && found->cold_ms == expected->cold_ms);
    assert_int_equal(found->cold_from_receipt, expected->cold_from_receipt);
    assert_int_equal(found->warm.count, expected->warm.count);
    for (size_t i = 0; i < expected->warm.count; i++)
        assert_true(found->warm.ms[i] == expected->warm.ms[i]);
    assert_memory_equal(&found->witnesses, &expected->witnesses, sizeof found->witnesses);
    assert_int_equal(found->entry_count, expected->entry_count);
    for (size_t i = 0; i < expected->entry_count; i++) {
        assert_text(found->entries[i].name, expected->entries[i].name);
        assert_int_equal(found->entries[i].has_bytes, expected->entries[i].has_bytes);
        assert_true(found->entries[i].bytes == expected->entries[i].bytes);
    }
    assert_true(found->has_peak_rss == expected->has_peak_rss);
    assert_true(found->peak_rss_bytes == expected->peak_rss_bytes);
    assert_text(found->log, expected->log);
    assert_true(found->has_to_ptx_ms == expected->has_to_ptx_ms && found->to_ptx_ms == expected->to_ptx_ms);
    assert_text(found->header_note, expected->header_note);
}

static void assert_job(const struct pj_receipt_job *found, const struct pj_receipt_job *expected)
{
    assert_row(&found->row, &expected->row);
    assert_memory_equal(&found->content, &expected->content, PJ_SHA256_BYTES);
    assert_int_equal(found->inputs_unknown, expected->inputs_unknown);
    assert_int_equal(found->input_count, expected->input_count);
    for (size_t i = 0; i < expected->input_count; i++)
        assert_int_equal(found->inputs[i], expected->inputs[i]);
    assert_int_equal(found->entry_count, expected->entry_count);
    for (size_t i = 0; i < expected->entry_count; i++) {
        assert_true(found->entries[i].hash == expected->entries[i].hash);
        assert_true(found->entries[i].size_bytes == expected->entries[i].size_bytes);
        assert_true(found->entries[i].mtime_seconds == expected->entries[i].mtime_seconds);
        assert_true(found->entries[i].checksum == expected->entries[i].checksum);
        assert_true(found->entries[i].ctime_ns == expected->entries[i].ctime_ns);
    }
}

static void everything_comes_back(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    const struct pj_receipt receipt = full();
    struct pj_receipt *found = NULL;
    write_receipt(&receipt, &text);
    assert_int_equal(pj_receipt_read(text.data, text.size, &found, NULL), 0);
    assert_text(found->tool_version, receipt.tool_version);
    assert_memory_equal(&found->manifest_sha256, &receipt.manifest_sha256, PJ_SHA256_BYTES);
    assert_text(found->selection, receipt.selection);
    assert_true(found->limit_bytes == receipt.limit_bytes);
    assert_int_equal(found->samples, receipt.samples);
    assert_text(found->gpu_listing, receipt.gpu_listing);
    assert_text(found->boot_id, "c0ffee");
    assert_text(found->cuda_visible_devices, receipt.cuda_visible_devices);
    assert_null(found->ld_library_path);
    assert_null(found->driver_option);
    assert_true(found->ld_so_cache_mtime_seconds == receipt.ld_so_cache_mtime_seconds);
    assert_int_equal(found->driver_file_count, PJ_COUNT(driver_files));
    for (size_t i = 0; i < PJ_COUNT(driver_files); i++)
        assert_file(&found->driver_files[i], &driver_files[i]);
    assert_text(found->nvrtc_search, receipt.nvrtc_search);
    assert_int_equal(found->nvrtc_file_count, 1);
    assert_file(&found->nvrtc_files[0], &driver_files[1]);
    assert_text(found->nvrtc.path, receipt.nvrtc.path);
    assert_null(found->nvrtc.build);
    assert_text(found->nvjitlink_search, receipt.nvjitlink_search);
    assert_file(&found->nvjitlink_files[0], &driver_files[0]);
    assert_text(found->nvjitlink.path, receipt.nvjitlink.path);
    assert_text(found->nvjitlink.build, receipt.nvjitlink.build);
    assert_text(found->host.driver_version, receipt.host.driver_version);
    assert_null(found->host.kernel_driver);
    assert_int_equal(found->host.cuda_version, 13000);
    assert_text(found->host.stamp, receipt.host.stamp);
    assert_int_equal(found->host.device_count, 2);
    assert_text(found->host.devices[0].uuid, "GPU-0");
    assert_text(found->host.devices[1].name, "x");
    assert_null(found->host.devices[1].arch);
    assert_int_equal(found->offline.profile_count, 2);
    assert_text(found->offline.profiles[0].driver_version, "580.159.04");
    assert_text(found->offline.profiles[1].stamp, "odd\n\xff");
    assert_text(found->offline.compiler, "ptxas 13.0.88");
    assert_text(found->offline.compiler_path, "/opt/bin/ptxas");
    assert_int_equal(found->cache_format, 65);
    assert_int_equal(found->left_out, 7);
    assert_int_equal(found->unserved_count, 2);
    assert_text(found->unserved[0].target, "sm_120");
    assert_true(found->unserved[0].required && !found->unserved[1].required);
    assert_int_equal(found->unserved[0].module_count, 2);
    assert_text(found->unserved[0].modules[1], "b\n\xff");
    assert_int_equal(found->unserved[1].module_count, 1);
    assert_int_equal(found->input_count, PJ_COUNT(inputs));
    for (size_t i = 0; i < PJ_COUNT(inputs); i++) {
        assert_file(&found->inputs[i].file, &inputs[i].file);
        assert_memory_equal(&found->inputs[i].sha256, &inputs[i].sha256, PJ_SHA256_BYTES);
        assert_true(found->inputs[i].ctime_ns == inputs[i].ctime_ns);
        assert_int_equal(found->inputs[i].named, inputs[i].named);
        assert_int_equal(found->inputs[i].absent, inputs[i].absent);
    }
    assert_int_equal(found->job_count, PJ_COUNT(jobs));
    for (size_t i = 0; i < PJ_COUNT(jobs); i++)
        assert_job(&found->jobs[i], &jobs[i]);
    pj_receipt_free(found);
}

#define ZERO_DIGEST "0000000000000000000000000000000000000000000000000000000000000000"
static const char empty_text[] =
    "{\"schema\":\"prejit-receipt/4\",\"tool_version\":null,\"manifest_sha256\":\"" ZERO_DIGEST
    "\",\"selection\":null,\"limit_bytes\":0,\"samples\":0,\"gpu_listing\":null,\"boot_id\":null,"
    "\"cuda_visible_devices\":null,\"ld_library_path\":null,\"driver_option\":null,"
    "\"ld_so_cache_mtime_seconds\":0,\"driver_files\":[],\"nvrtc_search\":null,\"nvrtc_files\":[],"
    "\"nvrtc\":{\"path\":null,\"version\":null,\"build\":null},\"nvjitlink_search\":null,"
    "\"nvjitlink_files\":[],\"nvjitlink\":{\"path\":null,\"version\":null,\"build\":null},"
    "\"host\":{\"driver_version\":null,"
    "\"kernel_driver\":null,\"cuda_version\":0,\"stamp\":null,\"devices\":[]},"
    "\"offline\":{\"profiles\":[],\"compiler\":null,\"compiler_path\":null},\"cache_format\":0,\"left_"
    "out\":0,\"unserved\":[],"
    "\"inputs\":[],\"jobs\":[]}\n";

static void an_empty_receipt_is_written_to_the_byte(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    struct pj_receipt *found = NULL;
    write_receipt(&(const struct pj_receipt){0}, &text);
    assert_string_equal(pj_buffer_text(&text), empty_text);
    assert_int_equal(pj_receipt_read(text.data, text.size, &found, NULL), 0);
    assert_int_equal(found->job_count, 0);
    assert_null(found->jobs);
    pj_receipt_free(found);
    pj_receipt_free(NULL);
}

static void a_compiler_may_have_no_path(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    struct pj_receipt *found = NULL;
    struct pj_receipt receipt = full();
    receipt.offline.compiler_path = NULL;
    write_receipt(&receipt, &text);
    assert_non_null(strstr(text.data, ",\"compiler\":\"ptxas 13.0.88\",\"compiler_path\":null},"));
    assert_int_equal(pj_receipt_read(text.data, text.size, &found, NULL), 0);
    assert_text(found->offline.compiler, "ptxas 13.0.88");
    assert_null(found->offline.compiler_path);
    pj_receipt_free(found);
}

static void odd_strings_stay_json(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    const struct pj_receipt receipt = full();
    write_receipt(&receipt, &text);
    assert_non_null(strstr(text.data, "\"path\":\"/odd\\u000a\\\"\\\\\\udcff\xc3\xa9\\u0001/libnvidia\""));
    assert_non_null(strstr(text.data, "\"options\":{\"max_registers\":64,\"cache_mode\":2}"));
    assert_non_null(strstr(text.data, "\"warm_ms\":[0.875,1.000,12345678.125]"));
    assert_non_null(strstr(text.data, "\"mtime_seconds\":-9223372036854775808}"));
}

static void what_was_not_measured_comes_back_as_that(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    struct pj_receipt_job job = jobs[0];
    struct pj_receipt *found = NULL;
    struct pj_receipt receipt = full();
    receipt.jobs = &job;
    receipt.job_count = 1;
    job.row.compile_ms = NAN;
    job.row.cold_ms = -1;
    job.row.warm = (struct pj_samples){.ms = {INFINITY, 2, 1e300}, .count = 3};
    write_receipt(&receipt, &text);
    assert_int_equal(pj_receipt_read(text.data, text.size, &found, NULL), 0);
    assert_false(found->jobs[0].row.has_compile_ms);
    assert_false(found->jobs[0].row.has_cold_ms);
    assert_int_equal(found->jobs[0].row.warm.count, 1);
    assert_true(found->jobs[0].row.warm.ms[0] == 2);
    pj_receipt_free(found);
}

static void a_missing_name_is_not_written(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    PJ_CLEANUP_ERROR struct pj_error *error = NULL;
    struct pj_receipt_job job = jobs[0];
    struct pj_receipt receipt = full();
    receipt.jobs = &job;
    receipt.job_count = 1;
    job.row.module = NULL;
    assert_int_equal(pj_receipt_write(&receipt, &text, &error), PJ_ERROR_INTERNAL);
    assert_string_equal(pj_error_message(error), "writing the receipt, member \"module\": expected a string");
}

static void an_input_that_is_not_there_is_not_written(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    PJ_CLEANUP_ERROR struct pj_error *error = NULL;
    struct pj_receipt receipt = full();
    receipt.input_count = 1; /* the jobs name two */
    assert_int_equal(pj_receipt_write(&receipt, &text, &error), PJ_ERROR_INTERNAL);
    assert_string_equal(pj_error_message(error),
                        "writing the receipt, member \"inputs\": expected the position "
                        "of one of those above");
}

static int read_text(const char *text, size_t size, struct pj_error **err)
{
    struct pj_receipt *found = NULL;
    int result = pj_receipt_read(text, size, &found, err);
    assert_int_equal(result != 0, found == NULL);
    pj_receipt_free(found);
    return result;
}

static void every_cut_is_refused(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    const struct pj_receipt receipt = full();
    write_receipt(&receipt, &text);
    for (size_t size = 0; size < text.size; size++) {
        /* A copy of just that size, so that a read beyond it is seen. */
        PJ_CLEANUP_FREE char *copy = malloc(size + 1);
        assert_non_null(copy);
        memcpy(copy, text.data, size);
        copy[size] = '!';
        assert_int_equal(read_text(copy, size, NULL), PJ_ERROR_FORMAT);
    }
}

static void structure_cannot_be_damaged_unseen(void **state)
{
    (void)state;
    /* Each byte of the empty receipt replaced by others that could pass as something else. */
    static const char others[] = {'\0', '\n', ' ', '"', ',', '[', ']', '{', '}', ':', '\\', '-', 'x', '\xff'};
    char text[sizeof empty_text];
    for (size_t at = 0; at < sizeof empty_text - 1; at++) {
        for (size_t i = 0; i < sizeof others; i++) {
            memcpy(text, empty_text, sizeof text);
            if (text[at] == others[i])
                continue;
            text[at] = others[i];
            assert_int_equal(read_text(text, sizeof text - 1, NULL), PJ_ERROR_FORMAT);
        }
    }
}

/* Replaces the first `from` of the full receipt by `to`; gives the message of reading that. */
static void assert_refused(const char *from, const char *to, const char *message)
{
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0}, changed = {0};
    PJ_CLEANUP_ERROR struct pj_error *error = NULL;
    const struct pj_receipt receipt = full();
    write_receipt(&receipt, &text);
    const char *place = strstr(text.data, from);
    assert_non_null(place);
    pj_buffer_append(&changed, text.data, (size_t)(place - text.data));
    pj_buffer_puts(&changed, to);
    pj_buffer_puts(&changed, place + strlen(from));
    assert_int_equal(read_text(changed.data, changed.size, &error), PJ_ERROR_FORMAT);
    if (message)
        assert_string_equal(pj_error_message(error), message);
}

static void the_message_names_place_and_cure(void **state)
{
    (void)state;
    assert_refused("prejit-receipt/4", "prejit-receipt/3",
                   "reading the receipt at byte 0, member \"schema\": expected "
                   "{\"schema\":\"prejit-receipt/4\", found `{\"schema\":\"prejit-receip...`; "
                   "`prejit warm` writes a new one");
    assert_refused("\"samples\":3", "\"samples\":\"3\"",
                   "reading the receipt at byte 205, member \"samples\": expected a whole number within its "
                   "limits, found `\"3\",\"gpu_listing\":\"0000:...`; `prejit warm` writes a new one");
    assert_refused("]}\n", "",
                   "reading the receipt at byte 3830, member \"entries\": expected ], found the end; "
                   "`prejit warm` writes a new one");
}

static void tampered_values_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to;
    } cases[] = {
        {"\"samples\":3", "\"samples\":4294967296"},
        {"\"samples\":3", "\"samples\":-3"},
        {"\"samples\":3", "\"samples\":03"},
        {"\"samples\":3", "\"samples\":3.0"},
        {"\"samples\":3", "\"samples\":null"},
        {"\"samples\":3,", ""},
        {"\"samples\":3", "\"samples\":3,\"samples\":3"},
        {"\"samples\":3", "\"samples\": 3"},
        {"18446744073709551615", "18446744073709551616"},
        {"18446744073709551615", "99999999999999999999999"},
        {"-9223372036854775808", "-9223372036854775809"},
        {"-9223372036854775808", "-0"},
        {"-9223372036854775808", "-"},
        {"\"0.1.0\"", "\"\\u0000\""},
        {"\"0.1.0\"", "\"\\u0041\""},
        {"\"0.1.0\"", "\"\\ud800\""},
        {"\"0.1.0\"", "\"\\udc41\""},
        {"\"0.1.0\"", "\"\\udcFF\""},
        {"\"0.1.0\"", "\"\\u00\""},
        {"\"0.1.0\"", "\"\\n\""},
        {"\"0.1.0\"", "\"\t\""},
        {"\"0.1.0\"", "\"\\\""},
        {"\"0.1.0\"", "true"},
        {"\"manifest_sha256\":\"01", "\"manifest_sha256\":\"0g"},
        {"\"manifest_sha256\":\"01", "\"manifest_sha256\":\"1"},
        {"\"native\"", "\"NATIVE\""},
        {"\"native\"", "null"},
        {"\"verdict\":\"proven\"", "\"verdict\":\"\""},
        {"\"verdict\":\"proven\"", "\"verdict\":\"prove\""},
        {"\"compiled\"", "\"melted\""},
        {"\"jit_disabled\":\"yes\"", "\"jit_disabled\":true"},
        {"\"required\":true", "\"required\":1"},
        {"\"max_registers\":64", "\"max_registers\":0"},
        {"\"max_registers\":64", "\"max_registers\":4294967295"},
        {"\"max_registers\":64,\"cache_mode\":2", "\"cache_mode\":2,\"max_registers\":64"},
        {"\"max_registers\":64", "\"max_registers\":64,\"max_registers\":64"},
        {"\"max_registers\":64", "\"other\":64"},
        {"\"cache_mode\":2", "\"cache_mode\":3"},
        {"\"cold_ms\":312.500", "\"cold_ms\":312.5"},
        {"\"cold_ms\":312.500", "\"cold_ms\":312.5000"},
        {"\"cold_ms\":312.500", "\"cold_ms\":NaN"},
        {"\"cold_ms\":312.500", "\"cold_ms\":-1.000"},
        {"\"cold_ms\":312.500", "\"cold_ms\":1e3"},
        {"\"cold_ms\":312.500", "\"cold_ms\":99999999999999999.000"},
        {"[0.875,", "[0.875,,"},
        {"[0.875,", "[,"},
        {"[0.875,1.000,12345678.125]", "[0.875,]"},
        {"[0.875,1.000,12345678.125]", "[1.000,1.000,1.000,1.000,1.000,1.000,1.000,1.000,1.000,1.000,1.000,1."
                                       "000,1.000,1.000,1.000,1.000,1.000]"},
        {"\"jobs\":[", "\"jobs\":[["},
        {"]}\n", "]}"},
        {"]}\n", "]}\n\n"},
        {"\"module\":\"saxpy\"", "\"module\":null"},
        {"\"inputs\":[0,1]", "\"inputs\":[0,2]"},
        {"\"inputs\":[0,1]", "\"inputs\":[0,4294967296]"},
        {"\"inputs\":[0,1]", "\"inputs\":[0,-1]"},
        {"\"inputs\":[0,1]", "\"inputs\":[0,\"1\"]"},
        {"\"inputs\":[0,1]", "\"inputs\":[0,null]"},
    };
    for (size_t i = 0; i < PJ_COUNT(cases); i++)
        assert_refused(cases[i].from, cases[i].to, NULL);
}

static void a_giant_is_refused_before_it_is_read(void **state)
{
    (void)state;
    PJ_CLEANUP_ERROR struct pj_error *error = NULL;
    assert_int_equal(read_text("", (size_t)PJ_RECEIPT_MAX_BYTES + 1, &error), PJ_ERROR_FORMAT);
    assert_string_equal(pj_error_message(error),
                        "reading the receipt: it has 67108865 bytes, at most 67108864 are allowed; "
                        "`prejit warm` writes a new one");
}

static void a_thousand_jobs_come_back(void **state)
{
    (void)state;
    enum { COUNT = 1000 };
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0}, again = {0};
    PJ_CLEANUP_FREE struct pj_receipt_job *many = calloc(COUNT, sizeof *many);
    PJ_CLEANUP_FREE struct pj_receipt_entry *own = calloc(COUNT, sizeof *own);
    struct pj_receipt *found = NULL;
    struct pj_receipt receipt = full();
    assert_true(many && own);
    for (size_t i = 0; i < COUNT; i++) {
        many[i] = jobs[0];
        many[i].entries = &own[i];
        many[i].entry_count = 1;
        own[i].hash = i;
    }
    receipt.jobs = many;
    receipt.job_count = COUNT;
    write_receipt(&receipt, &text);
    assert_int_equal(pj_receipt_read(text.data, text.size, &found, NULL), 0);
    assert_int_equal(found->job_count, COUNT);
    assert_int_equal(found->jobs[COUNT - 1].entries[0].hash, COUNT - 1);
    assert_string_equal(found->jobs[COUNT - 1].row.entries[0].name, "0/0/000000000003e7");
    write_receipt(found, &again);
    assert_string_equal(again.data, text.data);
    pj_receipt_free(found);
}

/* A source of a toolkit's headers for many targets: each file is told once. */
static void many_jobs_of_the_same_files_are_small(void **state)
{
    (void)state;
    enum { JOBS = 200, HEADERS = 500 };
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    PJ_CLEANUP_FREE struct pj_receipt_job *many = calloc(JOBS, sizeof *many);
    PJ_CLEANUP_FREE struct pj_receipt_input *headers = calloc(HEADERS, sizeof *headers);
    PJ_CLEANUP_FREE uint32_t *all = calloc(HEADERS, sizeof *all);
    struct pj_receipt *found = NULL;
    struct pj_receipt receipt = full();
    assert_true(many && headers && all);
    for (uint32_t i = 0; i < HEADERS; i++) {
        headers[i] = inputs[0];
        all[i] = HEADERS - 1 - i;
    }
    for (size_t i = 0; i < JOBS; i++) {
        many[i] = jobs[1];
        many[i].inputs = all;
        many[i].input_count = HEADERS;
    }
    receipt.inputs = headers;
    receipt.input_count = HEADERS;
    receipt.jobs = many;
    receipt.job_count = JOBS;
    write_receipt(&receipt, &text);
    assert_true(text.size < (size_t)JOBS * HEADERS * 7); /* the files in each job: more than 150 bytes each */
    assert_int_equal(pj_receipt_read(text.data, text.size, &found, NULL), 0);
    assert_int_equal(found->jobs[JOBS - 1].input_count, HEADERS);
    assert_int_equal(found->jobs[JOBS - 1].inputs[1], HEADERS - 2);
    pj_receipt_free(found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_comes_back),
        cmocka_unit_test(an_empty_receipt_is_written_to_the_byte),
        cmocka_unit_test(a_compiler_may_have_no_path),
        cmocka_unit_test(odd_strings_stay_json),
        cmocka_unit_test(what_was_not_measured_comes_back_as_that),
        cmocka_unit_test(a_missing_name_is_not_written),
        cmocka_unit_test(an_input_that_is_not_there_is_not_written),
        cmocka_unit_test(many_jobs_of_the_same_files_are_small),
        cmocka_unit_test(every_cut_is_refused),
        cmocka_unit_test(structure_cannot_be_damaged_unseen),
        cmocka_unit_test(the_message_names_place_and_cure),
        cmocka_unit_test(tampered_values_are_refused),
        cmocka_unit_test(a_giant_is_refused_before_it_is_read),
        cmocka_unit_test(a_thousand_jobs_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
