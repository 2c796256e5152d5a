/* SPDX-License-Identifier: Apache-2.0 */
/* The lists of a profile: architectures, what was proven and what was not, compilers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "profile/section.h"
#include "profile/value.h"

static bool read_arch(struct pj_profile_reader *reader, const struct pj_profile_key *key,
                      const struct pj_yaml_node *node, uint16_t *ret_number)
{
    if (node->kind != PJ_YAML_SCALAR || node->size == 0) {
        pj_profile_refuse(reader, key, node, NULL);
        return false;
    }
    PJ_CLEANUP_ERROR struct pj_error *error = NULL;
    struct pj_arch arch;
    int r = pj_arch_parse(node->text, &arch, &error);
    if (r < 0) {
        reader->findings.failed = reader->findings.failed || r == PJ_ERROR_NO_MEMORY;
        pj_findings_add(&reader->findings, node, "`%s`: %s", key->name, pj_error_message(error));
        return false;
    }
    char name[PJ_ARCH_TEXT];
    char letter = arch.letter;
    arch.letter = 0;
    (void)pj_arch_text(arch, name);
    if (letter != 0)
        pj_findings_add(&reader->findings, node,
                        "`%s`: read `%s`; the driver compiles for a device with all its letters: write `%s`",
                        key->name, node->text, name);
    else if (pj_profile_has_arch(&reader->profile, arch.number))
        pj_findings_add(&reader->findings, node, "`%s`: `%s` is given twice: remove one of them", key->name,
                        name);
    *ret_number = arch.number;
    return letter == 0;
}

static int compare_numbers(const void *left, const void *right)
{
    uint16_t a = *(const uint16_t *)left, b = *(const uint16_t *)right;
    return (a > b) - (a < b);
}

void pj_profile_read_archs(struct pj_profile_reader *reader, const struct pj_profile_key *key,
                           const struct pj_yaml_node *node)
{
    struct pj_profile *profile = &reader->profile;
    profile->archs = pj_arena_calloc(reader->arena, node->count, sizeof *profile->archs);
    if (!profile->archs) {
        reader->findings.failed = true;
        return;
    }
    for (const struct pj_yaml_node *item = node->first; item; item = item->next) {
        uint16_t number;
        if (read_arch(reader, key, item, &number))
            profile->archs[profile->arch_count++] = number;
    }
    qsort(profile->archs, profile->arch_count, sizeof *profile->archs, compare_numbers);
}

/* The kind that an item names; PJ_PROFILE_KIND_COUNT after a finding. */
static int read_kind(struct pj_profile_reader *reader, const struct pj_profile_key *key,
                     const struct pj_yaml_node *node)
{
    const char *names[PJ_PROFILE_KIND_COUNT];
    for (int kind = 0; kind < PJ_PROFILE_KIND_COUNT; kind++) {
        names[kind] = pj_profile_kind_name((enum pj_profile_kind)kind);
        if (node->kind == PJ_YAML_SCALAR && strcmp(node->text, names[kind]) == 0)
            return kind;
    }
    char advice[64];
    const char *similar =
        node->kind == PJ_YAML_SCALAR ? pj_text_suggest(node->text, names, PJ_PROFILE_KIND_COUNT) : NULL;
    if (similar)
        (void)snprintf(advice, sizeof advice, "did you mean `%s`?", similar);
    pj_profile_refuse(reader, key, node, similar ? advice : NULL);
    return PJ_PROFILE_KIND_COUNT;
}

static void read_kinds(struct pj_profile_reader *reader, const struct pj_profile_key *key,
                       const struct pj_yaml_node *node, bool proven)
{
    for (const struct pj_yaml_node *item = node->first; item; item = item->next) {
        int kind = read_kind(reader, key, item);
        if (kind == PJ_PROFILE_KIND_COUNT)
            continue;
        const struct pj_yaml_node *before = reader->kinds[kind];
        if (before)
            pj_findings_add(&reader->findings, item,
                            "`%s`: `%s` is given twice, first at line %zu, column %zu: remove one of them",
                            key->name, item->text, before->line, before->column);
        else
            reader->kinds[kind] = item;
        reader->profile.proven[kind] = proven;
    }
}

void pj_profile_read_proven(struct pj_profile_reader *reader, const struct pj_profile_key *key,
                            const struct pj_yaml_node *node)
{
    reader->proven = node;
    read_kinds(reader, key, node, true);
}

void pj_profile_read_not_proven(struct pj_profile_reader *reader, const struct pj_profile_key *key,
                                const struct pj_yaml_node *node)
{
    reader->not_proven = node;
    read_kinds(reader, key, node, false);
}

/* What was tried and what was not must both be said, so that nobody takes silence for a proof. */
void pj_profile_check_kinds(struct pj_profile_reader *reader)
{
    if (!reader->proven || !reader->not_proven)
        return;
    for (int kind = 0; kind < PJ_PROFILE_KIND_COUNT; kind++) {
        if (!reader->kinds[kind])
            pj_findings_add(
                &reader->findings, reader->proven,
                "`%s` is neither under `proven` nor under `not_proven`: name it under one of them",
                pj_profile_kind_name((enum pj_profile_kind)kind));
    }
}

