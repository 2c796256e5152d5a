/* SPDX-License-Identifier: Apache-2.0 */
/* From the bytes of a profile to what it says: the tables of its keys, and their single values. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "profile/section.h"
#include "profile/value.h"
#include "version.h"
#include "yaml/yaml.h"

/* Looked at before anything else. */
static void read_version(struct pj_profile_reader *reader, const struct pj_profile_key *key,
                         const struct pj_yaml_node *node)
{
    (void)reader, (void)key, (void)node;
}

static void read_driver_version(struct pj_profile_reader *reader, const struct pj_profile_key *key,
                                const struct pj_yaml_node *node)
{
    if (pj_profile_is_version(node->text))
        reader->profile.driver_version = node->text;
    else
        pj_profile_refuse(reader, key, node, NULL);
}

static void read_cuda(struct pj_profile_reader *reader, const struct pj_profile_key *key,
                      const struct pj_yaml_node *node)
{
    uint16_t major, minor;
    if (pj_profile_read_pair(node->text, 2, &major, &minor) && major > 0)
        reader->profile.cuda_version = major * 1000 + minor * 10;
    else
        pj_profile_refuse(reader, key, node, NULL);
}

/* A key that had it twice would not read back as what it was made of. */
#define STAMP_END "HOST64sm_"

static void read_stamp(struct pj_profile_reader *reader, const struct pj_profile_key *key,
                       const struct pj_yaml_node *node)
{
    for (const char *c = node->text; *c; c++) {
        if (*c < ' ' || *c > '~') {
            pj_profile_refuse(reader, key, node, NULL);
            return;
        }
    }
    char advice[64];
    (void)snprintf(advice, sizeof advice, "these are %zu characters", node->size);
    if (node->size > PJ_PROFILE_STAMP_MAX)
        pj_profile_refuse(reader, key, node, advice);
    else if (strstr(node->text, STAMP_END))
        pj_profile_refuse(reader, key, node, "`" STAMP_END "` is what follows it in a key");
    else
        reader->profile.stamp = node->text;
}

static void read_format(struct pj_profile_reader *reader, const struct pj_profile_key *key,
                        const struct pj_yaml_node *node)
{
    uint64_t number;
    if (pj_text_to_u64(node->text, UINT32_MAX, &number) && number > 0)
        reader->profile.cache_format = (unsigned)number;
    else
        pj_profile_refuse(reader, key, node, NULL);
}

/* A version above the newest known may be of a newer driver; a gap below it is a slip. */
static void read_isa(struct pj_profile_reader *reader, const struct pj_profile_key *key,
                     const struct pj_yaml_node *node)
{
    struct pj_isa isa;
    if (!pj_profile_read_pair(node->text, 2, &isa.major, &isa.minor))
        pj_profile_refuse(reader, key, node, NULL);
    else if (!pj_isa_known(isa) && pj_isa_compare(isa, pj_isa_newest()) < 0)
        pj_profile_refuse(reader, key, node, "there is no such version");
    else
        reader->profile.ptx_isa = isa;
}

/* A text that is fit to print, or NULL after a finding. */
static const char *read_text(struct pj_profile_reader *reader, const struct pj_profile_key *key,
                             const struct pj_yaml_node *node)
{
    if (node->size <= PJ_PROFILE_TEXT_MAX && pj_findings_printable(&reader->findings, node->text))
        return node->text;
    pj_profile_refuse(reader, key, node, NULL);
    return NULL;
}

static void read_made_on(struct pj_profile_reader *reader, const struct pj_profile_key *key,
                         const struct pj_yaml_node *node)
{
    if (pj_profile_is_date(node->text))
        reader->profile.made_on = node->text;
    else
        pj_profile_refuse(reader, key, node, NULL);
}

static void read_made_with(struct pj_profile_reader *reader, const struct pj_profile_key *key,
                           const struct pj_yaml_node *node)
{
    reader->profile.made_with = read_text(reader, key, node);
}

static void read_gpu(struct pj_profile_reader *reader, const struct pj_profile_key *key,
                     const struct pj_yaml_node *node)
{
    reader->profile.gpu = read_text(reader, key, node);
}

#define TEXT_ALLOWED "a text of at most 200 bytes without control characters"
_Static_assert(PJ_PROFILE_TEXT_MAX == 200 && PJ_PROFILE_STAMP_MAX == 63, "as what is allowed says");

static const struct pj_profile_key driver_keys[] = {
    {"version", PJ_YAML_SCALAR, false, PJ_PROFILE_VERSION_ALLOWED, "580.159.04", read_driver_version},
    {"cuda", PJ_YAML_SCALAR, false, "CUDA's version, two numbers joined by a point", "13.0", read_cuda},
    {"stamp", PJ_YAML_SCALAR, false, "a text of 1 to 63 ASCII characters", "\"Apr 29 202617:12:06\"",
     read_stamp},
};
static const struct pj_profile_section driver_section = {"`driver`", driver_keys, PJ_COUNT(driver_keys)};

