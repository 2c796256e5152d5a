/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the device code in an input for a linker, however deep it lies. */
#include "image/contents.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "image/archive.h"
#include "image/cubin.h"
#include "image/kind.h"
#include "image/object.h"
#include "image/ptx_reader.h"

/* Sections of fatbins: what nvcc made without and with -rdc=true. */
#define WHOLE_PROGRAMS ".nv_fatbin"
#define RELOCATABLES   "__nv_relfatbin"

struct items {
    struct pj_content *items;
    size_t count, capacity;
};

struct reader {
    const char *bytes; /* the whole input */
    struct pj_arena *arena;
    struct pj_contents *contents;
    struct items items;
    const char *member; /* of the archive that is being read, or NULL */
    bool whole_program; /* in the section that is being read */
};

static int push(struct reader *reader, const struct pj_content *content, struct pj_error **err)
{
    struct pj_content *item = PJ_ARRAY_PUSH(&reader->items);
    if (!item)
        return pj_error_no_memory(err);
    *item = *content;
    item->member = reader->member;
    item->whole_program = reader->whole_program;
    reader->contents->has_ptx |= item->kind == PJ_CODE_PTX;
    reader->contents->has_cubin |= item->kind == PJ_CODE_CUBIN;
    reader->contents->has_ltoir |= item->kind == PJ_CODE_LTOIR;
    reader->contents->has_linkable |= !item->whole_program;
    return 0;
}

static int read_ptx(struct reader *reader, size_t offset, size_t size, struct pj_error **err)
{
    /* Only what the header says is wanted here: a bad one is pj_ptx_read's to explain. */
    const char *text = reader->bytes + offset;
    PJ_CLEANUP_ARENA struct pj_arena words = {0};
    struct pj_ptx ptx = {0};
    struct pj_ptx_finding finding = {0};
    struct pj_ptx_reader header = {
        .cursor = {.start = text, .at = text, .end = text + strnlen(text, size)},
        .arena = &words,
        .ptx = &ptx,
        .finding = &finding,
    };
    struct pj_content content = {.kind = PJ_CODE_PTX, .offset = offset, .size = size};
    bool sound = pj_ptx_read_header(&header);
    if (header.no_memory)
        return pj_error_no_memory(err);
    if (sound) {
        content.arch = ptx.target;
        content.has_letter = true;
        content.major = ptx.version.major;
        content.minor = ptx.version.minor;
    }
    return push(reader, &content, err);
}

static int read_cubin(struct reader *reader, size_t offset, size_t size, struct pj_error **err)
{
    struct pj_cubin cubin;
    int status = pj_cubin_read(reader->bytes + offset, size, &cubin, err);
    if (status < 0)
        return status;
    const struct pj_content content = {
        .kind = PJ_CODE_CUBIN,
        .arch = {.number = cubin.arch_number},
        .has_relocatable = true,
        .relocatable = cubin.relocatable,
        .offset = offset,
        .size = size,
    };
    return push(reader, &content, err);
}

static int read_ltoir(struct reader *reader, size_t offset, size_t size, struct pj_ltoir *ret_ltoir,
                      struct pj_error **err)
{
    int status = pj_ltoir_read(reader->bytes + offset, size, ret_ltoir, err);
    if (status < 0)
        return status;
    const struct pj_content content = {
        .kind = PJ_CODE_LTOIR,
        .arch = {.number = ret_ltoir->arch_number},
        .major = ret_ltoir->container.major,
        .minor = ret_ltoir->container.minor,
        .packed = true, /* its bitcode is always scrambled */
        .offset = offset,
        .size = size,
    };
    return push(reader, &content, err);
}

static int read_entry(struct reader *reader, size_t base, const struct pj_fatbin_entry *entry,
                      struct pj_error **err)
{
    struct pj_content content = {
        .kind = entry->kind,
        .arch = entry->arch,
        .has_letter = true,
        .major = entry->major,
        .minor = entry->minor,
        .packed = entry->packing != PJ_PACKING_NONE || entry->scrambled,
        .bad_shape = entry->bad_shape,
        .options = "",
        .offset = base + entry->payload_offset,
        .size = entry->payload_size,
    };
    struct pj_cubin cubin;
    if (entry->kind == PJ_CODE_CUBIN && !content.packed) {
        int status = pj_cubin_read(reader->bytes + content.offset, entry->payload_size, &cubin, err);
        if (status < 0)
            return pj_error_wrap(err, status, "in a fatbin, at byte %zu", entry->payload_offset);
        content.has_relocatable = true;
        content.relocatable = cubin.relocatable;
    }
    if (entry->options_size > 0) {
        content.options = pj_arena_strndup(reader->arena, entry->options, entry->options_size);
        if (!content.options)
            return pj_error_no_memory(err);
    }
    return push(reader, &content, err);
}

