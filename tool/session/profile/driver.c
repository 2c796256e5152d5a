/* SPDX-License-Identifier: Apache-2.0 */
/* What the driver makes of the cases, beside what was predicted. */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cache/assemble.h"
#include "cache/entry.h"
#include "session/profile/profile.h"
#include "session/run/outcome.h"

/* Does the driver say that it has no such target? The PTX is one that it compiles for its own GPU, so a
 * refusal of the option's value [71], of the PTX or of its version means the target. Other results mean it
 * where the compiler's own words are there; CUDA_ERROR_NO_BINARY_FOR_GPU alone does not, since code that was
 * compiled for another GPU may be refused with it, as a cubin of another GPU is [69]. */
static bool means_unknown_target(const struct pj_trial_answer *answer)
{
    enum { INVALID_VALUE = 1, INVALID_PTX = 218, UNSUPPORTED_PTX_VERSION = 222 };
    return answer->result == INVALID_VALUE || answer->result == INVALID_PTX ||
           answer->result == UNSUPPORTED_PTX_VERSION ||
           strstr(answer->log, "is not defined for option 'gpu-name'");
}

int pj_profile_problem(struct pj_profile_work *work, struct pj_profile_trial *trial, struct pj_error **err,
                       const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const char *text = pj_arena_vprintf(&work->trial.arena, format, arguments);
    va_end(arguments);
    if (!text)
        return pj_error_no_memory(err);
    if (!trial->problem)
        trial->problem = text;
    return 0;
}

static int compile(struct pj_profile_work *work, struct pj_profile_trial *trial, const char *cache,
                   struct pj_error **err)
{
    struct pj_trial_answer answer;
    bool foreign = trial->of->load.target != 0;
    int r = pj_trial_compile(&work->trial, cache, &trial->of->load, &answer, err);
    if (r < 0)
        return r;
    trial->unknown_arch = foreign && !answer.died && means_unknown_target(&answer);
    /* What is compiled for another GPU and cannot be loaded leaves no log [28]. */
    bool compiled = answer.result == 0 || (foreign && !answer.died && answer.log[0] == '\0');
    if (compiled && !trial->unknown_arch)
        return 0;
    const char *name = answer.result == 0 ? "" : answer.result_name;
    return pj_profile_problem(work, trial, err, "the driver %s: %s%s%.*s",
                              trial->unknown_arch ? "does not compile for it" : "did not compile it", name,
                              *name && *answer.log ? " " : "", (int)strcspn(answer.log, "\n"), answer.log);
}

/* The only entry of the plain case tells the stamp. */
int pj_profile_learn(struct pj_profile_work *work, struct pj_error **err)
{
    const char *cache = NULL;
    struct pj_snapshot snapshot = {0};
    struct pj_profile_trial *plain = &work->trials[0];
    int r = pj_trial_cache(&work->trial, "stamp", &cache, err);
    if (r == 0)
        r = compile(work, plain, cache, err);
    if (r == 0 && plain->problem)
        r = pj_error_set(err, PJ_ERROR_ENVIRONMENT,
                         "nothing can be learned of the driver from a plain kernel: %s", plain->problem);
    if (r == 0)
        r = pj_snapshot_take(cache, &snapshot, err);
    if (r < 0)
        return r;
    PJ_CLEANUP_CLOSE int fd = -1;
    PJ_CLEANUP_ENTRY struct pj_entry_contents contents = {.fd = -1};
    uint64_t hash = snapshot.count == 1 ? snapshot.entries[0].hash : 0;
    pj_snapshot_free(&snapshot);
    r = pj_directory_open(AT_FDCWD, cache, true, &fd, err);
    if (r == 0 && hash)
        r = pj_entry_load(fd, hash, pj_check_payload, &contents, err);
    if (r < 0)
        return r;
    if (!hash || contents.state != PJ_ENTRY_SOUND)
        return pj_error_set(
            err, PJ_ERROR_ENVIRONMENT,
            "the driver did not write one sound entry of the known cache format (%d): there can be no "
            "profile of it with this prejit",
            PJ_CACHE_FORMAT);
    work->stamp = pj_arena_strdup(&work->trial.arena, contents.key.stamp);
    return work->stamp ? 0 : pj_error_no_memory(err);
}

