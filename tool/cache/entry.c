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

/* What the file's size and its first bytes tell: nothing else is read of a file that fails here. */
static int judge_header(struct pj_entry_contents *contents, uint64_t size, const unsigned char *front)
{
    if (size == 0)
        return say(contents, PJ_ENTRY_EMPTY, "it is empty");
    if (size < PJ_ENTRY_HEADER_BYTES)
        return say(contents, PJ_ENTRY_TRUNCATED, "it has %" PRIu64 " bytes, fewer than the %d of a header",
                   size, PJ_ENTRY_HEADER_BYTES);
    pj_entry_header_read(front, &contents->header);
    const struct pj_entry_header *header = &contents->header;
    if (header->format != PJ_CACHE_FORMAT)
        return say(contents, PJ_ENTRY_OTHER_FORMAT, "its format number is %" PRIu32 ", %d is known",
                   header->format, PJ_CACHE_FORMAT);
    uint64_t expected;
    if (!pj_entry_size(header, &expected) || expected != size)
        return say(contents, PJ_ENTRY_TRUNCATED,
                   "it has %" PRIu64 " bytes, its header says 28 and a key of %" PRIu64
                   " and a payload of %" PRIu64,
                   size, header->key_bytes, header->payload_bytes);
    if (header->payload_bytes == 0)
        return say(contents, PJ_ENTRY_TRUNCATED, "it has no payload");
    if (header->key_bytes > PJ_ENTRY_PART_MAX_BYTES || header->payload_bytes > PJ_ENTRY_PART_MAX_BYTES)
        return say(contents, PJ_ENTRY_NAME_WRONG,
                   "its header says a key of %" PRIu64 " bytes and a payload of %" PRIu64
                   ", no module has either",
                   header->key_bytes, header->payload_bytes);
    return 0;
}

