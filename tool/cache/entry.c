/* SPDX-License-Identifier: Apache-2.0 */
/* Reads one entry file and judges it. */
#include "cache/entry.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"

int pj_entry_folder_open(int cache_fd, uint64_t hash, int *ret_fd, struct pj_error **err)
{
    char path[PJ_ENTRY_PATH_TEXT];
    (void)pj_entry_path(hash, path);
    path[1] = path[3] = '\0';
    PJ_CLEANUP_CLOSE int first = openat(cache_fd, path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (first < 0)
        return errno == ENOENT ? 0
                               : pj_error_errno(err, PJ_ERROR_ENVIRONMENT, errno,
                                                "cannot use the hash directory %s of the cache", path);
    int second = openat(first, path + 2, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (second < 0)
        return errno == ENOENT
                   ? 0
                   : pj_error_errno(err, PJ_ERROR_ENVIRONMENT, errno,
                                    "cannot use the hash directory %s/%s of the cache", path, path + 2);
    *ret_fd = second;
    return 0;
}

char *pj_entry_name(uint64_t hash, char ret_name[PJ_ENTRY_NAME_TEXT])
{
    (void)snprintf(ret_name, PJ_ENTRY_NAME_TEXT, "%014" PRIx64, hash & UINT64_C(0xffffffffffffff));
    return ret_name;
}

void pj_entry_contents_free(struct pj_entry_contents *contents)
{
    pj_buffer_free(&contents->bytes);
    free(contents->message);
    contents->message = NULL;
    pj_close(contents->fd);
    contents->fd = -1;
}

static int say(struct pj_entry_contents *contents, enum pj_entry_state state, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Sets the state and what is wrong; negative where memory is out. */
static int say(struct pj_entry_contents *contents, enum pj_entry_state state, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&contents->message, format, arguments);
    va_end(arguments);
    if (length < 0)
        contents->message = NULL;
    contents->state = state;
    return length < 0 ? PJ_ERROR_NO_MEMORY : 0;
}

static int judge_key(struct pj_entry_contents *contents, uint64_t hash, const unsigned char *key)
{
    uint64_t found = pj_fnv1a(PJ_FNV_START, key, contents->header.key_bytes);
    if (found != hash) {
        char path[PJ_ENTRY_PATH_TEXT];
        return say(contents, PJ_ENTRY_NAME_WRONG, "its name is not its key's hash, which gives %s",
                   pj_entry_path(found, path));
    }
    PJ_CLEANUP_ERROR struct pj_error *why = NULL;
    if (pj_cache_key_read(key, contents->header.key_bytes, &contents->key, &why) == 0)
        return 0;
    return say(contents, PJ_ENTRY_NAME_WRONG, "%s", pj_error_message(why));
}

static int judge_payload(struct pj_entry_contents *contents, const unsigned char *payload,
                         pj_payload_check *check_payload)
{
    const struct pj_entry_header *header = &contents->header;
    uint64_t checksum = pj_fnv1a(PJ_FNV_START, payload, header->payload_bytes);
    if (checksum != header->payload_checksum)
        return say(contents, PJ_ENTRY_CHECKSUM_WRONG,
                   "its payload's checksum is %016" PRIx64 ", its header says %016" PRIx64, checksum,
                   header->payload_checksum);
    PJ_CLEANUP_ERROR struct pj_error *why = NULL;
    if (!check_payload || !pj_cache_key_of_driver(&contents->key))
        return 0;
    int r = check_payload(payload, header->payload_bytes, &contents->key, &why);
    if (r == 0 || r == PJ_ERROR_NO_MEMORY)
        return r;
    return say(contents, PJ_ENTRY_PAYLOAD_WRONG, "%s; the driver believes it and never compiles it again",
               pj_error_message(why));
}

static int judge(struct pj_entry_contents *contents, uint64_t hash, pj_payload_check *check_payload)
{
    size_t size = contents->bytes.size;
    const unsigned char *bytes = (const unsigned char *)contents->bytes.data;
    if (size == 0)
        return say(contents, PJ_ENTRY_EMPTY, "it is empty");
    if (size < PJ_ENTRY_HEADER_BYTES)
        return say(contents, PJ_ENTRY_TRUNCATED, "it has %zu bytes, fewer than the %d of a header", size,
                   PJ_ENTRY_HEADER_BYTES);
    pj_entry_header_read(bytes, &contents->header);
    const struct pj_entry_header *header = &contents->header;
    if (header->format != PJ_CACHE_FORMAT)
        return say(contents, PJ_ENTRY_OTHER_FORMAT, "its format number is %" PRIu32 ", %d is known",
                   header->format, PJ_CACHE_FORMAT);
    uint64_t expected;
    if (!pj_entry_size(header, &expected) || expected != size)
        return say(contents, PJ_ENTRY_TRUNCATED,
                   "it has %zu bytes, its header says 28 and a key of %" PRIu64 " and a payload of %" PRIu64,
                   size, header->key_bytes, header->payload_bytes);
    if (header->payload_bytes == 0)
        return say(contents, PJ_ENTRY_TRUNCATED, "it has no payload");
    int r = judge_key(contents, hash, bytes + PJ_ENTRY_HEADER_BYTES);
    if (r < 0 || contents->state != PJ_ENTRY_SOUND)
        return r;
    return judge_payload(contents, bytes + PJ_ENTRY_HEADER_BYTES + header->key_bytes, check_payload);
}

int pj_entry_judge(struct pj_entry_contents *contents, uint64_t hash, pj_payload_check *check_payload,
                   struct pj_error **err)
{
    contents->state = PJ_ENTRY_SOUND;
    return judge(contents, hash, check_payload) < 0 ? pj_error_no_memory(err) : 0;
}

/* The descriptor, or -1 and errno; no link is followed, and what is no file does not block. */
static int open_in(int folder, uint64_t hash)
{
    char name[PJ_ENTRY_NAME_TEXT];
    return openat(folder, pj_entry_name(hash, name),
                  O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

/* PJ_ENTRY_ABSENT with a message for what is no regular file. */
static int open_entry(int cache_fd, uint64_t hash, struct pj_entry_contents *contents, struct pj_error **err)
{
    char path[PJ_ENTRY_PATH_TEXT];
    (void)pj_entry_path(hash, path);
    PJ_CLEANUP_CLOSE int folder = -1;
    contents->state = PJ_ENTRY_ABSENT;
    int r = pj_entry_folder_open(cache_fd, hash, &folder, err);
    if (r < 0 || folder < 0)
        return r;
    contents->fd = open_in(folder, hash);
    if (contents->fd < 0 && errno == ENOENT)
        return 0;
    if (contents->fd < 0 && errno == ELOOP)
        return say(contents, PJ_ENTRY_ABSENT, "it is a symbolic link, and prejit follows none there") < 0
                   ? pj_error_no_memory(err)
                   : 0;
    if (contents->fd < 0)
        return pj_error_errno(err, PJ_ERROR_IO, errno, "cannot open the entry %s", path);
    if (fstat(contents->fd, &contents->status) != 0)
        return pj_error_errno(err, PJ_ERROR_IO, errno, "cannot stat the entry %s", path);
    if (!S_ISREG(contents->status.st_mode))
        return say(contents, PJ_ENTRY_ABSENT, "it is no regular file") < 0 ? pj_error_no_memory(err) : 0;
    contents->state = PJ_ENTRY_SOUND;
    return 0;
}

int pj_entry_load(int cache_fd, uint64_t hash, pj_payload_check *check_payload,
                  struct pj_entry_contents *ret_contents, struct pj_error **err)
{
    char path[PJ_ENTRY_PATH_TEXT];
    struct pj_entry_contents contents = {.fd = -1};
    int r = open_entry(cache_fd, hash, &contents, err);
    if (r == 0 && contents.state == PJ_ENTRY_SOUND) {
        r = pj_file_read_fd(contents.fd, pj_entry_path(hash, path), PJ_ENTRY_MAX_BYTES, &contents.bytes, err);
        if (r == 0)
            r = pj_entry_judge(&contents, hash, check_payload, err);
    }
    if (r < 0) {
        pj_entry_contents_free(&contents);
        return r;
    }
    *ret_contents = contents;
    return 0;
}

int pj_entry_check(int cache_fd, uint64_t hash, pj_payload_check *check_payload,
                   enum pj_entry_state *ret_state, char ret_stamp[PJ_STAMP_MAX + 1], char **ret_message,
                   struct pj_error **err)
{
    PJ_CLEANUP_ENTRY struct pj_entry_contents contents = {.fd = -1};
    int r = pj_entry_load(cache_fd, hash, check_payload, &contents, err);
    if (r < 0)
        return r;
    (void)snprintf(ret_stamp, PJ_STAMP_MAX + 1, "%s",
                   contents.state == PJ_ENTRY_SOUND ? contents.key.stamp : "");
    *ret_state = contents.state;
    if (ret_message)
        *ret_message = PJ_STEAL(contents.message);
    return 0;
}

const char *pj_entry_state_text(enum pj_entry_state state)
{
    static const char *const texts[] = {
        [PJ_ENTRY_SOUND] = "sound",
        [PJ_ENTRY_ABSENT] = "absent",
        [PJ_ENTRY_EMPTY] = "empty",
        [PJ_ENTRY_TRUNCATED] = "truncated",
        [PJ_ENTRY_OTHER_FORMAT] = "of another format",
        [PJ_ENTRY_NAME_WRONG] = "not named by its key",
        [PJ_ENTRY_CHECKSUM_WRONG] = "damaged",
        [PJ_ENTRY_PAYLOAD_WRONG] = "believed but wrong",
    };
    return (size_t)state < PJ_COUNT(texts) ? texts[state] : "in an unknown state";
}

/* A key's beginning and end joined read like a short key; the image between is not needed. */
static bool read_key_ends(int fd, char *bytes, size_t front, size_t tail_room, size_t *ret_size)
{
    unsigned char head[PJ_ENTRY_HEADER_BYTES];
    struct pj_entry_header header;
    if (pread(fd, head, sizeof head, 0) != (ssize_t)sizeof head)
        return false;
    pj_entry_header_read(head, &header);
    if (header.format != PJ_CACHE_FORMAT || header.key_bytes < front || header.key_bytes > INT64_MAX / 2)
        return false;
    size_t tail = header.key_bytes - front < tail_room ? (size_t)(header.key_bytes - front) : tail_room;
    off_t tail_at = (off_t)(PJ_ENTRY_HEADER_BYTES + header.key_bytes - tail);
    if (pread(fd, bytes, front, PJ_ENTRY_HEADER_BYTES) != (ssize_t)front ||
        pread(fd, bytes + front, tail, tail_at) != (ssize_t)tail)
        return false;
    *ret_size = front + tail;
    return true;
}

/* As open_in, with ENOENT also where the hash directory is absent. */
static int open_to_peek(int cache_fd, uint64_t hash)
{
    PJ_CLEANUP_CLOSE int folder = -1;
    int r = pj_entry_folder_open(cache_fd, hash, &folder, NULL);
    if (r < 0 || folder < 0) {
        errno = r < 0 ? EACCES : ENOENT;
        return -1;
    }
    return open_in(folder, hash);
}

bool pj_entry_peek_checksum(int cache_fd, uint64_t hash, uint64_t *ret_checksum, int64_t *ret_ctime_ns)
{
    struct stat status;
    unsigned char head[PJ_ENTRY_HEADER_BYTES];
    struct pj_entry_header header;
    PJ_CLEANUP_CLOSE int fd = open_to_peek(cache_fd, hash);
    if (fd < 0 || pread(fd, head, sizeof head, 0) != (ssize_t)sizeof head || fstat(fd, &status) != 0)
        return false;
    pj_entry_header_read(head, &header);
    *ret_ctime_ns = pj_clock_ns(&status.st_ctim);
    *ret_checksum = header.payload_checksum;
    return header.format == PJ_CACHE_FORMAT;
}

enum pj_entry_origin pj_entry_peek(int cache_fd, uint64_t hash, const char *stamp)
{
    enum { FRONT = PJ_STAMP_MAX + 32, TAIL = 512 };
    char bytes[FRONT + TAIL];
    size_t size = 0;
    PJ_CLEANUP_CLOSE int fd = open_to_peek(cache_fd, hash);
    if (fd < 0)
        return errno == ENOENT ? PJ_ENTRY_ORIGIN_ABSENT : PJ_ENTRY_ORIGIN_UNKNOWN;
    struct pj_cache_key key;
    if (!read_key_ends(fd, bytes, FRONT, TAIL, &size) || pj_cache_key_read(bytes, size, &key, NULL) < 0)
        return PJ_ENTRY_ORIGIN_UNKNOWN;
    if (!pj_cache_key_of_driver(&key))
        return PJ_ENTRY_ORIGIN_TOOL;
    return strcmp(key.stamp, stamp) == 0 ? PJ_ENTRY_ORIGIN_THIS : PJ_ENTRY_ORIGIN_STALE;
}
