/* SPDX-License-Identifier: Apache-2.0 */
/* The file system that the cache lies on: its kind, and what is left on it. */
#include <errno.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>

#include "base/text.h"
#include "host/check.h"

#define NONE_LEFT_BYTES (UINT64_C(1) << 20)
#define LOW_BYTES       (UINT64_C(64) << 20)
#define LOW_INODES      UINT64_C(1000)

/* Magic numbers that linux/magic.h leaves out stand here by value. */
static const struct {
    uint64_t type;
    const char *name;
    enum pj_file_system_class class;
} kinds[] = {
    {NFS_SUPER_MAGIC, "NFS", PJ_FILE_SYSTEM_SHARED},
    {0xff534d42, "CIFS", PJ_FILE_SYSTEM_SHARED},
    {0xfe534d42, "SMB", PJ_FILE_SYSTEM_SHARED},
    {SMB_SUPER_MAGIC, "SMB", PJ_FILE_SYSTEM_SHARED},
    {0x65735546, "FUSE", PJ_FILE_SYSTEM_SHARED},
    {0x0bd00bd0, "Lustre", PJ_FILE_SYSTEM_SHARED},
    {0x47504653, "GPFS", PJ_FILE_SYSTEM_SHARED},
    {0x00c36400, "CephFS", PJ_FILE_SYSTEM_SHARED},
    {0x19830326, "BeeGFS", PJ_FILE_SYSTEM_SHARED},
    {AFS_SUPER_MAGIC, "AFS", PJ_FILE_SYSTEM_SHARED},
    {0x01021997, "9p", PJ_FILE_SYSTEM_SHARED},
    {0x7461636f, "OCFS2", PJ_FILE_SYSTEM_SHARED},
    {0x01161970, "GFS2", PJ_FILE_SYSTEM_SHARED},
    {TMPFS_MAGIC, "tmpfs", PJ_FILE_SYSTEM_MEMORY},
    {RAMFS_MAGIC, "ramfs", PJ_FILE_SYSTEM_MEMORY},
    {OVERLAYFS_SUPER_MAGIC, "overlayfs", PJ_FILE_SYSTEM_LAYERED},
};

const char *pj_file_system_kind(uint64_t type, enum pj_file_system_class *ret_class)
{
    for (size_t i = 0; i < PJ_COUNT(kinds); i++) {
        if (kinds[i].type == type) {
            *ret_class = kinds[i].class;
            return kinds[i].name;
        }
    }
    *ret_class = PJ_FILE_SYSTEM_LOCAL;
    return NULL;
}

static int check_kind(const char *full, const char *path, struct pj_finding_list *findings,
                      struct pj_error **err)
{
    static const enum pj_finding_code codes[] = {
        [PJ_FILE_SYSTEM_SHARED] = PJ_FINDING_FILE_SYSTEM_SHARED,
        [PJ_FILE_SYSTEM_MEMORY] = PJ_FINDING_FILE_SYSTEM_MEMORY,
        [PJ_FILE_SYSTEM_LAYERED] = PJ_FINDING_FILE_SYSTEM_LAYERED,
    };
    struct statfs status;
    enum pj_file_system_class class;
    if (statfs(full, &status) != 0)
        return 0;
    /* f_type is signed, and the kernel's numbers have 32 bits. */
    const char *kind = pj_file_system_kind((uint32_t)status.f_type, &class);
    return kind ? pj_finding_add(findings, codes[class], path, NULL, err, "it lies on %s", kind) : 0;
}

static int check_space(const char *full, const char *path, struct pj_finding_list *findings,
                       struct pj_error **err)
{
    struct statvfs status;
    uint64_t bytes;
    char size[PJ_SIZE_TEXT];
    if (statvfs(full, &status) != 0 || status.f_blocks == 0 || (status.f_flag & ST_RDONLY))
        return 0;
    if (__builtin_mul_overflow((uint64_t)status.f_bavail, (uint64_t)status.f_frsize, &bytes))
        bytes = UINT64_MAX;
    bool counts_inodes = status.f_files > 0; /* some file systems make them as needed */
    if (counts_inodes && status.f_favail == 0)
        return pj_finding_add(findings, PJ_FINDING_SPACE_NONE, path, NULL, err,
                              "no file can be made on it: its inodes are used up");
    if (bytes < NONE_LEFT_BYTES)
        return pj_finding_add(findings, PJ_FINDING_SPACE_NONE, path, NULL, err, "%s are left on it",
                              pj_text_from_size(bytes, size));
    if (bytes < LOW_BYTES)
        return pj_finding_add(findings, PJ_FINDING_SPACE_LOW, path, NULL, err, "%s are left on it",
                              pj_text_from_size(bytes, size));
    return counts_inodes && status.f_favail < LOW_INODES
               ? pj_finding_add(findings, PJ_FINDING_SPACE_LOW, path, NULL, err,
                                "%llu more files can be made on it", (unsigned long long)status.f_favail)
               : 0;
}

int pj_check_file_system(const struct pj_program *program, const char *path, struct pj_finding_list *findings,
                         struct pj_error **err)
{
    PJ_CLEANUP_FREE char *full = pj_program_path(program, path);
    struct statfs status;
    if (!full)
        return pj_error_no_memory(err);
    for (char *slash; statfs(full, &status) != 0; *slash = '\0') {
        slash = strrchr(full, '/');
        if ((errno != ENOENT && errno != ENOTDIR) || !slash || slash == full)
            return 0;
    }
    int r = check_kind(full, path, findings, err);
    return r == 0 ? check_space(full, path, findings, err) : r;
}
