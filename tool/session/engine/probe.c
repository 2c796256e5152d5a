/* SPDX-License-Identifier: Apache-2.0 */
/* Tiny modules: made, handed out, and taken apart again as cache entries. */
#include "session/engine/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "cache/format.h"
#include "session/run/outcome.h"

/* Old enough for every driver and GPU that can be met: PTX ISA 5.0 is CUDA 8's, sm_50 is Maxwell. */
static const char tiny_module[] = ".version 5.0\n"
                                  ".target sm_50\n"
                                  ".address_size 64\n"
                                  ".visible .entry prejit_probe()\n"
                                  "{\n"
                                  "\tret;\n"
                                  "}\n";

int pj_probe_make(bool unique, struct pj_probe *ret_probe, struct pj_error **err)
{
    uint64_t random[2] = {0, 0};
    struct pj_probe probe = {.fd = -1};
    int r = unique ? pj_random_bytes(random, sizeof random, err) : 0;
    if (r < 0)
        return r;
    int length = unique ? asprintf(&probe.text, "// prejit canary %016" PRIx64 "%016" PRIx64 "\n%s",
                                   random[0], random[1], tiny_module)
                        : asprintf(&probe.text, "%s", tiny_module);
    if (length < 0)
        return pj_error_no_memory(err);
    probe.size = (size_t)length;
    pj_sha256_of(probe.text, probe.size, &probe.sha256);
    r = pj_file_in_memory(probe.text, probe.size, &probe.fd, err);
    if (r < 0) {
        pj_probe_close(&probe);
        return r;
    }
    *ret_probe = probe;
    return 0;
}

void pj_probe_close(struct pj_probe *probe)
{
    pj_close(probe->fd);
    free(probe->text);
    *probe = (struct pj_probe){.fd = -1};
}

void pj_probe_part(const struct pj_probe *probe, struct pj_wire_part *ret_part,
                   struct pj_wire_descriptors *ret_descriptors)
{
    *ret_part = (struct pj_wire_part){
        .type = PJ_JIT_INPUT_PTX,
        .name = "prejit probe",
        .bytes = probe->size,
        .sha256 = probe->sha256,
    };
    ret_descriptors->count = 1;
    ret_descriptors->fds[0] = probe->fd;
}

/* Is this file exactly what the known format makes of the probe? Then its key tells the stamp. */
static int read_stamp(const struct pj_probe *probe, const char *bytes, size_t size, uint64_t name,
                      uint16_t arch_number, struct pj_cache_key *key, bool *ret_known, struct pj_error **err)
{
    PJ_CLEANUP_ERROR struct pj_error *ignored = NULL;
    *ret_known = false;
    struct pj_entry_header header;
    if (size < PJ_ENTRY_HEADER_BYTES)
        return 0;
    pj_entry_header_read((const unsigned char *)bytes, &header);
    if (header.format != PJ_CACHE_FORMAT || header.key_bytes > size - PJ_ENTRY_HEADER_BYTES ||
        header.payload_bytes != size - PJ_ENTRY_HEADER_BYTES - header.key_bytes)
        return 0;
    const char *payload = bytes + PJ_ENTRY_HEADER_BYTES + header.key_bytes;
    if (pj_fnv1a(PJ_FNV_START, payload, (size_t)header.payload_bytes) != header.payload_checksum)
        return 0;
    const char *key_bytes = bytes + PJ_ENTRY_HEADER_BYTES;
    if (pj_cache_key_read(key_bytes, (size_t)header.key_bytes, key, &ignored) < 0 ||
        pj_fnv1a(PJ_FNV_START, key_bytes, (size_t)header.key_bytes) != name)
        return 0;
    /* A driver whose code this version cannot judge would have every entry called damaged. */
    int r = pj_check_payload(payload, (size_t)header.payload_bytes, key, &ignored);
    *ret_known = r == 0 && key->arch_number == arch_number && key->options_size == 0 &&
                 pj_cache_key_hash(key->stamp, arch_number, probe->text, probe->size, "") == name;
    return r == PJ_ERROR_NO_MEMORY ? pj_error_no_memory(err) : 0;
}

static bool is_failure_of_machine(int errnum)
{
    return errnum != 0 && errnum != ENOENT && errnum != ENOTDIR && errnum != EINVAL && errnum != EFBIG &&
           errnum != ELOOP;
}

int pj_probe_learn(struct pj_session *session, const struct pj_probe *probe, const char *folder,
                   const char *path, uint16_t arch_number, struct pj_error **err)
{
    enum { ENTRY_MAX_BYTES = 16 << 20 };
    PJ_CLEANUP_FREE char *full = pj_path_join(folder, path);
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
    struct pj_cache_key key;
    uint64_t name;
    if (!full)
        return pj_error_no_memory(err);
    session->format = PJ_FORMAT_OTHER;
    if (!pj_entry_path_read(path, &name)) /* the path is a worker's word: nothing else is opened */
        return 0;
    int r = pj_file_read(AT_FDCWD, full, ENTRY_MAX_BYTES, &bytes, &problem);
    /* Not there, or no file, is an answer about the format; a disk that cannot be read is none. */
    if (r == PJ_ERROR_NO_MEMORY)
        return pj_error_no_memory(err);
    if (r < 0 && is_failure_of_machine(problem->errnum))
        return pj_error_errno(err, PJ_ERROR_IO, problem->errnum, "cannot read what the driver stored in %s",
                              folder);
    if (r < 0)
        return 0;
    bool known = false;
    r = read_stamp(probe, pj_buffer_text(&bytes), bytes.size, name, arch_number, &key, &known, err);
    if (r < 0 || !known)
        return r;
    session->stamp = pj_arena_strdup(&session->arena, key.stamp);
    if (!session->stamp)
        return pj_error_no_memory(err);
    session->format = PJ_FORMAT_KNOWN;
    return 0;
}
