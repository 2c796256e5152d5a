/* SPDX-License-Identifier: Apache-2.0 */
/* One description per message drives both encoding and decoding, so that the two cannot drift apart. */
#include "job/wire_codec.h"

#include <string.h>

#include "base/memory.h"

/* Either writes to `out`, or reads from `in`; a fault sticks. */
struct codec {
    struct pj_buffer *out;
    const char *in;
    size_t left;
    struct pj_arena *arena;
    bool malformed, no_memory;
};

static void raw(struct codec *codec, void *value, size_t size)
{
    if (codec->out) {
        pj_buffer_append(codec->out, value, size);
        return;
    }
    if (codec->left < size) {
        codec->malformed = true;
        codec->left = 0;
        memset(value, 0, size);
        return;
    }
    memcpy(value, codec->in, size);
    codec->in += size;
    codec->left -= size;
}

static void u32(struct codec *codec, uint32_t *value)
{
    raw(codec, value, sizeof *value);
}

static void i32(struct codec *codec, int32_t *value)
{
    raw(codec, value, sizeof *value);
}

static void u64(struct codec *codec, uint64_t *value)
{
    raw(codec, value, sizeof *value);
}

static void number(struct codec *codec, double *value)
{
    raw(codec, value, sizeof *value);
}

static void text(struct codec *codec, const char **value)
{
    uint32_t length = codec->out && *value ? (uint32_t)strlen(*value) : 0;
    u32(codec, &length);
    if (codec->out) {
        pj_buffer_append(codec->out, *value, length);
        return;
    }
    *value = "";
    if (codec->left < length || memchr(codec->in, '\0', length)) {
        codec->malformed = true;
        codec->left = 0;
        return;
    }
    char *copy = pj_arena_strndup(codec->arena, codec->in, length);
    if (!copy) {
        codec->no_memory = true;
        return;
    }
    *value = copy;
    codec->in += length;
    codec->left -= length;
}

/* Length of an array: checked against its maximum, and memory made for it when reading. False = stop. */
static bool array(struct codec *codec, uint32_t *count, uint32_t maximum, void **items, size_t item_size)
{
    u32(codec, count);
    if (*count > maximum) {
        codec->malformed = true;
        *count = 0;
        return false;
    }
    if (codec->out || *count == 0)
        return true;
    *items = pj_arena_calloc(codec->arena, *count, item_size);
    if (!*items) {
        codec->no_memory = true;
        *count = 0;
        return false;
    }
    return true;
}

/* A list of texts. */
static void texts(struct codec *codec, uint32_t *count, uint32_t maximum, const char ***items)
{
    if (!array(codec, count, maximum, (void **)items, sizeof **items))
        return;
    for (uint32_t i = 0; i < *count; i++)
        text(codec, &(*items)[i]);
}

static void parts(struct codec *codec, uint32_t *count, struct pj_wire_part **items)
{
    if (!array(codec, count, PJ_WIRE_PARTS_MAX, (void **)items, sizeof **items))
        return;
    for (uint32_t i = 0; i < *count; i++) {
        struct pj_wire_part *part = &(*items)[i];
        u32(codec, &part->type);
        text(codec, &part->name);
        u64(codec, &part->bytes);
        raw(codec, part->sha256.bytes, sizeof part->sha256.bytes);
    }
}

static void files(struct codec *codec, uint32_t *count, struct pj_wire_file **items)
{
    if (!array(codec, count, PJ_WIRE_FILES_MAX, (void **)items, sizeof **items))
        return;
    for (uint32_t i = 0; i < *count; i++) {
        struct pj_wire_file *file = &(*items)[i];
        text(codec, &file->path);
        u64(codec, &file->device);
        u64(codec, &file->inode);
        u64(codec, &file->size_bytes);
        raw(codec, &file->mtime_seconds, sizeof file->mtime_seconds);
    }
}

static void started(struct codec *codec, struct pj_wire_started *message)
{
    text(codec, &message->failed_step);
    text(codec, &message->message);
    i32(codec, &message->result);
    text(codec, &message->result_name);
    i32(codec, &message->cuda_version);
    text(codec, &message->library_path);
    if (array(codec, &message->arch_count, PJ_WIRE_ARCHS_MAX, (void **)&message->archs,
              sizeof *message->archs)) {
        for (uint32_t i = 0; i < message->arch_count; i++)
            u32(codec, &message->archs[i]);
    }
    u32(codec, &message->has_library_load);
    number(codec, &message->init_ms);
    number(codec, &message->context_ms);
    if (!array(codec, &message->device_count, PJ_WIRE_DEVICES_MAX, (void **)&message->devices,
               sizeof *message->devices))
        return;
    for (uint32_t i = 0; i < message->device_count; i++) {
        text(codec, &message->devices[i].name);
        text(codec, &message->devices[i].uuid);
        u32(codec, &message->devices[i].major);
        u32(codec, &message->devices[i].minor);
    }
    files(codec, &message->file_count, &message->files);
}

