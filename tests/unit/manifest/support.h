/* SPDX-License-Identifier: Apache-2.0 */
/* Parses texts as manifests and compares what comes out. */
#ifndef PREJIT_UNIT_MANIFEST_SUPPORT_H
#define PREJIT_UNIT_MANIFEST_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "manifest/manifest.h"

/** The least that stands before a list of modules. */
#define HEAD "version: 1\nmodules:\n"

/** A whole, right manifest, for what comes after it. */
#define WHOLE "version: 1\nmodules: [{name: a, ptx: a.ptx}]\n"

/** The text is refused as PJ_ERROR_MANIFEST, the manifest pointer left alone; `f` is the file's name. */
static inline void expect_refused(const char *text, const char *message)
{
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    struct pj_manifest *const untouched = (struct pj_manifest *)&err;
    struct pj_manifest *manifest = untouched;
    int r = pj_manifest_parse(text, strlen(text), "f", ".", false, &manifest, &err);
    assert_string_equal(r == 0 ? "accepted" : pj_error_message(err), message);
    assert_int_equal(r, PJ_ERROR_MANIFEST);
    assert_int_equal(err->code, PJ_ERROR_MANIFEST);
    assert_ptr_equal(manifest, untouched);
}

/** The manifest of a right text; free with pj_manifest_free. */
static inline struct pj_manifest *parse_in(const char *text, const char *directory, bool allow_unsupported)
{
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    struct pj_manifest *manifest = NULL;
    int r = pj_manifest_parse(text, strlen(text), "f", directory, allow_unsupported, &manifest, &err);
    if (r != 0)
        fail_msg("%s", pj_error_message(err));
    return manifest;
}

#endif
