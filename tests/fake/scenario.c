/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a scenario file: one directive a line; whatever is not understood ends the process, so that no test
 * can misspell. */
#include "scenario.h"

#include "base.h"
#include "errors.h"
#include "scenario_words.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct fake_scenario the_scenario;

static void add_device(struct fake_scenario *scenario, struct fake_arch arch, const char *name,
                       const CUuuid *uuid)
{
    size_t index = scenario->device_count;
    scenario->devices = fake_reallocate(scenario->devices, (index + 1) * sizeof *scenario->devices);
    struct fake_device_plan *device = &scenario->devices[scenario->device_count++];
    *device = (struct fake_device_plan){.arch = arch, .name = fake_copy_text(name, strlen(name))};
    if (uuid) {
        device->uuid = *uuid;
        return;
    }
    /* Fixed and distinct, with the version and variant bits of a random UUID. */
    static const unsigned char pattern[16] = {0xe3, 0x17, 0, 0, 0x5e, 0xed, 0x40, 0,
                                              0x80, 0,    0, 0, 0,    0,    0,    0};
    memcpy(device->uuid.bytes, pattern, sizeof pattern);
    device->uuid.bytes[3] = (char)(unsigned char)arch.number;
    device->uuid.bytes[15] = (char)(unsigned char)(index + 1);
}

static void set_defaults(struct fake_scenario *scenario)
{
    *scenario = (struct fake_scenario){.driver_version = 13000,
                                       .newest_isa = 90,
                                       .init_ms = 20,
                                       .init_fail_after = -1,
                                       .context_ms = 20,
                                       .context_fail_times = -1,
                                       .compile_base_ms = 2,
                                       .compile_us_per_kb = 1000,
                                       .format = 65};
    scenario->stamp = fake_copy_text("Apr 29 202617:12:06", 19);
    add_device(scenario, (struct fake_arch){.number = 90}, "emulated sm_90", NULL);
    add_device(scenario, (struct fake_arch){.number = 80}, "emulated sm_80", NULL);
}

/* device sm_90 NAME [UUID]: the name is what is left when the last word is a UUID. */
static void read_device(struct fake_scenario *scenario, struct fake_words *words)
{
    struct fake_arch arch;
    const char *word = fake_words_next(words);
    if (!word || !fake_arch_parse(word, false, &arch) || arch.letter || !fake_arch_is_output(arch.number))
        fake_words_die(words, "`device` wants an architecture such as sm_90 first");
    char *name = fake_words_rest(words);
    char *last = strrchr(name, ' ');
    CUuuid uuid;
    bool has_uuid = last && fake_uuid_parse(last + 1, &uuid);
    if (has_uuid)
        *last = 0;
    if (!*name || fake_uuid_parse(name, &uuid))
        fake_words_die(words, "`device` wants a name");
    if (!words->devices_seen)
        scenario->device_count = 0; /* the first one replaces the default list */
    words->devices_seen = true;
    add_device(scenario, arch, name, has_uuid ? &uuid : NULL);
    free(name);
}

static void read_isa(struct fake_scenario *scenario, struct fake_words *words)
{
    const char *word = fake_words_next(words);
    if (!word || strlen(word) != 3 || word[1] != '.' || word[0] < '1' || word[0] > '9' || word[2] < '0' ||
        word[2] > '9')
        fake_words_die(words, "`ptx_version` wants a version such as 9.0");
    scenario->newest_isa = (unsigned)(word[0] - '0') * 10 + (unsigned)(word[2] - '0');
}

static void read_init_fail(struct fake_scenario *scenario, struct fake_words *words)
{
    scenario->init_fail = fake_words_result(words);
    scenario->init_fail_line = words->line;
    const char *word = fake_words_next(words);
    if (!word)
        return;
    if (strcmp(word, "after") != 0)
        fake_words_die(words, "`%s` is not understood; `after N` may follow", word);
    scenario->init_fail_after = (long)fake_words_number(words);
    words->counts = true;
}

static void read_context_fail(struct fake_scenario *scenario, struct fake_words *words)
{
    scenario->context_fail = fake_words_result(words);
    scenario->context_fail_line = words->line;
    const char *word = fake_words_next(words);
    if (!word)
        return;
    if (strncmp(word, "times", 5) != 0 || (word[5] && word[5] != '='))
        fake_words_die(words, "`%s` is not understood; `times N` may follow", word);
    scenario->context_fail_times =
        (long)(word[5] ? fake_words_parse_number(words, word + 6) : fake_words_number(words));
    words->counts = true;
}

static void read_lose_store(struct fake_scenario *scenario, struct fake_words *words)
{
    const char *word = fake_words_next(words);
    if (!word || strncmp(word, "every=", 6) != 0)
        fake_words_die(words, "`lose_store` wants every=N");
    scenario->lose_store_every = (unsigned long)fake_words_parse_number(words, word + 6);
    if (!scenario->lose_store_every)
        fake_words_die(words, "every=0 makes no sense");
    scenario->lose_store_line = words->line;
    words->counts = true;
}

