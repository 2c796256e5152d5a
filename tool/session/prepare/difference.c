/* SPDX-License-Identifier: Apache-2.0 */
/* Where two texts differ first. */
#include <string.h>

#include "report/phrase.h"
#include "session/prepare/private.h"

const char *pj_prepare_first_difference(const char *before, const char *after, struct pj_arena *arena)
{
    enum { SHOWN_BYTES = 60 };
    size_t line = 1;
    for (;;) {
        size_t a = strcspn(before, "\n"), b = strcspn(after, "\n");
        if (a != b || memcmp(before, after, a) != 0 || before[a] != after[b] || before[a] == '\0') {
            PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
            pj_buffer_printf(&text, "line %zu is `", line);
            pj_phrase_cut(&text, after, b, SHOWN_BYTES);
            pj_buffer_puts(&text, "`, and was `");
            pj_phrase_cut(&text, before, a, SHOWN_BYTES);
            pj_buffer_puts(&text, "`");
            return text.failed ? NULL : pj_arena_strdup(arena, pj_buffer_text(&text));
        }
        before += a + 1;
        after += b + 1;
        line++;
    }
}
