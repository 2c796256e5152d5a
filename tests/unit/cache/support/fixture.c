/* SPDX-License-Identifier: Apache-2.0 */
/* Makes caches for tests and looks into them. */
#include "fixture.h"
#include "index_bytes.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/memory.h"

char *make_cache(void)
{
    /* In memory where that is to be had: the store flushes to disk, and the tests do so thousands of times.
     */
    bool memory = access("/dev/shm", W_OK) == 0;
    char *path = strdup(memory ? "/dev/shm/prejit-cache-XXXXXX" : "/tmp/prejit-cache-XXXXXX");
    assert_non_null(path);
    assert_non_null(mkdtemp(path));
    return path;
}

void remove_cache(char *path)
{
    assert_int_equal(pj_tree_remove(AT_FDCWD, path, NULL), 0);
    free(path);
}

static void append_key(const char *stamp, unsigned arch, const char *image, struct pj_buffer *key)
{
    pj_buffer_printf(key, "%sHOST64sm_%u%s", stamp, arch, image);
    pj_buffer_append(key, "\0 ", 2);
}

uint64_t make_entry_bytes(const char *stamp, unsigned arch, const char *image, size_t payload_size,
                          struct pj_buffer *ret_bytes)
{
    PJ_CLEANUP_BUFFER struct pj_buffer key = {.data = NULL}, payload = {.data = NULL};
    unsigned char header[PJ_ENTRY_HEADER_BYTES];
    append_key(stamp, arch, image, &key);
    pj_buffer_printf(&payload, "ELF%u.", arch);
    while (payload.size < payload_size)
        pj_buffer_putc(&payload, (char)('a' + payload.size % 26));
    struct pj_entry_header fields = {.format = PJ_CACHE_FORMAT,
                                     .key_bytes = key.size,
                                     .payload_bytes = payload.size,
                                     .payload_checksum = pj_fnv1a(PJ_FNV_START, payload.data, payload.size)};
    pj_entry_header_write(&fields, header);
    pj_buffer_append(ret_bytes, header, sizeof header);
    pj_buffer_append(ret_bytes, key.data, key.size);
    pj_buffer_append(ret_bytes, payload.data, payload.size);
    assert_int_equal(pj_buffer_check(ret_bytes, NULL), 0);
    return pj_fnv1a(PJ_FNV_START, key.data, key.size);
}

static char *entry_file(const char *cache, uint64_t hash)
{
    char relative[PJ_ENTRY_PATH_TEXT];
    char *path = pj_path_join(cache, pj_entry_path(hash, relative));
    assert_non_null(path);
    return path;
}

void write_entry(const char *cache, uint64_t hash, const void *bytes, size_t size)
{
    PJ_CLEANUP_FREE char *path = entry_file(cache, hash);
    PJ_CLEANUP_FREE char *folder = strdup(path);
    assert_non_null(folder);
    *strrchr(folder, '/') = '\0';
    assert_int_equal(pj_directory_create(folder, 0700, NULL), 0);
    PJ_CLEANUP_FCLOSE FILE *file = fopen(path, "wb");
    assert_non_null(file);
    if (size > 0)
        assert_int_equal(fwrite(bytes, size, 1, file), 1);
}

uint64_t put_entry(const char *cache, const char *stamp, const char *image, size_t payload_size)
{
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {.data = NULL};
    uint64_t hash = make_entry_bytes(stamp, 90, image, payload_size, &bytes);
    write_entry(cache, hash, bytes.data, bytes.size);
    return hash;
}

void put_index_bytes(const char *cache, const void *bytes, size_t size)
{
    PJ_CLEANUP_FREE char *path = pj_path_join(cache, "index");
    PJ_CLEANUP_FCLOSE FILE *file = fopen(path, "wb");
    assert_non_null(file);
    if (size > 0)
        assert_int_equal(fwrite(bytes, size, 1, file), 1);
}

