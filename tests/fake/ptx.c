/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the module level of a PTX text: head, variables, functions. */
#include "ptx_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fake_ptx_refuse(struct fake_ptx_reader *reader, CUresult result, const char *format, ...)
{
    if (reader->ptx->refusal != CUDA_SUCCESS)
        return; /* the first complaint is the one that counts */
    struct fake_buffer text = {0};
    va_list arguments;
    va_start(arguments, format);
    fake_buffer_vprintf(&text, format, arguments);
    va_end(arguments);
    fake_buffer_add_text(&text, "\nptxas fatal   : Ptx assembly aborted due to errors");
    reader->ptx->refusal = result;
    reader->ptx->refusal_text = (char *)text.data;
}

void fake_ptx_refuse_syntax(struct fake_ptx_reader *reader, struct fake_token near)
{
    fake_ptx_refuse(reader, CUDA_ERROR_INVALID_PTX,
                    "ptxas application ptx input, line %u; fatal   : Parsing error near '%.*s': syntax error",
                    near.line, (int)(near.length < 80 ? near.length : 80), near.start);
}

bool fake_ptx_skip_group(struct fake_ptx_reader *reader, const char *open, const char *close)
{
    unsigned depth = 1;
    while (depth) {
        struct fake_token token = fake_lexer_next(&reader->lexer);
        if (!token.length) {
            fake_ptx_refuse_syntax(reader, token);
            return false;
        }
        if (fake_token_is(token, open))
            depth++;
        else if (fake_token_is(token, close))
            depth--;
    }
    return true;
}

static void read_version(struct fake_ptx_reader *reader)
{
    /* ptxas takes no comment between the word and its number. */
    const char *raw = reader->lexer.next;
    while (raw < reader->lexer.end && (*raw == ' ' || *raw == '\t'))
        raw++;
    struct fake_token token = fake_lexer_next(&reader->lexer);
    if (token.start != raw || !token.length) {
        fake_ptx_refuse(
            reader, CUDA_ERROR_INVALID_PTX,
            "ptxas application ptx input, line %u; fatal   : Missing .version directive at start of file "
            "'ptx input'",
            token.line);
        return;
    }
    char *text = fake_copy_text(token.start, token.length);
    unsigned major = 0, minor = 0;
    char rest;
    bool read = sscanf(text, "%3u.%4u%c", &major, &minor, &rest) == 2;
    /* Known where ten times major plus minor is: 8.10 counts as 9.0. What it allows is another matter. */
    unsigned isa = major * 10 + minor;
    unsigned newest = reader->newest_isa;
    if (!read || isa > newest || !fake_ptx_version_exists(isa))
        fake_ptx_refuse(
            reader, CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
            "ptxas application ptx input, line %u; fatal   : Unsupported .version %s; current version is "
            "'%u.%u'",
            token.line, text, newest / 10, newest % 10);
    reader->major = major;
    reader->minor = minor;
    free(text);
}

/* Than an ISA as ten times major plus minor: of the same major version 10 is above 9. */
static bool is_older(const struct fake_ptx_reader *reader, unsigned isa)
{
    return reader->major < isa / 10 || (reader->major == isa / 10 && reader->minor < isa % 10);
}

static void read_target(struct fake_ptx_reader *reader)
{
    struct fake_token token = fake_lexer_next(&reader->lexer);
    char *text = fake_copy_text(token.start, token.length);
    struct fake_arch target = {0};
    if (!fake_arch_parse(text, true, &target)) {
        fake_ptx_refuse(
            reader, CUDA_ERROR_INVALID_PTX,
            "ptxas application ptx input, line %u; fatal   : Target architecture not defined at start of "
            "file 'ptx input'",
            token.line);
        free(text);
        return;
    }
    unsigned lowest = fake_arch_lowest_isa(target);
    if (!lowest)
        fake_ptx_refuse(reader, CUDA_ERROR_INVALID_PTX,
                        "ptxas application ptx input, line %u; fatal   : Unsupported .target '%s'",
                        token.line, text);
    else if (is_older(reader, lowest))
        fake_ptx_refuse(
            reader, CUDA_ERROR_INVALID_PTX,
            "ptxas application ptx input, line %u; error   : PTX .version %u.%u does not support .target %s",
            token.line, reader->major, reader->minor, text);
    free(reader->ptx->target_text);
    reader->ptx->target = target; /* of several, the last counts */
    reader->ptx->target_text = text;
    while (fake_token_is(fake_lexer_peek(&reader->lexer), ",")) {
        fake_lexer_next(&reader->lexer);
        reader->independent |= fake_token_is(fake_lexer_next(&reader->lexer), "texmode_independent");
    }
}

/* What a kernel's parameters are, as far as it matters. */
struct parameters {
    uint64_t bytes;
    bool unloadable;
};

