/* SPDX-License-Identifier: Apache-2.0 */
/* The receipt: prejit's record of a finished warm-up, `<cache>/.prejit/receipt.json`, to and from JSON. A
 * hint, never an authority. */
#ifndef PREJIT_REPORT_RECEIPT_H
#define PREJIT_REPORT_RECEIPT_H

#include "base/digest.h"
#include "base/memory.h"
#include "report/model.h"

/** A file as stat saw it. */
struct pj_receipt_file {
    const char *path;
    uint64_t device, inode, size_bytes;
    int64_t mtime_seconds;
};

/** A file that a job was made from. */
struct pj_receipt_input {
    struct pj_receipt_file file; /* inode 0: it may change unseen, so its bytes are looked at */
    int64_t ctime_ns; /* since 1970, of the inode: who writes into a file can set its mtime, and not this */
    struct pj_sha256 sha256;
    bool named;  /* by the manifest; else a header that NVRTC read */
    bool absent; /* there was none; one that came would be taken in place of a header */
};

/** An entry whose name is known; size and time are those of its file, the checksum is its payload's as it was
 * when the job got its verdict, 0 = not known. */
struct pj_receipt_entry {
    uint64_t hash, size_bytes;
    int64_t mtime_seconds;
    uint64_t checksum;
    int64_t ctime_ns; /* of the file's inode, at that time; 0 = nothing to go by */
};

/** One job of the receipt: its row as reported, and what it was made from. The row's entries are not written:
 * they are made from `entries` on reading. */
struct pj_receipt_job {
    struct pj_report_job row;
    struct pj_sha256 content; /* of what the driver got: struct pj_job's */
    uint32_t *inputs;         /* positions in the receipt's `inputs`, each below its `input_count` */
    size_t input_count;
    bool inputs_unknown; /* there are more than are listed: never a no-op */
    struct pj_receipt_entry *entries;
    size_t entry_count;
};

/** All that must be the same for the next run to be a no-op. */
struct pj_receipt {
    struct pj_arena arena; /* holds every string and array */
    const char *tool_version;
    struct pj_sha256 manifest_sha256;
    const char *selection; /* -t and -m as given, canonical text */
    uint64_t limit_bytes;
    unsigned samples;
    const char *gpu_listing; /* canonical text of the /proc/driver/nvidia listing and device nodes as found */
    const char *boot_id; /* of the boot in which the driver told its GPUs; NULL = the listing tells them, or
                            it is not known */
    const char *cuda_visible_devices;  /* NULL = unset */
    const char *ld_library_path;       /* NULL = unset */
    const char *driver_option;         /* --driver or PREJIT_DRIVER; NULL = none */
    int64_t ld_so_cache_mtime_seconds; /* 0 = no such file */
    struct pj_receipt_file
        *driver_files; /* libcuda and its helpers, as a worker had them mapped; libcuda first */
    size_t driver_file_count;
    const char *nvrtc_search;            /* where NVRTC was looked for, one name a line; NULL = no sources */
    struct pj_receipt_file *nvrtc_files; /* itself first */
    size_t nvrtc_file_count;
    struct pj_report_library nvrtc;
    const char *nvjitlink_search; /* the same of nvJitLink; NULL = no links that give PTX */
    struct pj_receipt_file *nvjitlink_files;
    size_t nvjitlink_file_count;
    struct pj_report_library nvjitlink;
    struct pj_report_offline offline;
    struct pj_report_host host;
    unsigned cache_format;               /* 0 = unknown: no entry names */
    size_t left_out;                     /* as in struct pj_report */
    struct pj_report_unserved *unserved; /* as in struct pj_report */
    size_t unserved_count;
    struct pj_receipt_input *inputs; /* of all jobs, each once: a header may be many jobs' */
    size_t input_count;
    struct pj_receipt_job *jobs;
    size_t job_count;
};

/** A larger text is no receipt: nobody keeps one, and pj_receipt_read refuses it. */
enum { PJ_RECEIPT_MAX_BYTES = 64 * 1024 * 1024 };

/** Appends the JSON text of `receipt`, schema "prejit-receipt/4". Every byte of its strings comes back, UTF-8
 * or not; times come back to the microsecond, and as not measured where they are negative or not finite. A
 * NULL id, module, target or path, or an input that there is none of, is PJ_ERROR_INTERNAL. */
int pj_receipt_write(const struct pj_receipt *receipt, struct pj_buffer *ret_text, struct pj_error **err);

/** Parses what pj_receipt_write wrote; anything else (other schema, a missing or mistyped field, another
 * order) is PJ_ERROR_FORMAT. The message says at which byte. Free with pj_receipt_free. */
int pj_receipt_read(const char *text, size_t size, struct pj_receipt **ret_receipt, struct pj_error **err);

/** Frees a receipt that pj_receipt_read gave; accepts NULL. */
void pj_receipt_free(struct pj_receipt *receipt);

#endif
