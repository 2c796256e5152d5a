/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: any bytes as a YAML document, and as a manifest. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "manifest/manifest.h"
#include "yaml/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Nodes counted again, from the tree itself; texts and places as the header promises them. */
static size_t count_nodes(const struct pj_yaml_node *node, size_t depth)
{
    size_t nodes = 1, items = 0;
    if (depth > PJ_YAML_MAX_DEPTH + 1 || node->line == 0 || node->column == 0)
        abort();
    if (node->kind == PJ_YAML_SCALAR && strlen(node->text) != node->size)
        abort();
    for (const struct pj_yaml_node *item = node->first; item; item = item->next, items++) {
        if ((item->key != NULL) != (node->kind == PJ_YAML_MAPPING))
            abort();
        nodes += count_nodes(item, depth + 1) + (item->key != NULL);
    }
    if (items != node->count)
        abort();
    return nodes;
}

/* Patterns from the root would read the machine's whole file system. */
static int reads_far(const char *text, size_t size)
{
    return memmem(text, size, "/*", 2) || memmem(text, size, "/?", 2) || memmem(text, size, "/[", 2) ||
           memmem(text, size, "..", 2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    struct pj_arena arena = {0};
    struct pj_error *err = NULL;
    struct pj_yaml_node *root = NULL;
    int r = pj_yaml_parse(text, size, "f", &arena, &arena, &root, &err);
    if ((r == 0) != (err == NULL) ||
        (r != 0 && (r != PJ_ERROR_FORMAT || strncmp(err->message, "f:", 2) != 0)))
        abort();
    if (root && count_nodes(root, 1) > PJ_YAML_MAX_NODES)
        abort();
    pj_arena_free(&arena);
    pj_error_clear(&err);
    if (reads_far(text, size))
        return 0;

    struct pj_manifest *manifest = NULL;
    r = pj_manifest_parse(text, size, "f", "/nonexistent", (size & 1) != 0, &manifest, &err);
    if ((r == 0) != (err == NULL) || (r == 0) != (manifest != NULL) ||
        (r == 0 && manifest->module_count == 0))
        abort();
    if (r != 0 && r != PJ_ERROR_MANIFEST && r != PJ_ERROR_UNSUPPORTED)
        abort();
    pj_manifest_free(manifest);
    pj_error_clear(&err);
    return 0;
}
