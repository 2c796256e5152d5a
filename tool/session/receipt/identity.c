/* SPDX-License-Identifier: Apache-2.0 */
/* Facts that identify machine and request, noted and compared. */
#include "session/receipt/identity.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "host/gpus.h"
#include "version.h"

static const char *copy_or_null(struct pj_arena *arena, const char *text, bool *failed)
{
    char *copy = text ? pj_arena_strdup(arena, text) : NULL;
    *failed |= text && !copy;
    return copy;
}

int pj_identity_now(struct pj_session *session, struct pj_error **err)
{
    struct pj_receipt *now = &session->now;
    PJ_CLEANUP_BUFFER struct pj_buffer listing = {0};
    size_t gpus = 0;
    int r = pj_host_gpu_listing(&session->root, &listing, &gpus, err);
    if (r < 0)
        return r;
    const char *order =
        getenv("CUDA_DEVICE_ORDER"); /* with CUDA_VISIBLE_DEVICES it decides which GPU is meant */
    if (order)
        pj_buffer_printf(&listing, "CUDA_DEVICE_ORDER=%s\n", order);
    r = pj_buffer_check(&listing, err);
    if (r < 0)
        return r;
    session->gpus_listed = gpus > 0;
    PJ_CLEANUP_FREE char *boot = session->gpus_listed ? NULL : pj_host_boot_id(&session->root);
    PJ_CLEANUP_FREE char *kernel = pj_host_kernel_driver(&session->root);
    bool failed = false;
    now->tool_version = PREJIT_VERSION;
    now->manifest_sha256 = session->manifest->digest;
    now->selection = session->selection_text;
    now->limit_bytes = session->location.limit_bytes;
    now->samples = session->manifest->verify_samples;
    now->gpu_listing = copy_or_null(&now->arena, pj_buffer_text(&listing), &failed);
    now->boot_id = copy_or_null(&now->arena, boot, &failed);
    now->cuda_visible_devices = copy_or_null(&now->arena, getenv("CUDA_VISIBLE_DEVICES"), &failed);
    now->ld_library_path = copy_or_null(&now->arena, getenv("LD_LIBRARY_PATH"), &failed);
    now->driver_option = copy_or_null(&now->arena, session->options->driver, &failed);
    now->ld_so_cache_mtime_seconds = pj_host_mtime(&session->root, "/etc/ld.so.cache");
    now->host.kernel_driver = copy_or_null(&now->arena, kernel, &failed);
    return failed ? pj_error_no_memory(err) : 0;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

bool pj_identity_same_file(const struct pj_receipt_file *file)
{
    struct stat status;
    return stat(file->path, &status) == 0 && status.st_dev == file->device && status.st_ino == file->inode &&
           (uint64_t)status.st_size == file->size_bytes && status.st_mtim.tv_sec == file->mtime_seconds;
}

static bool is_file(const char *path, const struct pj_receipt_file *file, bool *ret_exists)
{
    struct stat status;
    *ret_exists = stat(path, &status) == 0;
    return *ret_exists && status.st_dev == file->device && status.st_ino == file->inode;
}

/* "libcuda.so.1" of "/…/libcuda.so.580.159.04": the name that the loader looks for. */
static bool soname(const char *path, char *ret_name, size_t size)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    const char *mark = strstr(name, ".so");
    return mark && (size_t)snprintf(ret_name, size, "%.*s.so.1", (int)(mark - name), name) < size;
}

/* Does `name` in the first `length` bytes of `folder` lead to the file? True also where it is not there;
 * *ret_exists tells. */
static bool leads_to(const char *folder, size_t length, const char *name, const struct pj_receipt_file *file,
                     bool *ret_exists)
{
    char path[PATH_MAX];
    *ret_exists = false;
    int used = snprintf(path, sizeof path, "%.*s/%s", length ? (int)length : 1, length ? folder : ".", name);
    if (used < 0 || (size_t)used >= sizeof path)
        return false;
    return is_file(path, file, ret_exists) || !*ret_exists;
}

/* A file may be as it was, and its name lead to another by now: a link that was turned, a library put into a
 * folder that comes earlier. What ld.so.cache knows is told by its time. */
static bool still_found(const struct pj_receipt_file *file, const char *library_path)
{
    char name[256];
    bool exists = false;
    if (!soname(file->path, name, sizeof name))
        return true;
    for (const char *folder = library_path; folder && *folder && !exists;) {
        size_t length = strcspn(folder, ":");
        if (!leads_to(folder, length, name, file, &exists))
            return false;
        folder += length + (folder[length] == ':');
    }
    const char *slash = strrchr(file->path, '/');
    return exists || !slash || leads_to(file->path, (size_t)(slash - file->path), name, file, &exists);
}

static bool same_driver_files(const struct pj_receipt *then)
{
    bool exists;
    if (then->driver_file_count == 0)
        return false;
    if (then->driver_option && strchr(then->driver_option, '/') &&
        !is_file(then->driver_option, &then->driver_files[0], &exists))
        return false;
    /* With an explicit driver its folder comes first, and its own name need not be libcuda.so.1. */
    for (size_t i = 0; i < then->driver_file_count; i++) {
        if (!pj_identity_same_file(&then->driver_files[i]) ||
            (!then->driver_option && !still_found(&then->driver_files[i], then->ld_library_path)))
            return false;
    }
    return true;
}

bool pj_identity_same_compiler(const struct pj_compiler *now, const char *search,
                               const struct pj_receipt_file *files, size_t count)
{
    if (!now->search || !same_text(search, now->search) || count == 0)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!pj_identity_same_file(&files[i]))
            return false;
    }
    return true;
}

void pj_identity_compare(struct pj_session *session)
{
    const struct pj_receipt *then = session->receipt, *now = &session->now;
    session->same_driver = same_text(then->driver_option, now->driver_option) &&
                           same_text(then->ld_library_path, now->ld_library_path) &&
                           then->ld_so_cache_mtime_seconds == now->ld_so_cache_mtime_seconds &&
                           same_driver_files(then);
    bool as_seen = then->host.device_count > 0 && same_text(then->gpu_listing, now->gpu_listing) &&
                   same_text(then->cuda_visible_devices, now->cuda_visible_devices);
    /* Two empty listings are alike whatever GPU there is. The driver's word holds for the boot it was given
     * in. */
    bool told = session->gpus_listed || (now->boot_id && same_text(then->boot_id, now->boot_id));
    session->same_gpus = as_seen && told;
    session->gpus_unsure = as_seen && !told;
    session->same_request =
        same_text(then->tool_version, now->tool_version) &&
        memcmp(&then->manifest_sha256, &now->manifest_sha256, sizeof now->manifest_sha256) == 0 &&
        same_text(then->selection, now->selection) && then->limit_bytes == now->limit_bytes &&
        then->samples == now->samples;
}