static int judge(struct pj_entry_contents *contents, uint64_t hash, pj_payload_check *check_payload)
{
    const unsigned char *bytes = (const unsigned char *)contents->bytes.data;
    int r = judge_header(contents, contents->bytes.size, bytes);
    if (r == 0 && contents->state == PJ_ENTRY_SOUND)
        r = judge_key(contents, hash, bytes + PJ_ENTRY_HEADER_BYTES);
    if (r < 0 || contents->state != PJ_ENTRY_SOUND)
        return r;
    return judge_payload(contents, bytes + PJ_ENTRY_HEADER_BYTES + contents->header.key_bytes, check_payload);
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

static int unreadable(struct pj_entry_contents *contents, const char *what, int errnum)
{
    return say(contents, PJ_ENTRY_UNREADABLE, "%s: %s", what, strerror(errnum));
}

static const char *kind_of(mode_t mode)
{
    return S_ISDIR(mode)    ? "a directory"
           : S_ISFIFO(mode) ? "a named pipe"
           : S_ISSOCK(mode) ? "a socket"
                            : "a device";
}

/* PJ_ENTRY_ABSENT with a message for a link. What is no regular file is not opened: a device may do anything
 * then. */
static int open_file(int folder, uint64_t hash, struct pj_entry_contents *contents)
{
    char name[PJ_ENTRY_NAME_TEXT];
    struct stat status;
    if (fstatat(folder, pj_entry_name(hash, name), &status, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? 0 : unreadable(contents, "it cannot be looked at", errno);
    if (S_ISLNK(status.st_mode))
        return say(contents, PJ_ENTRY_ABSENT, "it is a symbolic link, and prejit follows none there");
    if (!S_ISREG(status.st_mode))
        return say(contents, PJ_ENTRY_IN_THE_WAY, "it is %s", kind_of(status.st_mode));
    contents->fd = open_in(folder, hash);
    if (contents->fd < 0)
        return errno == ENOENT ? 0 : unreadable(contents, "it cannot be opened", errno);
    if (fstat(contents->fd, &contents->status) != 0)
        return unreadable(contents, "it cannot be looked at", errno);
    if (!S_ISREG(contents->status.st_mode))
        return say(contents, PJ_ENTRY_IN_THE_WAY, "it is no regular file");
    contents->state = PJ_ENTRY_SOUND;
    return 0;
}

static int open_entry(int cache_fd, uint64_t hash, struct pj_entry_contents *contents)
{
    PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
    PJ_CLEANUP_CLOSE int folder = -1;
    contents->state = PJ_ENTRY_ABSENT;
    int r = pj_entry_folder_open(cache_fd, hash, &folder, &problem);
    if (r == PJ_ERROR_NO_MEMORY)
        return r;
    if (r < 0)
        return say(contents, PJ_ENTRY_UNREADABLE, "%s", pj_error_message(problem));
    return folder < 0 ? 0 : open_file(folder, hash, contents);
}

/* FNV-1a of a part of the file, in pieces. */
static int hash_part(int fd, const char *name, uint64_t at, uint64_t size, uint64_t *ret_hash,
                     struct pj_error **err)
{
    enum { PIECE_BYTES = 1 << 20 };
    PJ_CLEANUP_FREE unsigned char *piece = malloc(PIECE_BYTES);
    uint64_t hash = PJ_FNV_START;
    if (!piece)
        return pj_error_no_memory(err);
    for (uint64_t done = 0; done < size;) {
        size_t wanted = size - done < PIECE_BYTES ? (size_t)(size - done) : PIECE_BYTES;
        int r = pj_file_pread(fd, name, piece, wanted, at + done, err);
        if (r < 0)
            return r;
        hash = pj_fnv1a(hash, piece, wanted);
        done += wanted;
    }
    *ret_hash = hash;
    return 0;
}

/* The memory for it is taken for what is right alone. */
static int judge_large(struct pj_entry_contents *contents, const char *name, uint64_t hash,
                       struct pj_error **err)
{
    const struct pj_entry_header *header = &contents->header;
    uint64_t found = 0;
    int r = hash_part(contents->fd, name, PJ_ENTRY_HEADER_BYTES, header->key_bytes, &found, err);
    if (r < 0)
        return r;
    if (found != hash)
        return say(contents, PJ_ENTRY_NAME_WRONG, "its name is not its key's hash");
    r = hash_part(contents->fd, name, PJ_ENTRY_HEADER_BYTES + header->key_bytes, header->payload_bytes,
                  &found, err);
    if (r < 0 || found == header->payload_checksum)
        return r;
    return say(contents, PJ_ENTRY_CHECKSUM_WRONG, "its payload's checksum is wrong");
}

/* Header first: its sizes must be the file's before anything else is read. */
static int read_contents(struct pj_entry_contents *contents, uint64_t hash, pj_payload_check *check_payload,
                         struct pj_error **err)
{
    char path[PJ_ENTRY_PATH_TEXT];
    unsigned char front[PJ_ENTRY_HEADER_BYTES] = {0};
    uint64_t size = (uint64_t)contents->status.st_size;
    (void)pj_entry_path(hash, path);
    int r = 0;
    if (size >= sizeof front)
        r = pj_file_pread(contents->fd, path, front, sizeof front, 0, err);
    if (r == 0)
        r = judge_header(contents, size, front);
    if (r == 0 && contents->state == PJ_ENTRY_SOUND && size > PJ_ENTRY_LARGE_BYTES)
        r = judge_large(contents, path, hash, err);
    if (r == 0 && contents->state == PJ_ENTRY_SOUND)
        r = pj_file_read_fd(contents->fd, path, size, &contents->bytes, err);
    return r == 0 && contents->state == PJ_ENTRY_SOUND ? pj_entry_judge(contents, hash, check_payload, NULL)
                                                       : r;
}

int pj_entry_load(int cache_fd, uint64_t hash, pj_payload_check *check_payload,
                  struct pj_entry_contents *ret_contents, struct pj_error **err)
{
    struct pj_entry_contents contents = {.fd = -1};
    PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
    int r = open_entry(cache_fd, hash, &contents);
    if (r == 0 && contents.state == PJ_ENTRY_SOUND)
        r = read_contents(&contents, hash, check_payload, &problem);
    if (r < 0 && r != PJ_ERROR_NO_MEMORY)
        r = say(&contents, PJ_ENTRY_UNREADABLE, "%s", pj_error_message(problem));
    if (r < 0) {
        pj_entry_contents_free(&contents);
        return pj_error_no_memory(err);
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
        [PJ_ENTRY_IN_THE_WAY] = "no regular file",
        [PJ_ENTRY_UNREADABLE] = "unreadable",
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
