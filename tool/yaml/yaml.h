/* SPDX-License-Identifier: Apache-2.0 */
/* Reads one YAML document into a checked tree of nodes that know their place in the file. */
#ifndef PREJIT_YAML_YAML_H
#define PREJIT_YAML_YAML_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/memory.h"

/** What a document may hold at most: bytes, nodes (keys count), and collections within each other. */
enum { PJ_YAML_MAX_BYTES = 64000000, PJ_YAML_MAX_NODES = 1000000, PJ_YAML_MAX_DEPTH = 16 };

enum pj_yaml_kind { PJ_YAML_SCALAR, PJ_YAML_SEQUENCE, PJ_YAML_MAPPING };

/** One node. It and its text live in the arenas given to pj_yaml_parse. */
struct pj_yaml_node {
    enum pj_yaml_kind kind;
    bool plain;                        /* a scalar without quotes, not a block: `~` and not `"~"` */
    size_t line, column;               /* where it starts, 1-based; columns count characters */
    const char *text;                  /* scalar: its text, NUL-terminated, without a NUL inside; else NULL */
    size_t size;                       /* bytes of `text` */
    size_t count;                      /* sequence: items; mapping: keys */
    struct pj_yaml_node *key;          /* of a value in a mapping: its key, a scalar; else NULL */
    struct pj_yaml_node *first, *next; /* first item or value within; the following one beside it */
};

/** Parses `size` bytes; `name` stands first in messages. *ret_root is NULL for a file without a document
 * (empty, or nothing but comments).
 *
 * PJ_ERROR_FORMAT, one line "name:line:column: …", for: text that is not YAML or not UTF-8; an alias, anchor,
 * tag, merge key, or second document; a key that is not a scalar or is given twice; a NUL in a scalar; more
 * than the limits above. No value is interpreted: a scalar is its text. Texts may outlive the nodes, which
 * take far more memory: the two arenas may be one. */
int pj_yaml_parse(const char *bytes, size_t size, const char *name, struct pj_arena *texts,
                  struct pj_arena *nodes, struct pj_yaml_node **ret_root, struct pj_error **err);

/** "a list", "a mapping", either with "an empty" before it, "an empty value" or "text": how messages call
 * what was read. */
const char *pj_yaml_kind_name(const struct pj_yaml_node *node);

#endif
