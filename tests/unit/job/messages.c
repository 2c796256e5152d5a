/* SPDX-License-Identifier: Apache-2.0 */
/* Messages with every field set. */
#include "messages.h"

static struct pj_wire_device devices[] = {
    {"NVIDIA H200", "GPU-00000000-1111-2222-3333-444444444444", 9, 0},
    {"", "", 0xffffffff, 8},
};

static struct pj_wire_file files[] = {
    {"/usr/lib/libcuda.so.580.159.04", 0xfe00, 4711, UINT64_MAX, 1700000000},
    {"/usr/lib/libnvidia-ptxjitcompiler.so.580.159.04", 1, 2, 3, -1},
    {"/\xff\x01", 0, 0, 0, INT64_MIN},
};

static struct pj_wire_entry entries[] = {{"c/a/920786966c763d", 6000}, {"", UINT64_MAX}};

static struct pj_wire_part parts[] = {
    {1, "kernels/a.ptx", UINT64_C(1) << 40, {{0xa5, 1}}},
    {0, "", 0, {{0}}},
    {UINT32_MAX, "/\xff", UINT64_MAX, {{0xff}}},
};

static const char *texts[] = {"-arch=compute_90", "", "-D NAME=\"a b\""};
static uint32_t archs[] = {75, 90, UINT32_MAX};

static struct pj_wire_message make_load(void)
{
    struct pj_wire_message message = {.type = PJ_WIRE_LOAD};
    message.load = (struct pj_wire_load){
        .job = UINT64_MAX - 1,
        .method = PJ_LOAD_RUN,
        .target = 90,
        .link = 1,
        .run_kernel = "scale",
        .run_count = PJ_WIRE_RUN_MAX,
        .part_count = PJ_COUNT(parts),
        .parts = parts,
        .option_count = PJ_WIRE_OPTIONS_MAX,
    };
    for (uint32_t i = 0; i < PJ_WIRE_OPTIONS_MAX; i++)
        message.load.options[i] = (struct pj_wire_option){i + 1, ~i};
    return message;
}

static struct pj_wire_message make_loaded(void)
{
    struct pj_wire_message message = {.type = PJ_WIRE_LOADED};
    message.loaded = (struct pj_wire_loaded){
        .job = 7,
        .image_changed = 1,
        .result = -5,
        .result_name = "CUDA_ERROR_INVALID_PTX",
        .call_ms = 1.5,
        .has_wall_ms = 1,
        .wall_ms = -0.25,
        .second_result = 300,
        .peak_rss_bytes = 1 << 20,
        .log = "ptxas fatal   : line 1\nsecond",
        .refused = 1,
        .no_context = 1,
        .entry_count = PJ_COUNT(entries),
        .entries = entries,
        .file_count = PJ_COUNT(files),
        .files = files,
    };
    return message;
}

static struct pj_wire_message make_started(void)
{
    struct pj_wire_message message = {.type = PJ_WIRE_STARTED};
    message.started = (struct pj_wire_started){
        .failed_step = "context",
        .message = "no",
        .result = 2,
        .result_name = "CUDA_ERROR_OUT_OF_MEMORY",
        .cuda_version = 13000,
        .library_path = "/usr/local/cuda/lib64/libnvrtc.so.13.0.88",
        .arch_count = PJ_COUNT(archs),
        .archs = archs,
        .has_library_load = 1,
        .init_ms = 100.25,
        .context_ms = 1e300,
        .device_count = PJ_COUNT(devices),
        .devices = devices,
        .file_count = PJ_COUNT(files),
        .files = files,
    };
    return message;
}

static struct pj_wire_message make_make(void)
{
    return (struct pj_wire_message){
        .type = PJ_WIRE_MAKE,
        .make = {.job = UINT64_MAX,
                 .name = "saxpy.cu",
                 .outputs = PJ_OUTPUT_LOG | PJ_OUTPUT_NAMES,
                 .part_count = PJ_COUNT(parts),
                 .parts = parts,
                 .argument_count = PJ_COUNT(texts),
                 .arguments = texts,
                 .expression_count = 2,
                 .expressions = texts + 1},
    };
}

