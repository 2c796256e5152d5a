/* SPDX-License-Identifier: Apache-2.0 */
/* What only the driver's scenario has in its lines: result codes, UUIDs and the `kernel=GLOB` rules. */
#include "scenario_words.h"

#include "base.h"
#include "errors.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static CUresult parse_result(const struct fake_words *words, const char *word)
{
    CUresult result;
    if (!word || !fake_error_from_name(word, &result) || result == CUDA_SUCCESS)
        fake_words_die(words, "`%s` is no error such as CUDA_ERROR_INVALID_PTX", word ? word : "");
    return result;
}

CUresult fake_words_result(struct fake_words *words)
{
    return parse_result(words, fake_words_next(words));
}

bool fake_uuid_parse(const char *text, CUuuid *ret_uuid)
{
    if (strncmp(text, "GPU-", 4) != 0 || strlen(text) != 40)
        return false;
    size_t digits = 0;
    CUuuid uuid = {{0}};
    for (size_t i = 4; i < 40; i++) {
        bool dash = i == 12 || i == 17 || i == 22 || i == 27;
        if (dash != (text[i] == '-') || (!dash && !isxdigit((unsigned char)text[i])))
            return false;
        if (dash)
            continue;
        int c = tolower((unsigned char)text[i]);
        int value = c <= '9' ? c - '0' : c - 'a' + 10;
        unsigned byte = (unsigned char)uuid.bytes[digits / 2];
        uuid.bytes[digits / 2] = (char)(unsigned char)(byte << 4 | (unsigned)value);
        digits++;
    }
    *ret_uuid = uuid;
    return true;
}

static const struct {
    const char *directive;
    enum fake_act act;
    const char *key; /* what it must have beside kernel= */
} kinds[] = {
    {"crash", FAKE_ACT_CRASH, NULL},
    {"crash_prove", FAKE_ACT_CRASH_PROVE, NULL},
    {"hang_prove", FAKE_ACT_HANG_PROVE, NULL},
    {"hang", FAKE_ACT_HANG, NULL},
    {"kill", FAKE_ACT_KILL, "events="},
    {"refuse", FAKE_ACT_REFUSE, NULL},
    {"out_of_memory_jit", FAKE_ACT_REFUSE, NULL},
    {"slow", FAKE_ACT_SLOW, "ms="},
    {"memory", FAKE_ACT_MEMORY, "mb="},
    {"payload", FAKE_ACT_PAYLOAD, "bytes="},
    {"bad_payload", FAKE_ACT_BAD_PAYLOAD, "arch="},
    {"unloadable", FAKE_ACT_UNLOADABLE, NULL},
};

static void read_value(struct fake_words *words, struct fake_rule *rule, const char *value)
{
    struct fake_arch arch;
    if (rule->act == FAKE_ACT_KILL) {
        rule->path = fake_words_path(words, value);
    } else if (rule->act != FAKE_ACT_BAD_PAYLOAD) {
        rule->number = fake_words_parse_number(words, value);
    } else if (strcmp(value, "random") == 0) {
        rule->payload = FAKE_PAYLOAD_RANDOM;
    } else if (strcmp(value, "cut") == 0) {
        rule->payload = FAKE_PAYLOAD_CUT;
    } else if (fake_arch_parse(value, false, &arch) && !arch.letter) {
        rule->payload = FAKE_PAYLOAD_ARCH;
        rule->payload_arch = arch.number;
    } else {
        fake_words_die(words, "`%s` is none of random, cut or an architecture such as sm_80", value);
    }
}

/* kernel=, target=, times= and the directive's own key, in any order. False at a word that is none of them.
 */
static bool read_key(struct fake_words *words, struct fake_rule *rule, const char *word, const char *own,
                     bool *own_seen)
{
    struct fake_arch arch;
    if (strncmp(word, "kernel=", 7) == 0 && word[7]) {
        rule->kernel = fake_copy_text(word + 7, strlen(word + 7));
    } else if (strncmp(word, "target=", 7) == 0) {
        if (!fake_arch_parse(word + 7, false, &arch) || arch.letter)
            fake_words_die(words, "`%s` is no architecture such as sm_90", word + 7);
        rule->target = arch.number;
    } else if (strncmp(word, "times=", 6) == 0) {
        rule->times = (long)fake_words_parse_number(words, word + 6);
        words->counts = true;
    } else if (own && strncmp(word, own, strlen(own)) == 0) {
        read_value(words, rule, word + strlen(own));
        *own_seen = true;
    } else {
        return false;
    }
    return true;
}

bool fake_rule_read(const char *directive, struct fake_words *words, struct fake_rule *ret_rule)
{
    size_t kind = 0, kind_count = sizeof kinds / sizeof kinds[0];
    while (kind < kind_count && strcmp(kinds[kind].directive, directive) != 0)
        kind++;
    if (kind == kind_count)
        return false;
    struct fake_rule rule = {.act = kinds[kind].act, .line = words->line, .times = -1};
    bool refuses = strcmp(directive, "refuse") == 0, own_seen = kinds[kind].key == NULL;
    for (char *word; (word = fake_words_next(words)) != NULL;) {
        if (read_key(words, &rule, word, kinds[kind].key, &own_seen))
            continue;
        if (!refuses)
            fake_words_die(words, "`%s` is not understood behind `%s`", word, directive);
        rule.result = parse_result(words, word);
        rule.text = fake_words_rest(words);
        break;
    }
    if (!rule.kernel)
        fake_words_die(words, "`%s` wants kernel=GLOB", directive);
    if (!own_seen)
        fake_words_die(words, "`%s` wants %s…", directive, kinds[kind].key);
    if (refuses && !rule.text)
        fake_words_die(words, "`refuse` wants an error and a log text");
    if (strcmp(directive, "out_of_memory_jit") == 0) {
        static const char text[] = "ptxas fatal   : Memory allocation failure";
        rule.result = CUDA_ERROR_OUT_OF_MEMORY;
        rule.text = fake_copy_text(text, sizeof text - 1);
    }
    *ret_rule = rule;
    return true;
}
