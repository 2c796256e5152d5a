/* SPDX-License-Identifier: Apache-2.0 */
/* One module of the manifest: what takes several keys at once, and the files of a glob. */
#include <stdlib.h>
#include <string.h>

#include "manifest/glob.h"
#include "manifest/reader.h"
#include "version.h"

static const char *kind_key(enum pj_module_kind kind)
{
    return pj_schema_key(PJ_SECTION_MODULE, PJ_MODULE_KEY_PTX + (size_t)kind).name;
}

/* Which of ptx, source, link and binary the module has; -1 after a finding. */
static int find_kind(struct pj_reader *reader, const struct pj_yaml_node *node, const struct pj_value *values)
{
    static const char allowed[] = "`ptx`, `source`, `link` or `binary`";
    int kind = -1;
    bool single = true;
    for (int i = PJ_MODULE_PTX; i <= (int)PJ_MODULE_BINARY; i++) {
        const struct pj_value *value = &values[PJ_MODULE_KEY_PTX + i];
        if (!value->node)
            continue;
        if (kind >= 0) {
            single = false;
            const struct pj_yaml_node *first = values[PJ_MODULE_KEY_PTX + kind].node->key;
            pj_findings_add(
                &reader->check.findings, value->node->key,
                "`%s` beside `%s` (line %zu); a module has exactly one of %s: make it two modules",
                value->node->key->text, first->text, first->line, allowed);
        } else {
            kind = i;
        }
    }
    if (kind < 0)
        pj_findings_add(&reader->check.findings, node,
                        "the module says nothing to compile; it has exactly one of %s, for example `%s`",
                        allowed, pj_schema_key(PJ_SECTION_MODULE, PJ_MODULE_KEY_PTX).example);
    return single ? kind : -1;
}

/* Keys that do not go with this kind of module. */
static void check_kind_keys(struct pj_reader *reader, enum pj_module_kind kind, const struct pj_value *values)
{
    for (size_t i = 0; i < PJ_MODULE_KEY_COUNT; i++) {
        struct pj_schema_key key = pj_schema_key(PJ_SECTION_MODULE, i);
        if (!values[i].node || key.kinds == 0 || (key.kinds & (1U << kind)) != 0)
            continue;
        PJ_CLEANUP_BUFFER struct pj_buffer kinds = {0};
        for (unsigned k = 0; k <= (unsigned)PJ_MODULE_BINARY; k++) {
            if ((key.kinds & (1U << k)) == 0)
                continue;
            const char *separator = kinds.size == 0 ? "" : (key.kinds >> (k + 1)) != 0 ? ", " : " or ";
            pj_buffer_printf(&kinds, "%s`%s`", separator, kind_key((enum pj_module_kind)k));
        }
        pj_findings_add(&reader->check.findings, values[i].node->key,
                        "`%s` goes with %s, and this module has `%s`: remove it", key.name,
                        pj_buffer_text(&kinds), kind_key(kind));
        reader->check.findings.failed = reader->check.findings.failed || kinds.failed;
    }
}

static void read_options(struct pj_reader *reader, const struct pj_value *value,
                         struct pj_jit_options *ret_options)
{
    struct pj_value values[PJ_SCHEMA_MAX_KEYS];
    if (!value->ok || !pj_check_section(&reader->check, value->node, PJ_SECTION_OPTIONS, values))
        return;
    for (unsigned i = 0; i < PJ_JIT_OPTION_COUNT; i++) {
        if (!values[i].ok)
            continue;
        ret_options->given |= UINT32_C(1) << i;
        ret_options->values[i] = (uint32_t)values[i].integer;
    }
}

static void add_module(struct pj_reader *reader, const struct pj_module *module,
                       const struct pj_yaml_node *name)
{
    struct pj_module_entry *entry = PJ_ARRAY_PUSH(reader);
    if (entry)
        *entry = (struct pj_module_entry){.module = *module, .name = name};
    else
        reader->check.findings.failed = true;
}

/* One module for each file that the glob matches. */
static void add_matches(struct pj_reader *reader, struct pj_module *module, const struct pj_value *values)
{
    const struct pj_yaml_node *ptx = values[PJ_MODULE_KEY_PTX].node;
    const struct pj_yaml_node *sha256 = values[PJ_MODULE_KEY_SHA256].node;
    char read[PJ_READ_TEXT];
    if (sha256)
        pj_findings_add(&reader->check.findings, sha256->key,
                        "`sha256` pins one file, and `ptx` is the glob %s: name one file, or remove `sha256`",
                        pj_findings_read(&reader->check.findings, ptx, read));
    PJ_CLEANUP_ERROR struct pj_error *error = NULL;
    struct pj_glob_match *matches = NULL;
    size_t count = 0;
    int r = pj_glob_expand(reader->manifest->directory, ptx->text, module->name, &reader->manifest->arena,
                           &matches, &count, &error);
    if (r == PJ_ERROR_NO_MEMORY)
        reader->check.findings.failed = true;
    else if (r < 0)
        pj_findings_add(&reader->check.findings, ptx, "`ptx`: %s", pj_error_message(error));
    for (size_t i = 0; i < count; i++) {
        const char *fault = pj_check_name(&reader->check.findings, matches[i].name);
        module->name = matches[i].name;
        module->path = matches[i].path;
        if (fault)
            pj_findings_add(&reader->check.findings, ptx,
                            "`ptx`: the glob matches %s, and the name `%s` made from it %s", module->path,
                            module->name, fault);
        else
            add_module(reader, module, values[PJ_MODULE_KEY_NAME].node);
    }
}

