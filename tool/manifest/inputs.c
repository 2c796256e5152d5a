/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a source or link module: paths as they are opened, none twice, no patterns. */
#include <string.h>

#include "manifest/glob.h"
#include "manifest/reader.h"

/* The path as it is opened, or NULL after a finding. `advice` says what to write instead of a pattern. */
static const char *open_path(struct pj_reader *reader, const struct pj_yaml_node *node, const char *key,
                             const char *advice)
{
    char read[PJ_READ_TEXT];
    struct pj_findings *findings = &reader->check.findings;
    const char *path = pj_glob_path(reader->manifest->directory, node->text, &reader->manifest->arena);
    if (!path) {
        findings->failed = true;
        return NULL;
    }
    if (!pj_glob_is_pattern(path, node->text))
        return path;
    pj_findings_add(findings, node, "`%s`: read %s; patterns are expanded under `ptx` alone: %s", key,
                    pj_findings_read(findings, node, read), advice);
    return NULL;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void read_headers(struct pj_reader *reader, const struct pj_value *value, struct pj_module *module)
{
    if (!value->ok)
        return;
    module->headers = pj_arena_calloc(&reader->manifest->arena, value->count, sizeof *module->headers);
    if (!module->headers) {
        reader->check.findings.failed = true;
        return;
    }
    size_t index = 0;
    for (const struct pj_yaml_node *node = value->node->first; node; node = node->next, index++) {
        const char *path = open_path(reader, node, "headers", "write out each header with its name");
        if (path)
            module->headers[module->header_count++] =
                (struct pj_header){.name = value->names[index], .path = path};
    }
}

void pj_source_read(struct pj_reader *reader, const struct pj_value *values, struct pj_module *module)
{
    const struct pj_value *program_name = &values[PJ_MODULE_KEY_PROGRAM_NAME];
    module->path =
        open_path(reader, values[PJ_MODULE_KEY_SOURCE].node, "source", "write one module for each file");
    if (module->path)
        module->program_name = program_name->ok ? program_name->text : base_name(module->path);
    module->nvrtc = values[PJ_MODULE_KEY_NVRTC].texts;
    module->nvrtc_count = values[PJ_MODULE_KEY_NVRTC].count;
    module->name_expressions = values[PJ_MODULE_KEY_NAME_EXPRESSIONS].texts;
    module->name_expression_count = values[PJ_MODULE_KEY_NAME_EXPRESSIONS].count;
    pj_takes_read(reader, values, pj_nvrtc_check(&reader->check.findings, &values[PJ_MODULE_KEY_NVRTC]),
                  module);
    read_headers(reader, &values[PJ_MODULE_KEY_HEADERS], module);
}

/* The next part of a path that says something: neither `/` nor `.`. */
static const char *next_part(const char *path, size_t *ret_length)
{
    for (;;) {
        path += strspn(path, "/");
        *ret_length = strcspn(path, "/");
        if (*ret_length != 1 || path[0] != '.')
            return path;
        path++;
    }
}

/* Is it one path, written in two ways? Links are not looked at. */
static bool same_path(const char *a, const char *b)
{
    size_t a_length, b_length;
    if ((a[0] == '/') != (b[0] == '/'))
        return false;
    do {
        a = next_part(a, &a_length);
        b = next_part(b, &b_length);
        if (a_length != b_length || memcmp(a, b, a_length) != 0)
            return false;
        a += a_length;
        b += b_length;
    } while (a_length > 0);
    return true;
}

/* Number of the input that is the same file as `path`, from 1; 0 for none. */
static size_t number_of(const struct pj_module *module, const char *path)
{
    for (size_t i = 0; i < module->input_count; i++) {
        if (same_path(module->inputs[i], path))
            return i + 1;
    }
    return 0;
}

void pj_link_read(struct pj_reader *reader, const struct pj_value *values, struct pj_module *module)
{
    const struct pj_value *value = &values[PJ_MODULE_KEY_LINK];
    struct pj_findings *findings = &reader->check.findings;
    char read[PJ_READ_TEXT];
    const struct pj_value *nvjitlink = &values[PJ_MODULE_KEY_NVJITLINK],
                          *linker = &values[PJ_MODULE_KEY_LINKER];
    module->linker = linker->ok        ? (enum pj_linker)linker->integer
                     : nvjitlink->node ? PJ_LINKER_NVJITLINK
                                       : PJ_LINKER_DRIVER;
    module->nvjitlink = nvjitlink->texts;
    module->nvjitlink_count = nvjitlink->count;
    if (nvjitlink->node && module->linker != PJ_LINKER_NVJITLINK)
        pj_findings_add(findings, nvjitlink->node->key,
                        "`nvjitlink` has options of nvJitLink, and `linker: driver` (line %zu) says that the "
                        "driver links: remove one of the two",
                        linker->node->line);
    module->inputs = pj_arena_calloc(&reader->manifest->arena, value->count, sizeof *module->inputs);
    if (!module->inputs) {
        findings->failed = true;
        return;
    }
    for (const struct pj_yaml_node *node = value->node->first; node; node = node->next) {
        const char *path = open_path(reader, node, "link", "write out each file, in the order of linking");
        size_t number = path ? number_of(module, path) : 0;
        if (number > 0)
            pj_findings_add(
                findings, node,
                "`link`: linked twice: %s is number %zu of the list already: remove one of the two",
                pj_findings_read(findings, node, read), number);
        else if (path)
            module->inputs[module->input_count++] = path;
    }
}
