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

static struct pj_wire_message make_load(void)
{
    struct pj_wire_message message = {.type = PJ_WIRE_LOAD};
    message.load = (struct pj_wire_load){
        .job = UINT64_MAX - 1,
        .method = PJ_LOAD_PROVE,
        .target = 90,
        .image_bytes = UINT64_C(1) << 40,
        .option_count = PJ_WIRE_OPTIONS_MAX,
    };
    for (uint32_t i = 0; i < PJ_WIRE_OPTIONS_MAX; i++)
        message.load.options[i] = (struct pj_wire_option){i + 1, ~i};
    memset(&message.load.image_sha256, 0xa5, sizeof message.load.image_sha256);
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

struct pj_wire_message message_make(size_t i)
{
    switch (i) {
    case 0:
        return (struct pj_wire_message){.type = PJ_WIRE_HELLO, .hello = {.build_id = "prejit 1"}};
    case 1:
        return (struct pj_wire_message){.type = PJ_WIRE_START,
                                        .start = {"/opt/driver/libcuda.so", "/cache/.prejit/w0", 1, 3}};
    case 2:
        return make_started();
    case 3:
        return make_load();
    default:
        return make_loaded();
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

static void expect_started(const struct pj_wire_started *a, const struct pj_wire_started *b)
{
    assert_string_equal(a->failed_step, b->failed_step);
    assert_string_equal(a->message, b->message);
    assert_string_equal(a->result_name, b->result_name);
    assert_true(a->result == b->result && a->cuda_version == b->cuda_version &&
                a->has_library_load == b->has_library_load);
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
    assert_true(a->job == b->job && a->method == b->method && a->target == b->target &&
                a->image_bytes == b->image_bytes);
    assert_memory_equal(&a->image_sha256, &b->image_sha256, sizeof a->image_sha256);
    assert_int_equal(a->option_count, b->option_count);
    assert_memory_equal(a->options, b->options, a->option_count * sizeof *a->options);
}

static void expect_loaded(const struct pj_wire_loaded *a, const struct pj_wire_loaded *b)
{
    assert_true(a->job == b->job && a->image_changed == b->image_changed && a->result == b->result &&
                a->has_wall_ms == b->has_wall_ms && a->second_result == b->second_result &&
                a->peak_rss_bytes == b->peak_rss_bytes && a->refused == b->refused);
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

void message_expect_equal(const struct pj_wire_message *a, const struct pj_wire_message *b)
{
    assert_int_equal(a->type, b->type);
    switch (a->type) {
    case PJ_WIRE_HELLO:
        assert_string_equal(a->hello.build_id, b->hello.build_id);
        break;
    case PJ_WIRE_START:
        assert_string_equal(a->start.driver_path, b->start.driver_path);
        assert_string_equal(a->start.watch_path, b->start.watch_path);
        assert_true(a->start.context == b->start.context && a->start.ordinal == b->start.ordinal);
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
    default:
        fail();
    }
}
