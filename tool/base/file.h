/* SPDX-License-Identifier: Apache-2.0 */
/* Files and folders by descriptor: whole reads and writes, atomic replacement, removal of trees. */
#ifndef PREJIT_BASE_FILE_H
#define PREJIT_BASE_FILE_H

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/buffer.h"
#include "base/error.h"

/** Appends the whole file to `ret_bytes`. `path` is relative to `dirfd` (or AT_FDCWD). More than `max_bytes`
 *  is an error (PJ_ERROR_IO, errnum EFBIG), and so is anything that is not a regular file (errnum EINVAL):
 *  a FIFO or device is never waited for. */
int pj_file_read(int dirfd, const char *path, uint64_t max_bytes, struct pj_buffer *ret_bytes,
                 struct pj_error **err);

/** Like pj_file_read from an open descriptor, from offset 0, without moving its position. */
int pj_file_read_fd(int fd, const char *name, uint64_t max_bytes, struct pj_buffer *ret_bytes,
                    struct pj_error **err);

/** Reads a file of /proc or /sys, whose stat says nothing of its size, up to `max_bytes`. */
int pj_file_read_special(int dirfd, const char *path, uint64_t max_bytes, struct pj_buffer *ret_bytes,
                         struct pj_error **err);

/** Exactly `size` bytes at `offset`; fewer there is PJ_ERROR_IO with errnum 0 and says so. */
int pj_file_pread(int fd, const char *name, void *bytes, size_t size, uint64_t offset, struct pj_error **err);
int pj_file_pwrite(int fd, const char *name, const void *bytes, size_t size, uint64_t offset,
                   struct pj_error **err);

/** A file in memory alone with these bytes, to be handed to another process; `bytes` may be NULL where `size`
 * is 0. */
int pj_file_in_memory(const void *bytes, size_t size, int *ret_fd, struct pj_error **err);

/** Opens a regular file read-only without ever blocking on a FIFO; fills `ret_stat`. */
int pj_file_open_regular(int dirfd, const char *path, int *ret_fd, struct stat *ret_stat,
                         struct pj_error **err);

/** What a file of this mode is, for messages: "a FIFO". */
const char *pj_file_type_name(mode_t mode);

/** Replaces `name` in `dirfd` by `bytes`: temporary file, fsync, rename; nothing is left behind on failure.
 */
int pj_file_replace(int dirfd, const char *name, const void *bytes, size_t size, mode_t mode,
                    struct pj_error **err);

/** Fails, with the errno, where pj_file_replace could not give `name` a file, as far as that can be known
 * beforehand: makes its temporary file and removes it again, and looks at what has the name, which stays as
 * it is. */
int pj_file_check_replace(int dirfd, const char *name, struct pj_error **err);

/** How many bytes of `name`, a name in a folder, are the name that pj_file_replace would give the file in the
 * end, where it is a temporary one as it makes them; else 0. One that was killed leaves it behind. */
size_t pj_file_temporary_length(const char *name);

/** mkdir of every missing part of `path`, like mkdir -p, with `mode` less the umask. */
int pj_directory_create(const char *path, mode_t mode, struct pj_error **err);

/** Makes a new folder, for this user alone, in `parent` (NULL or "" = /tmp), its name `name` and random
 * letters. *ret_path: absolute; free(). PJ_ERROR_ENVIRONMENT where it cannot be made there. */
int pj_directory_temporary(const char *parent, const char *name, char **ret_path, struct pj_error **err);

/** Opens a directory (O_CLOEXEC); with `follow` false a symbolic link as its last part is refused. */
int pj_directory_open(int dirfd, const char *path, bool follow, int *ret_fd, struct pj_error **err);

/** Does this errno say that a file system, or the user's share of it, takes no more? */
bool pj_is_disk_full(int errnum);

/** Has the directory `path` a file system that takes no further file of so many bytes? Tried with a file that
 * is removed at once; false where that cannot be told. */
bool pj_directory_is_full(const char *path, uint64_t bytes);

/** Removes `name` in `dirfd` and all below it; links are removed, never followed. Absent is success. */
int pj_tree_remove(int dirfd, const char *name, struct pj_error **err);

/** "a/b" of `directory` and `name`, or a copy of `name` where it is absolute; NULL when memory is out;
 * free(). */
char *pj_path_join(const char *directory, const char *name);

/** `path` made absolute against the working directory, "." and "//" removed (".." kept); free(). */
int pj_path_absolute(const char *path, char **ret_path, struct pj_error **err);

/** close() that keeps errno and accepts -1. */
void pj_close(int fd);
void pj_close_pointer(int *fd);
void pj_closedir_pointer(DIR **directory);
void pj_fclose_pointer(FILE **file);

#define PJ_CLEANUP_CLOSE    __attribute__((cleanup(pj_close_pointer)))
#define PJ_CLEANUP_CLOSEDIR __attribute__((cleanup(pj_closedir_pointer)))
#define PJ_CLEANUP_FCLOSE   __attribute__((cleanup(pj_fclose_pointer)))

/** Hands over a descriptor: gives its value and leaves -1. */
#define PJ_STEAL_FD(fd)                                                                                      \
    __extension__({                                                                                          \
        int stolen_ = (fd);                                                                                  \
        (fd) = -1;                                                                                           \
        stolen_;                                                                                             \
    })

#endif
