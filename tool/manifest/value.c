/* SPDX-License-Identifier: Apache-2.0 */
/* One value of the manifest: its text made a number, a path, a list. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "manifest/check.h"

void pj_check_refuse(struct pj_check *check, const struct pj_schema_key *key, const struct pj_yaml_node *node,
                     const char *advice)
{
    PJ_CLEANUP_BUFFER struct pj_buffer allowed = {0};
    char read[PJ_READ_TEXT];
    pj_schema_allowed(key, &allowed);
    if (key->example)
        pj_buffer_printf(&allowed, ", for example `%s`", key->example);
    if (advice)
        pj_buffer_printf(&allowed, "; %s", advice);
    bool item = !node->key && node->kind != PJ_YAML_SCALAR;
    pj_findings_add(&check->findings, node, "`%s`: read %s%s; allowed is %s", key->name,
                    pj_findings_read(&check->findings, node, read), item ? " within the list" : "",
                    pj_buffer_text(&allowed));
    check->findings.failed = check->findings.failed || allowed.failed;
}

const char *pj_check_name(struct pj_findings *findings, const char *text)
{
    if (*text == '\0')
        return "is empty: give it a name";
    if (strlen(text) > PJ_MODULE_NAME_MAX_BYTES)
        return "is longer than the 200 bytes allowed: shorten it";
    if (strchr(text, '@'))
        return "holds `@`, which stands between module and target in reports: leave it out";
    if (!pj_findings_printable(findings, text))
        return "holds a control character, or is not UTF-8: leave it out";
    return NULL;
}

static void read_name(struct pj_check *check, const struct pj_schema_key *key,
                      const struct pj_yaml_node *node, struct pj_value *value)
{
    char read[PJ_READ_TEXT];
    const char *fault = node->size > 0 ? pj_check_name(&check->findings, node->text) : NULL;
    if (node->size == 0)
        pj_check_refuse(check, key, node, NULL);
    else if (fault)
        pj_findings_add(&check->findings, node, "`%s`: %s %s", key->name,
                        pj_findings_read(&check->findings, node, read), fault);
    else
        value->text = node->text;
}

/* A path as it stands, or NULL after a finding. */
static const char *read_path(struct pj_check *check, const struct pj_schema_key *key,
                             const struct pj_yaml_node *node)
{
    char read[PJ_READ_TEXT];
    (void)pj_findings_read(&check->findings, node, read);
    const char *text = node->text;
    if (node->kind != PJ_YAML_SCALAR || node->size == 0) {
        pj_check_refuse(check, key, node, NULL);
    } else if (text[0] == '~') {
        pj_findings_add(
            &check->findings, node,
            "`%s`: read %s; `~` stands for no folder here: write the path out, from `/` or relative "
            "to the manifest (`./~` for a file whose name starts with `~`)",
            key->name, read);
    } else if (strchr(text, '$')) {
        pj_findings_add(
            &check->findings, node,
            "`%s`: read %s; variables are not expanded here: write the path out, or have the script "
            "that makes the manifest fill it in",
            key->name, read);
    } else if (!pj_findings_printable(&check->findings, text)) {
        pj_findings_add(&check->findings, node,
                        "`%s`: read %s; a path cannot hold control characters or line ends: write it on one "
                        "line, behind its key",
                        key->name, read);
    } else {
        return text;
    }
    return NULL;
}

/* A TEXT or an item of TEXTS, or NULL after a finding. */
static const char *read_text(struct pj_check *check, const struct pj_schema_key *key,
                             const struct pj_yaml_node *node)
{
    if (node->kind == PJ_YAML_SCALAR && node->size > 0 && pj_findings_printable(&check->findings, node->text))
        return node->text;
    pj_check_refuse(check, key, node, NULL);
    return NULL;
}

/* Digits, with or without a fraction; strtod would also take inf, hex, and the locale's comma. */
static bool parse_number(const char *text, double *ret_number)
{
    enum { DIGITS_MAX = 15 };
    uint64_t digits = 0;
    double scale = 1;
    size_t count = 0;
    bool fraction = false;
    for (const char *c = text; *c; c++) {
        if (*c == '.' && !fraction && c > text && c[1] != '\0') {
            fraction = true;
            continue;
        }
        if (*c < '0' || *c > '9' || ++count > DIGITS_MAX)
            return false;
        digits = digits * 10 + (uint64_t)(*c - '0');
        if (fraction)
            scale *= 10;
    }
    *ret_number = (double)digits / scale;
    return count > 0;
}

