/* SPDX-License-Identifier: Apache-2.0 */
/* From the bytes of a manifest to what it says. */
#include "manifest/manifest.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "manifest/glob.h"
#include "manifest/reader.h"
#include "version.h"

void pj_manifest_free(struct pj_manifest *manifest)
{
    if (!manifest)
        return;
    pj_arena_free(&manifest->arena);
    free(manifest);
}

void pj_manifest_free_pointer(struct pj_manifest **manifest)
{
    pj_manifest_free(*manifest);
    *manifest = NULL;
}

static void free_reader(struct pj_reader *reader)
{
    free(reader->items);
    pj_findings_free(&reader->check.findings);
    pj_findings_free(&reader->unsupported);
    pj_findings_free(&reader->undecided);
}

/* Another version may have other keys, so nothing else is said about such a manifest. */
static int check_version(struct pj_reader *reader, const struct pj_yaml_node *root, struct pj_error **err)
{
    const struct pj_yaml_node *value = root->kind == PJ_YAML_MAPPING ? root->first : NULL;
    while (value && strcmp(value->key->text, "version") != 0)
        value = value->next;
    if (!value || (value->kind == PJ_YAML_SCALAR && strcmp(value->text, "1") == 0))
        return 0;
    char read[PJ_READ_TEXT];
    (void)pj_findings_read(&reader->check.findings, value, read);
    if (reader->check.findings.failed)
        return pj_error_no_memory(err);
    return pj_error_set(
        err, PJ_ERROR_MANIFEST,
        "%s:%zu:%zu: `version`: read %s; this prejit (%s) reads manifests of version %d: write "
        "`version: %d`, or get a prejit that reads the other version",
        reader->check.findings.name, value->line, value->column, read, PREJIT_VERSION, PJ_MANIFEST_VERSION,
        PJ_MANIFEST_VERSION);
}

static int read_cache(struct pj_reader *reader, const struct pj_value *value, struct pj_error **err)
{
    struct pj_value values[PJ_SCHEMA_MAX_KEYS];
    struct pj_manifest *manifest = reader->manifest;
    if (!value->ok || !pj_check_section(&reader->check, value->node, PJ_SECTION_CACHE, values))
        return 0;
    if (values[PJ_CACHE_MAX_SIZE].ok)
        manifest->cache_max_size_bytes = values[PJ_CACHE_MAX_SIZE].integer;
    if (!values[PJ_CACHE_PATH].ok)
        return 0;
    const char *path = pj_glob_path(manifest->directory, values[PJ_CACHE_PATH].text, &manifest->arena);
    if (!path)
        return pj_error_no_memory(err);
    PJ_CLEANUP_FREE char *absolute = NULL;
    int r = pj_path_absolute(path, &absolute, err);
    if (r < 0)
        return r;
    manifest->cache_path = pj_arena_strdup(&manifest->arena, absolute);
    return manifest->cache_path ? 0 : pj_error_no_memory(err);
}

static void read_verify(struct pj_reader *reader, const struct pj_value *value)
{
    struct pj_value values[PJ_SCHEMA_MAX_KEYS];
    struct pj_manifest *manifest = reader->manifest;
    if (!value->ok || !pj_check_section(&reader->check, value->node, PJ_SECTION_VERIFY, values))
        return;
    if (values[PJ_VERIFY_SAMPLES].ok)
        manifest->verify_samples = (unsigned)values[PJ_VERIFY_SAMPLES].integer;
    manifest->has_max_warm_ms = values[PJ_VERIFY_MAX_WARM_MS].ok;
    manifest->max_warm_ms = values[PJ_VERIFY_MAX_WARM_MS].number;
    manifest->has_min_speedup = values[PJ_VERIFY_MIN_SPEEDUP].ok;
    manifest->min_speedup = values[PJ_VERIFY_MIN_SPEEDUP].number;
}

static int read_targets(struct pj_reader *reader, const struct pj_value *value, struct pj_error **err)
{
    if (value->ok) {
        reader->targets = value->targets;
        reader->target_count = value->count;
        return 0;
    }
    reader->targets = pj_arena_alloc(&reader->manifest->arena, sizeof *reader->targets);
    if (!reader->targets)
        return pj_error_no_memory(err);
    reader->targets->form = PJ_TARGET_NATIVE;
    reader->target_count = 1;
    return 0;
}

