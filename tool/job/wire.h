/* SPDX-License-Identifier: Apache-2.0 */
/* The messages between parent and worker: one SOCK_SEQPACKET datagram each, length-limited, with at most one
 * descriptor.
 *
 * Both ends are the same program on the same machine (the greeting carries a build id), so numbers travel in
 * native order; still every length is checked on reading, because a worker has run code that is not ours. */
#ifndef PREJIT_JOB_WIRE_H
#define PREJIT_JOB_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/digest.h"
#include "base/error.h"
#include "base/memory.h"

enum {
    PJ_WIRE_MAX_BYTES = 64 * 1024, /* of one message */
    PJ_WIRE_LOG_MAX_BYTES = 16 * 1024,
    PJ_WIRE_DEVICES_MAX = 64,
    PJ_WIRE_FILES_MAX = 64,
    PJ_WIRE_ENTRIES_MAX = 64,
    PJ_WIRE_OPTIONS_MAX = 16,
};

enum pj_wire_type {
    PJ_WIRE_HELLO = 1, /* worker: greets with its build id */
    PJ_WIRE_START,     /* parent: open the driver, cuInit, perhaps a context */
    PJ_WIRE_STARTED,   /* worker: done, or what failed */
    PJ_WIRE_LOAD,      /* parent: load this image (descriptor attached) in this way */
    PJ_WIRE_LOADED,    /* worker: what came of it */
};

struct pj_wire_hello {
    const char *build_id;
};

struct pj_wire_start {
    const char *driver_path; /* "" = libcuda.so.1 by the loader's rule */
    const char *watch_path;  /* private cache: new entries below it are reported; "" = none */
    uint32_t context;        /* 1: make the primary context of device `ordinal` current */
    uint32_t ordinal;
};

struct pj_wire_device {
    const char *name;
    const char *uuid; /* "GPU-xxxxxxxx-…" */
    uint32_t major, minor;
};

/** A mapped file of the driver, as stat saw it in the worker. */
struct pj_wire_file {
    const char *path;
    uint64_t device, inode, size_bytes;
    int64_t mtime_seconds;
};

struct pj_wire_started {
    const char *failed_step; /* "" = all went well; else "open", "cuInit", "devices", "context" */
    const char *message;     /* for people, where something failed */
    int32_t result;          /* CUresult of the failed step */
    const char *result_name;
    int32_t cuda_version;
    uint32_t has_library_load; /* cuLibraryLoadData exists: compiling needs no context */
    double init_ms, context_ms;
    uint32_t device_count;
    struct pj_wire_device *devices;
    uint32_t file_count;
    struct pj_wire_file *files; /* libcuda first */
};

enum pj_wire_method {
    PJ_LOAD_COMPILE, /* cuLibraryLoadData without a context where it exists; looks for the new entry */
    PJ_LOAD_PROVE,   /* a timed load, then one for CU_JIT_WALL_TIME, with JIT disabled by the environment */
};

struct pj_wire_option {
    uint32_t option; /* CUjit_option */
    uint32_t value;
};

struct pj_wire_load {
    uint64_t job;
    uint32_t method;
    uint32_t target; /* CU_JIT_TARGET as a number (90), 0 = not given */
    uint64_t image_bytes;
    struct pj_sha256 image_sha256;
    uint32_t option_count;
    struct pj_wire_option options[PJ_WIRE_OPTIONS_MAX];
};

struct pj_wire_entry {
    const char *path; /* below the watched cache */
    uint64_t size_bytes;
};

struct pj_wire_loaded {
    uint64_t job;
    uint32_t image_changed; /* the bytes read were not those of the digest: nothing was loaded */
    int32_t result;         /* CUresult of the load */
    const char *result_name;
    double call_ms; /* of the first load call alone */
    uint32_t has_wall_ms;
    double wall_ms;        /* CU_JIT_WALL_TIME */
    int32_t second_result; /* PROVE: of the load that asked for the wall time */
    uint64_t peak_rss_bytes;
    const char *log;  /* the driver's error and info log, at most PJ_WIRE_LOG_MAX_BYTES */
    uint32_t refused; /* COMPILE: the driver refused the image, whatever `result` says */
    uint32_t entry_count;
    struct pj_wire_entry *entries;
    uint32_t file_count; /* mapped files of the driver, told once, after a worker's first load: only then its
                            helpers are open */
    struct pj_wire_file *files;
};

/** A message taken apart; strings and arrays live in the arena given to pj_wire_receive. */
struct pj_wire_message {
    enum pj_wire_type type;
    union {
        struct pj_wire_hello hello;
        struct pj_wire_start start;
        struct pj_wire_started started;
        struct pj_wire_load load;
        struct pj_wire_loaded loaded;
    };
};

/** Sends; `fd` (-1 = none) travels along. PJ_ERROR_WORKER where the other end is gone or does not take it. */
int pj_wire_send(int socket, const struct pj_wire_message *message, int fd, struct pj_error **err);

/** Receives one message. 1 = got one, 0 = the other end closed. *ret_fd is the attached descriptor or -1,
 * owned by the caller. PJ_ERROR_WORKER for anything malformed, PJ_ERROR_BUSY where a non-blocking socket has
 * nothing. */
int pj_wire_receive(int socket, struct pj_arena *arena, struct pj_wire_message *ret_message, int *ret_fd,
                    struct pj_error **err);

/** Identity of this program: version and the digest of what it was built from, the same in parent and worker.
 */
const char *pj_wire_build_id(void);

#endif
