/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts PTX into tokens: words, numbers, strings and single marks; comments and `#` lines are left out. */
#ifndef FAKE_PTX_LEXER_H
#define FAKE_PTX_LEXER_H

#include <stdbool.h>
#include <stddef.h>

struct fake_token {
    const char *start;
    size_t length; /* 0 at the end of the text */
    unsigned line;
};

struct fake_lexer {
    const char *next;
    const char *end;
    unsigned line;
    bool open_comment; /* the text ended inside a comment or a string */
};

struct fake_token fake_lexer_next(struct fake_lexer *lexer);
struct fake_token fake_lexer_peek(const struct fake_lexer *lexer);
/* The rest of the line is no token: for .loc and .file, which end without a semicolon. */
void fake_lexer_skip_line(struct fake_lexer *lexer);
bool fake_token_is(struct fake_token token, const char *text);
/* Starts like an identifier: a letter, `_`, `$` or `%`. */
bool fake_token_is_name(struct fake_token token);

#endif
