/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts PTX into tokens: words, numbers, strings and single marks; comments and `#` lines are left out. */
#include "ptx_lexer.h"

#include <ctype.h>
#include <string.h>

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%';
}

static void step(struct fake_lexer *lexer)
{
    if (*lexer->next++ == '\n')
        lexer->line++;
}

static bool starts(const struct fake_lexer *lexer, const char *mark)
{
    size_t length = strlen(mark);
    return (size_t)(lexer->end - lexer->next) >= length && memcmp(lexer->next, mark, length) == 0;
}

void fake_lexer_skip_line(struct fake_lexer *lexer)
{
    while (lexer->next < lexer->end && *lexer->next != '\n')
        lexer->next++;
}

static void skip_blank(struct fake_lexer *lexer)
{
    while (lexer->next < lexer->end) {
        if (isspace((unsigned char)*lexer->next)) {
            step(lexer);
        } else if (*lexer->next == '#' || starts(lexer, "//")) {
            fake_lexer_skip_line(lexer);
        } else if (starts(lexer, "/*")) {
            lexer->next += 2;
            while (lexer->next < lexer->end && !starts(lexer, "*/"))
                step(lexer);
            if (lexer->next == lexer->end)
                lexer->open_comment = true;
            else
                lexer->next += 2;
        } else {
            return;
        }
    }
}

static void take_string(struct fake_lexer *lexer)
{
    step(lexer);
    while (lexer->next < lexer->end && *lexer->next != '"') {
        if (*lexer->next == '\\' && lexer->next + 1 < lexer->end)
            lexer->next++;
        step(lexer);
    }
    if (lexer->next == lexer->end)
        lexer->open_comment = true;
    else
        lexer->next++;
}

struct fake_token fake_lexer_next(struct fake_lexer *lexer)
{
    skip_blank(lexer);
    struct fake_token token = {.start = lexer->next, .line = lexer->line};
    if (lexer->next == lexer->end)
        return token;
    if (*lexer->next == '"') {
        take_string(lexer);
    } else {
        bool word = is_word(*lexer->next) || *lexer->next == '.';
        bool number = isdigit((unsigned char)*lexer->next);
        lexer->next++;
        /* A dot inside a word belongs to it only in numbers (9.0) and opcodes (add.u32); both may be kept
         * whole. */
        while (word && lexer->next < lexer->end &&
               (is_word(*lexer->next) || (*lexer->next == '.' && (number || token.start[0] != '.'))))
            lexer->next++;
    }
    token.length = (size_t)(lexer->next - token.start);
    return token;
}

struct fake_token fake_lexer_peek(const struct fake_lexer *lexer)
{
    struct fake_lexer copy = *lexer;
    return fake_lexer_next(&copy);
}

bool fake_token_is(struct fake_token token, const char *text)
{
    return token.length == strlen(text) && memcmp(token.start, text, token.length) == 0;
}

bool fake_token_is_name(struct fake_token token)
{
    return token.length && (isalpha((unsigned char)token.start[0]) || token.start[0] == '_' ||
                            token.start[0] == '$' || token.start[0] == '%');
}
