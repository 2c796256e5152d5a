/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the PTX tests: reads a text whose end is the end of its memory. */
#ifndef PREJIT_UNIT_IMAGE_READ_H
#define PREJIT_UNIT_IMAGE_READ_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "image/ptx.h"

struct reading {
    struct pj_arena arena;
    struct pj_ptx ptx;
    struct pj_ptx_finding finding;
};

static inline void read_bytes(const char *text, size_t size, struct reading *ret_reading)
{
    *ret_reading = (struct reading){0};
    char *copy = malloc(size ? size : 1);
    assert_non_null(copy);
    memcpy(copy, text, size);
    struct pj_error *error = NULL;
    assert_int_equal(
        pj_ptx_read(copy, size, &ret_reading->arena, &ret_reading->ptx, &ret_reading->finding, &error), 0);
    assert_null(error);
    free(copy);
}

static inline void check_finding(const struct reading *reading, const char *what, const char *code,
                                 size_t line, const char *message)
{
    const struct pj_ptx_finding *finding = &reading->finding;
    if (strcmp(pj_ptx_finding_name(finding->code), code) != 0)
        fail_msg("%s: %s: %s", what, pj_ptx_finding_name(finding->code),
                 finding->message ? finding->message : "");
    assert_int_equal(finding->line, line);
    if (message)
        assert_string_equal(finding->message, message);
    else
        assert_null(finding->message);
}

#endif
