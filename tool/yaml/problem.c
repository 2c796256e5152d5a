/* SPDX-License-Identifier: Apache-2.0 */
/* libyaml's findings made into messages. */
#include "yaml/problem.h"

#include <string.h>

#include "base/memory.h"

/* libyaml's words, and the advice that its users need most often. */
static const struct {
    const char *problem;
    const char *advice;
} advices[] = {
    {"mapping values are not allowed in this context",
     "keys of one mapping stand in one column, and text that holds `: ` needs quotes"},
    {"did not find expected key", "keys of one mapping stand in one column: check how this line is indented"},
    {"did not find expected '-' indicator",
     "items of one list stand in one column and start with `- `: check how this line is indented"},
    {"block sequence entries are not allowed in this context",
     "a list starts on a line of its own behind its key"},
    {"could not find expected ':'", "a key is followed by `: ` and its value"},
    {"found unexpected end of stream", "a quote is not closed"},
    {"did not find expected ',' or ']'", "items between `[` and `]` are separated by commas"},
    {"did not find expected ',' or '}'", "keys between `{` and `}` are separated by commas"},
    {"found unknown escape character",
     "between double quotes a backslash is written `\\\\`; between single quotes it stands for itself"},
    {"found undefined tag handle", "tags are not allowed: write the value without it"},
    {"did not find expected <document start>",
     "the document ended before this line: check how this line is indented"},
    {"did not find expected node content", "a value is missing here, or text needs quotes"},
    {"found a tab character that violates indentation", "indent with spaces"},
    {"found a tab character where an indentation space is expected", "indent with spaces"},
};

static const char *advice_for(const char *problem)
{
    for (size_t i = 0; i < PJ_COUNT(advices); i++) {
        if (strcmp(advices[i].problem, problem) == 0)
            return advices[i].advice;
    }
    return NULL;
}

static int encoding_problem(const yaml_parser_t *parser, const struct pj_yaml_source *source,
                            const char *name, struct pj_error **err)
{
    size_t line, column, offset = parser->problem_offset;
    /* A byte that should continue a character is named by the byte that began it. */
    if (strcmp(parser->problem, "invalid trailing UTF-8 octet") == 0) {
        do
            offset--;
        while (offset > 0 && (unsigned char)source->bytes[offset] < 0xc0);
    }
    pj_yaml_source_place(source, offset, &line, &column);
    if (strcmp(parser->problem, "control characters are not allowed") == 0)
        return pj_error_set(
            err, PJ_ERROR_FORMAT,
            "%s:%zu:%zu: read the control character U+%04X; YAML allows none but tabs and line "
            "ends: remove it",
            name, line, column, (unsigned)parser->problem_value);
    unsigned char byte = offset < source->size ? (unsigned char)source->bytes[offset] : 0;
    return pj_error_set(err, PJ_ERROR_FORMAT,
                        "%s:%zu:%zu: byte 0x%02x is not UTF-8 (%s): save the file as UTF-8", name, line,
                        column, byte, parser->problem);
}

static int token_problem(struct pj_yaml_source *source, const char *name, const yaml_mark_t *mark,
                         struct pj_error **err)
{
    size_t offset = pj_yaml_source_offset(source, mark->index);
    char c = offset < source->size ? source->bytes[offset] : '\0';
    if (c == '\t')
        return pj_error_set(err, PJ_ERROR_FORMAT,
                            "%s:%zu:%zu: not YAML: read a tab where a value starts: indent with spaces", name,
                            mark->line + 1, mark->column + 1);
    return pj_error_set(err, PJ_ERROR_FORMAT,
                        "%s:%zu:%zu: not YAML: a value cannot start with '%c': put it into quotes", name,
                        mark->line + 1, mark->column + 1, c);
}

int pj_yaml_problem(const yaml_parser_t *parser, struct pj_yaml_source *source, const char *name,
                    struct pj_error **err)
{
    /* Where memory runs out libyaml does not always set its error; all else comes with a problem. */
    if (parser->error == YAML_MEMORY_ERROR || !parser->problem)
        return pj_error_no_memory(err);
    if (parser->error == YAML_READER_ERROR)
        return encoding_problem(parser, source, name, err);
    const yaml_mark_t *mark = &parser->problem_mark;
    if (strcmp(parser->problem, "found character that cannot start any token") == 0)
        return token_problem(source, name, mark, err);
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    pj_buffer_printf(&text, "%s", parser->problem);
    if (parser->context && parser->context_mark.line == mark->line &&
        parser->context_mark.column == mark->column)
        pj_buffer_printf(&text, " %s", parser->context);
    else if (parser->context)
        pj_buffer_printf(&text, " %s that starts at line %zu, column %zu", parser->context,
                         parser->context_mark.line + 1, parser->context_mark.column + 1);
    const char *advice = advice_for(parser->problem);
    if (advice)
        pj_buffer_printf(&text, "; %s", advice);
    int r = pj_buffer_check(&text, err);
    if (r < 0)
        return r;
    return pj_error_set(err, PJ_ERROR_FORMAT, "%s:%zu:%zu: not YAML: %s", name, mark->line + 1,
                        mark->column + 1, pj_buffer_text(&text));
}
