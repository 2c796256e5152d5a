/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: any bytes as a message of a worker; what is taken is within its limits and encodes to the same
 * bytes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "job/wire_codec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

static void check_files(uint32_t count, const struct pj_wire_file *files, size_t size)
{
    require(count <= PJ_WIRE_FILES_MAX);
    for (uint32_t i = 0; i < count; i++)
        require(files[i].path != NULL && strlen(files[i].path) < size);
}

static void check_texts(uint32_t count, const char *const *texts, uint32_t maximum, size_t size)
{
    require(count <= maximum);
    for (uint32_t i = 0; i < count; i++)
        require(texts[i] != NULL && strlen(texts[i]) < size);
}

static void check_parts(uint32_t count, const struct pj_wire_part *parts, size_t size)
{
    require(count <= PJ_WIRE_PARTS_MAX);
    for (uint32_t i = 0; i < count; i++)
        require(parts[i].name != NULL && strlen(parts[i].name) < size);
}

static void check_started(const struct pj_wire_started *message, size_t size)
{
    require(message->failed_step && message->message && message->result_name && message->library_path);
    require(message->arch_count <= PJ_WIRE_ARCHS_MAX);
    require(message->device_count <= PJ_WIRE_DEVICES_MAX);
    for (uint32_t i = 0; i < message->device_count; i++)
        require(message->devices[i].name && message->devices[i].uuid);
    check_files(message->file_count, message->files, size);
}

static void check_loaded(const struct pj_wire_loaded *message, size_t size)
{
    require(message->result_name && message->log && strlen(message->log) < size);
    require(message->entry_count <= PJ_WIRE_ENTRIES_MAX);
    for (uint32_t i = 0; i < message->entry_count; i++)
        require(message->entries[i].path != NULL);
    check_files(message->file_count, message->files, size);
}

static void check(const struct pj_wire_message *message, size_t size)
{
    switch (message->type) {
    case PJ_WIRE_HELLO:
        require(message->hello.build_id && strlen(message->hello.build_id) < size);
        return;
    case PJ_WIRE_START:
        require(message->start.watch_path != NULL);
        check_texts(message->start.path_count, message->start.paths, PJ_WIRE_PATHS_MAX, size);
        return;
    case PJ_WIRE_STARTED:
        check_started(&message->started, size);
        return;
    case PJ_WIRE_LOAD:
        require(message->load.option_count <= PJ_WIRE_OPTIONS_MAX);
        require(message->load.run_kernel && strlen(message->load.run_kernel) < size);
        check_parts(message->load.part_count, message->load.parts, size);
        return;
    case PJ_WIRE_LOADED:
        check_loaded(&message->loaded, size);
        return;
    case PJ_WIRE_MAKE:
        require(message->make.name && strlen(message->make.name) < size);
        check_parts(message->make.part_count, message->make.parts, size);
        check_texts(message->make.argument_count, message->make.arguments, PJ_WIRE_ARGUMENTS_MAX, size);
        check_texts(message->make.expression_count, message->make.expressions, PJ_WIRE_ARGUMENTS_MAX, size);
        return;
    case PJ_WIRE_MADE:
        require(message->made.result_name && message->made.failed_call);
        check_files(message->made.file_count, message->made.files, size);
        return;
    case PJ_WIRE_STEP:
        require(message->step.doing && strlen(message->step.doing) < size);
        return;
    }
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    PJ_CLEANUP_BUFFER struct pj_buffer again = {0};
    PJ_CLEANUP_ERROR struct pj_error *error = NULL;
    struct pj_wire_message message;
    int result = pj_wire_decode(data, size, &arena, &message, &error);
    if (result != 0) {
        require(result == PJ_ERROR_WORKER && strstr(error->message, "is malformed"));
        return 0;
    }
    require(error == NULL);
    check(&message, size);
    /* What came over the socket is never longer; libFuzzer's input may be. */
    result = pj_wire_encode(&message, &again, NULL);
    require(result == (size > PJ_WIRE_MAX_BYTES ? PJ_ERROR_UNSUPPORTED : 0));
    require(again.size == size && memcmp(again.data, data, size) == 0);
    return 0;
}