/* All containers from `offset` on; *ret_end is where the last one ends. */
static int read_fatbin(struct reader *reader, size_t offset, size_t size, size_t *ret_end,
                       struct pj_error **err)
{
    struct pj_fatbin fatbin;
    struct pj_fatbin_entry entry;
    int status = pj_fatbin_start(reader->bytes + offset, size, &fatbin, err);
    while (status >= 0 && (status = pj_fatbin_next(&fatbin, &entry, err)) > 0)
        status = read_entry(reader, offset, &entry, err);
    if (status == 0)
        *ret_end = offset + fatbin.at;
    return status;
}

/* A section of fatbins: unlike in a file, nothing else may stand behind them. */
static int read_section(struct reader *reader, size_t base, const struct pj_section *section,
                        struct pj_error **err)
{
    size_t offset = base + section->offset, end = 0;
    reader->whole_program = strcmp(section->name, WHOLE_PROGRAMS) == 0;
    int status = read_fatbin(reader, offset, section->size, &end, err);
    if (status == 0 && end != offset + section->size)
        status = pj_error_set(err, PJ_ERROR_FORMAT, "damaged fatbin: no container at byte %zu of %zu",
                              end - offset, section->size);
    return status < 0 ? pj_error_wrap(err, status, "section %s", section->name) : 0;
}

/* An ELF file for a CPU; *ret_linkable says whether a compiler made it, to be linked. */
static int read_object(struct reader *reader, size_t offset, size_t size, bool *ret_linkable,
                       struct pj_error **err)
{
    struct pj_object object;
    struct pj_section section;
    int status = pj_object_start(reader->bytes + offset, size, &object, err);
    while (status >= 0 && (status = pj_object_next(&object, &section, err)) > 0) {
        if (strcmp(section.name, WHOLE_PROGRAMS) == 0 || strcmp(section.name, RELOCATABLES) == 0)
            status = read_section(reader, offset, &section, err);
    }
    if (status == 0)
        *ret_linkable = object.relocatable;
    return status;
}

/* Linkers look into members that are objects, and pass over PTX, cubins and fatbins that lie there bare. */
static int read_archive(struct reader *reader, size_t size, struct pj_error **err)
{
    struct pj_archive archive;
    struct pj_member member;
    bool linkable = false;
    int status = pj_archive_start(reader->bytes, size, &archive, err);
    while (status >= 0 && (status = pj_archive_next(&archive, &member, err)) > 0) {
        if (pj_image_kind_of(reader->bytes + member.offset, member.size) != PJ_IMAGE_HOST_ELF)
            continue;
        PJ_CLEANUP_BUFFER struct pj_buffer name = {0};
        pj_text_escape(&name, member.name, member.name_size);
        if (pj_buffer_check(&name, err) < 0)
            return PJ_ERROR_NO_MEMORY;
        reader->member = pj_arena_strdup(reader->arena, pj_buffer_text(&name));
        if (!reader->member)
            return pj_error_no_memory(err);
        status = read_object(reader, member.offset, member.size, &linkable, err);
        if (status < 0)
            return pj_error_wrap(err, status, "member %s", reader->member);
    }
    return status;
}

/* What to do about a file that no linker takes. */
static const char *cure(enum pj_image_kind kind)
{
    switch (kind) {
    case PJ_IMAGE_SOURCE:
        return "if the program compiles it with NVRTC, make it a `source:` module with the program's "
               "options, run "
               "`prejit build --out-dir DIR`, and name the PTX that this leaves, DIR/MODULE.sm_NN.ptx: "
               "NVRTC's "
               "bytes, which nvcc's are not; else name what the program links, such as an object of `nvcc "
               "-dc`";
    case PJ_IMAGE_LTOIR:
        return "linkers take LTO-IR, which has NVIDIA's header before it: compile it with nvcc -dlto";
    case PJ_IMAGE_HOST_ELF:
        return "name the objects that it was made from, compiled with nvcc -dc";
    default:
        return pj_image_kind_cure(kind);
    }
}

