/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs of the stand-in nvJitLink: told apart by what they are; a type that says otherwise is refused. */
#include "../fatbin.h"
#include "jitlink_state.h"
#include "ltoir.h"
#include "results.h"
#include "usage.h"

#include <ctype.h>
#include <string.h>

static int refuse_ptx(struct jitlink *link, const char *why, const char *name)
{
    fake_buffer_printf(&link->error_log, "%s\nERROR NVJITLINK_ERROR_PTX_COMPILE: JIT the PTX (%s)\n", why,
                       name);
    return JITLINK_PTX_COMPILE;
}

static int refuse_objection(struct jitlink *link, const char *objection, const char *target, const char *name)
{
    struct fake_buffer why = {0};
    const char *mark = strstr(objection, "%s");
    fake_buffer_printf(&why, "ptxas fatal   : %.*s", (int)(mark ? mark - objection : (long)strlen(objection)),
                       objection);
    if (mark)
        fake_buffer_printf(&why, "%s%s", target, mark + 2);
    int result = refuse_ptx(link, fake_buffer_text(&why), name);
    fake_buffer_free(&why);
    return result;
}

static void take_ptx(struct jitlink *link, const struct fake_ptx *ptx, const char *text, size_t length,
                     const char *name)
{
    struct fake_buffer code;
    struct fake_cubin cubin;
    toolkit_stage_strike(link->stage, ptx, link->arch.number);
    if (link->verbose)
        toolkit_usage_report(ptx, link->arch.number, &link->info_log);
    fake_cubin_write(ptx, link->arch.number, true, fake_fnv(text, length), 0, &code);
    if (!fake_cubin_read(code.data, code.length, &cubin))
        fake_die("stand-in nvJitLink: its own cubin cannot be read");
    fake_link_set_add(&link->set, cubin, code.data, code.length, name);
    fake_buffer_free(&code);
}

static int add_ptx(struct jitlink *link, const char *text, size_t length, const char *name)
{
    struct fake_ptx ptx;
    int result = JITLINK_OK;
    length = strnlen(text, length);
    fake_ptx_read(text, length, toolkit_stage_isa(link->stage), &ptx);
    const char *objection = fake_arch_objection(ptx.target, link->arch.number);
    if (ptx.refusal != CUDA_SUCCESS)
        result = refuse_ptx(link, ptx.refusal_text, name);
    else if (objection)
        result = refuse_objection(link, objection, ptx.target_text, name);
    else
        take_ptx(link, &ptx, text, length, name);
    fake_ptx_free(&ptx);
    return result;
}

static int refuse_lto(struct jitlink *link)
{
    fake_buffer_add_text(&link->error_log,
                         "ERROR 1: LTO-IR input cannot be used without LTO enabled (-lto)\n");
    return JITLINK_LTO_NOT_ENABLED;
}

static int add_ltoir(struct jitlink *link, const unsigned char *bytes, size_t length, const char *name)
{
    size_t text_bytes;
    if (!link->lto)
        return refuse_lto(link);
    if (toolkit_ltoir_version(bytes) > link->stage->lto_version) {
        fake_buffer_add_text(&link->error_log, "ERROR 4 in nvvmAddNVVMContainerToProgram, may need newer "
                                               "version of nvJitLink library\n");
        return JITLINK_OUTDATED_LIBRARY;
    }
    const char *text = toolkit_ltoir_ptx(bytes, length, &text_bytes);
    return text_bytes ? add_ptx(link, text, text_bytes, name) : JITLINK_OK; /* a real one: nothing to see */
}

static int refuse_input(struct jitlink *link, const char *name)
{
    fake_buffer_printf(&link->error_log, "ERROR 3: bad input: %s\n", name);
    return JITLINK_INVALID_INPUT;
}

static int add_cubin(struct jitlink *link, const unsigned char *bytes, size_t length, const char *name)
{
    struct fake_cubin cubin;
    unsigned arch = link->arch.number;
    if (!fake_cubin_read(bytes, length, &cubin))
        return refuse_input(link, name);
    if (cubin.arch / 10 != arch / 10 || cubin.arch > arch) {
        fake_cubin_free(&cubin);
        return refuse_input(link, name);
    }
    fake_link_set_add(&link->set, cubin, bytes, length, name);
    return JITLINK_OK;
}

/* LTO-IR of the container for the link's architecture or one below it. */
static bool find_ltoir(const struct jitlink *link, const unsigned char *container, size_t bytes,
                       struct fake_fatbin_entry *ret_entry)
{
    for (size_t at = 0; fake_fatbin_next(container, bytes, &at, ret_entry);)
        if (ret_entry->kind == FAKE_FATBIN_LTOIR && ret_entry->arch <= link->arch.number)
            return true;
    return false;
}