static int take_modules(struct pj_reader *reader, struct pj_error **err)
{
    struct pj_manifest *manifest = reader->manifest;
    manifest->modules = pj_arena_calloc(&manifest->arena, reader->count, sizeof *manifest->modules);
    if (!manifest->modules)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < reader->count; i++)
        manifest->modules[i] = reader->items[i].module;
    manifest->module_count = reader->count;
    return 0;
}

/* Kept as the text that it becomes where it matters. */
static int take_undecided(struct pj_reader *reader, struct pj_error **err)
{
    PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
    struct pj_manifest *manifest = reader->manifest;
    int r = pj_findings_result(&reader->undecided, PJ_ERROR_MANIFEST, &problem);
    if (r == 0)
        return 0;
    manifest->undecided =
        r == PJ_ERROR_MANIFEST ? pj_arena_strdup(&manifest->arena, pj_error_message(problem)) : NULL;
    return manifest->undecided ? 0 : pj_error_no_memory(err);
}

int pj_manifest_check_decided(const struct pj_manifest *manifest, struct pj_error **err)
{
    return manifest->undecided ? pj_error_set(err, PJ_ERROR_MANIFEST, "%s", manifest->undecided) : 0;
}

static int read_root(struct pj_reader *reader, const struct pj_yaml_node *root, bool allow_unsupported,
                     struct pj_error **err)
{
    struct pj_value values[PJ_SCHEMA_MAX_KEYS];
    if (pj_check_section(&reader->check, root, PJ_SECTION_ROOT, values)) {
        int r = read_targets(reader, &values[PJ_ROOT_TARGETS], err);
        if (r == 0)
            r = read_cache(reader, &values[PJ_ROOT_CACHE], err);
        if (r < 0)
            return r;
        read_verify(reader, &values[PJ_ROOT_VERIFY]);
        const struct pj_value *modules = &values[PJ_ROOT_MODULES];
        for (const struct pj_yaml_node *node = modules->ok ? modules->node->first : NULL; node;
             node = node->next)
            pj_module_read(reader, node);
        pj_module_check_names(reader);
    }
    int r = pj_findings_result(&reader->check.findings, PJ_ERROR_MANIFEST, err);
    if (r == 0 && !allow_unsupported)
        r = pj_findings_result(&reader->unsupported, PJ_ERROR_UNSUPPORTED, err);
    if (r == 0)
        r = take_undecided(reader, err);
    return r;
}

/* Texts go into the manifest's arena, so that names and paths need no copies. */
static int read_bytes(struct pj_reader *reader, const char *bytes, size_t size, const char *shown,
                      bool allow_unsupported, struct pj_arena *nodes, struct pj_error **err)
{
    struct pj_yaml_node *root = NULL;
    int r = pj_yaml_parse(bytes, size, shown, &reader->manifest->arena, nodes, &root, err);
    if (r == PJ_ERROR_FORMAT)
        return pj_error_recode(err, PJ_ERROR_MANIFEST, 0);
    if (r < 0)
        return r;
    if (!root)
        return pj_error_set(err, PJ_ERROR_MANIFEST,
                            "%s:1:1: the manifest is empty; it needs at least `version: 1` and `modules:`",
                            shown);
    r = check_version(reader, root, err);
    return r < 0 ? r : read_root(reader, root, allow_unsupported, err);
}

int pj_manifest_parse(const char *bytes, size_t size, const char *name, const char *directory,
                      bool allow_unsupported, struct pj_manifest **ret_manifest, struct pj_error **err)
{
    PJ_CLEANUP_MANIFEST struct pj_manifest *manifest = calloc(1, sizeof *manifest);
    if (!manifest)
        return pj_error_no_memory(err);
    manifest->name = pj_arena_strdup(&manifest->arena, name);
    manifest->directory = pj_arena_strdup(&manifest->arena, directory);
    if (!manifest->name || !manifest->directory)
        return pj_error_no_memory(err);
    manifest->verify_samples = 3;
    pj_sha256_of(bytes, size, &manifest->digest);
    const char *shown = strcmp(name, "-") == 0 ? "<stdin>" : name;
    struct pj_reader reader = {
        .manifest = manifest,
        .check = {.arena = &manifest->arena, .findings = {.name = shown}},
        .unsupported = {.name = shown},
        .undecided = {.name = shown},
    };
    struct pj_arena nodes = {0};
    int r = read_bytes(&reader, bytes, size, shown, allow_unsupported, &nodes, err);
    pj_arena_free(&nodes);
    if (r == 0)
        r = take_modules(&reader, err);
    free_reader(&reader);
    if (r == 0)
        *ret_manifest = PJ_STEAL(manifest);
    return r;
}
