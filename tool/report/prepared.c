/* SPDX-License-Identifier: Apache-2.0 */
/* One description of the members for both directions. */
#include "report/prepared.h"

#include "report/receipt_members.h"

static void members(struct pj_codec *codec, struct pj_prepared *prepared)
{
    pj_codec_literal(codec, "{\"schema\":\"prejit-prepared/3\"");
    codec->follows = true;
    pj_member_name(codec, "request", &prepared->request);
    pj_member_name(codec, "compiler_search", &prepared->compiler_search);
    pj_member_files(codec, "compiler_files", &prepared->compiler_files, &prepared->compiler_file_count);
    pj_member_library(codec, "compiler", &prepared->compiler);
    pj_member_inputs(codec, "inputs", &prepared->inputs, &prepared->input_count);
    pj_member_u64(codec, "ptx_bytes", &prepared->ptx_bytes);
    pj_codec_member(codec, "ptx_sha256");
    pj_codec_digest(codec, &prepared->ptx_sha256);
    pj_member_text(codec, "log", &prepared->log);
    pj_codec_member(codec, "ms");
    pj_codec_ms(codec, &prepared->ms);
    pj_member_text(codec, "header_note", &prepared->header_note);
    pj_codec_literal(codec, "}\n");
}

int pj_prepared_write(const struct pj_prepared *prepared, struct pj_buffer *ret_text, struct pj_error **err)
{
    struct pj_codec codec = {.out = ret_text};
    struct pj_prepared shallow = *prepared; /* shared with reading, which fills it in */
    members(&codec, &shallow);
    return pj_codec_check(&codec, err);
}

int pj_prepared_read(const char *text, size_t size, struct pj_arena *arena, struct pj_prepared *ret_prepared,
                     struct pj_error **err)
{
    if (size > PJ_PREPARED_MAX_BYTES)
        return pj_error_set(err, PJ_ERROR_FORMAT,
                            "the record of a source has %zu bytes, at most %d are allowed", size,
                            PJ_PREPARED_MAX_BYTES);
    struct pj_prepared prepared = {0};
    struct pj_codec codec = {.arena = arena, .begin = text, .at = text, .end = text + size};
    members(&codec, &prepared);
    if (codec.at != codec.end)
        pj_codec_fail(&codec, "nothing more");
    int r = pj_codec_check(&codec, err);
    if (r == 0)
        *ret_prepared = prepared;
    return r;
}
