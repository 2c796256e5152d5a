/* SPDX-License-Identifier: Apache-2.0 */
/* Members that the receipt and the records of prepared sources have in common, to and from JSON. Internal. */
#ifndef PREJIT_REPORT_RECEIPT_MEMBERS_H
#define PREJIT_REPORT_RECEIPT_MEMBERS_H

#include "report/receipt.h"
#include "report/receipt_codec.h"

/** A text that may be null; a text that may not. */
void pj_member_text(struct pj_codec *codec, const char *name, const char **text);
void pj_member_name(struct pj_codec *codec, const char *name, const char **text);

void pj_member_flag(struct pj_codec *codec, const char *name, bool *value);
void pj_member_u64(struct pj_codec *codec, const char *name, uint64_t *value);

/** A list of files; of files with their digests; a compiler library. */
void pj_member_files(struct pj_codec *codec, const char *name, struct pj_receipt_file **items, size_t *count);
void pj_member_inputs(struct pj_codec *codec, const char *name, struct pj_receipt_input **items,
                      size_t *count);
void pj_member_library(struct pj_codec *codec, const char *name, struct pj_report_library *library);

/** Reading: moves a grown list into the arena, where it dies with the rest. Frees the list. */
void *pj_member_settle(struct pj_codec *codec, void *items, size_t count, size_t item_size);

/** Defines NAME(codec, member, &items, &count): an array of TYPE, one ITEM call per element. */
#define PJ_DEFINE_MEMBER_LIST(NAME, TYPE, ITEM)                                                              \
    void NAME(struct pj_codec *codec, const char *member, TYPE **items, size_t *count)                       \
    {                                                                                                        \
        struct {                                                                                             \
            TYPE *items;                                                                                     \
            size_t count, capacity;                                                                          \
        } list = {0};                                                                                        \
        bool reading = pj_codec_reading(codec);                                                              \
        pj_codec_member(codec, member);                                                                      \
        pj_codec_open(codec, '[');                                                                           \
        for (size_t i = 0; pj_codec_more(codec, i, *count); i++) {                                           \
            TYPE *item = reading ? PJ_ARRAY_PUSH(&list) : &(*items)[i];                                      \
            if (item)                                                                                        \
                ITEM(codec, item);                                                                           \
            else                                                                                             \
                pj_codec_fail_memory(codec);                                                                 \
        }                                                                                                    \
        pj_codec_close(codec, ']');                                                                          \
        if (!reading)                                                                                        \
            return;                                                                                          \
        *items = pj_member_settle(codec, list.items, list.count, sizeof *list.items);                        \
        *count = *items ? list.count : 0;                                                                    \
    }

#endif