/* The file of a module, or its files; findings that need its kind. */
static void read_kind(struct pj_reader *reader, const struct pj_yaml_node *node, struct pj_module *module,
                      const struct pj_value *values)
{
    int kind = find_kind(reader, node, values);
    if (kind < 0)
        return;
    module->kind = (enum pj_module_kind)kind;
    check_kind_keys(reader, module->kind, values);
    const struct pj_value *file = &values[PJ_MODULE_KEY_PTX + kind];
    if (pj_schema_key(PJ_SECTION_MODULE, PJ_MODULE_KEY_PTX + (size_t)kind).later)
        pj_findings_add(
            &reader->unsupported, file->node->key,
            "`%s:` is not supported by this version of prejit (%s), which takes `ptx:`, `source:` "
            "and `link:`: code inside programs and libraries is not warmed, and PTX extracted from it has "
            "another key: leave the module out",
            file->node->key->text, PREJIT_VERSION);
    if (!file->ok || !module->name)
        return;
    if (kind == PJ_MODULE_SOURCE) {
        pj_source_read(reader, values, module);
    } else if (kind == PJ_MODULE_LINK) {
        pj_link_read(reader, values, module);
    } else {
        module->path = pj_glob_path(reader->manifest->directory, file->text, &reader->manifest->arena);
        if (!module->path) {
            reader->check.findings.failed = true;
            return;
        }
    }
    if (kind == PJ_MODULE_PTX && pj_glob_is_pattern(module->path, file->text))
        add_matches(reader, module, values);
    else
        add_module(reader, module, values[PJ_MODULE_KEY_NAME].node);
}

void pj_module_read(struct pj_reader *reader, const struct pj_yaml_node *node)
{
    struct pj_value values[PJ_SCHEMA_MAX_KEYS];
    if (!pj_check_section(&reader->check, node, PJ_SECTION_MODULE, values))
        return;
    const struct pj_value *targets = &values[PJ_MODULE_KEY_TARGETS];
    const struct pj_value *kernels = &values[PJ_MODULE_KEY_KERNELS];
    const struct pj_value *required = &values[PJ_MODULE_KEY_REQUIRED];
    struct pj_module module = {
        .name = values[PJ_MODULE_KEY_NAME].text,
        .kernels = kernels->texts,
        .kernel_count = kernels->count,
        .has_sha256 = values[PJ_MODULE_KEY_SHA256].ok,
        .sha256 = values[PJ_MODULE_KEY_SHA256].digest,
        .required = !required->ok || required->integer == 1,
        .targets = targets->ok ? targets->targets : reader->targets,
        .target_count = targets->ok ? targets->count : reader->target_count,
        .line = node->line,
    };
    read_options(reader, &values[PJ_MODULE_KEY_OPTIONS], &module.options);
    read_kind(reader, node, &module, values);
}

static int compare_entries(const void *left, const void *right)
{
    const struct pj_module_entry *a = *(const struct pj_module_entry *const *)left;
    const struct pj_module_entry *b = *(const struct pj_module_entry *const *)right;
    int order = strcmp(a->module.name, b->module.name);
    return order != 0 ? order : (a > b) - (a < b); /* one array: manifest order */
}

void pj_module_check_names(struct pj_reader *reader)
{
    if (reader->count < 2)
        return;
    PJ_CLEANUP_FREE const struct pj_module_entry **sorted = calloc(reader->count, sizeof *sorted);
    if (!sorted) {
        reader->check.findings.failed = true;
        return;
    }
    for (size_t i = 0; i < reader->count; i++)
        sorted[i] = &reader->items[i];
    qsort(sorted, reader->count, sizeof *sorted, compare_entries);
    const struct pj_module_entry *first = sorted[0];
    for (size_t i = 1; i < reader->count; i++) {
        const struct pj_module_entry *entry = sorted[i];
        if (strcmp(first->module.name, entry->module.name) != 0) {
            first = entry;
            continue;
        }
        bool made = strcmp(entry->name->text, entry->module.name) != 0;
        pj_findings_add(
            &reader->check.findings, entry->name,
            "`name`: `%s`%s%s%s is also a name of the module at line %zu; names are unique: rename "
            "one of the two modules",
            entry->module.name, made ? " (for " : "", made ? entry->module.path : "", made ? ")" : "",
            first->module.line);
    }
}
