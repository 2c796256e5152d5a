/* SPDX-License-Identifier: Apache-2.0 */
/* Reads function bodies: only which instructions there are, and which declared names they use. */
#include "ptx_reader.h"

#include <string.h>

enum end { END_STATEMENT, END_BLOCK, END_TEXT };

/* Reads to the semicolon. Braces inside a statement are operands, as in ld.v2 {%a, %b}. */
static enum end skip_statement(struct fake_ptx_reader *reader)
{
    for (;;) {
        struct fake_token token = fake_lexer_next(&reader->lexer);
        if (!token.length) {
            fake_ptx_refuse_syntax(reader, token);
            return END_TEXT;
        }
        if (fake_token_is(token, ";"))
            return END_STATEMENT;
        if (fake_token_is(token, "{")) {
            if (!fake_ptx_skip_group(reader, "{", "}"))
                return END_TEXT;
        } else if (fake_token_is(token, "}")) {
            fake_ptx_refuse_syntax(reader, token); /* a semicolon is missing */
            return END_BLOCK;
        } else if (fake_names_have(&reader->declared, token.start, token.length)) {
            fake_names_add(&reader->used, token.start, token.length);
        }
    }
}

static enum end read_instruction(struct fake_ptx_reader *reader, struct fake_token token)
{
    const char *dot = memchr(token.start, '.', token.length);
    size_t length = dot ? (size_t)(dot - token.start) : token.length;
    if (!fake_ptx_knows_instruction(token.start, length))
        fake_ptx_refuse(
            reader, CUDA_ERROR_INVALID_PTX,
            "ptxas application ptx input, line %u; error   : Not a name of any known instruction: '%.*s'",
            token.line, (int)(length < 80 ? length : 80), token.start);
    return skip_statement(reader);
}

/* `@%p` or `@!%p`, whose `@` has been read. */
static void skip_guard(struct fake_ptx_reader *reader)
{
    if (fake_token_is(fake_lexer_peek(&reader->lexer), "!"))
        fake_lexer_next(&reader->lexer);
    fake_lexer_next(&reader->lexer);
}

void fake_ptx_read_body(struct fake_ptx_reader *reader)
{
    for (unsigned depth = 1; depth;) {
        struct fake_token token = fake_lexer_next(&reader->lexer);
        enum end end = END_STATEMENT;
        if (!token.length) {
            fake_ptx_refuse_syntax(reader, token);
            return;
        }
        if (fake_token_is(token, "{"))
            depth++;
        else if (fake_token_is(token, "}"))
            depth--;
        else if (fake_token_is(token, "@"))
            skip_guard(reader);
        else if (fake_token_is(token, ".loc") || fake_token_is(token, ".file"))
            fake_lexer_skip_line(&reader->lexer);
        else if (token.start[0] == '.')
            end = skip_statement(reader);
        else if (fake_token_is_name(token) && fake_token_is(fake_lexer_peek(&reader->lexer), ":"))
            fake_lexer_next(&reader->lexer); /* a label */
        else if (fake_token_is_name(token))
            end = read_instruction(reader, token);
        else if (!fake_token_is(token, ";"))
            fake_ptx_refuse_syntax(reader, token);
        if (end == END_BLOCK)
            depth--;
        else if (end == END_TEXT)
            return;
    }
}
