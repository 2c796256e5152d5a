/* SPDX-License-Identifier: Apache-2.0 */
/* A mapping against its table of keys. */
#include "manifest/check.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"

/* The reason for a CUjit_option that is known and refused, or NULL. */
static const char *refused_reason(enum pj_schema_section section, const char *name)
{
    if (section != PJ_SECTION_OPTIONS)
        return NULL;
    size_t count;
    const struct pj_refused_option *options = pj_schema_refused_options(&count);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(options[i].name, name) == 0)
            return options[i].reason;
    }
    return NULL;
}

/* Another section that has this key, or PJ_SECTION_COUNT. */
static enum pj_schema_section section_with(const char *name)
{
    for (int section = 0; section < PJ_SECTION_COUNT; section++) {
        if (pj_schema_find((enum pj_schema_section)section, name) >= 0)
            return (enum pj_schema_section)section;
    }
    return PJ_SECTION_COUNT;
}

/* CUDA's own spelling, CU_JIT_MAX_REGISTERS, made the manifest's; false for text that is not CUDA's. */
static bool plain_option_name(const char *text, char *ret_name, size_t size)
{
    static const char prefix[] = "CU_JIT_";
    size_t length = strlen(text), skip = sizeof prefix - 1;
    if (strncasecmp(text, prefix, skip) != 0 || length - skip >= size)
        return false;
    for (size_t i = skip; i <= length; i++)
        ret_name[i - skip] = (char)tolower((unsigned char)text[i]);
    return true;
}

/* The key of `section` that `text` was probably meant to be, or NULL. */
static const char *suggest(enum pj_schema_section section, const char *text)
{
    const char *names[PJ_SCHEMA_MAX_KEYS];
    size_t count = pj_schema_count(section);
    for (size_t i = 0; i < count; i++)
        names[i] = pj_schema_key(section, i).name;
    return pj_text_suggest(text, names, count);
}

static void list_keys(enum pj_schema_section section, struct pj_buffer *buffer)
{
    size_t count = pj_schema_count(section);
    for (size_t i = 0; i < count; i++)
        pj_buffer_printf(buffer, "%s`%s`",
                         i == 0           ? ""
                         : i + 1 == count ? " and "
                                          : ", ",
                         pj_schema_key(section, i).name);
}

static void unknown_key(struct pj_check *check, enum pj_schema_section section,
                        const struct pj_yaml_node *key)
{
    char name[64];
    bool cuda = section == PJ_SECTION_OPTIONS && plain_option_name(key->text, name, sizeof name);
    const char *text = cuda ? name : key->text;
    const char *refused = refused_reason(section, text);
    if (refused) {
        pj_findings_add(&check->findings, key, "`%s` %s", text, refused);
        return;
    }
    char read[PJ_READ_TEXT];
    const char *owner = pj_schema_section_name(section);
    (void)pj_findings_read(&check->findings, key, read);
    const char *similar = cuda && pj_schema_find(section, text) >= 0 ? text : suggest(section, text);
    enum pj_schema_section other = section_with(text);
    if (!similar && other != PJ_SECTION_COUNT) {
        pj_findings_add(&check->findings, key, "%s is no key of %s but of %s: move it there", read, owner,
                        pj_schema_section_name(other));
    } else if (similar) {
        pj_findings_add(&check->findings, key, "%s is no key of %s; did you mean `%s`?", read, owner,
                        similar);
    } else {
        PJ_CLEANUP_BUFFER struct pj_buffer keys = {0};
        list_keys(section, &keys);
        pj_findings_add(&check->findings, key, "%s is no key of %s; its keys are %s", read, owner,
                        pj_buffer_text(&keys));
        check->findings.failed = check->findings.failed || keys.failed;
    }
}

bool pj_check_section(struct pj_check *check, const struct pj_yaml_node *node, enum pj_schema_section section,
                      struct pj_value values[PJ_SCHEMA_MAX_KEYS])
{
    char read[PJ_READ_TEXT];
    size_t count = pj_schema_count(section);
    for (size_t i = 0; i < count; i++)
        values[i] = (struct pj_value){0};
    if (node->kind != PJ_YAML_MAPPING) {
        pj_findings_add(&check->findings, node, "read %s; %s is a mapping: write keys such as `%s`",
                        pj_findings_read(&check->findings, node, read), pj_schema_section_name(section),
                        pj_schema_key(section, 0).example ? pj_schema_key(section, 0).example
                                                          : pj_schema_key(section, 0).name);
        return false;
    }
    for (const struct pj_yaml_node *value = node->first; value; value = value->next) {
        int index = pj_schema_find(section, value->key->text);
        if (index < 0) {
            unknown_key(check, section, value->key);
            continue;
        }
        struct pj_schema_key key = pj_schema_key(section, (size_t)index);
        values[index].node = value;
        pj_check_value(check, &key, value, &values[index]);
    }
    for (size_t i = 0; i < count; i++) {
        struct pj_schema_key key = pj_schema_key(section, i);
        if (key.required && !values[i].node)
            pj_findings_add(&check->findings, node, "`%s` is missing: %s needs it, for example `%s`",
                            key.name, pj_schema_section_name(section), key.example);
    }
    return true;
}