void put_index(const char *cache, const uint64_t *hashes, size_t count)
{
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {.data = NULL};
    struct pj_index index = {.count = count};
    PJ_CLEANUP_FREE struct pj_index_record *records = calloc(count + 1, sizeof *records);
    assert_non_null(records);
    for (size_t i = 0; i < count; i++)
        records[i] = (struct pj_index_record){.hash = hashes[i], .size = entry_bytes(cache, hashes[i]) - 28};
    index.records = records;
    index_bytes(&index, &bytes);
    assert_int_equal(pj_buffer_check(&bytes, NULL), 0);
    put_index_bytes(cache, bytes.data, bytes.size);
}

bool path_exists(const char *cache, const char *name)
{
    PJ_CLEANUP_FREE char *path = pj_path_join(cache, name);
    return faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

bool entry_exists(const char *cache, uint64_t hash)
{
    char relative[PJ_ENTRY_PATH_TEXT];
    return path_exists(cache, pj_entry_path(hash, relative));
}

uint64_t entry_bytes(const char *cache, uint64_t hash)
{
    PJ_CLEANUP_FREE char *path = entry_file(cache, hash);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    return (uint64_t)status.st_size;
}

enum pj_entry_state entry_state(const char *cache, uint64_t hash)
{
    PJ_CLEANUP_CLOSE int fd = open(cache, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    enum pj_entry_state state;
    char stamp[PJ_STAMP_MAX + 1];
    assert_int_equal(pj_entry_check(fd, hash, fixture_check, &state, stamp, NULL, NULL), 0);
    return state;
}

void expect_index(const char *cache, const uint64_t *hashes, size_t count)
{
    struct pj_snapshot snapshot;
    assert_int_equal(pj_snapshot_take(cache, &snapshot, NULL), 0);
    assert_int_equal(snapshot.index_state, PJ_INDEX_VALID);
    assert_int_equal(snapshot.index.count, count);
    uint64_t total = 0;
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(snapshot.index.records[i].hash, hashes[i]);
        assert_int_equal(snapshot.index.records[i].size, entry_bytes(cache, hashes[i]) - 28);
        total += snapshot.index.records[i].size;
    }
    assert_int_equal(snapshot.index.total_bytes, total);
    pj_snapshot_free(&snapshot);
}

void expect_no_rubbish(const char *cache)
{
    PJ_CLEANUP_FREE char *path = pj_path_join(cache, ".prejit");
    PJ_CLEANUP_CLOSEDIR DIR *directory = opendir(path);
    const struct dirent *item;
    while (directory && (item = readdir(directory))) {
        if (strncmp(item->d_name, "run-", 4) == 0)
            fail_msg("%s/%s was left behind", path, item->d_name);
    }
}

int fixture_check(const void *payload, size_t size, const struct pj_cache_key *key, struct pj_error **err)
{
    char front[16];
    unsigned arch_number = key->arch_number;
    int length = snprintf(front, sizeof front, "ELF%u.", arch_number);
    if (size >= (size_t)length && memcmp(payload, front, (size_t)length) == 0)
        return 0;
    return pj_error_set(err, PJ_ERROR_FORMAT, "the payload is no cubin for sm_%u", arch_number);
}

struct pj_store_options fixture_options(const char *cache)
{
    return (struct pj_store_options){
        .path = cache, .limit_bytes = UINT64_C(1) << 30, .check_payload = fixture_check};
}

struct pj_store *open_store(const struct pj_store_options *options, struct pj_store_preparation *ret_done)
{
    struct pj_store *store = NULL;
    struct pj_store_preparation done;
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    if (pj_store_open(options, &store, &err) < 0 || pj_store_prepare(store, &done, &err) < 0)
        fail_msg("%s", pj_error_message(err));
    if (ret_done)
        *ret_done = done;
    return store;
}

struct pj_commit_item put_item(struct pj_store *store, size_t folder, const char *stamp, const char *image,
                               size_t payload_size)
{
    const char *path = NULL;
    assert_int_equal(pj_store_private_folder(store, folder, &path, NULL), 0);
    return (struct pj_commit_item){.hash = put_entry(path, stamp, image, payload_size), .folder = folder};
}
