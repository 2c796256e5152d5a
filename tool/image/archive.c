/* SPDX-License-Identifier: Apache-2.0 */
/* Reads ar archives: the magic line, then members of a 60-byte text header and bytes padded to an even
 * number. */
#include "image/archive.h"

#include <stdint.h>
#include <string.h>

enum { MAGIC_BYTES = 8, HEADER_BYTES = 60, NAME_BYTES = 16, SIZE_AT = 48, SIZE_BYTES = 10, END_AT = 58 };

int pj_archive_start(const void *bytes, size_t size, struct pj_archive *ret, struct pj_error **err)
{
    if (size >= MAGIC_BYTES && memcmp(bytes, "!<thin>\n", MAGIC_BYTES) == 0)
        return pj_error_set(err, PJ_ERROR_FORMAT,
                            "a thin ar archive holds the names of its members and not their bytes: make a "
                            "whole one (ar rcs, without T)");
    if (size < MAGIC_BYTES || memcmp(bytes, "!<arch>\n", MAGIC_BYTES) != 0)
        return pj_error_set(err, PJ_ERROR_FORMAT, "no ar archive: it does not start with !<arch>");
    *ret = (struct pj_archive){.bytes = bytes, .size = size, .at = MAGIC_BYTES};
    return 0;
}

/* A decimal number with blanks behind it; false for anything else. */
static bool read_number(const char *text, size_t size, size_t *ret_value)
{
    size_t value = 0, i = 0;
    for (; i < size && text[i] >= '0' && text[i] <= '9'; i++)
        value = value * 10 + (size_t)(text[i] - '0'); /* of 16 digits at most: fits */
    if (i == 0)
        return false;
    for (size_t k = i; k < size; k++) {
        if (text[k] != ' ')
            return false;
    }
    *ret_value = value;
    return true;
}

static bool is_named(const struct pj_member *member, const char *name)
{
    return member->name_size == strlen(name) && memcmp(member->name, name, member->name_size) == 0;
}

/* Up to the blanks that fill the field. */
static size_t trimmed(const char *name)
{
    size_t size = NAME_BYTES;
    while (size > 0 && name[size - 1] == ' ')
        size--;
    return size;
}

static int bad_name(size_t at, struct pj_error **err)
{
    return pj_error_set(err, PJ_ERROR_FORMAT,
                        "damaged ar archive: the name of the member at byte %zu is nowhere", at);
}

/* GNU's `/123`: the name is in the table, ended by "/\n". */
static int read_long_name(const struct pj_archive *archive, size_t at, struct pj_member *member,
                          struct pj_error **err)
{
    size_t offset = 0;
    if (!archive->long_names || !read_number(member->name + 1, NAME_BYTES - 1, &offset) ||
        offset >= archive->long_names_size)
        return bad_name(at, err);
    const char *name = archive->long_names + offset;
    const char *end = memchr(name, '\n', archive->long_names_size - offset);
    if (!end)
        return bad_name(at, err);
    if (end > name && end[-1] == '/')
        end--;
    member->name = name;
    member->name_size = (size_t)(end - name);
    return 0;
}

/* BSD's `#1/20`: the name is the first 20 of the member's bytes. */
static int read_leading_name(const struct pj_archive *archive, size_t at, struct pj_member *member,
                             struct pj_error **err)
{
    size_t length = 0;
    if (!read_number(member->name + 3, NAME_BYTES - 3, &length) || length > member->size)
        return bad_name(at, err);
    member->name = archive->bytes + member->offset;
    member->name_size = strnlen(member->name, length);
    member->offset += length;
    member->size -= length;
    return 0;
}

static int read_name(struct pj_archive *archive, size_t at, struct pj_member *member, struct pj_error **err)
{
    if (member->name[0] == '/' && member->name[1] >= '0' && member->name[1] <= '9')
        return read_long_name(archive, at, member, err);
    if (memcmp(member->name, "#1/", 3) == 0)
        return read_leading_name(archive, at, member, err);
    if (is_named(member, "//")) {
        archive->long_names = archive->bytes + member->offset;
        archive->long_names_size = member->size;
    } else if (member->name_size > 1 && member->name[0] != '/' &&
               member->name[member->name_size - 1] == '/') {
        member->name_size--;
    }
    return 0;
}

/* Reads the member at `archive->at` and goes behind it. */
static int read_member(struct pj_archive *archive, struct pj_member *member, struct pj_error **err)
{
    size_t at = archive->at, left = archive->size - at;
    const char *header = archive->bytes + at;
    if (left < HEADER_BYTES)
        return pj_error_set(err, PJ_ERROR_FORMAT,
                            "cut ar archive: %zu bytes at byte %zu, where a member has a header of %d", left,
                            at, HEADER_BYTES);
    if (memcmp(header + END_AT, "`\n", 2) != 0 || !read_number(header + SIZE_AT, SIZE_BYTES, &member->size))
        return pj_error_set(err, PJ_ERROR_FORMAT, "damaged ar archive: no member's header at byte %zu", at);
    left -= HEADER_BYTES;
    if (member->size > left)
        return pj_error_set(err, PJ_ERROR_FORMAT,
                            "cut ar archive: the member at byte %zu has %zu bytes, and %zu follow its header",
                            at, member->size, left);
    member->name = header;
    member->name_size = trimmed(header);
    member->offset = at + HEADER_BYTES;
    archive->at = member->offset + member->size;
    if (member->size % 2 != 0 && archive->at < archive->size)
        archive->at++;
    return read_name(archive, at, member, err);
}

static bool is_table(const struct pj_member *member)
{
    return is_named(member, "/") || is_named(member, "//") || is_named(member, "/SYM64/") ||
           is_named(member, "__.SYMDEF") || is_named(member, "__.SYMDEF SORTED");
}

int pj_archive_next(struct pj_archive *archive, struct pj_member *ret_member, struct pj_error **err)
{
    while (archive->at < archive->size) {
        struct pj_member member = {0};
        int status = read_member(archive, &member, err);
        if (status < 0)
            return status;
        if (is_table(&member))
            continue;
        *ret_member = member;
        return 1;
    }
    return 0;
}
