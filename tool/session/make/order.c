/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors and descriptions that go between the maker and its workers. */
#include "session/make/order.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "host/toolkit.h"
#include "session/run/machine.h"

#define RESULT_MAX_BYTES (UINT64_C(1) << 30)

void pj_maker_results_close(struct pj_maker_results *results)
{
    for (size_t i = 0; i < results->count; i++)
        pj_close(results->fds[i]);
    results->count = 0;
}

int pj_maker_results_read(struct pj_maker_results *results, struct pj_making *making, struct pj_error **err)
{
    int r = 0;
    for (size_t i = 0; i < results->count && r == 0; i++) {
        struct pj_buffer *bytes = &making->results[results->outputs[i]];
        pj_buffer_reset(bytes);
        r = pj_file_read_fd(results->fds[i], "a result", RESULT_MAX_BYTES, bytes, err);
    }
    pj_maker_results_close(results);
    return r;
}

static int open_parts(const struct pj_making *making, struct pj_maker_order *order, struct pj_error **err)
{
    for (size_t i = 0; i < making->part_count; i++) {
        const struct pj_making_part *part = &making->parts[i];
        struct stat status;
        int *fd = &order->descriptors.fds[i];
        int r = part->bytes ? pj_file_in_memory(part->bytes, (size_t)part->size_bytes, fd, err)
                            : pj_file_open_regular(AT_FDCWD, part->path, fd, &status, err);
        if (r < 0)
            return r;
        order->owned = order->descriptors.count = i + 1;
        order->parts[i] = (struct pj_wire_part){
            .type = part->type, .name = part->name, .bytes = part->size_bytes, .sha256 = part->sha256};
    }
    return 0;
}

static int open_results(const struct pj_making *making, struct pj_maker_order *order,
                        struct pj_maker_results *results, struct pj_error **err)
{
    results->count = 0;
    for (unsigned bit = 0; bit < PJ_OUTPUT_COUNT; bit++) {
        if (!(making->outputs >> bit & 1))
            continue;
        int r = pj_file_in_memory(NULL, 0, &results->fds[results->count], err);
        if (r < 0)
            return r;
        results->outputs[results->count] = bit;
        order->descriptors.fds[order->descriptors.count++] = results->fds[results->count++];
    }
    return 0;
}

int pj_maker_order_make(const struct pj_making *making, uint64_t number, struct pj_maker_order *ret_order,
                        struct pj_maker_results *ret_results, struct pj_error **err)
{
    struct pj_maker_order *order = ret_order;
    if (making->part_count > PJ_WIRE_PARTS_MAX)
        return pj_error_set(err, PJ_ERROR_UNSUPPORTED, "it has %zu files, at most %d are allowed",
                            making->part_count, PJ_WIRE_PARTS_MAX);
    order->parts = calloc(making->part_count + 1, sizeof *order->parts);
    if (!order->parts)
        return pj_error_no_memory(err);
    int r = open_parts(making, order, err);
    if (r == 0)
        r = open_results(making, order, ret_results, err);
    order->message = (struct pj_wire_message){.type = PJ_WIRE_MAKE};
    order->message.make = (struct pj_wire_make){
        .job = number,
        .name = making->name ? making->name : "",
        .outputs = making->outputs,
        .part_count = (uint32_t)making->part_count,
        .parts = order->parts,
        .argument_count = (uint32_t)making->argument_count,
        .arguments = making->arguments,
        .expression_count = (uint32_t)making->expression_count,
        .expressions = making->expressions,
    };
    if (r == 0) {
        r = pj_wire_fits(&order->message, err);
        r = r < 0 ? pj_error_wrap(err, r, "its options, names and paths are too many or too long") : 0;
    }
    return r;
}

void pj_maker_order_free(struct pj_maker_order *order)
{
    order->descriptors.count = order->owned;
    pj_wire_close(&order->descriptors);
    free(order->parts);
}

int pj_maker_note_files(const struct pj_wire_file *files, size_t count, struct pj_arena *arena,
                        struct pj_compiler *compiler, struct pj_error **err)
{
    if (count <= compiler->file_count) /* a worker's first order opens the helpers; later ones open no more */
        return 0;
    struct pj_receipt_file *copies = NULL;
    int r = pj_machine_copy_files(files, count, arena, &copies, err);
    if (r < 0)
        return r;
    compiler->files = copies;
    compiler->file_count = count;
    return 0;
}

int pj_maker_describe(const struct pj_wire_started *started, struct pj_arena *arena,
                      struct pj_compiler *ret_compiler, struct pj_error **err)
{
    struct pj_compiler *compiler = ret_compiler;
    compiler->version = started->cuda_version;
    compiler->library = (struct pj_report_library){
        .path = pj_arena_strdup(arena, started->library_path),
        .version =
            pj_arena_printf(arena, "%d.%d", started->cuda_version / 1000, started->cuda_version % 1000 / 10),
    };
    compiler->archs = pj_arena_calloc(arena, started->arch_count + 1, sizeof *compiler->archs);
    if (!compiler->library.path || !compiler->library.version || !compiler->archs)
        return pj_error_no_memory(err);
    /* ptxas says which one it is; a library's file is called so. */
    size_t length = strcspn(started->message, " ");
    const char *label = started->message[length] ? started->message + length + 1 : NULL;
    compiler->library.build = length > 0 ? pj_arena_strndup(arena, started->message, length)
                                         : pj_toolkit_build(compiler->library.path);
    compiler->label = label ? pj_arena_strdup(arena, label) : NULL;
    if ((length > 0 && !compiler->library.build) || (label && !compiler->label))
        return pj_error_no_memory(err);
    for (uint32_t i = 0; i < started->arch_count; i++)
        compiler->archs[i] = (uint16_t)started->archs[i];
    compiler->arch_count = started->arch_count;
    compiler->known = true;
    return pj_maker_note_files(started->files, started->file_count, arena, compiler, err);
}

/* Part of a name: `error_check.cuh`, `my-error`. */
static bool is_of_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("_-./", c);
}

/* "a.cu(2): error: …", "ptxas fatal   : …", "ERROR 9: …", "error #20: …"; not in a file's name, and not in
 * what a warning says. */
static bool tells_error(const char *line, size_t size)
{
    static const char *const marks[] = {"error", "fatal", "ERROR"};
    const char *end = line + size, *warning = memmem(line, size, "warning", strlen("warning"));
    for (size_t i = 0; i < PJ_COUNT(marks); i++) {
        size_t length = strlen(marks[i]);
        for (const char *at = line; (at = memmem(at, (size_t)(end - at), marks[i], length)); at += length) {
            bool begins = at == line || !is_of_name(at[-1]);
            bool ends = at + length == end || !is_of_name(at[length]);
            if (begins && ends && !(warning && warning < at))
                return true;
        }
    }
    return false;
}

const char *pj_maker_first_error(const char *log, struct pj_arena *arena)
{
    for (const char *line = log; *line;) {
        size_t length = strcspn(line, "\n");
        if (tells_error(line, length))
            return pj_arena_strndup(arena, line, length);
        line += length + (line[length] == '\n');
    }
    return pj_arena_strndup(arena, log, strcspn(log, "\n"));
}
