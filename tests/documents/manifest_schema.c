/* SPDX-License-Identifier: Apache-2.0 */
/* The manifest's JSON Schema, for editors. */
#include "documents.h"

#include <inttypes.h>
#include <stddef.h>

#include "manifest/manifest.h"
#include "manifest/schema.h"

/* An object or list that is being written: its depth, and whether a comma is due. */
struct writer {
    struct pj_buffer *buffer;
    int depth;
    bool comma;
};

static void add_string(struct pj_buffer *buffer, const char *text)
{
    pj_buffer_putc(buffer, '"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            pj_buffer_putc(buffer, '\\');
        pj_buffer_putc(buffer, *text); /* the table has no control characters */
    }
    pj_buffer_putc(buffer, '"');
}

/* Starts a line for one more member; `name` is NULL within a list. */
static void add_member(struct writer *writer, const char *name)
{
    pj_buffer_printf(writer->buffer, "%s\n%*s", writer->comma ? "," : "", 2 * writer->depth, "");
    if (name) {
        add_string(writer->buffer, name);
        pj_buffer_puts(writer->buffer, ": ");
    }
    writer->comma = true;
}

static void open_object(struct writer *writer, const char *name)
{
    add_member(writer, name);
    pj_buffer_putc(writer->buffer, '{');
    writer->depth++;
    writer->comma = false;
}

static void close_object(struct writer *writer)
{
    writer->depth--;
    pj_buffer_printf(writer->buffer, "\n%*s}", 2 * writer->depth, "");
    writer->comma = true;
}

/* A member whose value is JSON already. */
static void add_raw(struct writer *writer, const char *name, const char *json)
{
    add_member(writer, name);
    pj_buffer_puts(writer->buffer, json);
}

static void add_text(struct writer *writer, const char *name, const char *text)
{
    add_member(writer, name);
    add_string(writer->buffer, text);
}

static void add_number(struct writer *writer, const char *name, uint64_t number)
{
    add_member(writer, name);
    pj_buffer_printf(writer->buffer, "%" PRIu64, number);
}

/* What YAML reads as a number or a boolean is still text for prejit: a name may be `90`. */
static const char scalar_types[] = "[\"string\", \"number\", \"boolean\"]";

static void add_scalar(struct writer *writer, const char *pattern)
{
    add_raw(writer, "type", scalar_types);
    add_raw(writer, "minLength", "1");
    if (pattern)
        add_text(writer, "pattern", pattern);
}

static void add_list(struct writer *writer, const char *pattern)
{
    add_raw(writer, "type", "\"array\"");
    add_raw(writer, "minItems", "1");
    open_object(writer, "items");
    add_scalar(writer, pattern);
    close_object(writer);
}

static void add_choices(struct writer *writer, const struct pj_schema_key *key)
{
    add_member(writer, "enum");
    pj_buffer_putc(writer->buffer, '[');
    for (size_t i = 0; i < key->choice_count; i++) {
        pj_buffer_puts(writer->buffer, i == 0 ? "" : ", ");
        add_string(writer->buffer, key->choices[i]);
    }
    pj_buffer_putc(writer->buffer, ']');
}

static const char path_pattern[] = "^[^~$][^$]*$";

/* The constraints of all types but SECTION and SECTIONS. */
static void add_type(struct writer *writer, const struct pj_schema_key *key)
{
    switch (key->type) {
    case PJ_TYPE_INTEGER:
        add_raw(writer, "type", "\"integer\"");
        add_number(writer, "minimum", key->minimum);
        add_number(writer, "maximum", key->maximum);
        break;
    case PJ_TYPE_NUMBER:
        add_raw(writer, "type", "\"number\"");
        add_raw(writer, "exclusiveMinimum", "0");
        add_number(writer, "maximum", key->maximum);
        break;
    case PJ_TYPE_BOOLEAN:
        add_raw(writer, "type", "\"boolean\"");
        break;
    case PJ_TYPE_SIZE:
        add_raw(writer, "type", "[\"string\", \"integer\"]");
        add_number(writer, "minimum", key->minimum);
        add_text(writer, "pattern", "^[0-9]+(\\.[0-9]{1,6})? ?(B|kB|KB|MB|GB|TB|KiB|MiB|GiB|TiB)?$");
        break;
    case PJ_TYPE_CHOICE:
        add_choices(writer, key);
        break;
    case PJ_TYPE_NAME:
        add_scalar(writer, "^[^@\\u0000-\\u001f\\u007f]*$");
        add_number(writer, "maxLength", PJ_MODULE_NAME_MAX_BYTES);
        break;
    case PJ_TYPE_PATH:
    case PJ_TYPE_PATH_OR_GLOB:
        add_scalar(writer, path_pattern);
        break;
    case PJ_TYPE_DIGEST:
        add_scalar(writer, "^[0-9a-fA-F]{64}$");
        break;
    case PJ_TYPE_TEXT:
        add_scalar(writer, "^[^\\u0000-\\u001f\\u007f]*$");
        break;
    case PJ_TYPE_PATHS:
        add_list(writer, path_pattern);
        add_number(writer, "maxItems", key->maximum);
        add_raw(writer, "uniqueItems", "true");
        break;
    case PJ_TYPE_PATH_MAP:
        add_raw(writer, "type", "\"object\"");
        add_raw(writer, "minProperties", "1");
        add_number(writer, "maxProperties", key->maximum);
        add_raw(writer, "propertyNames", "{\"minLength\": 1}");
        open_object(writer, "additionalProperties");
        add_scalar(writer, path_pattern);
        close_object(writer);
        break;
    case PJ_TYPE_TARGETS:
    case PJ_TYPE_TEXTS:
        add_list(writer, NULL);
        break;
    case PJ_TYPE_SECTION:
    case PJ_TYPE_SECTIONS:
        break;
    }
}

