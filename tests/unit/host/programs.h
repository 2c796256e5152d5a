/* SPDX-License-Identifier: Apache-2.0 */
/* Programs made up for tests of the checks, and what the checks found about them. */
#ifndef PREJIT_UNIT_HOST_PROGRAMS_H
#define PREJIT_UNIT_HOST_PROGRAMS_H

#include "folder.h"

#include "host/check.h"

/** A program of user 1000 with an environment of `pairs` "NAME=VALUE", NULL-terminated. */
static inline void program_make(struct pj_program *program, const char *const *pairs)
{
    *program = (struct pj_program){.who = "the test",
                                   .root = "",
                                   .uid = 1000,
                                   .gid = 1000,
                                   .user_text = "app",
                                   .directory = "/srv",
                                   .environment_known = true};
    for (; *pairs; pairs++) {
        const char *equals = strchr(*pairs, '=');
        assert_non_null(equals);
        assert_int_equal(
            pj_program_set_variable(program, *pairs, (size_t)(equals - *pairs), equals + 1, NULL), 0);
    }
}

/** Exactly these findings, as lines "code subject: found". */
static inline void expect_findings(const struct pj_finding_list *list, const char *expected)
{
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    for (size_t i = 0; i < list->count; i++)
        pj_buffer_printf(&text, "%s %s: %s\n", pj_finding_info(list->items[i].code)->code,
                         list->items[i].subject, list->items[i].found);
    assert_string_equal(pj_buffer_text(&text), expected);
}

#endif
