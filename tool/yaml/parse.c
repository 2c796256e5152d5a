/* SPDX-License-Identifier: Apache-2.0 */
/* libyaml's events made into a tree, with everything refused that would make a value hard to find. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <yaml.h>

#include "base/text.h"
#include "yaml/problem.h"
#include "yaml/source.h"
#include "yaml/yaml.h"

/* A collection that is being filled. */
struct frame {
    struct pj_yaml_node *node;
    struct pj_yaml_node *last; /* newest item or value */
    struct pj_yaml_node *key;  /* mapping: a key that waits for its value */
};

struct builder {
    const char *name;
    struct pj_yaml_source source;
    struct pj_arena *texts, *nodes;
    struct pj_yaml_node *root;
    struct frame frames[PJ_YAML_MAX_DEPTH];
    size_t depth, node_count, document_count;
};

const char *pj_yaml_kind_name(const struct pj_yaml_node *node)
{
    switch (node->kind) {
    case PJ_YAML_SEQUENCE:
        return node->count == 0 ? "an empty list" : "a list";
    case PJ_YAML_MAPPING:
        return node->count == 0 ? "an empty mapping" : "a mapping";
    case PJ_YAML_SCALAR:
        break;
    }
    return node->size == 0 ? "an empty value" : "text";
}

/* A position and a message that needs no word of the file's own. */
static int refuse(const struct builder *builder, const yaml_mark_t *mark, const char *message,
                  struct pj_error **err)
{
    return pj_error_set(err, PJ_ERROR_FORMAT, "%s:%zu:%zu: %s", builder->name, mark->line + 1,
                        mark->column + 1, message);
}

/* The same with the word at the mark, as the file has it: "read the anchor `&base`; …". */
static int refuse_word(struct builder *builder, const yaml_mark_t *mark, const char *what, const char *why,
                       struct pj_error **err)
{
    PJ_CLEANUP_BUFFER struct pj_buffer word = {0};
    pj_yaml_source_word(&builder->source, pj_yaml_source_offset(&builder->source, mark->index), &word);
    int r = pj_buffer_check(&word, err);
    if (r < 0)
        return r;
    return pj_error_set(err, PJ_ERROR_FORMAT, "%s:%zu:%zu: read the %s `%s`; %s", builder->name,
                        mark->line + 1, mark->column + 1, what, pj_buffer_text(&word), why);
}

/* The source is asked and not the event: libyaml drops the tag `!` before it makes the event. */
static int check_properties(struct builder *builder, const yaml_event_t *event, struct pj_error **err)
{
    static const char no_anchor[] =
        "anchors and aliases are not allowed: write the value out at each place that needs it";
    const yaml_mark_t *mark = &event->start_mark;
    if (event->type == YAML_ALIAS_EVENT)
        return refuse_word(builder, mark, "alias", no_anchor, err);
    size_t offset = pj_yaml_source_offset(&builder->source, mark->index);
    char c = offset < builder->source.size ? builder->source.bytes[offset] : '\0';
    if (c == '&')
        return refuse_word(builder, mark, "anchor", no_anchor, err);
    if (c == '!')
        return refuse_word(builder, mark, "tag",
                           "tags are not allowed: every value means the text that is written", err);
    return 0;
}

static int set_scalar(const struct builder *builder, const yaml_event_t *event, struct pj_yaml_node *node,
                      struct pj_error **err)
{
    const char *value = (const char *)event->data.scalar.value;
    size_t size = event->data.scalar.length;
    if (memchr(value, '\0', size))
        return refuse(
            builder, &event->start_mark,
            "read text with a NUL byte (\\0) in it; no name, path or option can hold one: remove it", err);
    node->plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    node->text = pj_arena_strndup(builder->texts, value, size);
    node->size = size;
    return node->text ? 0 : pj_error_no_memory(err);
}

