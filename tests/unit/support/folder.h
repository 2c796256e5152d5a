/* SPDX-License-Identifier: Apache-2.0 */
/* A folder of its own for a test, with files in it, removed at the end. */
#ifndef PREJIT_UNIT_SUPPORT_FOLDER_H
#define PREJIT_UNIT_SUPPORT_FOLDER_H

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

#include "base/buffer.h"
#include "base/file.h"
#include "base/memory.h"

struct folder {
    char path[512];
};

/** An empty folder below TMPDIR (else /tmp). */
static inline void folder_make(struct folder *folder)
{
    const char *parent = getenv("TMPDIR");
    int length = snprintf(folder->path, sizeof folder->path, "%s/prejit-unit-XXXXXX",
                          parent && *parent ? parent : "/tmp");
    assert_true(length > 0 && (size_t)length < sizeof folder->path);
    assert_non_null(mkdtemp(folder->path));
}

static inline void folder_remove(struct folder *folder)
{
    if (folder->path[0] != '\0')
        (void)pj_tree_remove(AT_FDCWD, folder->path, NULL);
}
#define CLEANUP_FOLDER __attribute__((cleanup(folder_remove)))

/** Writes the file `name` of `size` bytes, making the folders before it. */
static inline void folder_write_bytes(const struct folder *folder, const char *name, const void *bytes,
                                      size_t size)
{
    PJ_CLEANUP_FREE char *path = pj_path_join(folder->path, name);
    assert_non_null(path);
    char *slash = strrchr(path, '/');
    *slash = '\0';
    assert_int_equal(pj_directory_create(path, 0755, NULL), 0);
    *slash = '/';
    PJ_CLEANUP_CLOSE int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), size);
}

/** The same with text. */
static inline void folder_write(const struct folder *folder, const char *name, const char *text)
{
    folder_write_bytes(folder, name, text, strlen(text));
}

#endif
