/* SPDX-License-Identifier: Apache-2.0 */
/* One entry file opened, read and judged; what snapshot.h and the store are made of. */
#ifndef PREJIT_CACHE_ENTRY_H
#define PREJIT_CACHE_ENTRY_H

#include <stdint.h>
#include <sys/stat.h>

#include "base/buffer.h"
#include "base/file.h"
#include "cache/format.h"
#include "cache/snapshot.h"

enum { PJ_ENTRY_NAME_TEXT = 15 }; /* "920786966c763d" and NUL */

/** Neither a module nor its cubin comes near it: what a file says of itself does not decide how much is read.
 */
#define PJ_ENTRY_PART_MAX_BYTES (UINT64_C(1) << 30)
/** A larger entry is read into memory only after its key's hash and its checksum were found to be right. */
#define PJ_ENTRY_LARGE_BYTES (UINT64_C(64) << 20)

/** An entry file and the verdict on it; `key` points into `bytes`. */
struct pj_entry_contents {
    int fd; /* open for reading, -1 where absent */
    struct stat status;
    struct pj_buffer bytes;
    struct pj_entry_header header;
    struct pj_cache_key key; /* valid where the state is SOUND or PAYLOAD_WRONG */
    enum pj_entry_state state;
    char *message; /* what is wrong; NULL for SOUND */
};

/** Name of the file in its hash directory; gives `ret_name`. */
char *pj_entry_name(uint64_t hash, char ret_name[PJ_ENTRY_NAME_TEXT]);

/** Opens the hash directory of `hash` (O_PATH), following no link; leaves *ret_fd alone where it is absent.
 */
int pj_entry_folder_open(int cache_fd, uint64_t hash, int *ret_fd, struct pj_error **err);

/** Judges `contents->bytes` as the entry named `hash`: sets state, header, key, message. */
int pj_entry_judge(struct pj_entry_contents *contents, uint64_t hash, pj_payload_check *check_payload,
                   struct pj_error **err);

/** Opens, reads and judges; an absent or unreadable file is a state, not an error. */
int pj_entry_load(int cache_fd, uint64_t hash, pj_payload_check *check_payload,
                  struct pj_entry_contents *ret_contents, struct pj_error **err);

void pj_entry_contents_free(struct pj_entry_contents *contents);

#define PJ_CLEANUP_ENTRY __attribute__((cleanup(pj_entry_contents_free)))

enum pj_entry_origin {
    PJ_ENTRY_ORIGIN_UNKNOWN, /* not readable as a key */
    PJ_ENTRY_ORIGIN_ABSENT,
    PJ_ENTRY_ORIGIN_THIS,  /* stored by the driver of this stamp */
    PJ_ENTRY_ORIGIN_STALE, /* stored by a driver of another stamp */
    PJ_ENTRY_ORIGIN_TOOL,  /* NVRTC's or nvJitLink's */
};

/** Whose entry it is, from the two ends of its key: a kilobyte is read, not the file. */
enum pj_entry_origin pj_entry_peek(int cache_fd, uint64_t hash, const char *stamp);

/** The payload's checksum as the entry's header gives it; the payload is not read. false where there is none
 * to read. */
bool pj_entry_peek_checksum(int cache_fd, uint64_t hash, uint64_t *ret_checksum, int64_t *ret_ctime_ns);

#endif