static void read_size(struct pj_check *check, const struct pj_schema_key *key,
                      const struct pj_yaml_node *node, struct pj_value *value)
{
    value->ok = pj_text_to_size(node->text, &value->integer) && value->integer >= key->minimum &&
                value->integer <= key->maximum;
    if (value->ok)
        return;
    /* `2G` is what other tools take, some as 1000 and some as 1024 based. */
    char meant[32], advice[64];
    uint64_t bytes;
    int length = snprintf(meant, sizeof meant, "%siB", node->text);
    bool short_unit = length > 0 && (size_t)length < sizeof meant && pj_text_to_size(meant, &bytes);
    if (short_unit)
        (void)snprintf(advice, sizeof advice, "did you mean `%s`?", meant);
    pj_check_refuse(check, key, node, short_unit ? advice : NULL);
}

static void read_boolean(struct pj_check *check, const struct pj_schema_key *key,
                         const struct pj_yaml_node *node, struct pj_value *value)
{
    static const struct {
        const char *word;
        const char *advice;
    } others[] = {
        {"yes", "did you mean `true`?"},    {"on", "did you mean `true`?"},   {"y", "did you mean `true`?"},
        {"1", "did you mean `true`?"},      {"true", "did you mean `true`?"}, {"no", "did you mean `false`?"},
        {"off", "did you mean `false`?"},   {"n", "did you mean `false`?"},   {"0", "did you mean `false`?"},
        {"false", "did you mean `false`?"},
    };
    value->integer = strcmp(node->text, "true") == 0;
    value->ok = value->integer == 1 || strcmp(node->text, "false") == 0;
    if (value->ok)
        return;
    const char *advice = NULL;
    for (size_t i = 0; i < PJ_COUNT(others); i++) {
        if (strcasecmp(node->text, others[i].word) == 0)
            advice = others[i].advice;
    }
    pj_check_refuse(check, key, node, advice);
}

static void read_choice(struct pj_check *check, const struct pj_schema_key *key,
                        const struct pj_yaml_node *node, struct pj_value *value)
{
    for (size_t i = 0; i < key->choice_count; i++) {
        if (strcmp(key->choices[i], node->text) == 0) {
            value->integer = key->choice_values ? key->choice_values[i] : i;
            value->ok = true;
            return;
        }
    }
    char advice[64];
    const char *similar = pj_text_suggest(node->text, key->choices, key->choice_count);
    if (similar)
        (void)snprintf(advice, sizeof advice, "did you mean `%s`?", similar);
    pj_check_refuse(check, key, node, similar ? advice : NULL);
}

static void read_digest(struct pj_check *check, const struct pj_schema_key *key,
                        const struct pj_yaml_node *node, struct pj_value *value)
{
    value->ok = pj_sha256_parse(node->text, &value->digest, NULL) == 0;
    if (value->ok)
        return;
    char advice[64];
    (void)snprintf(advice, sizeof advice, "these are %zu characters", node->size);
    pj_check_refuse(check, key, node, node->size == 64 ? NULL : advice);
}

static void read_scalar(struct pj_check *check, const struct pj_schema_key *key,
                        const struct pj_yaml_node *node, struct pj_value *value)
{
    switch (key->type) {
    case PJ_TYPE_INTEGER:
        value->ok =
            pj_text_to_u64(node->text, key->maximum, &value->integer) && value->integer >= key->minimum;
        break;
    case PJ_TYPE_NUMBER:
        value->ok = parse_number(node->text, &value->number) && value->number > 0 &&
                    value->number <= (double)key->maximum;
        break;
    case PJ_TYPE_BOOLEAN:
        read_boolean(check, key, node, value);
        return;
    case PJ_TYPE_SIZE:
        read_size(check, key, node, value);
        return;
    case PJ_TYPE_CHOICE:
        read_choice(check, key, node, value);
        return;
    case PJ_TYPE_DIGEST:
        read_digest(check, key, node, value);
        return;
    case PJ_TYPE_NAME:
        read_name(check, key, node, value);
        value->ok = value->text != NULL;
        return;
    case PJ_TYPE_TEXT:
        value->text = read_text(check, key, node);
        value->ok = value->text != NULL;
        return;
    case PJ_TYPE_PATH:
    case PJ_TYPE_PATH_OR_GLOB:
        value->text = read_path(check, key, node);
        value->ok = value->text != NULL;
        return;
    default:
        return;
    }
    if (!value->ok)
        pj_check_refuse(check, key, node, NULL);
}

static bool read_target(struct pj_check *check, const struct pj_schema_key *key,
                        const struct pj_yaml_node *node, struct pj_target_spec *ret_target)
{
    if (node->kind != PJ_YAML_SCALAR || node->size == 0) {
        pj_check_refuse(check, key, node, NULL);
        return false;
    }
    PJ_CLEANUP_ERROR struct pj_error *error = NULL;
    int r = pj_target_parse(node->text, ret_target, &error);
    if (r == 0)
        return true;
    if (r == PJ_ERROR_NO_MEMORY)
        check->findings.failed = true;
    pj_findings_add(&check->findings, node, "`%s`: %s", key->name, pj_error_message(error));
    return false;
}

