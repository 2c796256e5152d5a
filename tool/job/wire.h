/* SPDX-License-Identifier: Apache-2.0 */
/* The messages between parent and worker: one SOCK_SEQPACKET datagram each, length-limited, with descriptors
 * where files go along.
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
    PJ_WIRE_ENTRIES_MAX = 512, /* of one load: a link has one for each PTX in its inputs */
    PJ_WIRE_OPTIONS_MAX = 16,
    PJ_WIRE_PATHS_MAX = 64,
    PJ_WIRE_PARTS_MAX = 200,       /* files of one order; the kernel takes 253 descriptors in a message */
    PJ_WIRE_ARGUMENTS_MAX = 1000,  /* options for a compiler, names it shall look up */
    PJ_WIRE_DESCRIPTORS_MAX = 210, /* parts, and what results are written to */
    PJ_WIRE_ARCHS_MAX = 64,
    PJ_WIRE_RUN_MAX = 1 << 20,
};

enum pj_wire_type {
    PJ_WIRE_HELLO = 1, /* worker: greets with its build id */
    PJ_WIRE_START,     /* parent: open this library; the driver: cuInit, perhaps a context */
    PJ_WIRE_STARTED,   /* worker: done, or what failed */
    PJ_WIRE_LOAD,      /* parent: load this image, or link these (descriptors attached), in this way */
    PJ_WIRE_LOADED,    /* worker: what came of it */
    PJ_WIRE_MAKE,      /* parent: compile this source, or link these files, into the descriptors attached */
    PJ_WIRE_MADE,      /* worker: what came of it */
    PJ_WIRE_STEP,      /* worker: on the way to `started`, what it does next */
};

/** What a worker works with: one library for its whole life. */
enum pj_wire_library {
    PJ_LIBRARY_DRIVER,
    PJ_LIBRARY_NVRTC,
    PJ_LIBRARY_NVJITLINK,
    PJ_LIBRARY_PTXAS, /* a program: the worker starts it for each order */
    PJ_LIBRARY_COUNT
};

struct pj_wire_hello {
    const char *build_id;
};

struct pj_wire_start {
    uint32_t library;    /* enum pj_wire_library */
    uint32_t path_count; /* tried in this order; none: libcuda.so.1 by the loader's rule */
    const char **paths;
    const char *watch_path; /* private cache: new entries below it are reported; "" = none */
    uint32_t context;       /* 1: make the primary context of device `ordinal` current */
    uint32_t ordinal;
};

/** What may never end, or kill the worker: told before, so that the parent can say what it was. */
struct pj_wire_step {
    const char *doing; /* "calling cuInit" */
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
    const char *message;     /* for people, where something failed; else ptxas's exact version, "13.0.88", and
                                behind a blank the label of its build, where it tells one */
    int32_t result;          /* CUresult of the failed step */
    const char *result_name;
    int32_t cuda_version;     /* of the driver, NVRTC, nvJitLink or ptxas: 13000 = 13.0 */
    const char *library_path; /* NVRTC, nvJitLink, ptxas: the file that was opened, links resolved */
    uint32_t arch_count;      /* NVRTC: what it compiles for, ascending; 0 = not told */
    uint32_t *archs;
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
    PJ_LOAD_RUN, /* loads (or links and loads) and launches a kernel; what it computed goes to a descriptor */
};

struct pj_wire_option {
    uint32_t option; /* CUjit_option */
    uint32_t value;
};

/** One file of an order; its descriptor comes at the same place. */
struct pj_wire_part {
    uint32_t type;    /* a link: CUjitInputType; nvJitLink: nvJitLinkInputType; else 0 */
    const char *name; /* a link: how logs call it; NVRTC: a header's name in #include */
    uint64_t bytes;
    struct pj_sha256 sha256;
};

struct pj_wire_load {
    uint64_t job;
    uint32_t method;
    uint32_t target; /* CU_JIT_TARGET as a number (90), 0 = not given */
    uint32_t link;   /* 1: cuLink* of all parts; 0: the one part is an image */
    /* RUN: a kernel of the signature (const int *in, int *out, int count), launched with `run_count` threads
     * on in[i] = i; `out` is written, as int32, to the descriptor behind the parts'. */
    const char *run_kernel; /* else "" */
    uint32_t run_count;     /* 1 to PJ_WIRE_RUN_MAX */
    uint32_t part_count;
    struct pj_wire_part *parts;
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
    int32_t result;         /* CUresult of the load, or of the link's first call that failed */
    const char *result_name;
    double call_ms; /* of the first load call alone */
    uint32_t has_wall_ms;
    double wall_ms;        /* CU_JIT_WALL_TIME */
    int32_t second_result; /* PROVE: of the load that asked for the wall time */
    uint64_t peak_rss_bytes;
    const char *log;     /* the driver's error and info log, at most PJ_WIRE_LOG_MAX_BYTES */
    uint32_t refused;    /* COMPILE: the driver refused the image, whatever `result` says */
    uint32_t no_context; /* a link needs one, and none could be made: nothing was linked */
    uint32_t entry_count;
    struct pj_wire_entry *entries;
    uint32_t file_count; /* mapped files of the driver, told once, after a worker's first load: only then its
                            helpers are open */
    struct pj_wire_file *files;
};

