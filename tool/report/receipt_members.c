/* SPDX-License-Identifier: Apache-2.0 */
/* Files, inputs and libraries as JSON members. */
#include "report/receipt_members.h"

#include <stdlib.h>
#include <string.h>

void pj_member_text(struct pj_codec *codec, const char *name, const char **text)
{
    pj_codec_member(codec, name);
    pj_codec_text(codec, text, true);
}

void pj_member_name(struct pj_codec *codec, const char *name, const char **text)
{
    pj_codec_member(codec, name);
    pj_codec_text(codec, text, false);
}

void pj_member_flag(struct pj_codec *codec, const char *name, bool *value)
{
    pj_codec_member(codec, name);
    pj_codec_flag(codec, value);
}

void pj_member_u64(struct pj_codec *codec, const char *name, uint64_t *value)
{
    pj_codec_member(codec, name);
    pj_codec_unsigned(codec, UINT64_MAX, value);
}

static void file_fields(struct pj_codec *codec, struct pj_receipt_file *file)
{
    pj_member_name(codec, "path", &file->path);
    pj_member_u64(codec, "device", &file->device);
    pj_member_u64(codec, "inode", &file->inode);
    pj_member_u64(codec, "size_bytes", &file->size_bytes);
    pj_codec_member(codec, "mtime_seconds");
    pj_codec_signed(codec, &file->mtime_seconds);
}

static void file_item(struct pj_codec *codec, struct pj_receipt_file *file)
{
    pj_codec_open(codec, '{');
    file_fields(codec, file);
    pj_codec_close(codec, '}');
}

static void input_item(struct pj_codec *codec, struct pj_receipt_input *input)
{
    pj_codec_open(codec, '{');
    file_fields(codec, &input->file);
    pj_codec_member(codec, "ctime_ns");
    pj_codec_signed(codec, &input->ctime_ns);
    pj_codec_member(codec, "sha256");
    pj_codec_digest(codec, &input->sha256);
    pj_member_flag(codec, "named", &input->named);
    pj_member_flag(codec, "absent", &input->absent);
    pj_codec_close(codec, '}');
}

void *pj_member_settle(struct pj_codec *codec, void *items, size_t count, size_t item_size)
{
    void *copy = NULL;
    if (pj_codec_ok(codec) && count > 0) {
        copy = pj_arena_calloc(codec->arena, count, item_size);
        if (copy)
            memcpy(copy, items, count * item_size);
        else
            pj_codec_fail_memory(codec);
    }
    free(items);
    return copy;
}

PJ_DEFINE_MEMBER_LIST(pj_member_files, struct pj_receipt_file, file_item)
PJ_DEFINE_MEMBER_LIST(pj_member_inputs, struct pj_receipt_input, input_item)

void pj_member_library(struct pj_codec *codec, const char *name, struct pj_report_library *library)
{
    pj_codec_member(codec, name);
    pj_codec_open(codec, '{');
    pj_member_text(codec, "path", &library->path);
    pj_member_text(codec, "version", &library->version);
    pj_member_text(codec, "build", &library->build);
    pj_codec_close(codec, '}');
}