static void read_disabled(struct fake_scenario *scenario, struct fake_words *words)
{
    for (const char *word; (word = fake_words_next(words)) != NULL;) {
        struct fake_arch arch;
        if (!fake_arch_parse(word, false, &arch) || arch.letter)
            fake_words_die(words, "`%s` is no architecture such as sm_90", word);
        scenario->disabled_architectures =
            fake_reallocate(scenario->disabled_architectures,
                            (scenario->disabled_count + 1) * sizeof *scenario->disabled_architectures);
        scenario->disabled_architectures[scenario->disabled_count++] = arch.number;
    }
}

static void add_rule(struct fake_scenario *scenario, struct fake_rule rule)
{
    scenario->rules = fake_reallocate(scenario->rules, (scenario->rule_count + 1) * sizeof *scenario->rules);
    scenario->rules[scenario->rule_count++] = rule;
}

static bool read_single(struct fake_scenario *scenario, const char *directive, struct fake_words *words)
{
    if (strcmp(directive, "device") == 0)
        read_device(scenario, words);
    else if (strcmp(directive, "driver_version") == 0)
        scenario->driver_version = (int)fake_words_number(words);
    else if (strcmp(directive, "ptx_version") == 0)
        read_isa(scenario, words);
    else if (strcmp(directive, "stamp") == 0)
        scenario->stamp = fake_words_rest(words);
    else if (strcmp(directive, "init_ms") == 0)
        scenario->init_ms = fake_words_number(words);
    else if (strcmp(directive, "init_fail") == 0)
        read_init_fail(scenario, words);
    else if (strcmp(directive, "context_ms") == 0)
        scenario->context_ms = fake_words_number(words);
    else if (strcmp(directive, "context_fail") == 0)
        read_context_fail(scenario, words);
    else if (strcmp(directive, "compile_base_ms") == 0)
        scenario->compile_base_ms = fake_words_number(words);
    else if (strcmp(directive, "compile_us_per_kb") == 0)
        scenario->compile_us_per_kb = fake_words_number(words);
    else if (strcmp(directive, "format") == 0)
        scenario->format = (uint32_t)fake_words_number(words);
    else if (strcmp(directive, "layout") == 0)
        scenario->alternate_layout = fake_words_expect(words, "alternate");
    else if (strcmp(directive, "key_order") == 0)
        scenario->alternate_key_order = fake_words_expect(words, "alternate");
    else if (strcmp(directive, "header_only_index") == 0)
        scenario->header_only_index_deletes = fake_words_expect(words, "deletes");
    else if (strcmp(directive, "burn") == 0)
        scenario->burn = fake_words_yes(words);
    else if (strcmp(directive, "entry_in_extra_dirs") == 0)
        scenario->extra_dirs = fake_words_yes(words);
    else if (strcmp(directive, "ignore_disable_jit") == 0)
        scenario->ignore_disable_jit = fake_words_yes(words);
    else if (strcmp(directive, "no_library_load") == 0)
        scenario->no_library_load = fake_words_yes(words);
    else if (strcmp(directive, "lose_store") == 0)
        read_lose_store(scenario, words);
    else if (strcmp(directive, "disabled_architectures") == 0)
        read_disabled(scenario, words);
    else if (strcmp(directive, "state") == 0)
        scenario->state_path = fake_words_path(words, fake_words_next(words));
    else if (strcmp(directive, "log") == 0)
        scenario->log_path = fake_words_path(words, fake_words_next(words));
    else
        return false;
    return true;
}

static void read_line(void *into, struct fake_words *words)
{
    struct fake_scenario *scenario = into;
    struct fake_rule rule;
    const char *directive = fake_words_next(words);
    if (fake_rule_read(directive, words, &rule))
        add_rule(scenario, rule);
    else if (!read_single(scenario, directive, words))
        fake_words_die(words, "no directive `%s`", directive);
}

static void load(void)
{
    set_defaults(&the_scenario);
    const char *named = getenv("NVIDIA_FAKE_SCENARIO");
    char *path = named ? fake_copy_text(named, strlen(named)) : fake_words_beside_library(&the_scenario);
    int descriptor = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (descriptor < 0) {
        if (named)
            fake_die("scenario %s: cannot be opened", named);
        free(path);
        return;
    }
    the_scenario.path = path;
    if (fake_words_read_file(path, descriptor, read_line, &the_scenario) && !the_scenario.state_path)
        fake_die("%s: `times` and `every` count across processes and need a `state FILE` line", path);
    close(descriptor);
}

const struct fake_scenario *fake_scenario(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return &the_scenario;
}