static void add_function(struct fake_ptx_function **list, size_t *count, struct fake_token name,
                         size_t body_bytes, enum fake_linkage linkage, struct parameters parameters)
{
    *list = fake_reallocate(*list, (*count + 1) * sizeof **list);
    (*list)[(*count)++] = (struct fake_ptx_function){fake_copy_text(name.start, name.length), body_bytes,
                                                     linkage, parameters.bytes, parameters.unloadable};
}

static unsigned element_bytes(struct fake_token token)
{
    char digits[4] = {0};
    if (token.length < 3 || token.length > 5 || !strchr("bsuf", token.start[1]))
        return 0;
    memcpy(digits, token.start + 2, token.length - 2);
    unsigned long bits = strtoul(digits, NULL, 10);
    return bits >= 8 && bits <= 128 && bits % 8 == 0 ? (unsigned)bits / 8 : 0;
}

/* Parameters up to the closing parenthesis. False at the end of the text. */
static bool read_parameters(struct fake_ptx_reader *reader, struct parameters *ret_parameters)
{
    struct parameters parameters = {0};
    uint64_t element = 0, alignment = 0, count = 1;
    for (;;) {
        struct fake_token token = fake_lexer_next(&reader->lexer);
        if (!token.length) {
            fake_ptx_refuse_syntax(reader, token);
            return false;
        }
        if (fake_token_is(token, ")") || fake_token_is(token, ",")) {
            if (element) {
                uint64_t step = alignment ? alignment : element;
                parameters.bytes = (parameters.bytes + step - 1) / step * step + element * count;
            }
            element = alignment = 0;
            count = 1;
            if (fake_token_is(token, ")")) {
                *ret_parameters = parameters;
                return true;
            }
        } else if (fake_token_is(token, ".ptr")) {
            struct fake_token space = fake_lexer_peek(&reader->lexer);
            parameters.unloadable |= fake_token_is(space, ".shared") || fake_token_is(space, ".local");
        } else if (fake_token_is(token, ".texref") || fake_token_is(token, ".samplerref") ||
                   fake_token_is(token, ".surfref")) {
            parameters.unloadable = true;
            element = 8;
        } else if (fake_token_is(token, "[")) {
            count = strtoul(fake_lexer_peek(&reader->lexer).start, NULL, 10);
        } else if (fake_token_is(token, ".align") && !element) { /* behind the type it is a pointer's */
            alignment = strtoul(fake_lexer_peek(&reader->lexer).start, NULL, 10);
        } else if (token.start[0] == '.' && !element) {
            element = element_bytes(token);
        }
    }
}

/* Behind .entry or .func. */
static void read_function(struct fake_ptx_reader *reader, bool entry, enum fake_linkage linkage)
{
    struct fake_ptx *ptx = reader->ptx;
    struct fake_token name = {0};
    struct parameters parameters = {0};
    for (;;) {
        struct fake_token token = fake_lexer_next(&reader->lexer);
        if (!token.length) {
            fake_ptx_refuse_syntax(reader, token);
            return;
        }
        if (fake_token_is(token, "(")) {
            if (!(entry ? read_parameters(reader, &parameters) : fake_ptx_skip_group(reader, "(", ")")))
                return;
        } else if (fake_token_is(token, ";") || fake_token_is(token, "{")) {
            if (!name.length) {
                fake_ptx_refuse_syntax(reader, token);
                return;
            }
            if (fake_token_is(token, ";")) {
                fake_names_add(&reader->declared, name.start, name.length);
                return;
            }
            if (fake_names_have(&reader->defined, name.start, name.length))
                fake_ptx_refuse(
                    reader, CUDA_ERROR_INVALID_PTX,
                    "ptxas application ptx input, line %u; error   : Duplicate definition of function "
                    "'%.*s'",
                    name.line, (int)name.length, name.start);
            fake_names_add(&reader->defined, name.start, name.length);
            const char *start = reader->lexer.next;
            fake_ptx_read_body(reader);
            size_t body_bytes = (size_t)(reader->lexer.next - start);
            if (entry)
                add_function(&ptx->kernels, &ptx->kernel_count, name, body_bytes, linkage, parameters);
            else
                add_function(&ptx->functions, &ptx->function_count, name, body_bytes, linkage, parameters);
            return;
        } else if (!name.length && fake_token_is_name(token)) {
            name = token;
        }
    }
}

/* Elements of `{...}`, whose opening brace has been read. */
static uint64_t count_initialisers(struct fake_ptx_reader *reader)
{
    uint64_t count = 1;
    for (unsigned depth = 1; depth;) {
        struct fake_token token = fake_lexer_next(&reader->lexer);
        if (!token.length) {
            fake_ptx_refuse_syntax(reader, token);
            return count;
        }
        if (fake_token_is(token, "{"))
            depth++;
        else if (fake_token_is(token, "}"))
            depth--;
        else if (fake_token_is(token, ","))
            count++;
    }
    return count;
}

