/* SPDX-License-Identifier: Apache-2.0 */
/* Tells kinds of files apart by their first bytes. */
#include "image/kind.h"

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/memory.h"
#include "image/ptx_text.h"

enum {
    LOOK_BYTES = 64 * 1024, /* how far a look for tell-tale words goes */
    TEXT_BYTES = 4096,      /* how many bytes decide whether it is text */
};

struct magic {
    const char *bytes;
    size_t size;
    enum pj_image_kind kind;
    const char *text;
};

#define MAGIC(bytes, kind, text)                                                                             \
    {                                                                                                        \
        bytes, sizeof(bytes) - 1, kind, text                                                                 \
    }

static const struct magic magics[] = {
    MAGIC("\xef\xbb\xbf", PJ_IMAGE_BOM, "text that starts with a UTF-8 byte-order mark"),
    MAGIC("\xff\xfe", PJ_IMAGE_BOM, "text in UTF-16"),
    MAGIC("\xfe\xff", PJ_IMAGE_BOM, "text in UTF-16"),
    MAGIC("\x1f\x8b", PJ_IMAGE_GZIP, "a file compressed with gzip"),
    MAGIC("\x28\xb5\x2f\xfd", PJ_IMAGE_GZIP, "a file compressed with zstd"),
    MAGIC("\xfd"
          "7zXZ\0",
          PJ_IMAGE_GZIP, "a file compressed with xz"),
    MAGIC("BZh", PJ_IMAGE_GZIP, "a file compressed with bzip2"),
    MAGIC("\x04\x22\x4d\x18", PJ_IMAGE_GZIP, "a file compressed with LZ4"),
    MAGIC("PK\x03\x04", PJ_IMAGE_GZIP, "a zip archive"),
    MAGIC("\x50\xed\x55\xba", PJ_IMAGE_FATBIN, "a fatbin (a container of PTX and cubins)"),
    MAGIC("\xed\x43\x4e\x7f", PJ_IMAGE_LTOIR, "LTO-IR"),
    MAGIC("BC\xc0\xde", PJ_IMAGE_LTOIR, "LLVM bitcode"),
    MAGIC("\xde\xc0\x17\x0b", PJ_IMAGE_LTOIR, "LLVM bitcode"),
    MAGIC("!<arch>\n", PJ_IMAGE_ARCHIVE, "an ar archive"),
    MAGIC("!<thin>\n", PJ_IMAGE_ARCHIVE, "a thin ar archive"),
};

static const struct magic *find_magic(const char *bytes, size_t size)
{
    for (size_t i = 0; i < PJ_COUNT(magics); i++) {
        if (size >= magics[i].size && memcmp(bytes, magics[i].bytes, magics[i].size) == 0)
            return &magics[i];
    }
    return NULL;
}

static bool is_elf(const char *bytes, size_t size)
{
    return size >= SELFMAG && memcmp(bytes, ELFMAG, SELFMAG) == 0;
}

static enum pj_image_kind kind_of_elf(const char *bytes, size_t size)
{
    enum { MACHINE_AT = 18 }; /* e_machine lies there in both classes */
    if (size < MACHINE_AT + 2)
        return PJ_IMAGE_HOST_ELF;
    uint16_t low = (unsigned char)bytes[MACHINE_AT], high = (unsigned char)bytes[MACHINE_AT + 1];
    return (low | high << 8) == EM_CUDA ? PJ_IMAGE_CUBIN : PJ_IMAGE_HOST_ELF;
}

/* White space and NULs alone. */
static bool is_blank(const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] != '\0' && !pj_ptx_is_space(bytes[i]))
            return false;
    }
    return true;
}

/* No control characters but white space. A byte ≥ 0x80 may be text of some encoding. */
static bool is_text(const char *bytes, size_t size)
{
    for (size_t i = 0; i < size && i < TEXT_BYTES; i++) {
        unsigned char c = (unsigned char)bytes[i];
        if ((c < 0x20 && !pj_ptx_is_space(bytes[i]) && c != 0x1b) || c == 0x7f)
            return false;
    }
    return true;
}

static bool has_word(const char *bytes, size_t size, const char *word)
{
    return memmem(bytes, size, word, strlen(word)) != NULL;
}

static bool starts_with(const struct pj_ptx_cursor *cursor, const char *word)
{
    size_t length = strlen(word);
    return (size_t)(cursor->end - cursor->at) >= length && memcmp(cursor->at, word, length) == 0;
}