static void load(struct codec *codec, struct pj_wire_load *message)
{
    u64(codec, &message->job);
    u32(codec, &message->method);
    u32(codec, &message->target);
    u32(codec, &message->link);
    text(codec, &message->run_kernel);
    u32(codec, &message->run_count);
    parts(codec, &message->part_count, &message->parts);
    u32(codec, &message->option_count);
    if (message->option_count > PJ_WIRE_OPTIONS_MAX) {
        codec->malformed = true;
        message->option_count = 0;
    }
    for (uint32_t i = 0; i < message->option_count; i++) {
        u32(codec, &message->options[i].option);
        u32(codec, &message->options[i].value);
    }
}

static void loaded(struct codec *codec, struct pj_wire_loaded *message)
{
    u64(codec, &message->job);
    u32(codec, &message->image_changed);
    i32(codec, &message->result);
    text(codec, &message->result_name);
    number(codec, &message->call_ms);
    u32(codec, &message->has_wall_ms);
    number(codec, &message->wall_ms);
    i32(codec, &message->second_result);
    u64(codec, &message->peak_rss_bytes);
    text(codec, &message->log);
    u32(codec, &message->refused);
    u32(codec, &message->no_context);
    if (!array(codec, &message->entry_count, PJ_WIRE_ENTRIES_MAX, (void **)&message->entries,
               sizeof *message->entries))
        return;
    for (uint32_t i = 0; i < message->entry_count; i++) {
        text(codec, &message->entries[i].path);
        u64(codec, &message->entries[i].size_bytes);
    }
    files(codec, &message->file_count, &message->files);
}

static void make(struct codec *codec, struct pj_wire_make *message)
{
    u64(codec, &message->job);
    text(codec, &message->name);
    u32(codec, &message->outputs);
    parts(codec, &message->part_count, &message->parts);
    texts(codec, &message->argument_count, PJ_WIRE_ARGUMENTS_MAX, &message->arguments);
    texts(codec, &message->expression_count, PJ_WIRE_ARGUMENTS_MAX, &message->expressions);
}

static void made(struct codec *codec, struct pj_wire_made *message)
{
    u64(codec, &message->job);
    u32(codec, &message->image_changed);
    i32(codec, &message->result);
    text(codec, &message->result_name);
    text(codec, &message->failed_call);
    number(codec, &message->call_ms);
    u64(codec, &message->peak_rss_bytes);
    files(codec, &message->file_count, &message->files);
}

static void start(struct codec *codec, struct pj_wire_start *message)
{
    u32(codec, &message->library);
    texts(codec, &message->path_count, PJ_WIRE_PATHS_MAX, &message->paths);
    text(codec, &message->watch_path);
    u32(codec, &message->context);
    u32(codec, &message->ordinal);
}

/* False for a type that does not exist. */
static bool body(struct codec *codec, struct pj_wire_message *message)
{
    switch (message->type) {
    case PJ_WIRE_HELLO:
        text(codec, &message->hello.build_id);
        return true;
    case PJ_WIRE_START:
        start(codec, &message->start);
        return true;
    case PJ_WIRE_STEP:
        text(codec, &message->step.doing);
        return true;
    case PJ_WIRE_STARTED:
        started(codec, &message->started);
        return true;
    case PJ_WIRE_LOAD:
        load(codec, &message->load);
        return true;
    case PJ_WIRE_LOADED:
        loaded(codec, &message->loaded);
        return true;
    case PJ_WIRE_MAKE:
        make(codec, &message->make);
        return true;
    case PJ_WIRE_MADE:
        made(codec, &message->made);
        return true;
    }
    return false;
}

int pj_wire_encode(const struct pj_wire_message *message, struct pj_buffer *ret_bytes, struct pj_error **err)
{
    struct codec codec = {.out = ret_bytes};
    struct pj_wire_message copy =
        *message; /* the shared description takes it by reference, and only reads here */
    uint32_t type = (uint32_t)message->type;
    u32(&codec, &type);
    if (!body(&codec, &copy))
        return pj_error_set(err, PJ_ERROR_INTERNAL, "message type %u does not exist", type);
    int r = pj_buffer_check(ret_bytes, err);
    if (r < 0)
        return r;
    if (codec.malformed)
        return pj_error_set(err, PJ_ERROR_UNSUPPORTED, "a message of type %u has a list that is too long",
                            type);
    if (ret_bytes->size > PJ_WIRE_MAX_BYTES)
        return pj_error_set(err, PJ_ERROR_UNSUPPORTED, "a message of %zu bytes is longer than the %d allowed",
                            ret_bytes->size, PJ_WIRE_MAX_BYTES);
    return 0;
}

int pj_wire_fits(const struct pj_wire_message *message, struct pj_error **err)
{
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    return pj_wire_encode(message, &bytes, err);
}

int pj_wire_decode(const void *bytes, size_t size, struct pj_arena *arena,
                   struct pj_wire_message *ret_message, struct pj_error **err)
{
    struct codec codec = {.in = bytes, .left = size, .arena = arena};
    struct pj_wire_message message;
    memset(&message, 0, sizeof message);
    uint32_t type = 0;
    u32(&codec, &type);
    message.type = (enum pj_wire_type)type;
    if (!codec.malformed && !body(&codec, &message))
        codec.malformed = true;
    if (codec.no_memory)
        return pj_error_no_memory(err);
    if (codec.malformed || codec.left != 0)
        return pj_error_set(err, PJ_ERROR_WORKER, "a message of %zu bytes and type %u is malformed", size,
                            type);
    *ret_message = message;
    return 0;
}