static const struct pj_profile_key made_keys[] = {
    {"on", PJ_YAML_SCALAR, false, "a day", "2026-11-30", read_made_on},
    {"with", PJ_YAML_SCALAR, false, TEXT_ALLOWED, "\"prejit 0.1.0\"", read_made_with},
    {"gpu", PJ_YAML_SCALAR, false, TEXT_ALLOWED, "\"NVIDIA H200\"", read_gpu},
};
static const struct pj_profile_section made_section = {"`made`", made_keys, PJ_COUNT(made_keys)};

static void read_driver(struct pj_profile_reader *reader, const struct pj_profile_key *key,
                        const struct pj_yaml_node *node)
{
    (void)key;
    pj_profile_section_read(reader, &driver_section, node);
}

static void read_made(struct pj_profile_reader *reader, const struct pj_profile_key *key,
                      const struct pj_yaml_node *node)
{
    (void)key;
    pj_profile_section_read(reader, &made_section, node);
}

static const struct pj_profile_key root_keys[] = {
    {"version", PJ_YAML_SCALAR, false, "1", "1", read_version},
    {"driver", PJ_YAML_MAPPING, false, "a mapping",
     "{version: 580.159.04, cuda: 13.0, stamp: \"Apr 29 202617:12:06\"}", read_driver},
    {"cache_format", PJ_YAML_SCALAR, false, "a number from 1 to 4294967295", "65", read_format},
    {"ptx_isa", PJ_YAML_SCALAR, false, "a PTX ISA version, two numbers joined by a point", "9.0", read_isa},
    {"architectures", PJ_YAML_SEQUENCE, false, "a list of at least one architecture", "[sm_80, sm_90]",
     pj_profile_read_archs},
    {"proven", PJ_YAML_SEQUENCE, true, PJ_PROFILE_KINDS_ALLOWED, "[plain, link]", pj_profile_read_proven},
    {"not_proven", PJ_YAML_SEQUENCE, true, PJ_PROFILE_KINDS_ALLOWED, "[foreign]", pj_profile_read_not_proven},
    {"compilers", PJ_YAML_SEQUENCE, true, "a list of compilers",
     "[{tool: ptxas, version: 13.0.88, cases: 12, same_code_cases: 12}]", pj_profile_read_compilers},
    {"made", PJ_YAML_MAPPING, false, "a mapping",
     "{on: 2026-11-30, with: \"prejit 0.1.0\", gpu: \"NVIDIA H200\"}", read_made},
};
static const struct pj_profile_section root_section = {"the profile", root_keys, PJ_COUNT(root_keys)};
_Static_assert(PJ_COUNT(root_keys) <= PJ_PROFILE_SECTION_KEYS, "no section has more keys");

/* Another version may have other keys, so nothing else is said about such a profile. */
static int check_version(struct pj_profile_reader *reader, const struct pj_yaml_node *root,
                         struct pj_error **err)
{
    const struct pj_yaml_node *value = root->kind == PJ_YAML_MAPPING ? root->first : NULL;
    while (value && strcmp(value->key->text, "version") != 0)
        value = value->next;
    if (!value || (value->kind == PJ_YAML_SCALAR && strcmp(value->text, "1") == 0))
        return 0;
    _Static_assert(PJ_PROFILE_VERSION == 1, "compared as text");
    char read[PJ_READ_TEXT];
    pj_findings_add(
        &reader->findings, value,
        "`version`: read %s; this prejit (%s) reads profiles of version %d: get a prejit that reads the "
        "other version, or make the profile again with this one (prejit profile)",
        pj_findings_read(&reader->findings, value, read), PREJIT_VERSION, PJ_PROFILE_VERSION);
    return pj_findings_result(&reader->findings, PJ_ERROR_MANIFEST, err);
}

/* The tree shares the profile's arena, so that texts need no copies. */
static int read_bytes(struct pj_profile_reader *reader, const char *bytes, size_t size, struct pj_error **err)
{
    struct pj_yaml_node *root = NULL;
    int r = pj_yaml_parse(bytes, size, reader->findings.name, reader->arena, reader->arena, &root, err);
    if (r == PJ_ERROR_FORMAT)
        return pj_error_recode(err, PJ_ERROR_MANIFEST, 0);
    if (r < 0)
        return r;
    if (!root)
        return pj_error_set(
            err, PJ_ERROR_MANIFEST,
            "%s:1:1: the profile is empty; make one with prejit profile, on a machine with the driver",
            reader->findings.name);
    r = check_version(reader, root, err);
    if (r < 0)
        return r;
    pj_profile_section_read(reader, &root_section, root);
    pj_profile_check_kinds(reader);
    return pj_findings_result(&reader->findings, PJ_ERROR_MANIFEST, err);
}

int pj_profile_parse(const char *bytes, size_t size, const char *name, struct pj_arena *arena,
                     struct pj_profile *ret_profile, struct pj_error **err)
{
    struct pj_profile_reader reader = {.arena = arena, .findings = {.name = name}};
    reader.profile.name = pj_arena_strdup(arena, name);
    int r = reader.profile.name ? read_bytes(&reader, bytes, size, err) : pj_error_no_memory(err);
    pj_findings_free(&reader.findings);
    if (r == 0)
        *ret_profile = reader.profile;
    return r;
}