uint64_t pj_profile_entry_hash(const struct pj_profile_work *work, const struct pj_profile_trial *trial,
                               size_t index)
{
    const struct pj_buffer *image = trial->of->key_image;
    const char *text = trial->of->load.texts[index];
    return image ? pj_cache_key_hash_exact(work->stamp, trial->arch, pj_buffer_text(image), image->size,
                                           trial->option_text)
                 : pj_cache_key_hash(work->stamp, trial->arch, text, strlen(text), trial->option_text);
}

int pj_profile_entry_assemble(const struct pj_profile_work *work, const struct pj_profile_trial *trial,
                              size_t index, const struct pj_buffer *payload, struct pj_buffer *ret_file,
                              uint64_t *ret_hash, struct pj_error **err)
{
    const struct pj_buffer *image = trial->of->key_image;
    const char *text = trial->of->load.texts[index], *bytes = pj_buffer_text(payload);
    if (image)
        return pj_entry_assemble_exact(work->stamp, trial->arch, pj_buffer_text(image), image->size,
                                       trial->option_text, bytes, payload->size, ret_file, ret_hash, err);
    return pj_entry_assemble(work->stamp, trial->arch, text, strlen(text), trial->option_text, bytes,
                             payload->size, ret_file, ret_hash, err);
}

/* The entry of text number `index`: read under the name predicted, and assembled anew from its payload. */
static int check_entry(struct pj_profile_work *work, struct pj_profile_trial *trial, const char *cache,
                       size_t index, struct pj_error **err)
{
    char path[PJ_ENTRY_PATH_TEXT];
    uint64_t hash = pj_profile_entry_hash(work, trial, index), made = 0;
    PJ_CLEANUP_FREE char *full = pj_path_join(cache, pj_entry_path(hash, path));
    PJ_CLEANUP_BUFFER struct pj_buffer file = {0};
    PJ_CLEANUP_BUFFER struct pj_buffer assembled = {0};
    PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
    struct pj_entry_header header;
    if (!full)
        return pj_error_no_memory(err);
    int r = pj_file_read(AT_FDCWD, full, PJ_ENTRY_LARGE_BYTES, &file, &problem);
    if (r == PJ_ERROR_NO_MEMORY)
        return pj_error_no_memory(err);
    if (r < 0)
        return pj_profile_problem(work, trial, err, "the driver made no entry of the name predicted, %s",
                                  path);
    if (file.size < PJ_ENTRY_HEADER_BYTES)
        return pj_profile_problem(work, trial, err, "the entry %s is cut", path);
    pj_entry_header_read((const unsigned char *)file.data, &header);
    if (header.payload_bytes > file.size - PJ_ENTRY_HEADER_BYTES)
        return pj_profile_problem(work, trial, err, "the entry %s is cut", path);
    struct pj_buffer *payload = &trial->payloads[index];
    pj_buffer_append(payload, file.data + (file.size - (size_t)header.payload_bytes),
                     (size_t)header.payload_bytes);
    r = pj_buffer_check(payload, err);
    if (r == 0)
        r = pj_profile_entry_assemble(work, trial, index, payload, &assembled, &made, err);
    if (r < 0)
        return r;
    if (made != hash || assembled.size != file.size || memcmp(assembled.data, file.data, file.size) != 0)
        return pj_profile_problem(work, trial, err, "the entry %s is not, byte for byte, the one predicted",
                                  path);
    return 0;
}

int pj_profile_predict(struct pj_profile_work *work, struct pj_error **err)
{
    int r = 0;
    for (size_t i = 0; i < work->count && r == 0; i++) {
        struct pj_profile_trial *trial = &work->trials[i];
        char name[32];
        const char *cache = NULL;
        (void)snprintf(name, sizeof name, "driver%zu", i);
        r = pj_trial_cache(&work->trial, name, &cache, err);
        if (r == 0)
            r = compile(work, trial, cache, err);
        for (size_t k = 0; k < trial->of->load.text_count && r == 0 && !trial->problem; k++)
            r = check_entry(work, trial, cache, k, err);
        trial->predicted = r == 0 && !trial->problem;
    }
    return r;
}