static void read_tool(struct pj_profile_reader *reader, const struct pj_profile_key *key,
                      const struct pj_yaml_node *node)
{
    static const char *const tools[] = {"ptxas", "nvjitlink"};
    for (size_t i = 0; i < PJ_COUNT(tools); i++) {
        if (strcmp(tools[i], node->text) == 0) {
            reader->compiler->tool = tools[i];
            return;
        }
    }
    char advice[64];
    const char *similar = pj_text_suggest(node->text, tools, PJ_COUNT(tools));
    if (similar)
        (void)snprintf(advice, sizeof advice, "did you mean `%s`?", similar);
    pj_profile_refuse(reader, key, node, similar ? advice : NULL);
}

static void read_tool_version(struct pj_profile_reader *reader, const struct pj_profile_key *key,
                              const struct pj_yaml_node *node)
{
    if (pj_profile_is_version(node->text))
        reader->compiler->version = node->text;
    else
        pj_profile_refuse(reader, key, node, NULL);
}

/* What ptxas calls its build; letters, digits and a few signs, so that it is fit to print. */
static void read_build(struct pj_profile_reader *reader, const struct pj_profile_key *key,
                       const struct pj_yaml_node *node)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/+-";
    if (node->size > 0 && node->size <= PJ_PROFILE_BUILD_MAX && strspn(node->text, allowed) == node->size)
        reader->compiler->build = node->text;
    else
        pj_profile_refuse(reader, key, node, NULL);
}

static void read_cases(struct pj_profile_reader *reader, const struct pj_profile_key *key,
                       const struct pj_yaml_node *node)
{
    uint64_t number;
    if (!pj_text_to_u64(node->text, PJ_PROFILE_MAX_CASES, &number) || number == 0) {
        pj_profile_refuse(reader, key, node, NULL);
        return;
    }
    reader->compiler->cases = (unsigned)number;
    reader->cases = node;
}

static void read_same(struct pj_profile_reader *reader, const struct pj_profile_key *key,
                      const struct pj_yaml_node *node)
{
    uint64_t number;
    if (!pj_text_to_u64(node->text, PJ_PROFILE_MAX_CASES, &number)) {
        pj_profile_refuse(reader, key, node, NULL);
        return;
    }
    reader->compiler->same = (unsigned)number;
    reader->same = node;
}

_Static_assert(PJ_PROFILE_MAX_CASES == 1000000, "as what is allowed says");
static const struct pj_profile_key compiler_keys[] = {
    {"tool", PJ_YAML_SCALAR, false, "`ptxas` or `nvjitlink`", "ptxas", read_tool},
    {"version", PJ_YAML_SCALAR, false, PJ_PROFILE_VERSION_ALLOWED, "13.0.88", read_tool_version},
    {"build", PJ_YAML_SCALAR, true, "what `ptxas --version` has behind `Build`",
     "cuda_13.0.r13.0/compiler.36424714_0", read_build},
    {"cases", PJ_YAML_SCALAR, false, "a number from 1 to 1000000", "12", read_cases},
    {"same_code_cases", PJ_YAML_SCALAR, false, "a number from 0 to 1000000", "12", read_same},
};
static const struct pj_profile_section compiler_section = {"a compiler", compiler_keys,
                                                           PJ_COUNT(compiler_keys)};

static void read_compiler(struct pj_profile_reader *reader, const struct pj_yaml_node *node)
{
    struct pj_profile *profile = &reader->profile;
    struct pj_profile_compiler *compiler = &profile->compilers[profile->compiler_count];
    reader->compiler = compiler;
    reader->cases = reader->same = NULL;
    pj_profile_section_read(reader, &compiler_section, node);
    if (reader->cases && reader->same && compiler->same > compiler->cases)
        pj_findings_add(&reader->findings, reader->same, "`same_code_cases`: read `%s`; `cases` says %u",
                        reader->same->text, compiler->cases);
    compiler->same_code = compiler->same == compiler->cases;
    if (!compiler->tool || !compiler->version)
        return;
    if (pj_profile_compiler_find(profile, compiler->tool, compiler->version))
        pj_findings_add(&reader->findings, node, "`compilers`: %s %s is given twice: remove one of them",
                        compiler->tool, compiler->version);
    profile->compiler_count++;
}

void pj_profile_read_compilers(struct pj_profile_reader *reader, const struct pj_profile_key *key,
                               const struct pj_yaml_node *node)
{
    if (node->count > PJ_PROFILE_MAX_COMPILERS) {
        pj_findings_add(&reader->findings, node, "`%s`: read %zu items; allowed are %d", key->name,
                        node->count, PJ_PROFILE_MAX_COMPILERS);
        return;
    }
    struct pj_profile *profile = &reader->profile;
    profile->compilers = pj_arena_calloc(reader->arena, node->count + 1, sizeof *profile->compilers);
    if (!profile->compilers) {
        reader->findings.failed = true;
        return;
    }
    for (const struct pj_yaml_node *item = node->first; item; item = item->next)
        read_compiler(reader, item);
}