static int set_key(const struct builder *builder, struct frame *frame, struct pj_yaml_node *node,
                   const yaml_mark_t *mark, struct pj_error **err)
{
    if (node->kind != PJ_YAML_SCALAR)
        return refuse(
            builder, mark,
            node->kind == PJ_YAML_SEQUENCE
                ? "read a list where a key belongs; a key is text: put text that starts with `[` into "
                  "quotes"
                : "read a mapping where a key belongs; a key is text: put text that starts with `{` "
                  "into quotes",
            err);
    if (node->plain && strcmp(node->text, "<<") == 0)
        return refuse(builder, mark,
                      "read the merge key `<<`; merge keys are not allowed: write the keys out at each place "
                      "that needs them",
                      err);
    frame->key = node;
    return 0;
}

static int attach(struct builder *builder, struct pj_yaml_node *node, const yaml_mark_t *mark,
                  struct pj_error **err)
{
    if (builder->depth == 0) {
        builder->root = node;
        return 0;
    }
    struct frame *frame = &builder->frames[builder->depth - 1];
    if (frame->node->kind == PJ_YAML_MAPPING && !frame->key)
        return set_key(builder, frame, node, mark, err);
    node->key = frame->key;
    frame->key = NULL;
    if (frame->last)
        frame->last->next = node;
    else
        frame->node->first = node;
    frame->last = node;
    frame->node->count++;
    return 0;
}

static int add_node(struct builder *builder, const yaml_event_t *event, enum pj_yaml_kind kind,
                    struct pj_error **err)
{
    const yaml_mark_t *mark = &event->start_mark;
    int r = check_properties(builder, event, err);
    if (r < 0)
        return r;
    if (builder->node_count == PJ_YAML_MAX_NODES)
        return pj_error_set(
            err, PJ_ERROR_FORMAT,
            "%s:%zu:%zu: read more than 1,000,000 keys and values, which is the most that one "
            "file may hold: split it",
            builder->name, mark->line + 1, mark->column + 1);
    builder->node_count++;
    struct pj_yaml_node *node = pj_arena_alloc(builder->nodes, sizeof *node);
    if (!node)
        return pj_error_no_memory(err);
    node->kind = kind;
    node->line = mark->line + 1;
    node->column = mark->column + 1;
    r = kind == PJ_YAML_SCALAR ? set_scalar(builder, event, node, err) : 0;
    if (r == 0)
        r = attach(builder, node, mark, err);
    if (r < 0 || kind == PJ_YAML_SCALAR)
        return r;
    if (builder->depth == PJ_YAML_MAX_DEPTH)
        return refuse(builder, mark,
                      "read lists and mappings more than 16 levels deep, which is the most allowed: write it "
                      "flatter",
                      err);
    builder->frames[builder->depth++] = (struct frame){.node = node};
    return 0;
}

static int compare_keys(const void *left, const void *right)
{
    const struct pj_yaml_node *a = *(struct pj_yaml_node *const *)left;
    const struct pj_yaml_node *b = *(struct pj_yaml_node *const *)right;
    int order = strcmp(a->text, b->text);
    if (order != 0)
        return order;
    if (a->line != b->line)
        return a->line < b->line ? -1 : 1;
    return (a->column > b->column) - (a->column < b->column);
}

static bool stands_before(const struct pj_yaml_node *a, const struct pj_yaml_node *b)
{
    return a->line != b->line ? a->line < b->line : a->column < b->column;
}

/* Sorting keeps a mapping of a million keys quick. The duplicate that stands first is the one reported. */
static int check_duplicates(const struct builder *builder, const struct pj_yaml_node *mapping,
                            struct pj_error **err)
{
    if (mapping->count < 2)
        return 0;
    PJ_CLEANUP_FREE struct pj_yaml_node **keys =
        reallocarray(NULL, mapping->count, sizeof(struct pj_yaml_node *));
    if (!keys)
        return pj_error_no_memory(err);
    size_t count = 0;
    for (const struct pj_yaml_node *value = mapping->first; value; value = value->next)
        keys[count++] = value->key;
    qsort(keys, count, sizeof *keys, compare_keys);
    const struct pj_yaml_node *again = NULL, *first = NULL, *run = keys[0];
    for (size_t i = 1; i < count; i++) {
        if (strcmp(run->text, keys[i]->text) != 0) {
            run = keys[i];
        } else if (!again || stands_before(keys[i], again)) {
            again = keys[i];
            first = run;
        }
    }
    if (!again)
        return 0;
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    pj_text_escape(&text, again->text, again->size < 80 ? again->size : 80);
    int r = pj_buffer_check(&text, err);
    if (r < 0)
        return r;
    return pj_error_set(
        err, PJ_ERROR_FORMAT,
        "%s:%zu:%zu: the key `%s` is given twice, first at line %zu, column %zu: remove one of "
        "them",
        builder->name, again->line, again->column, pj_buffer_text(&text), first->line, first->column);
}

