/* SPDX-License-Identifier: Apache-2.0 */
/* One link by nvJitLink. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/file.h"
#include "job/worker_capture.h"
#include "job/worker_make.h"

#define OUTPUT_MAX_BYTES  (UINT64_C(1) << 30)
#define PRINTED_MAX_BYTES (UINT64_C(1) << 20)

struct link {
    const struct pj_nvjitlink *linker;
    nvJitLinkHandle handle;
    struct pj_arena *arena;
    struct pj_wire_made *made;
    int printed; /* what it printed meanwhile: a file in memory, -1 = none */
};

/* Notes the first call that fails; true where this one did not. */
static bool went_well(struct link *link, nvJitLinkResult result, const char *call)
{
    if (result != NVJITLINK_SUCCESS && link->made->result == 0) {
        const char *name = pj_nvjitlink_result_name(result);
        link->made->result = (int32_t)result;
        link->made->failed_call = call;
        if (!name)
            name = pj_arena_printf(link->arena, "nvJitLinkResult %d", (int)result);
        link->made->result_name = name ? name : "";
    }
    return result == NVJITLINK_SUCCESS;
}

typedef nvJitLinkResult size_function(nvJitLinkHandle handle, size_t *size);
typedef nvJitLinkResult log_function(nvJitLinkHandle handle, char *text);

/* Appends a log, without the NULs and line ends behind it. One that cannot be had is left out. */
static void append_log(struct link *link, size_function *get_size, log_function *get, struct pj_buffer *log)
{
    size_t size = 0;
    if (get_size(link->handle, &size) != NVJITLINK_SUCCESS || size == 0 || size > OUTPUT_MAX_BYTES)
        return;
    PJ_CLEANUP_FREE char *text = calloc(1, size + 1);
    if (!text) {
        log->failed = true;
        return;
    }
    if (get(link->handle, text) != NVJITLINK_SUCCESS)
        return;
    size = strnlen(text, size);
    while (size > 0 && text[size - 1] == '\n')
        size--;
    if (size > 0 && log->size > 0)
        pj_buffer_putc(log, '\n');
    pj_buffer_append(log, text, size);
}

/* The line without what marks it as one of nvJitLink's: `@E@error   : `. */
static const char *without_mark(const char *line, size_t *length)
{
    static const char *const marks[] = {"@E@", "error   : "};
    for (size_t i = 0; i < PJ_COUNT(marks); i++) {
        size_t size = strlen(marks[i]);
        if (*length >= size && strncmp(line, marks[i], size) == 0) {
            line += size;
            *length -= size;
        }
    }
    return line;
}

/* A symbol that is defined twice fails no link [nvJitLink 13.0], and only standard error tells of it. To
 * whoever reads the log it is a warning. */
static int append_printed(struct link *link, struct pj_buffer *log, struct pj_error **err)
{
    PJ_CLEANUP_BUFFER struct pj_buffer printed = {0};
    int r = link->printed >= 0
                ? pj_file_read_fd(link->printed, "standard error", PRINTED_MAX_BYTES, &printed, err)
                : 0;
    for (const char *line = pj_buffer_text(&printed); r == 0 && *line;) {
        size_t length = strcspn(line, "\n"), shown = length;
        const char *text = without_mark(line, &shown);
        if (shown > 0)
            pj_buffer_printf(log, "%swarning : %.*s", log->size > 0 ? "\n" : "", (int)shown, text);
        line += length + (line[length] == '\n');
    }
    return r;
}

static int write_log(struct link *link, const struct pj_wire_make *make,
                     const struct pj_wire_descriptors *descriptors, struct pj_error **err)
{
    PJ_CLEANUP_BUFFER struct pj_buffer log = {0};
    append_log(link, link->linker->error_log_size, link->linker->error_log, &log);
    append_log(link, link->linker->info_log_size, link->linker->info_log, &log);
    int r = append_printed(link, &log, err);
    if (r == 0)
        r = pj_buffer_check(&log, err);
    return r < 0 ? r
                 : pj_worker_write_output(make, descriptors, PJ_OUTPUT_LOG, pj_buffer_text(&log), log.size,
                                          err);
}

/* Either the cubin or, with -ptx, PTX; the other one does not exist. */
static int write_code(struct link *link, const struct pj_wire_make *make,
                      const struct pj_wire_descriptors *descriptors, enum pj_wire_output output,
                      struct pj_error **err)
{
    bool ptx = output == PJ_OUTPUT_PTX;
    size_t size = 0;
    const char *call = ptx ? "nvJitLinkGetLinkedPtxSize" : "nvJitLinkGetLinkedCubinSize";
    if (!(make->outputs & (uint32_t)output))
        return 0;
    if (!went_well(link, (ptx ? link->linker->ptx_size : link->linker->cubin_size)(link->handle, &size),
                   call))
        return 0;
    if (size == 0 || size > OUTPUT_MAX_BYTES)
        return pj_error_set(err, PJ_ERROR_WORKER, "%s tells %zu bytes", call, size);
    PJ_CLEANUP_FREE char *bytes = malloc(size);
    if (!bytes)
        return pj_error_no_memory(err);
    nvJitLinkResult result =
        ptx ? link->linker->ptx(link->handle, bytes) : link->linker->cubin(link->handle, bytes);
    if (!went_well(link, result, ptx ? "nvJitLinkGetLinkedPtx" : "nvJitLinkGetLinkedCubin"))
        return 0;
    if (ptx && bytes[size - 1] == '\0')
        size--;
    return pj_worker_write_output(make, descriptors, output, bytes, size, err);
}

static bool add_parts(struct link *link, const struct pj_wire_make *make, const struct pj_worker_parts *parts)
{
    for (uint32_t i = 0; i < make->part_count; i++) {
        const struct pj_wire_part *part = &make->parts[i];
        /* PTX is text: the NUL behind it belongs to it. */
        size_t size = parts->items[i].size + (part->type == NVJITLINK_INPUT_PTX);
        if (!went_well(link,
                       link->linker->add_data(link->handle, (nvJitLinkInputType)part->type,
                                              parts->items[i].data, size, part->name),
                       "nvJitLinkAddData"))
            return false;
    }
    return true;
}

int pj_worker_nvjitlink_make(const struct pj_nvjitlink *linker, const struct pj_wire_make *make,
                             const struct pj_worker_parts *parts,
                             const struct pj_wire_descriptors *descriptors, struct pj_arena *arena,
                             struct pj_wire_made *made, struct pj_error **err)
{
    PJ_CLEANUP_CLOSE int printed = memfd_create("prejit stderr", MFD_CLOEXEC);
    struct link link = {.linker = linker, .arena = arena, .made = made, .printed = printed};
    struct pj_capture capture = {.saved = -1};
    pj_capture_begin(&capture, printed);
    double begin = pj_clock_ms();
    bool created = went_well(&link, linker->create(&link.handle, make->argument_count, make->arguments),
                             "nvJitLinkCreate");
    if (created && add_parts(&link, make, parts))
        (void)went_well(&link, linker->complete(link.handle), "nvJitLinkComplete");
    made->call_ms = pj_clock_ms() - begin;
    pj_capture_end(&capture);
    int r = link.handle ? write_log(&link, make, descriptors, err) : 0;
    if (r == 0 && made->result == 0)
        r = write_code(&link, make, descriptors, PJ_OUTPUT_CUBIN, err);
    if (r == 0 && made->result == 0)
        r = write_code(&link, make, descriptors, PJ_OUTPUT_PTX, err);
    if (created) /* one whose options were refused is only good for its log: 13.0 crashes at anything else */
        (void)linker->destroy(&link.handle);
    return r;
}