/** What a compiler's results are, one bit each. The log may be long, and the headers' list longer: all go
 * into files, whose descriptors follow those of the parts in this order. */
enum pj_wire_output {
    PJ_OUTPUT_LOG = 1,     /* what the library's log says */
    PJ_OUTPUT_HEADERS = 2, /* NVRTC: one file read a line (`-Xcudafe --trace_includes`), as it was opened */
    PJ_OUTPUT_PTX = 4,
    PJ_OUTPUT_CUBIN = 8,
    PJ_OUTPUT_LTOIR = 16,
    PJ_OUTPUT_NAMES = 32, /* NVRTC: the lowered name of each name expression, one a line */
    PJ_OUTPUT_COUNT = 6,
};

struct pj_wire_make {
    uint64_t job;
    const char *name; /* NVRTC: the program's; its part 0 is the source, the others are headers in memory */
    uint32_t outputs; /* enum pj_wire_output */
    uint32_t part_count;
    struct pj_wire_part *parts;
    uint32_t argument_count;
    const char **arguments;
    uint32_t expression_count;
    const char **expressions; /* NVRTC: name expressions */
};

/** What a `made` answer names as its failed call where the library did its part, and the worker could not
 * read or write a file: the message stands as its result's name. */
#define PJ_WIRE_OWN_FAILURE "worker"

struct pj_wire_made {
    uint64_t job;
    uint32_t image_changed;  /* the bytes read were not those of the digest: nothing was made */
    int32_t result;          /* nvrtcResult or nvJitLinkResult of the first call that failed, else 0; of ptxas
                                what pj_worker_ptxas_make says */
    const char *result_name; /* "NVRTC_ERROR_COMPILATION", "exit status 255"; of a library without the
                                function a clause */
    const char *failed_call; /* "nvrtcCompileProgram", "ptxas", PJ_WIRE_OWN_FAILURE; "" = none failed */
    double call_ms;          /* of the compilation or the link alone */
    uint64_t peak_rss_bytes;
    uint32_t file_count;
    struct pj_wire_file *files; /* the library's files as mapped, after the first make */
};

/** A message taken apart; strings and arrays live in the arena given to pj_wire_receive. */
struct pj_wire_message {
    enum pj_wire_type type;
    union {
        struct pj_wire_hello hello;
        struct pj_wire_start start;
        struct pj_wire_step step;
        struct pj_wire_started started;
        struct pj_wire_load load;
        struct pj_wire_loaded loaded;
        struct pj_wire_make make;
        struct pj_wire_made made;
    };
};

/** Descriptors that travel with a message. */
struct pj_wire_descriptors {
    size_t count;
    int fds[PJ_WIRE_DESCRIPTORS_MAX];
};

/** Closes and forgets them. */
void pj_wire_close(struct pj_wire_descriptors *descriptors);
#define PJ_CLEANUP_DESCRIPTORS __attribute__((cleanup(pj_wire_close)))

/** Can the message be sent? PJ_ERROR_UNSUPPORTED where it, or one of its lists, is too long: what it is made
 * of comes from manifests, which may say more than one message holds. */
int pj_wire_fits(const struct pj_wire_message *message, struct pj_error **err);

/** Sends; `descriptors` (NULL = none) travel along and stay the caller's. PJ_ERROR_WORKER where the other end
 * is gone or does not take it; PJ_ERROR_UNSUPPORTED as pj_wire_fits. */
int pj_wire_send(int socket, const struct pj_wire_message *message,
                 const struct pj_wire_descriptors *descriptors, struct pj_error **err);

/** Receives one message. 1 = got one, 0 = the other end closed. The attached descriptors are the caller's.
 * PJ_ERROR_WORKER for anything malformed, PJ_ERROR_BUSY where a non-blocking socket has nothing. */
int pj_wire_receive(int socket, struct pj_arena *arena, struct pj_wire_message *ret_message,
                    struct pj_wire_descriptors *ret_descriptors, struct pj_error **err);

/** Identity of this program: version and the digest of what it was built from, the same in parent and worker.
 */
const char *pj_wire_build_id(void);

#endif