static struct pj_wire_message make_made(void)
{
    return (struct pj_wire_message){
        .type = PJ_WIRE_MADE,
        .made = {.job = 8,
                 .image_changed = 1,
                 .result = -6,
                 .result_name = "NVRTC_ERROR_COMPILATION",
                 .failed_call = "nvrtcCompileProgram",
                 .call_ms = 0.125,
                 .peak_rss_bytes = UINT64_MAX,
                 .file_count = PJ_COUNT(files),
                 .files = files},
    };
}

struct pj_wire_message message_make(size_t i)
{
    switch (i) {
    case 0:
        return (struct pj_wire_message){.type = PJ_WIRE_HELLO, .hello = {.build_id = "prejit 1"}};
    case 1:
        return (struct pj_wire_message){.type = PJ_WIRE_START,
                                        .start = {.library = PJ_LIBRARY_NVRTC,
                                                  .path_count = PJ_COUNT(texts),
                                                  .paths = texts,
                                                  .watch_path = "/cache/.prejit/w0",
                                                  .context = 1,
                                                  .ordinal = 3}};
    case 2:
        return make_started();
    case 3:
        return make_load();
    case 4:
        return make_loaded();
    case 5:
        return make_make();
    default:
        return make_made();
    }
}

static void expect_files(uint32_t count, const struct pj_wire_file *a, const struct pj_wire_file *b)
{
    for (uint32_t i = 0; i < count; i++) {
        assert_string_equal(a[i].path, b[i].path);
        assert_true(a[i].device == b[i].device && a[i].inode == b[i].inode &&
                    a[i].size_bytes == b[i].size_bytes && a[i].mtime_seconds == b[i].mtime_seconds);
    }
}

static void expect_parts(uint32_t count, const struct pj_wire_part *a, const struct pj_wire_part *b)
{
    for (uint32_t i = 0; i < count; i++) {
        assert_string_equal(a[i].name, b[i].name);
        assert_true(a[i].type == b[i].type && a[i].bytes == b[i].bytes);
        assert_memory_equal(&a[i].sha256, &b[i].sha256, sizeof a[i].sha256);
    }
}

static void expect_texts(uint32_t count, const char *const *a, const char *const *b)
{
    for (uint32_t i = 0; i < count; i++)
        assert_string_equal(a[i], b[i]);
}

static void expect_start(const struct pj_wire_start *a, const struct pj_wire_start *b)
{
    assert_string_equal(a->watch_path, b->watch_path);
    assert_true(a->library == b->library && a->path_count == b->path_count && a->context == b->context &&
                a->ordinal == b->ordinal);
    expect_texts(a->path_count, a->paths, b->paths);
}

static void expect_started(const struct pj_wire_started *a, const struct pj_wire_started *b)
{
    assert_string_equal(a->failed_step, b->failed_step);
    assert_string_equal(a->message, b->message);
    assert_string_equal(a->result_name, b->result_name);
    assert_true(a->result == b->result && a->cuda_version == b->cuda_version &&
                a->has_library_load == b->has_library_load);
    assert_string_equal(a->library_path, b->library_path);
    assert_int_equal(a->arch_count, b->arch_count);
    if (a->arch_count > 0)
        assert_memory_equal(a->archs, b->archs, a->arch_count * sizeof *a->archs);
    assert_memory_equal(&a->init_ms, &b->init_ms, sizeof a->init_ms);
    assert_memory_equal(&a->context_ms, &b->context_ms, sizeof a->context_ms);
    assert_int_equal(a->device_count, b->device_count);
    for (uint32_t i = 0; i < a->device_count; i++) {
        assert_string_equal(a->devices[i].name, b->devices[i].name);
        assert_string_equal(a->devices[i].uuid, b->devices[i].uuid);
        assert_int_equal(a->devices[i].major, b->devices[i].major);
        assert_int_equal(a->devices[i].minor, b->devices[i].minor);
    }
    assert_int_equal(a->file_count, b->file_count);
    expect_files(a->file_count, a->files, b->files);
}