static void read_list(struct pj_check *check, const struct pj_schema_key *key,
                      const struct pj_yaml_node *node, struct pj_value *value)
{
    bool targets = key->type == PJ_TYPE_TARGETS;
    if (targets)
        value->targets = pj_arena_calloc(check->arena, node->count, sizeof *value->targets);
    else
        value->texts = pj_arena_calloc(check->arena, node->count, sizeof *value->texts);
    if (targets ? !value->targets : !value->texts) {
        check->findings.failed = true;
        return;
    }
    for (const struct pj_yaml_node *item = node->first; item; item = item->next) {
        if (targets) {
            if (!read_target(check, key, item, &value->targets[value->count]))
                continue;
        } else {
            value->texts[value->count] =
                key->type == PJ_TYPE_PATHS ? read_path(check, key, item) : read_text(check, key, item);
            if (!value->texts[value->count])
                continue;
        }
        value->count++;
    }
    value->ok = value->count == node->count;
}

/* An include name may be any text but none. */
static void read_path_map(struct pj_check *check, const struct pj_schema_key *key,
                          const struct pj_yaml_node *node, struct pj_value *value)
{
    value->texts = pj_arena_calloc(check->arena, node->count, sizeof *value->texts);
    value->names = pj_arena_calloc(check->arena, node->count, sizeof *value->names);
    if (!value->texts || !value->names) {
        check->findings.failed = true;
        return;
    }
    for (const struct pj_yaml_node *item = node->first; item; item = item->next) {
        const char *path = read_path(check, key, item);
        if (item->key->size == 0 || !pj_findings_printable(&check->findings, item->key->text)) {
            pj_check_refuse(check, key, item->key, "the name is what `#include` has between its quotes");
        } else if (path) {
            value->names[value->count] = item->key->text;
            value->texts[value->count++] = path;
        }
    }
    value->ok = value->count == node->count;
}

/* Is the list or mapping longer than it may be? */
static bool too_many(struct pj_check *check, const struct pj_schema_key *key, const struct pj_yaml_node *node)
{
    if (!pj_schema_counts(key) || node->count <= key->maximum)
        return false;
    PJ_CLEANUP_BUFFER struct pj_buffer allowed = {0};
    pj_schema_allowed(key, &allowed);
    pj_findings_add(&check->findings, node, "`%s`: read %zu items; allowed is %s", key->name, node->count,
                    pj_buffer_text(&allowed));
    check->findings.failed = check->findings.failed || allowed.failed;
    return true;
}

/* `targets: 90` and `targets: 80;90`: says what to write. */
static bool refuse_unlisted_target(struct pj_check *check, const struct pj_schema_key *key,
                                   const struct pj_yaml_node *node)
{
    PJ_CLEANUP_BUFFER struct pj_buffer targets = {0};
    PJ_CLEANUP_BUFFER struct pj_buffer advice = {0};
    struct pj_target_spec spec;
    if (key->type != PJ_TYPE_TARGETS)
        return false;
    int r = pj_target_parse(node->text, &spec, NULL);
    if (r == 0)
        pj_buffer_puts(&targets, node->text);
    bool known = r == 0 || pj_target_list(node->text, &targets);
    check->findings.failed = check->findings.failed || r == PJ_ERROR_NO_MEMORY || targets.failed;
    if (!known)
        return false;
    pj_buffer_printf(&advice, "write `%s: [%s]`", key->name, pj_buffer_text(&targets));
    check->findings.failed = check->findings.failed || targets.failed || advice.failed;
    pj_check_refuse(check, key, node, pj_buffer_text(&advice));
    return true;
}

void pj_check_value(struct pj_check *check, const struct pj_schema_key *key, const struct pj_yaml_node *node,
                    struct pj_value *value)
{
    bool list = key->type == PJ_TYPE_TARGETS || key->type == PJ_TYPE_TEXTS || key->type == PJ_TYPE_PATHS ||
                key->type == PJ_TYPE_SECTIONS;
    bool map = key->type == PJ_TYPE_PATH_MAP;
    enum pj_yaml_kind kind = list                                  ? PJ_YAML_SEQUENCE
                             : map || key->type == PJ_TYPE_SECTION ? PJ_YAML_MAPPING
                                                                   : PJ_YAML_SCALAR;
    if (node->kind != kind || ((list || map) && node->count == 0)) {
        bool single = list && node->kind == PJ_YAML_SCALAR && node->size > 0;
        if (!single || !refuse_unlisted_target(check, key, node))
            pj_check_refuse(check, key, node, single ? "a single one stands between `[` and `]` too" : NULL);
        return;
    }
    if (too_many(check, key, node))
        return;
    if (key->type == PJ_TYPE_SECTION || key->type == PJ_TYPE_SECTIONS)
        value->ok = true;
    else if (map)
        read_path_map(check, key, node, value);
    else if (list)
        read_list(check, key, node, value);
    else
        read_scalar(check, key, node, value);
}