static int add_container(struct jitlink *link, const unsigned char *container, size_t bytes, const char *name)
{
    struct fake_fatbin_entry entry;
    bool has_ltoir = false;
    if (link->lto && find_ltoir(link, container, bytes, &entry))
        return toolkit_ltoir_is(entry.payload, entry.payload_bytes)
                   ? add_ltoir(link, entry.payload, entry.payload_bytes, name)
                   : JITLINK_OK; /* a real one, scrambled */
    if (!fake_fatbin_choose(container, bytes, link->arch.number, &entry, &has_ltoir))
        return has_ltoir ? refuse_lto(link) : refuse_input(link, name);
    if (entry.is_packed) {
        fake_buffer_add_text(&link->error_log,
                             "stand-in nvJitLink: compressed fatbin entries are not emulated\n");
        return JITLINK_INTERNAL;
    }
    if (entry.kind == FAKE_FATBIN_CUBIN)
        return add_cubin(link, entry.payload, entry.payload_bytes, name);
    return add_ptx(link, (const char *)entry.payload, entry.payload_bytes, name);
}

/* Containers, one after the other, with NULs between them. */
static int add_fatbin(struct jitlink *link, const unsigned char *bytes, size_t length, const char *name)
{
    int result = JITLINK_OK;
    for (size_t at = 0; at < length && result == JITLINK_OK;) {
        size_t container = fake_fatbin_container(bytes + at, length - at);
        if (container)
            result = add_container(link, bytes + at, container, name);
        else if (bytes[at])
            return refuse_input(link, name);
        at += container ? container : 1;
    }
    return result;
}

/* One without device code is taken, and adds nothing. */
static int add_object(struct jitlink *link, const unsigned char *bytes, size_t length, const char *name)
{
    int result = JITLINK_OK;
    const unsigned char *section;
    size_t section_bytes;
    for (unsigned index = 0;
         result == JITLINK_OK && fake_fatbin_object_section(bytes, length, &index, &section, &section_bytes);)
        result = add_fatbin(link, section, section_bytes, name);
    return result;
}

static int add_library(struct jitlink *link, const unsigned char *bytes, size_t length)
{
    int result = JITLINK_OK;
    char name[64];
    const unsigned char *member;
    size_t member_bytes;
    for (size_t at = 0;
         result == JITLINK_OK && fake_fatbin_member(bytes, length, &at, name, &member, &member_bytes);)
        result = add_object(link, member, member_bytes, name);
    return result;
}

/* 0 where the bytes are nothing that is known. */
static int type_of(const unsigned char *bytes, size_t length)
{
    if (length > 20 && memcmp(bytes, "\177ELF", 4) == 0)
        return bytes[18] == 190 ? JITLINK_INPUT_CUBIN : JITLINK_INPUT_OBJECT;
    if (toolkit_ltoir_is(bytes, length))
        return JITLINK_INPUT_LTOIR;
    if (fake_fatbin_container(bytes, length))
        return JITLINK_INPUT_FATBIN;
    if (length >= 8 && memcmp(bytes, "!<arch>\n", 8) == 0)
        return JITLINK_INPUT_LIBRARY;
    size_t text = strnlen((const char *)bytes, length);
    return memmem(bytes, text, ".version", 8) ? JITLINK_INPUT_PTX : 0;
}

static int refuse_type(struct jitlink *link, int type, const char *name)
{
    static const char *const names[] = {"NONE", "CUBIN", "PTX", "LTOIR", "FATBIN", "OBJECT", "LIBRARY"};
    bool known = type > 0 && (size_t)type < sizeof names / sizeof names[0];
    fake_buffer_printf(&link->error_log, "ERROR 1: bad input: does not match type NVJITLINK_INPUT_%s%s\n",
                       known ? names[type] : "NONE", name);
    return JITLINK_INCORRECT_INPUT_TYPE;
}

int jitlink_add(struct jitlink *link, int type, const unsigned char *bytes, size_t length, const char *name)
{
    int found = type_of(bytes, length);
    link->has_other |= found != JITLINK_INPUT_LTOIR && found != JITLINK_INPUT_FATBIN &&
                       found != JITLINK_INPUT_OBJECT && found != JITLINK_INPUT_LIBRARY;
    if (type == JITLINK_INPUT_ANY && !found) {
        fake_buffer_printf(&link->error_log, "unrecognized input type: %s\n", name);
        return JITLINK_UNRECOGNIZED_INPUT;
    }
    if (type != JITLINK_INPUT_ANY && type != found)
        return refuse_type(link, type, name);
    switch (found) {
    case JITLINK_INPUT_CUBIN:
        return add_cubin(link, bytes, length, name);
    case JITLINK_INPUT_PTX:
        return add_ptx(link, (const char *)bytes, length, name);
    case JITLINK_INPUT_LTOIR:
        return add_ltoir(link, bytes, length, name);
    case JITLINK_INPUT_FATBIN:
        return add_fatbin(link, bytes, length, name);
    case JITLINK_INPUT_OBJECT:
        return add_object(link, bytes, length, name);
    default:
        return add_library(link, bytes, length);
    }
}
