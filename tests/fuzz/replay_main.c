/* SPDX-License-Identifier: Apache-2.0 */
/* Feeds every file of the folders named on the command line to a fuzz target; at least one must be there. */
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUT_BYTES_MAX = 64 * 1024 * 1024 };

/* A copy of the exact size, so that a sanitizer sees any read behind it. */
static void feed(const struct pj_buffer *bytes)
{
    uint8_t *copy = malloc(bytes->size ? bytes->size : 1);
    if (!copy)
        abort();
    if (bytes->size > 0)
        memcpy(copy, bytes->data, bytes->size);
    (void)LLVMFuzzerTestOneInput(copy, bytes->size);
    free(copy);
}

static int replay_folder(const char *path, size_t *count, struct pj_error **err)
{
    int fd = -1;
    int status = pj_directory_open(AT_FDCWD, path, true, &fd, err);
    if (status < 0)
        return status;
    PJ_CLEANUP_CLOSEDIR DIR *directory = fdopendir(fd);
    if (!directory) {
        pj_close(fd);
        return pj_error_set(err, PJ_ERROR_IO, "reading %s failed", path);
    }
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
        if (entry->d_name[0] == '.')
            continue;
        status = pj_file_read(dirfd(directory), entry->d_name, INPUT_BYTES_MAX, &bytes, err);
        if (status < 0)
            return status;
        /* Seen last where the target ends the program. */
        fprintf(stderr, "%s/%s\n", path, entry->d_name);
        feed(&bytes);
        (*count)++;
    }
    return 0;
}

int main(int argc, char **argv)
{
    size_t count = 0;
    for (int i = 1; i < argc; i++) {
        PJ_CLEANUP_ERROR struct pj_error *error = NULL;
        if (replay_folder(argv[i], &count, &error) < 0) {
            fprintf(stderr, "%s\n", pj_error_message(error));
            return 1;
        }
    }
    printf("%zu inputs\n", count);
    return count > 0 ? 0 : 1;
}