static void add_required(struct writer *writer, enum pj_schema_section section)
{
    bool first = true;
    for (size_t i = 0; i < pj_schema_count(section); i++) {
        struct pj_schema_key key = pj_schema_key(section, i);
        if (!key.required)
            continue;
        if (first)
            add_member(writer, "required");
        pj_buffer_puts(writer->buffer, first ? "[" : ", ");
        add_string(writer->buffer, key.name);
        first = false;
    }
    if (!first)
        pj_buffer_putc(writer->buffer, ']');
}

/* Exactly one kind, and keys that go with some kinds alone. */
static void add_module_rules(struct writer *writer)
{
    add_member(writer, "oneOf");
    pj_buffer_putc(writer->buffer, '[');
    for (size_t kind = 0; kind <= (size_t)PJ_MODULE_BINARY; kind++) {
        pj_buffer_puts(writer->buffer, kind == 0 ? "{\"required\": [" : ", {\"required\": [");
        add_string(writer->buffer, pj_schema_key(PJ_SECTION_MODULE, PJ_MODULE_KEY_PTX + kind).name);
        pj_buffer_puts(writer->buffer, "]}");
    }
    pj_buffer_putc(writer->buffer, ']');
    open_object(writer, "dependencies");
    for (size_t i = 0; i < PJ_MODULE_KEY_COUNT; i++) {
        struct pj_schema_key key = pj_schema_key(PJ_SECTION_MODULE, i);
        if (key.kinds == 0)
            continue;
        add_member(writer, key.name);
        pj_buffer_puts(writer->buffer, "{\"not\": {\"anyOf\": [");
        bool first = true;
        for (size_t kind = 0; kind <= (size_t)PJ_MODULE_BINARY; kind++) {
            if ((key.kinds & (1U << kind)) != 0)
                continue;
            pj_buffer_puts(writer->buffer, first ? "{\"required\": [" : ", {\"required\": [");
            add_string(writer->buffer, pj_schema_key(PJ_SECTION_MODULE, PJ_MODULE_KEY_PTX + kind).name);
            pj_buffer_puts(writer->buffer, "]}");
            first = false;
        }
        pj_buffer_puts(writer->buffer, "]}}");
    }
    close_object(writer);
}

static void add_section(struct writer *writer, enum pj_schema_section section);

static void add_key(struct writer *writer, const struct pj_schema_key *key)
{
    PJ_CLEANUP_BUFFER struct pj_buffer description = {0};
    open_object(writer, key->name);
    pj_buffer_puts(&description, key->help);
    if (key->default_text)
        pj_buffer_printf(&description, " Default: %s.", key->default_text);
    add_text(writer, "description", pj_buffer_text(&description));
    writer->buffer->failed = writer->buffer->failed || description.failed;
    if (key->type == PJ_TYPE_SECTIONS) {
        add_raw(writer, "type", "\"array\"");
        add_raw(writer, "minItems", "1");
        open_object(writer, "items");
        add_section(writer, key->section);
        close_object(writer);
    } else if (key->type == PJ_TYPE_SECTION) {
        add_section(writer, key->section);
    } else {
        add_type(writer, key);
    }
    close_object(writer);
}

/* As deep as the sections of the table lie in each other. */
static void add_section(struct writer *writer, enum pj_schema_section section)
{
    add_raw(writer, "type", "\"object\"");
    add_raw(writer, "additionalProperties", "false");
    add_required(writer, section);
    if (section == PJ_SECTION_MODULE)
        add_module_rules(writer);
    open_object(writer, "properties");
    for (size_t i = 0; i < pj_schema_count(section); i++) {
        struct pj_schema_key key = pj_schema_key(section, i);
        add_key(writer, &key);
    }
    close_object(writer);
}

void document_manifest_schema(struct pj_buffer *buffer)
{
    struct writer writer = {.buffer = buffer, .depth = 1};
    pj_buffer_putc(buffer, '{');
    add_text(&writer, "$schema", "http://json-schema.org/draft-07/schema#");
    add_text(&writer, "title", "prejit manifest");
    add_section(&writer, PJ_SECTION_ROOT);
    pj_buffer_puts(buffer, "\n}\n");
}
