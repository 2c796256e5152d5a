/* SPDX-License-Identifier: Apache-2.0 */
/* Where two texts differ first. */
#include <string.h>

#include "report/phrase.h"
#include "session/prepare/private.h"

/* Of each line so much is shown; of what both have in common before they differ less. */
enum { SHOWN_BYTES = 60, SHOWN_BEFORE = 20 };

static size_t common_bytes(const char *a, size_t a_size, const char *b, size_t b_size)
{
    size_t same = 0;
    while (same < a_size && same < b_size && a[same] == b[same])
        same++;
    return same;
}

/* The line from `from` on. Lines of PTX are long: what differs may stand far behind. */
static void put_part(struct pj_buffer *text, const char *line, size_t size, size_t from)
{
    pj_buffer_puts(text, from > 0 ? "`..." : "`");
    pj_phrase_cut(text, line + from, size - from, SHOWN_BYTES);
    pj_buffer_putc(text, '`');
}

/* Where both parts begin: not within a character. */
static size_t begin_of_parts(const char *line, size_t size, size_t same)
{
    if (same + SHOWN_BEFORE < SHOWN_BYTES)
        return 0;
    size_t from = same - SHOWN_BEFORE;
    while (from > 0 && from < size && ((unsigned char)line[from] & 0xc0) == 0x80)
        from--;
    return from;
}

const char *pj_prepare_first_difference(const char *before, const char *after, struct pj_arena *arena)
{
    size_t line = 1;
    for (;;) {
        size_t a = strcspn(before, "\n"), b = strcspn(after, "\n");
        if (a != b || memcmp(before, after, a) != 0 || before[a] != after[b] || before[a] == '\0') {
            PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
            size_t from = begin_of_parts(before, a, common_bytes(before, a, after, b));
            pj_buffer_printf(&text, "line %zu is ", line);
            put_part(&text, after, b, from);
            pj_buffer_puts(&text, ", and was ");
            put_part(&text, before, a, from);
            return text.failed ? NULL : pj_arena_strdup(arena, pj_buffer_text(&text));
        }
        before += a + 1;
        after += b + 1;
        line++;
    }
}