struct declaration {
    bool kept; /* .global and .const have a place in the cubin */
    enum fake_linkage linkage;
    struct fake_token name;
    uint64_t element;
    uint64_t lanes;
    uint64_t count;
    bool open_ended; /* `[]`: its length is that of its initialiser */
    bool initialised;
};

static void end_variable(struct fake_ptx_reader *reader, struct declaration *declaration)
{
    struct fake_ptx *ptx = reader->ptx;
    if (declaration->kept && declaration->name.length) {
        ptx->variables = fake_reallocate(ptx->variables, (ptx->variable_count + 1) * sizeof *ptx->variables);
        ptx->variables[ptx->variable_count++] =
            (struct fake_ptx_variable){fake_copy_text(declaration->name.start, declaration->name.length),
                                       declaration->element * declaration->lanes * declaration->count,
                                       declaration->initialised, declaration->linkage};
        if (declaration->linkage == FAKE_LINKAGE_EXTERN)
            fake_names_add(&reader->declared, declaration->name.start, declaration->name.length);
    }
    declaration->name = (struct fake_token){0};
    declaration->count = 1;
    declaration->open_ended = declaration->initialised = false;
}

static void read_dimension(struct fake_ptx_reader *reader, struct declaration *declaration)
{
    struct fake_token token = fake_lexer_next(&reader->lexer);
    if (fake_token_is(token, "]")) {
        declaration->open_ended = true;
        return;
    }
    char *text = fake_copy_text(token.start, token.length < 20 ? token.length : 20);
    uint64_t count = strtoull(text, NULL, 0);
    free(text);
    declaration->count *= count;
    fake_ptx_skip_group(reader, "[", "]");
}

static bool is_linkage(struct fake_token token, enum fake_linkage *linkage)
{
    if (fake_token_is(token, ".visible"))
        *linkage = FAKE_LINKAGE_VISIBLE;
    else if (fake_token_is(token, ".weak") || fake_token_is(token, ".common"))
        *linkage = FAKE_LINKAGE_WEAK;
    else if (fake_token_is(token, ".extern"))
        *linkage = FAKE_LINKAGE_EXTERN;
    else
        return false;
    return true;
}

/* Any directive at module level that is not handled by name: a function or a variable. */
static void read_declaration(struct fake_ptx_reader *reader, struct fake_token token)
{
    struct declaration declaration = {.lanes = 1, .count = 1};
    for (; token.length; token = fake_lexer_next(&reader->lexer)) {
        if (fake_token_is(token, ".entry") || fake_token_is(token, ".func")) {
            read_function(reader, fake_token_is(token, ".entry"), declaration.linkage);
            return;
        }
        if (fake_token_is(token, ".samplerref") && reader->independent)
            reader->ptx->sampler = true;
        if (fake_token_is(token, ".global") || fake_token_is(token, ".const"))
            declaration.kept = true;
        else if (is_linkage(token, &declaration.linkage))
            continue;
        else if (fake_token_is(token, ".align"))
            fake_lexer_next(&reader->lexer);
        else if (fake_token_is(token, ".attribute"))
            fake_lexer_next(&reader->lexer), fake_ptx_skip_group(reader, "(", ")");
        else if (fake_token_is(token, ".v2") || fake_token_is(token, ".v4"))
            declaration.lanes = (uint64_t)(token.start[2] - '0');
        else if (token.start[0] == '.' && element_bytes(token))
            declaration.element = element_bytes(token);
        else if (fake_token_is(token, "["))
            read_dimension(reader, &declaration);
        else if (fake_token_is(token, "="))
            declaration.initialised = true;
        else if (fake_token_is(token, "{")) {
            uint64_t count = count_initialisers(reader);
            if (declaration.open_ended)
                declaration.count *= count;
        } else if (fake_token_is(token, ",") || fake_token_is(token, ";")) {
            end_variable(reader, &declaration);
            if (token.start[0] == ';')
                return;
        } else if (!declaration.name.length && fake_token_is_name(token))
            declaration.name = token;
    }
    fake_ptx_refuse_syntax(reader, token);
}

static void read_address_size(struct fake_ptx_reader *reader)
{
    struct fake_token token = fake_lexer_next(&reader->lexer);
    if (is_older(reader, 23))
        fake_ptx_refuse(
            reader, CUDA_ERROR_INVALID_PTX,
            "ptxas application ptx input, line %u; error   : Feature '.address_size directive' requires "
            "PTX ISA .version 2.3 or later",
            token.line);
    if (fake_token_is(token, "32"))
        fake_ptx_refuse(
            reader, CUDA_ERROR_INVALID_PTX,
            "ptxas fatal   :  32-Bit ABI (--machine 32 or 32-Bit addressing) is not supported on sm_90 or "
            "higher architectures.");
}

