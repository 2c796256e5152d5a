/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of a profile's mappings: unknown, missing, of the wrong kind. */
#include "profile/section.h"

#include <string.h>

#include "base/text.h"

void pj_profile_refuse(struct pj_profile_reader *reader, const struct pj_profile_key *key,
                       const struct pj_yaml_node *node, const char *advice)
{
    char read[PJ_READ_TEXT];
    pj_findings_add(&reader->findings, node, "`%s`: read %s; allowed is %s, for example `%s`%s%s", key->name,
                    pj_findings_read(&reader->findings, node, read), key->allowed, key->example,
                    advice ? "; " : "", advice ? advice : "");
}

static void refuse_unknown(struct pj_profile_reader *reader, const struct pj_profile_section *section,
                           const struct pj_yaml_node *key)
{
    const char *names[PJ_PROFILE_SECTION_KEYS];
    char read[PJ_READ_TEXT];
    PJ_CLEANUP_BUFFER struct pj_buffer list = {0};
    for (size_t i = 0; i < section->count; i++) {
        names[i] = section->keys[i].name;
        pj_buffer_printf(&list, "%s`%s`", i == 0 ? "" : i + 1 == section->count ? " and " : ", ", names[i]);
    }
    (void)pj_findings_read(&reader->findings, key, read);
    const char *similar = pj_text_suggest(key->text, names, section->count);
    if (similar)
        pj_findings_add(&reader->findings, key, "%s is no key of %s; did you mean `%s`?", read, section->name,
                        similar);
    else
        pj_findings_add(&reader->findings, key, "%s is no key of %s; its keys are %s", read, section->name,
                        pj_buffer_text(&list));
    reader->findings.failed = reader->findings.failed || list.failed;
}

static void read_value(struct pj_profile_reader *reader, const struct pj_profile_key *key,
                       const struct pj_yaml_node *node)
{
    bool empty = node->kind == PJ_YAML_SCALAR ? node->size == 0 : node->count == 0;
    if (node->kind != key->kind || (empty && !key->may_be_empty))
        pj_profile_refuse(reader, key, node, NULL);
    else
        key->read(reader, key, node);
}

void pj_profile_section_read(struct pj_profile_reader *reader, const struct pj_profile_section *section,
                             const struct pj_yaml_node *node)
{
    bool found[PJ_PROFILE_SECTION_KEYS] = {false};
    char read[PJ_READ_TEXT];
    if (node->kind != PJ_YAML_MAPPING) {
        pj_findings_add(&reader->findings, node, "read %s; %s is a mapping: write keys such as `%s: %s`",
                        pj_findings_read(&reader->findings, node, read), section->name, section->keys[0].name,
                        section->keys[0].example);
        return;
    }
    for (const struct pj_yaml_node *value = node->first; value; value = value->next) {
        size_t i = 0;
        while (i < section->count && strcmp(section->keys[i].name, value->key->text) != 0)
            i++;
        if (i == section->count) {
            refuse_unknown(reader, section, value->key);
            continue;
        }
        found[i] = true;
        read_value(reader, &section->keys[i], value);
    }
    for (size_t i = 0; i < section->count; i++) {
        const struct pj_profile_key *key = &section->keys[i];
        if (!found[i] && !(key->may_be_empty && key->kind == PJ_YAML_SCALAR))
            pj_findings_add(&reader->findings, node, "`%s` is missing: %s needs it, for example `%s: %s`",
                            key->name, section->name, key->name, key->example);
    }
}
