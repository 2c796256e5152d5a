/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a compiler, and answers an order for it. */
#include "job/worker_make.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buffer.h"
#include "base/file.h"
#include "job/worker_driver.h"
#include "job/worker_step.h"

static int open_one(struct pj_worker_maker *maker, const char *path, struct pj_error **err)
{
    if (maker->library == PJ_LIBRARY_PTXAS)
        return pj_worker_ptxas_open(path, &maker->ptxas, err);
    return maker->library == PJ_LIBRARY_NVRTC ? pj_nvrtc_open(path, &maker->nvrtc, err)
                                              : pj_nvjitlink_open(path, &maker->linker, err);
}

/* The first one that opens; the reasons of those before it are lines of `reasons`. False = none. */
static bool open_first(struct pj_worker_maker *maker, const struct pj_wire_start *start, int socket,
                       struct pj_buffer *reasons)
{
    for (uint32_t i = 0; i < start->path_count; i++) {
        PJ_CLEANUP_ERROR struct pj_error *error = NULL;
        bool program = maker->library == PJ_LIBRARY_PTXAS;
        pj_worker_step(socket, "%s %s%s", program ? "running" : "opening", start->paths[i],
                       program ? " --version" : "");
        if (open_one(maker, start->paths[i], &error) == 0) {
            if (!strchr(start->paths[i], '/') || !realpath(start->paths[i], maker->path))
                maker->path[0] = '\0';
            return true;
        }
        pj_buffer_printf(reasons, "%s%s", reasons->size ? "\n" : "", pj_error_message(error));
    }
    return false;
}

static int list_files(const struct pj_worker_maker *maker, struct pj_arena *arena,
                      struct pj_wire_file **ret_files, uint32_t *ret_count, struct pj_error **err)
{
    const char *opened = maker->path[0] != '\0' ? maker->path : NULL;
    return pj_worker_list_files(maker->library, opened, arena, ret_files, ret_count, err);
}

static int describe_nvrtc(const struct pj_nvrtc *nvrtc, struct pj_arena *arena,
                          struct pj_wire_started *started, struct pj_error **err)
{
    int major = 0, minor = 0, count = 0;
    if (nvrtc->nvrtcVersion_(&major, &minor) == NVRTC_SUCCESS)
        started->cuda_version = major * 1000 + minor * 10;
    if (nvrtc->nvrtcGetNumSupportedArchs_(&count) != NVRTC_SUCCESS || count <= 0 || count > PJ_WIRE_ARCHS_MAX)
        return 0;
    int *archs = pj_arena_calloc(arena, (size_t)count, sizeof *archs);
    started->archs = pj_arena_calloc(arena, (size_t)count, sizeof *started->archs);
    if (!archs || !started->archs)
        return pj_error_no_memory(err);
    if (nvrtc->nvrtcGetSupportedArchs_(archs) != NVRTC_SUCCESS)
        return 0;
    for (int i = 0; i < count; i++)
        started->archs[i] = (uint32_t)archs[i];
    started->arch_count = (uint32_t)count;
    return 0;
}

/* A program is no mapped file: it tells of itself. */
static int describe_ptxas(struct pj_worker_maker *maker, struct pj_arena *arena,
                          struct pj_wire_started *started, struct pj_error **err)
{
    struct stat status;
    const char *path = maker->path[0] != '\0' ? maker->path : maker->ptxas.program;
    started->cuda_version = maker->ptxas.cuda_version;
    started->message = pj_arena_printf(arena, "%s%s%s", maker->ptxas.build, maker->ptxas.label[0] ? " " : "",
                                       maker->ptxas.label);
    started->library_path = pj_arena_strdup(arena, path);
    started->files = pj_arena_alloc(arena, sizeof *started->files);
    if (!started->message || !started->library_path || !started->files)
        return pj_error_no_memory(err);
    maker->told_files = true;
    if (stat(path, &status) != 0)
        return 0;
    started->files[0] = (struct pj_wire_file){.path = started->library_path,
                                              .device = status.st_dev,
                                              .inode = status.st_ino,
                                              .size_bytes = (uint64_t)status.st_size,
                                              .mtime_seconds = status.st_mtim.tv_sec};
    started->file_count = 1;
    return 0;
}

int pj_worker_maker_start(struct pj_worker_maker *maker, const struct pj_wire_start *start, int socket,
                          struct pj_arena *arena, struct pj_wire_started *ret_started, struct pj_error **err)
{
    PJ_CLEANUP_BUFFER struct pj_buffer reasons = {0};
    maker->library = (enum pj_wire_library)start->library;
    if (!open_first(maker, start, socket, &reasons)) {
        ret_started->failed_step = "open";
        ret_started->message = pj_arena_strdup(arena, pj_buffer_text(&reasons));
        return reasons.failed || !ret_started->message ? pj_error_no_memory(err) : 0;
    }
    if (maker->library == PJ_LIBRARY_PTXAS)
        return describe_ptxas(maker, arena, ret_started, err);
    int r = list_files(maker, arena, &ret_started->files, &ret_started->file_count, err);
    if (r == 0 && ret_started->file_count > 0)
        ret_started->library_path = ret_started->files[0].path;
    if (r == 0 && maker->library == PJ_LIBRARY_NVRTC) {
        pj_worker_step(socket, "asking NVRTC %s for its version", ret_started->library_path);
        return describe_nvrtc(&maker->nvrtc, arena, ret_started, err);
    }
    ret_started->cuda_version = maker->linker.version;
    return r;
}

int pj_worker_output(const struct pj_wire_make *make, const struct pj_wire_descriptors *descriptors,
                     enum pj_wire_output output)
{
    size_t at = make->part_count;
    for (uint32_t bit = 1; bit < (uint32_t)output; bit <<= 1)
        at += (make->outputs & bit) != 0;
    return (make->outputs & (uint32_t)output) && at < descriptors->count ? descriptors->fds[at] : -1;
}

int pj_worker_write_output(const struct pj_wire_make *make, const struct pj_wire_descriptors *descriptors,
                           enum pj_wire_output output, const void *bytes, size_t size, struct pj_error **err)
{
    int fd = pj_worker_output(make, descriptors, output);
    return fd < 0 || size == 0 ? 0 : pj_file_pwrite(fd, "a result", bytes, size, 0, err);
}

int pj_worker_make(struct pj_worker_maker *maker, const struct pj_wire_make *make,
                   const struct pj_worker_parts *parts, const struct pj_wire_descriptors *descriptors,
                   struct pj_arena *arena, struct pj_wire_made *ret_made, struct pj_error **err)
{
    int r;
    if (maker->library == PJ_LIBRARY_PTXAS)
        r = pj_worker_ptxas_make(&maker->ptxas, make, parts, descriptors, arena, ret_made, err);
    else if (maker->library == PJ_LIBRARY_NVRTC)
        r = pj_worker_nvrtc_make(&maker->nvrtc, make, parts, descriptors, ret_made, err);
    else
        r = pj_worker_nvjitlink_make(&maker->linker, make, parts, descriptors, arena, ret_made, err);
    if (r == 0 && !maker->told_files) {
        r = list_files(maker, arena, &ret_made->files, &ret_made->file_count, err);
        maker->told_files = true;
    }
    ret_made->peak_rss_bytes += pj_worker_peak_rss_bytes(); /* to what the program had */
    return r;
}