/* A line whose first word is .version: PTX with something in front of it that does not belong there. */
static bool has_version_line(const char *bytes, size_t size)
{
    static const char word[] = ".version";
    const char *end = bytes + size;
    for (const char *at = bytes; at < end;) {
        const char *found = memmem(at, (size_t)(end - at), word, sizeof word - 1);
        if (!found)
            return false;
        const char *before = found;
        while (before > bytes && (before[-1] == ' ' || before[-1] == '\t'))
            before--;
        if (before == bytes || before[-1] == '\n' || before[-1] == '\r')
            return true;
        at = found + sizeof word - 1;
    }
    return false;
}

/* Is the first token a directive of PTX's header? Any bytes may stand in the comments before it. */
static bool starts_as_ptx(const char *bytes, size_t size)
{
    static const char *const directives[] = {".version", ".target", ".address_size"};
    struct pj_ptx_cursor cursor = {.start = bytes, .at = bytes, .end = bytes + size};
    if (!pj_ptx_skip_space(&cursor))
        return false;
    for (size_t i = 0; i < PJ_COUNT(directives); i++) {
        if (starts_with(&cursor, directives[i]))
            return true;
    }
    return false;
}

static enum pj_image_kind kind_of_text(const char *bytes, size_t size)
{
    static const char *const source_words[] = {"__global__",   "__device__",   "#include",
                                               "extern \"C\"", "#pragma once", "#define "};
    size_t look = size < LOOK_BYTES ? size : LOOK_BYTES;
    for (size_t i = 0; i < PJ_COUNT(source_words); i++) {
        if (has_word(bytes, look, source_words[i]))
            return PJ_IMAGE_SOURCE;
    }
    if (has_version_line(bytes, look))
        return PJ_IMAGE_PTX;
    return PJ_IMAGE_UNKNOWN_TEXT;
}

enum pj_image_kind pj_image_kind_of(const void *bytes, size_t size)
{
    const char *text = bytes;
    const struct magic *magic = find_magic(text, size);
    if (magic)
        return magic->kind;
    if (is_elf(text, size))
        return kind_of_elf(text, size);
    if (is_blank(text, size))
        return PJ_IMAGE_EMPTY;
    if (starts_as_ptx(text, strnlen(text, size)))
        return PJ_IMAGE_PTX;
    return is_text(text, size) ? kind_of_text(text, size) : PJ_IMAGE_UNKNOWN;
}

const char *pj_image_kind_text(const void *bytes, size_t size)
{
    const struct magic *magic = find_magic(bytes, size);
    if (magic)
        return magic->text;
    /* The rest are kinds that no fixed bytes give away. */
    switch (pj_image_kind_of(bytes, size)) {
    case PJ_IMAGE_PTX:
        return "PTX";
    case PJ_IMAGE_EMPTY:
        return size == 0 ? "an empty file" : "a file of nothing but white space";
    case PJ_IMAGE_CUBIN:
        return "a cubin (ELF for a GPU)";
    case PJ_IMAGE_HOST_ELF:
        return "an ELF file for a CPU (a program, library or object)";
    case PJ_IMAGE_SOURCE:
        return "source text (CUDA C++)";
    case PJ_IMAGE_UNKNOWN_TEXT:
        return "text without a PTX header";
    default:
        return "a file of no kind that prejit knows";
    }
}

const char *pj_image_kind_cure(enum pj_image_kind kind)
{
    switch (kind) {
    case PJ_IMAGE_PTX:
        return NULL;
    case PJ_IMAGE_EMPTY:
        return "check what should have written it";
    case PJ_IMAGE_BOM:
        return "save it as plain ASCII without a byte-order mark";
    case PJ_IMAGE_GZIP:
        return "decompress it first";
    case PJ_IMAGE_CUBIN:
        return "the driver compiles no cubin, and a program that loads it does not wait for the JIT: leave "
               "it out";
    case PJ_IMAGE_HOST_ELF:
    case PJ_IMAGE_FATBIN:
        /* [3]: a fatbin's member has another key than its text. */
        return "the driver gives PTX inside it another key than the extracted text, so warming that text "
               "helps "
               "no program that loads this file: leave it out; this version warms PTX files, NVRTC sources "
               "and "
               "cuLink inputs";
    case PJ_IMAGE_ARCHIVE:
        return "an archive is no module by itself: name it under `link:` where the program passes it to "
               "cuLink";
    case PJ_IMAGE_LTOIR:
        return "the driver loads no LTO-IR: leave it out, or name it under `link:` with `linker: nvjitlink` "
               "for "
               "`prejit build`";
    case PJ_IMAGE_SOURCE:
        return "if the program compiles it with NVRTC, name it with `source:`; else name the PTX that the "
               "program loads";
    case PJ_IMAGE_UNKNOWN_TEXT:
        return "PTX starts with .version: check that this is the file you mean";
    case PJ_IMAGE_UNKNOWN:
    default:
        return "check that this is the file you mean";
    }
}
