/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a PTX text and says what is wrong with it. */
#include "image/ptx.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/text.h"
#include "image/kind.h"
#include "image/ptx_reader.h"

enum { QUOTED_MAX = 60 };
static const size_t size_max = (size_t)1 << 30;

bool pj_ptx_say(struct pj_ptx_reader *reader, enum pj_ptx_finding_code code, const char *at,
                const char *format, ...)
{
    va_list arguments;
    PJ_CLEANUP_FREE char *text = NULL;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    size_t line = at ? pj_ptx_line(reader->cursor.start, at) : 0;
    const char *message = NULL;
    if (length < 0)
        text = NULL;
    else
        message = line ? pj_arena_printf(reader->arena, "line %zu: %s", line, text)
                       : pj_arena_strdup(reader->arena, text);
    if (!message)
        reader->no_memory = true;
    *reader->finding = (struct pj_ptx_finding){.code = code, .line = line, .message = message};
    return false;
}

const char *pj_ptx_quote(struct pj_ptx_reader *reader, const char *text, size_t size)
{
    if (size == 0)
        return "nothing";
    PJ_CLEANUP_BUFFER struct pj_buffer buffer = {0};
    pj_buffer_putc(&buffer, '"');
    pj_text_escape(&buffer, text, size > QUOTED_MAX ? QUOTED_MAX : size);
    pj_buffer_puts(&buffer, size > QUOTED_MAX ? "...\"" : "\"");
    const char *copy = buffer.failed ? NULL : pj_arena_strndup(reader->arena, buffer.data, buffer.size);
    if (!copy)
        reader->no_memory = true;
    return copy ? copy : "";
}

/* Findings that need no understanding of the text. */
static bool check_bytes(struct pj_ptx_reader *reader, const char *bytes, size_t size)
{
    size_t text_size = reader->ptx->text_size;
    const char *nul = bytes + text_size;
    for (const char *at = nul; at < bytes + size; at++) {
        if (*at != '\0' && !pj_ptx_is_space(*at))
            return pj_ptx_say(reader, PJ_PTX_INTERIOR_NUL, nul,
                              "a NUL byte with more text behind it: the driver reads up to the NUL and drops "
                              "the other %zu bytes in silence; remove the NUL, or end the file there",
                              (size_t)(bytes + size - nul) - 1);
    }
    const char *odd = pj_ptx_find_non_ascii(bytes, nul);
    if (odd < nul)
        return pj_ptx_say(reader, PJ_PTX_NON_ASCII, odd,
                          "byte 0x%02x is not ASCII: compilers since CUDA 12.8 refuse it even in comments; "
                          "write ASCII only",
                          (unsigned char)*odd);
    return true;
}

static bool check_kind(struct pj_ptx_reader *reader, const void *bytes, size_t size)
{
    if (size > size_max)
        return pj_ptx_say(reader, PJ_PTX_NOT_PTX, NULL,
                          "%zu bytes are too many for PTX: prejit reads at most %zu; check that this is the "
                          "file you mean",
                          size, size_max);
    enum pj_image_kind kind = pj_image_kind_of(bytes, size);
    if (kind == PJ_IMAGE_PTX)
        return true;
    return pj_ptx_say(reader, PJ_PTX_NOT_PTX, NULL, "this is %s, not PTX: %s",
                      pj_image_kind_text(bytes, size), pj_image_kind_cure(kind));
}

static void say_unloadable(struct pj_ptx_reader *reader, const struct pj_ptx_unloadable *unloadable)
{
    const char *kernel = unloadable->kernel;
    (void)pj_ptx_say(reader, PJ_PTX_CANNOT_BE_LOADED, NULL,
                     "line %zu: %s%s%s: the driver compiles that and cannot load it (%s); %s, or leave the "
                     "file out",
                     unloadable->line, kernel ? "a parameter of the kernel " : "",
                     kernel ? pj_ptx_quote(reader, kernel, strlen(kernel)) : "", unloadable->what,
                     unloadable->answer, unloadable->cure);
    reader->finding->line = unloadable->line;
}

