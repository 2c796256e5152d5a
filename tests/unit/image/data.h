/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the tests of link inputs: the files of tests/data/image, and changes to their bytes. */
#ifndef PREJIT_UNIT_IMAGE_DATA_H
#define PREJIT_UNIT_IMAGE_DATA_H

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/memory.h"

static inline void data_read(const char *name, struct pj_buffer *ret_bytes)
{
    PJ_CLEANUP_FREE char *path = pj_path_join(TEST_DATA, name);
    assert_non_null(path);
    assert_int_equal(pj_file_read(AT_FDCWD, path, 1 << 20, ret_bytes, NULL), 0);
}

/* Writes the lowest `size` bytes of `value` at `at`, zeros where that is more than it has. */
static inline void data_set(struct pj_buffer *bytes, size_t at, size_t size, uint64_t value)
{
    assert_true(at + size <= bytes->size);
    for (size_t i = 0; i < size; i++)
        bytes->data[at + i] = (char)(i < sizeof value ? value >> (8 * i) & 0xff : 0);
}

/* A copy of the exact size at an odd address, so that a sanitizer sees any read behind it. */
static inline char *data_odd_copy(const void *bytes, size_t size)
{
    char *memory = malloc(size + 1);
    assert_non_null(memory);
    if (size > 0)
        memcpy(memory + 1, bytes, size);
    return memory;
}

#endif
