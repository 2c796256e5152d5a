/* SPDX-License-Identifier: Apache-2.0 */
/* cmocka with what it needs, and the checks that most unit tests make. */
#ifndef PREJIT_UNIT_SUPPORT_UNIT_H
#define PREJIT_UNIT_SUPPORT_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"

/** The call failed with this code and message; clears *err for the next one. */
static inline void expect_error(int result, struct pj_error **err, enum pj_error_code code,
                                const char *message)
{
    assert_string_equal(result == 0 ? "success" : pj_error_message(*err), message);
    assert_int_equal(result, code);
    assert_int_equal(pj_error_code(*err), code);
    pj_error_clear(err);
}

/** The call succeeded and left *err alone. */
static inline void expect_success(int result, struct pj_error *const *err)
{
    if (result != 0)
        fail_msg("%s", pj_error_message(*err));
    assert_null(*err);
}

#endif