static void judge(struct pj_ptx_reader *reader)
{
    const struct pj_ptx *ptx = reader->ptx;
    if (ptx->optix) {
        (void)pj_ptx_say(
            reader, PJ_PTX_OPTIX_MODULE, NULL,
            "line %zu: %s: this is an OptiX module: OptiX compiles it and keeps the code in its own "
            "cache, the CUDA driver does not; leave it out",
            ptx->optix_line, pj_ptx_quote(reader, ptx->optix, strlen(ptx->optix)));
        reader->finding->line = ptx->optix_line;
    } else if (ptx->unresolved) {
        (void)pj_ptx_say(
            reader, PJ_PTX_NEEDS_LINKING, NULL,
            "line %zu: the function %s is called but not defined here: name this file and %s together under "
            "`link:`",
            ptx->unresolved_line, pj_ptx_quote(reader, ptx->unresolved, strlen(ptx->unresolved)),
            pj_ptx_is_device_runtime(ptx->unresolved) ? "the toolkit's libcudadevrt.a"
                                                      : "the one that defines it");
        reader->finding->line = ptx->unresolved_line;
    } else if (ptx->unloadable.what) {
        say_unloadable(reader, &ptx->unloadable);
    } else if (ptx->kernel_count == 0) {
        (void)pj_ptx_say(
            reader, PJ_PTX_NO_KERNELS, NULL,
            "no kernel (.entry) is defined here, so nothing but its own cache entry can be warmed by it; "
            "check that this is the file you mean");
    }
}

int pj_ptx_read(const void *bytes, size_t size, struct pj_arena *arena, struct pj_ptx *ret_ptx,
                struct pj_ptx_finding *ret_finding, struct pj_error **err)
{
    const char *text = size > 0 ? bytes : "";
    struct pj_ptx ptx = {.text_size = strnlen(text, size)};
    struct pj_ptx_finding finding = {.code = PJ_PTX_OK};
    struct pj_ptx_reader reader = {.cursor = {.start = text, .at = text, .end = text + ptx.text_size},
                                   .arena = arena,
                                   .ptx = &ptx,
                                   .finding = &finding};
    if (check_kind(&reader, text, size) && check_bytes(&reader, text, size) && pj_ptx_read_header(&reader)) {
        int status = pj_ptx_read_functions(&reader, err);
        if (status < 0)
            return status;
        judge(&reader);
    }
    if (reader.no_memory)
        return pj_error_no_memory(err);
    *ret_ptx = ptx;
    *ret_finding = finding;
    return 0;
}

/* "CUDA 13.0 or before" in brackets, where the table knows. */
static const char *older_toolkit(struct pj_isa isa, char *ret_text, size_t size)
{
    int cuda = pj_isa_last_cuda_version(isa);
    ret_text[0] = '\0';
    if (cuda > 0)
        (void)snprintf(ret_text, size, " (CUDA %d.%d or before)", cuda / 1000, cuda % 1000 / 10);
    return ret_text;
}

/* A letter binds PTX to one architecture or family, so a lower number alone is no cure for it. */
static const char *what_fits(struct pj_arch target, uint16_t device, char *ret_text, size_t size)
{
    if (target.letter && pj_arch_ptx_runs_on((struct pj_arch){.number = target.number}, device))
        (void)snprintf(ret_text, size, "sm_%u without the letter", target.number);
    else
        (void)snprintf(ret_text, size, "sm_%u or lower%s", device, target.letter ? " without a letter" : "");
    return ret_text;
}

