/* SPDX-License-Identifier: Apache-2.0 */
/* Judges a POSIX access list: owner, named users, groups, others, with the mask over all but owner and
 * others.
 */
#include "host/access_list.h"

#include <endian.h>
#include <stdint.h>
#include <string.h>

enum { VERSION = 2, HEADER_BYTES = 4, ENTRY_BYTES = 8 };
enum { USER_OBJ = 0x01, USER = 0x02, GROUP_OBJ = 0x04, GROUP = 0x08, MASK = 0x10, OTHER = 0x20 };

struct entry {
    unsigned tag, permissions;
    uint32_t id;
};

static struct entry read_entry(const unsigned char *at)
{
    uint16_t tag, permissions;
    uint32_t id;
    memcpy(&tag, at, sizeof tag);
    memcpy(&permissions, at + 2, sizeof permissions);
    memcpy(&id, at + 4, sizeof id);
    return (struct entry){le16toh(tag), le16toh(permissions), le32toh(id)};
}

static bool applies_to_group(const struct entry *entry, const struct pj_program *program,
                             const struct stat *status)
{
    return (entry->tag == GROUP_OBJ && pj_program_in_group(program, status->st_gid)) ||
           (entry->tag == GROUP && pj_program_in_group(program, (gid_t)entry->id));
}

bool pj_access_list_allows(const void *bytes, size_t size, const struct pj_program *program,
                           const struct stat *status, unsigned wanted, bool *ret_allowed)
{
    const unsigned char *list = bytes;
    uint32_t version;
    unsigned mask = PJ_MAY_READ | PJ_MAY_WRITE | PJ_MAY_PASS, others = 0;
    bool in_group = false, group_allows = false, named = false;
    unsigned own = 0;
    if (size < HEADER_BYTES || (size - HEADER_BYTES) % ENTRY_BYTES != 0)
        return false;
    memcpy(&version, list, sizeof version);
    if (le32toh(version) != VERSION)
        return false;
    for (size_t at = HEADER_BYTES; at < size; at += ENTRY_BYTES) {
        struct entry entry = read_entry(list + at);
        if (entry.tag == MASK)
            mask = entry.permissions;
    }
    for (size_t at = HEADER_BYTES; at < size; at += ENTRY_BYTES) {
        struct entry entry = read_entry(list + at);
        if (entry.tag == OTHER)
            others = entry.permissions;
        if (entry.tag == USER_OBJ && program->uid == status->st_uid) {
            *ret_allowed = (entry.permissions & wanted) == wanted;
            return true;
        }
        if (entry.tag == USER && program->uid == entry.id) {
            named = true;
            own = entry.permissions & mask;
        }
        if (applies_to_group(&entry, program, status)) {
            in_group = true;
            group_allows |= (entry.permissions & mask & wanted) == wanted;
        }
    }
    *ret_allowed = named ? (own & wanted) == wanted : in_group ? group_allows : (others & wanted) == wanted;
    return true;
}
