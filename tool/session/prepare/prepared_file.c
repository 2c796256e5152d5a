/* SPDX-License-Identifier: Apache-2.0 */
/* Loads, checks and saves prepared PTX. */
#include "session/prepare/prepared_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "session/receipt/file.h"
#include "session/receipt/identity.h"
#include "session/receipt/input.h"

enum { NAME_TEXT = PJ_SHA256_HEX + 8, KEPT_MAX = 2000 };

#define PTX_MAX_BYTES (UINT64_C(1) << 30)

static const char folder[] = "prepared";

static void make_name(const char *request, const char *ending, char ret_name[NAME_TEXT])
{
    struct pj_sha256 digest;
    char hex[PJ_SHA256_HEX];
    pj_sha256_of(request, strlen(request), &digest);
    pj_sha256_hex(&digest, hex);
    (void)snprintf(ret_name, NAME_TEXT, "%s.%s", hex, ending);
}

/* A file of the folder that is to be believed; false where there is none. */
static int read_trusted(int fd, const char *name, uint64_t limit, struct pj_buffer *bytes, bool *ret_read,
                        struct pj_error **err)
{
    PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
    PJ_CLEANUP_CLOSE int file = openat(fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    *ret_read = false;
    if (file < 0 || !pj_receipt_is_trusted(file))
        return 0;
    int r = pj_file_read_fd(file, name, limit, bytes, &problem);
    *ret_read = r == 0;
    return r == PJ_ERROR_NO_MEMORY ? pj_error_no_memory(err) : 0;
}

static int still_holds(const struct pj_compiler *compiler, const struct pj_prepared *prepared, bool *ret_same,
                       struct pj_error **err)
{
    int r = 0;
    *ret_same = pj_identity_same_compiler(compiler, prepared->compiler_search, prepared->compiler_files,
                                          prepared->compiler_file_count);
    for (size_t i = 0; i < prepared->input_count && *ret_same && r == 0; i++)
        r = pj_receipt_input_same(&prepared->inputs[i], ret_same, err);
    return r;
}

/* The PTX is what the record says it is. */
static int read_ptx(struct pj_session *session, int fd, const struct pj_prepared *prepared,
                    const char **ret_ptx, struct pj_error **err)
{
    char name[NAME_TEXT];
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    bool there = false;
    struct pj_sha256 digest;
    make_name(prepared->request, "ptx", name);
    int r = read_trusted(fd, name, PTX_MAX_BYTES, &bytes, &there, err);
    if (r < 0 || !there || bytes.size != prepared->ptx_bytes)
        return r;
    pj_sha256_of(pj_buffer_text(&bytes), bytes.size, &digest);
    if (memcmp(&digest, &prepared->ptx_sha256, sizeof digest) != 0)
        return 0;
    *ret_ptx = pj_arena_strndup(&session->arena, pj_buffer_text(&bytes), bytes.size);
    return *ret_ptx ? 0 : pj_error_no_memory(err);
}

static int open_folder(const struct pj_session *session, int *ret_fd)
{
    PJ_CLEANUP_ERROR struct pj_error *ignored = NULL;
    PJ_CLEANUP_CLOSE int cache = -1;
    PJ_CLEANUP_CLOSE int own = -1;
    if (pj_session_open_cache(session, &cache, &ignored) < 0 ||
        pj_directory_open(cache, ".prejit", false, &own, &ignored) < 0)
        return -1;
    return pj_directory_open(own, folder, false, ret_fd, &ignored);
}

int pj_prepared_load(struct pj_session *session, const struct pj_compiler *compiler, const char *request,
                     struct pj_prepared *ret_prepared, const char **ret_ptx, struct pj_error **err)
{
    char name[NAME_TEXT];
    PJ_CLEANUP_CLOSE int fd = -1;
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
    bool there = false, same = false;
    *ret_ptx = NULL;
    if (session->options->no_receipt || open_folder(session, &fd) < 0)
        return 0;
    make_name(request, "json", name);
    int r = read_trusted(fd, name, PJ_PREPARED_MAX_BYTES, &text, &there, err);
    if (r < 0 || !there)
        return r;
    r = pj_prepared_read(pj_buffer_text(&text), text.size, &session->arena, ret_prepared, &problem);
    if (r < 0)
        return r == PJ_ERROR_NO_MEMORY ? pj_error_no_memory(err) : 0;
    if (strcmp(ret_prepared->request, request) == 0)
        r = still_holds(compiler, ret_prepared, &same, err);
    return r == 0 && same ? read_ptx(session, fd, ret_prepared, ret_ptx, err) : r;
}

/* Of a run that was killed while it wrote: this run has the lock, so nobody else writes. */
static bool is_left_behind(const char *name)
{
    return strstr(name, ".json.") || strstr(name, ".ptx.");
}

/* Counts what is kept; the oldest record is named. Temporary files go. */
static size_t count_kept(int fd, char ret_oldest[NAME_TEXT])
{
    size_t count = 0;
    time_t oldest = 0;
    int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    PJ_CLEANUP_CLOSEDIR DIR *directory = copy >= 0 ? fdopendir(copy) : NULL;
    if (!directory)
        return 0;
    for (struct dirent *entry = readdir(directory); entry; entry = readdir(directory)) {
        struct stat status;
        const char *dot = strrchr(entry->d_name, '.');
        if (is_left_behind(entry->d_name))
            (void)unlinkat(fd, entry->d_name, 0);
        if (!dot || strcmp(dot, ".json") != 0 || strlen(entry->d_name) >= NAME_TEXT ||
            fstatat(fd, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        if (count++ == 0 || status.st_mtim.tv_sec < oldest) {
            oldest = status.st_mtim.tv_sec;
            memcpy(ret_oldest, entry->d_name, strlen(entry->d_name) + 1);
        }
    }
    return count;
}

static void make_room(int fd)
{
    char oldest[NAME_TEXT];
    if (count_kept(fd, oldest) < KEPT_MAX)
        return;
    (void)unlinkat(fd, oldest, 0);
    char *dot = strrchr(oldest, '.');
    if (dot) {
        (void)snprintf(dot, NAME_TEXT - (size_t)(dot - oldest), ".ptx");
        (void)unlinkat(fd, oldest, 0);
    }
}

int pj_prepared_save(struct pj_session *session, const struct pj_prepared *prepared, const char *ptx,
                     struct pj_error **err)
{
    char name[NAME_TEXT];
    PJ_CLEANUP_CLOSE int own = -1;
    PJ_CLEANUP_CLOSE int fd = -1;
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    if (session->options->no_receipt)
        return 0;
    int r = pj_prepared_write(prepared, &text, err);
    if (r == 0)
        r = pj_directory_open(pj_store_directory(session->store), ".prejit", false, &own, err);
    if (r == 0 && mkdirat(own, folder, 0755) != 0 && errno != EEXIST)
        r = pj_error_errno(err, PJ_ERROR_IO, errno, "cannot make the folder %s/.prejit/%s",
                           session->location.path, folder);
    if (r == 0)
        r = pj_directory_open(own, folder, false, &fd, err);
    if (r < 0)
        return r;
    make_room(fd);
    make_name(prepared->request, "ptx", name); /* first: a record without its PTX is no record */
    r = pj_file_replace(fd, name, ptx, (size_t)prepared->ptx_bytes, 0644, err);
    make_name(prepared->request, "json", name);
    if (r == 0)
        r = pj_file_replace(fd, name, pj_buffer_text(&text), text.size, 0644, err);
    return r < 0 ? pj_error_wrap(err, r, "keeping prepared PTX") : 0;
}