static void read_section(struct fake_ptx_reader *reader)
{
    struct fake_token token = fake_lexer_next(&reader->lexer);
    if (fake_token_is(token, ".debug_info"))
        reader->ptx->has_debug_info = true;
    while (token.length && !fake_token_is(token, "{"))
        token = fake_lexer_next(&reader->lexer);
    if (token.length)
        fake_ptx_skip_group(reader, "{", "}");
}

static bool read_item(struct fake_ptx_reader *reader)
{
    struct fake_token token = fake_lexer_next(&reader->lexer);
    const char *missing = NULL;
    if (fake_token_is(token, ".version")) {
        read_version(reader);
        return true;
    }
    if (!reader->major)
        missing = ".version";
    else if (!fake_token_is(token, ".target") && !reader->ptx->target_text)
        missing = ".target";
    if (missing)
        fake_ptx_refuse(
            reader, CUDA_ERROR_INVALID_PTX,
            "ptxas application ptx input, line %u; fatal   : Missing %s directive at start of file 'ptx "
            "input'",
            token.line, missing);
    if (!token.length)
        return false;
    if (fake_token_is(token, ".target"))
        read_target(reader);
    else if (fake_token_is(token, ".address_size"))
        read_address_size(reader);
    else if (fake_token_is(token, ".file") || fake_token_is(token, ".loc") || fake_token_is(token, "@"))
        fake_lexer_skip_line(&reader->lexer);
    else if (fake_token_is(token, ".section"))
        read_section(reader);
    else if (fake_token_is(token, ".pragma") || fake_token_is(token, ".alias"))
        fake_ptx_skip_group(reader, "", ";");
    else if (token.start[0] == '.')
        read_declaration(reader, token);
    else if (!fake_token_is(token, ";"))
        fake_ptx_refuse_syntax(reader, token);
    return true;
}

static void check_bytes(struct fake_ptx_reader *reader, const char *text, size_t length)
{
    unsigned line = 1;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\n')
            line++;
        if ((unsigned char)text[i] >= 0x80) {
            fake_ptx_refuse(reader, CUDA_ERROR_INVALID_PTX,
                            "ptxas fatal   : Unexpected non-ASCII character encountered on line %u", line);
            return;
        }
    }
}

static void collect_undefined(struct fake_ptx_reader *reader)
{
    struct fake_ptx *ptx = reader->ptx;
    for (size_t i = 0; i < reader->used.count; i++) {
        const char *name = reader->used.names[i];
        size_t length = strlen(name);
        bool variable = false, defined = fake_names_have(&reader->defined, name, length);
        for (size_t v = 0; v < ptx->variable_count; v++) {
            if (strcmp(ptx->variables[v].name, name) != 0)
                continue;
            variable = true;
            defined = defined || ptx->variables[v].linkage != FAKE_LINKAGE_EXTERN;
        }
        if (!defined && !fake_ptx_supplies_function(name))
            fake_names_add(variable ? &ptx->undefined_variables : &ptx->undefined_functions, name, length);
    }
}

void fake_ptx_read(const char *text, size_t length, unsigned newest_isa, struct fake_ptx *ret_ptx)
{
    *ret_ptx = (struct fake_ptx){0};
    struct fake_ptx_reader reader = {
        .lexer = {.next = text, .end = text + length, .line = 1}, .ptx = ret_ptx, .newest_isa = newest_isa};
    check_bytes(&reader, text, length);
    while (read_item(&reader))
        ;
    if (reader.lexer.open_comment)
        fake_ptx_refuse(
            &reader, CUDA_ERROR_INVALID_PTX,
            "ptxas application ptx input, line %u; fatal   : Parsing error near '': unexpected EOF while "
            "scanning",
            reader.lexer.line);
    collect_undefined(&reader);
    fake_names_free(&reader.declared);
    fake_names_free(&reader.defined);
    fake_names_free(&reader.used);
}

void fake_ptx_free(struct fake_ptx *ptx)
{
    for (size_t i = 0; i < ptx->kernel_count; i++)
        free(ptx->kernels[i].name);
    for (size_t i = 0; i < ptx->function_count; i++)
        free(ptx->functions[i].name);
    for (size_t i = 0; i < ptx->variable_count; i++)
        free(ptx->variables[i].name);
    free(ptx->kernels);
    free(ptx->functions);
    free(ptx->variables);
    fake_names_free(&ptx->undefined_functions);
    fake_names_free(&ptx->undefined_variables);
    free(ptx->target_text);
    free(ptx->refusal_text);
    *ptx = (struct fake_ptx){0};
}
