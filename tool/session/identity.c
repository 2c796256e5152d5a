/* SPDX-License-Identifier: Apache-2.0 */
/* Facts that identify machine and request, noted and compared. */
#include "session/identity.h"

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
    PJ_CLEANUP_FREE char *kernel = pj_host_kernel_driver(&session->root);
    bool failed = false;
    now->tool_version = PREJIT_VERSION;
    now->manifest_sha256 = session->manifest->digest;
    now->selection = session->selection_text;
    now->limit_bytes = session->location.limit_bytes;
    now->samples = session->manifest->verify_samples;
    now->gpu_listing = copy_or_null(&now->arena, pj_buffer_text(&listing), &failed);
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

static bool same_file(const struct pj_receipt_file *file)
{
    struct stat status;
    return stat(file->path, &status) == 0 && status.st_dev == file->device && status.st_ino == file->inode &&
           (uint64_t)status.st_size == file->size_bytes && status.st_mtim.tv_sec == file->mtime_seconds;
}

void pj_identity_compare(struct pj_session *session)
{
    const struct pj_receipt *then = session->receipt, *now = &session->now;
    session->same_driver = then->driver_file_count > 0 &&
                           same_text(then->driver_option, now->driver_option) &&
                           same_text(then->ld_library_path, now->ld_library_path) &&
                           then->ld_so_cache_mtime_seconds == now->ld_so_cache_mtime_seconds;
    for (size_t i = 0; session->same_driver && i < then->driver_file_count; i++)
        session->same_driver = same_file(&then->driver_files[i]);
    session->same_gpus = then->host.device_count > 0 && same_text(then->gpu_listing, now->gpu_listing) &&
                         same_text(then->cuda_visible_devices, now->cuda_visible_devices);
    session->same_request =
        same_text(then->tool_version, now->tool_version) &&
        memcmp(&then->manifest_sha256, &now->manifest_sha256, sizeof now->manifest_sha256) == 0 &&
        same_text(then->selection, now->selection) && then->limit_bytes == now->limit_bytes &&
        then->samples == now->samples;
}