int pj_ptx_check_target(const struct pj_ptx *ptx, uint16_t device, struct pj_isa driver_isa,
                        struct pj_arena *arena, struct pj_ptx_finding *ret_finding, struct pj_error **err)
{
    struct pj_ptx_finding finding = {.code = PJ_PTX_OK};
    char toolkit[40], fits[60], name[PJ_ARCH_TEXT], read_as[40] = "";
    if (driver_isa.major != 0 && pj_isa_number(ptx->version) > pj_isa_number(driver_isa)) {
        finding.code = PJ_PTX_NEWER_THAN_DRIVER;
        unsigned number = pj_isa_number(ptx->version);
        if (ptx->version.minor > 9)
            (void)snprintf(read_as, sizeof read_as, ", which counts as %u.%u,", number / 10, number % 10);
        finding.message =
            pj_arena_printf(arena,
                            "PTX ISA %u.%u%s is newer than %u.%u, the newest this driver takes: update the "
                            "driver, or compile the PTX with an older toolkit%s",
                            ptx->version.major, ptx->version.minor, read_as, driver_isa.major,
                            driver_isa.minor, older_toolkit(driver_isa, toolkit, sizeof toolkit));
    } else if (!pj_arch_ptx_runs_on(ptx->target, device)) {
        finding.code = PJ_PTX_NEWER_THAN_GPU;
        finding.message = pj_arena_printf(
            arena, ".target %s runs %s, not on sm_%u: compile the PTX for %s, or leave this target out",
            pj_arch_text(ptx->target, name), pj_arch_runs_where(ptx->target), device,
            what_fits(ptx->target, device, fits, sizeof fits));
    }
    if (finding.code != PJ_PTX_OK && !finding.message)
        return pj_error_no_memory(err);
    *ret_finding = finding;
    return 0;
}

size_t pj_ptx_missing_kernel(const struct pj_ptx *ptx, const char *const *wanted, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct pj_ptx_function *function = pj_ptx_find(ptx, wanted[i]);
        if (!function || !function->is_kernel)
            return i;
    }
    return count;
}

bool pj_ptx_is_linkable(const struct pj_ptx *ptx)
{
    return pj_isa_compare(ptx->version, (struct pj_isa){3, 1}) >= 0;
}

bool pj_ptx_is_device_runtime(const char *name)
{
    bool of_cuda = strncmp(name, "cuda", 4) == 0 && name[4] >= 'A' && name[4] <= 'Z';
    /* Functions of graphs are the driver's own. */
    return (of_cuda && strncmp(name, "cudaGraph", 9) != 0) || strncmp(name, "__cudaCDP", 9) == 0;
}

static int compare_name(const void *name, const void *item)
{
    return strcmp(name, ((const struct pj_ptx_function *)item)->name);
}

const struct pj_ptx_function *pj_ptx_find(const struct pj_ptx *ptx, const char *name)
{
    return ptx->function_count > 0
               ? bsearch(name, ptx->functions, ptx->function_count, sizeof *ptx->functions, compare_name)
               : NULL;
}

bool pj_ptx_usable(enum pj_ptx_finding_code code)
{
    return code == PJ_PTX_OK || code == PJ_PTX_NEEDS_LINKING || code == PJ_PTX_NO_KERNELS;
}

const char *pj_ptx_finding_name(enum pj_ptx_finding_code code)
{
    static const char *const names[] = {
        [PJ_PTX_OK] = "ok",
        [PJ_PTX_NOT_PTX] = "not-ptx",
        [PJ_PTX_INTERIOR_NUL] = "interior-nul",
        [PJ_PTX_NON_ASCII] = "non-ascii",
        [PJ_PTX_BAD_HEADER] = "bad-header",
        [PJ_PTX_HEADER_CONTRADICTS] = "header-contradicts",
        [PJ_PTX_32_BIT] = "32-bit",
        [PJ_PTX_NEWER_THAN_DRIVER] = "newer-than-driver",
        [PJ_PTX_NEWER_THAN_GPU] = "newer-than-gpu",
        [PJ_PTX_OPTIX_MODULE] = "optix-module",
        [PJ_PTX_NEEDS_LINKING] = "needs-linking",
        [PJ_PTX_CANNOT_BE_LOADED] = "cannot-be-loaded",
        [PJ_PTX_NO_KERNELS] = "no-kernels",
        [PJ_PTX_KERNEL_MISSING] = "kernel-missing",
    };
    return (size_t)code < PJ_COUNT(names) ? names[code] : "unknown";
}