static int refuse(const char *bytes, size_t size, struct pj_error **err)
{
    enum pj_image_kind kind = pj_image_kind_of(bytes, size);
    return pj_error_set(err, PJ_ERROR_FORMAT, "this is %s%s, which no linker takes: %s",
                        pj_image_kind_text(bytes, size),
                        kind == PJ_IMAGE_HOST_ELF ? " without device code" : "", cure(kind));
}

/* LTO-IR in NVIDIA's container, and not bare LLVM bitcode? */
static bool is_ltoir(const char *bytes, size_t size)
{
    static const char magic[] = "\xed\x43\x4e\x7f";
    return size >= sizeof magic - 1 && memcmp(bytes, magic, sizeof magic - 1) == 0;
}

static int read_input(struct reader *reader, size_t size, struct pj_error **err)
{
    struct pj_contents *contents = reader->contents;
    bool linkable = false;
    size_t end = 0;
    int status = 0;
    switch (pj_image_kind_of(reader->bytes, size)) {
    case PJ_IMAGE_PTX:
        contents->kind = PJ_INPUT_PTX;
        return read_ptx(reader, 0, size, err);
    case PJ_IMAGE_CUBIN:
        contents->kind = PJ_INPUT_CUBIN;
        return read_cubin(reader, 0, size, err);
    case PJ_IMAGE_FATBIN:
        contents->kind = PJ_INPUT_FATBIN;
        return read_fatbin(reader, 0, size, &end, err);
    case PJ_IMAGE_HOST_ELF:
        contents->kind = PJ_INPUT_OBJECT;
        status = read_object(reader, 0, size, &linkable, err);
        if (status == 0 && reader->items.count == 0 && !linkable)
            return refuse(reader->bytes, size, err);
        return status;
    case PJ_IMAGE_ARCHIVE:
        contents->kind = PJ_INPUT_ARCHIVE;
        return read_archive(reader, size, err);
    case PJ_IMAGE_LTOIR:
        contents->kind = PJ_INPUT_LTOIR;
        if (is_ltoir(reader->bytes, size))
            return read_ltoir(reader, 0, size, &contents->ltoir, err);
        return refuse(reader->bytes, size, err);
    default:
        return refuse(reader->bytes, size, err);
    }
}

int pj_contents_read(const void *bytes, size_t size, struct pj_arena *arena, struct pj_contents *ret,
                     struct pj_error **err)
{
    struct pj_contents contents = {0};
    struct reader reader = {.bytes = bytes, .arena = arena, .contents = &contents};
    if (size > PJ_CONTENTS_BYTES_MAX)
        return pj_error_set(err, PJ_ERROR_FORMAT,
                            "%zu bytes are too many for a link input: prejit reads at most %" PRIu64, size,
                            PJ_CONTENTS_BYTES_MAX);
    int status = read_input(&reader, size, err);
    if (status == 0 && reader.items.count > 0) {
        contents.items = pj_arena_calloc(arena, reader.items.count, sizeof *contents.items);
        if (contents.items)
            memcpy(contents.items, reader.items.items, reader.items.count * sizeof *contents.items);
        else
            status = pj_error_no_memory(err);
    }
    contents.count = reader.items.count;
    contents.nothing = contents.count == 0;
    free(reader.items.items);
    if (status < 0)
        return status;
    *ret = contents;
    return 0;
}

static const char *const input_kinds[] = {
    [PJ_INPUT_PTX] = "ptx",       [PJ_INPUT_CUBIN] = "cubin",     [PJ_INPUT_FATBIN] = "fatbin",
    [PJ_INPUT_OBJECT] = "object", [PJ_INPUT_ARCHIVE] = "library", [PJ_INPUT_LTOIR] = "ltoir",
};

const char *pj_input_kind_name(enum pj_input_kind kind)
{
    return (size_t)kind < PJ_COUNT(input_kinds) ? input_kinds[kind] : "unknown";
}