static int start_document(struct builder *builder, const yaml_event_t *event, struct pj_error **err)
{
    if (event->data.document_start.tag_directives.start != event->data.document_start.tag_directives.end)
        return refuse(builder, &event->start_mark,
                      "read a `%TAG` directive; tags are not allowed: every value means the text that is "
                      "written",
                      err);
    if (builder->document_count++ > 0)
        return refuse(
            builder, &event->start_mark,
            "read the start of a second document; one file holds one: put the second into a file of "
            "its own",
            err);
    return 0;
}

static int take_event(struct builder *builder, const yaml_event_t *event, struct pj_error **err)
{
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        return start_document(builder, event, err);
    case YAML_ALIAS_EVENT:
        return check_properties(builder, event, err);
    case YAML_SCALAR_EVENT:
        return add_node(builder, event, PJ_YAML_SCALAR, err);
    case YAML_SEQUENCE_START_EVENT:
        return add_node(builder, event, PJ_YAML_SEQUENCE, err);
    case YAML_MAPPING_START_EVENT:
        return add_node(builder, event, PJ_YAML_MAPPING, err);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT: {
        const struct pj_yaml_node *node = builder->frames[--builder->depth].node;
        return node && node->kind == PJ_YAML_MAPPING ? check_duplicates(builder, node, err) : 0;
    }
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_STREAM_END_EVENT:
    case YAML_DOCUMENT_END_EVENT:
        break;
    }
    return 0;
}

static int build(struct builder *builder, yaml_parser_t *parser, struct pj_error **err)
{
    for (;;) {
        yaml_event_t event;
        if (!yaml_parser_parse(parser, &event))
            return pj_yaml_problem(parser, &builder->source, builder->name, err);
        bool end = event.type == YAML_STREAM_END_EVENT;
        int r = take_event(builder, &event, err);
        yaml_event_delete(&event);
        if (r < 0 || end)
            return r;
    }
}

/* Other encodings would be read by libyaml, and then places in the text could not be found again. */
static int check_encoding(const struct builder *builder, struct pj_error **err)
{
    const char *bytes = builder->source.bytes;
    if (builder->source.size >= 2 && (memcmp(bytes, "\xff\xfe", 2) == 0 || memcmp(bytes, "\xfe\xff", 2) == 0))
        return pj_error_set(err, PJ_ERROR_FORMAT,
                            "%s:1:1: the file is UTF-16 (it starts with its byte order mark): save it as "
                            "UTF-8",
                            builder->name);
    return 0;
}

int pj_yaml_parse(const char *bytes, size_t size, const char *name, struct pj_arena *texts,
                  struct pj_arena *nodes, struct pj_yaml_node **ret_root, struct pj_error **err)
{
    if (size > PJ_YAML_MAX_BYTES)
        return pj_error_set(err, PJ_ERROR_FORMAT,
                            "%s:1:1: the file has %zu bytes, more than the %d (64 MB) allowed: split it",
                            name, size, PJ_YAML_MAX_BYTES);
    if (size == 0)
        bytes = ""; /* an empty file's bytes may be NULL */
    size_t mark = size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    struct builder builder = {
        .name = name, .source = {.bytes = bytes + mark, .size = size - mark}, .texts = texts, .nodes = nodes};
    int r = check_encoding(&builder, err);
    if (r < 0)
        return r;
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser))
        return pj_error_no_memory(err);
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)builder.source.bytes, builder.source.size);
    r = build(&builder, &parser, err);
    yaml_parser_delete(&parser);
    if (r == 0)
        *ret_root = builder.root;
    return r;
}