static void expect_load(const struct pj_wire_load *a, const struct pj_wire_load *b)
{
    assert_true(a->job == b->job && a->method == b->method && a->target == b->target && a->link == b->link &&
                a->run_count == b->run_count && a->part_count == b->part_count);
    assert_string_equal(a->run_kernel, b->run_kernel);
    expect_parts(a->part_count, a->parts, b->parts);
    assert_int_equal(a->option_count, b->option_count);
    assert_memory_equal(a->options, b->options, a->option_count * sizeof *a->options);
}

static void expect_loaded(const struct pj_wire_loaded *a, const struct pj_wire_loaded *b)
{
    assert_true(a->job == b->job && a->image_changed == b->image_changed && a->result == b->result &&
                a->has_wall_ms == b->has_wall_ms && a->second_result == b->second_result &&
                a->peak_rss_bytes == b->peak_rss_bytes && a->refused == b->refused &&
                a->no_context == b->no_context);
    assert_string_equal(a->result_name, b->result_name);
    assert_memory_equal(&a->call_ms, &b->call_ms, sizeof a->call_ms);
    assert_memory_equal(&a->wall_ms, &b->wall_ms, sizeof a->wall_ms);
    assert_string_equal(a->log, b->log);
    assert_int_equal(a->entry_count, b->entry_count);
    for (uint32_t i = 0; i < a->entry_count; i++) {
        assert_string_equal(a->entries[i].path, b->entries[i].path);
        assert_true(a->entries[i].size_bytes == b->entries[i].size_bytes);
    }
    assert_int_equal(a->file_count, b->file_count);
    expect_files(a->file_count, a->files, b->files);
}

static void expect_make(const struct pj_wire_make *a, const struct pj_wire_make *b)
{
    assert_string_equal(a->name, b->name);
    assert_true(a->job == b->job && a->outputs == b->outputs && a->part_count == b->part_count &&
                a->argument_count == b->argument_count && a->expression_count == b->expression_count);
    expect_parts(a->part_count, a->parts, b->parts);
    expect_texts(a->argument_count, a->arguments, b->arguments);
    expect_texts(a->expression_count, a->expressions, b->expressions);
}

static void expect_made(const struct pj_wire_made *a, const struct pj_wire_made *b)
{
    assert_true(a->job == b->job && a->image_changed == b->image_changed && a->result == b->result &&
                a->peak_rss_bytes == b->peak_rss_bytes && a->file_count == b->file_count);
    assert_string_equal(a->result_name, b->result_name);
    assert_string_equal(a->failed_call, b->failed_call);
    assert_memory_equal(&a->call_ms, &b->call_ms, sizeof a->call_ms);
    expect_files(a->file_count, a->files, b->files);
}

void message_expect_equal(const struct pj_wire_message *a, const struct pj_wire_message *b)
{
    assert_int_equal(a->type, b->type);
    switch (a->type) {
    case PJ_WIRE_HELLO:
        assert_string_equal(a->hello.build_id, b->hello.build_id);
        break;
    case PJ_WIRE_START:
        expect_start(&a->start, &b->start);
        break;
    case PJ_WIRE_STARTED:
        expect_started(&a->started, &b->started);
        break;
    case PJ_WIRE_LOAD:
        expect_load(&a->load, &b->load);
        break;
    case PJ_WIRE_LOADED:
        expect_loaded(&a->loaded, &b->loaded);
        break;
    case PJ_WIRE_MAKE:
        expect_make(&a->make, &b->make);
        break;
    case PJ_WIRE_MADE:
        expect_made(&a->made, &b->made);
        break;
    default:
        fail();
    }
}
