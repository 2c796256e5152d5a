/* SPDX-License-Identifier: Apache-2.0 */
/* The option table, and getopt_long driven by it. */
#include "cli/options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/nearby.h"
#include "base/text.h"
#include "cli/foreign.h"

enum command_bit {
    WARM = 1,
    VERIFY = 2,
    PLAN = 4,
    CACHE = 8,
    DOCTOR = 16,
    BUILD = 32,
    PROFILE = 64,
    RUNS = WARM | VERIFY | PLAN,
    ALL = RUNS | CACHE | DOCTOR | BUILD | PROFILE
};

struct option_info {
    const char *name;
    char letter;          /* 0 = long only */
    const char *argument; /* NULL = none */
    unsigned commands;
    const char *help;
    int (*apply)(struct pj_cli_options *options, const char *value, struct pj_error **err);
};

static int take_path(const char *option, const char *value, const char **ret_path, struct pj_error **err)
{
    if (value[0] == '\0')
        return pj_error_set(err, PJ_ERROR_USAGE, "%s: the path is empty", option);
    *ret_path = value;
    return 0;
}

static int apply_cache(struct pj_cli_options *options, const char *value, struct pj_error **err)
{
    return take_path("--cache", value, &options->run.cache, err);
}

static int apply_driver(struct pj_cli_options *options, const char *value, struct pj_error **err)
{
    free(options->driver);
    options->driver = NULL;
    if (value[0] == '\0')
        return pj_error_set(err, PJ_ERROR_USAGE, "--driver: the path is empty");
    int r = pj_path_absolute(value, &options->driver, err);
    options->run.driver = options->run.repeat_driver = options->driver;
    return r;
}

static int apply_nvrtc(struct pj_cli_options *options, const char *value, struct pj_error **err)
{
    return take_path("--nvrtc", value, &options->run.nvrtc, err);
}
static int apply_nvjitlink(struct pj_cli_options *options, const char *value, struct pj_error **err)
{
    return take_path("--nvjitlink", value, &options->run.nvjitlink, err);
}
static int apply_ptxas(struct pj_cli_options *options, const char *value, struct pj_error **err)
{
    return take_path("--ptxas", value, &options->run.ptxas, err);
}
static int apply_offline(struct pj_cli_options *options, const char *value, struct pj_error **err)
{
    if (value[0] == '\0')
        return pj_error_set(err, PJ_ERROR_USAGE, "--offline: the profile's name is empty");
    if (value[0] == '-')
        return pj_error_set(
            err, PJ_ERROR_USAGE,
            "--offline needs a profile, a file or the version of a driver, and '%s' is an option", value);
    options->offline[options->run.offline_count++] = value;
    return 0;
}
static int apply_out_dir(struct pj_cli_options *options, const char *value, struct pj_error **err)
{
    return take_path("--out-dir", value, &options->out_dir, err);
}
static int apply_out_file(struct pj_cli_options *options, const char *value, struct pj_error **err)
{
    return take_path("--output", value, &options->out_file, err);
}

static int apply_check(struct pj_cli_options *options, const char *value, struct pj_error **err)
{
    (void)value, (void)err;
    options->check = true;
    return 0;
}

static int apply_prepare(struct pj_cli_options *options, const char *value, struct pj_error **err)
{
    (void)value, (void)err;
    options->run.prepare = true;
    return 0;
}

static int apply_against_driver(struct pj_cli_options *options, const char *value, struct pj_error **err)
{
    (void)value, (void)err;
    options->run.against_driver = true;
    return 0;
}

static int apply_measure_cold(struct pj_cli_options *options, const char *value, struct pj_error **err)
{
    (void)value, (void)err;
    options->run.measure_cold = true;
    return 0;
}

static int apply_check_stable(struct pj_cli_options *options, const char *value, struct pj_error **err)
{
    (void)value, (void)err;
    options->run.check_stable = true;
    return 0;
}

/* One target, or several between `,` or `;`, as CMake and nvcc take them. */
static int apply_target(struct pj_cli_options *options, const char *value, struct pj_error **err)
{
    for (const char *item = value, *end; item; item = *end ? end + 1 : NULL) {
        end = item + strcspn(item, ",;");
        item += strspn(item, " ");
        char **targets = reallocarray(options->targets, options->run.target_count + 1, sizeof *targets);
        if (!targets)
            return pj_error_no_memory(err);
        options->targets = targets;
        size_t size = item < end ? (size_t)(end - item) : 0;
        while (size > 0 && item[size - 1] == ' ')
            size--;
        targets[options->run.target_count] = strndup(item, size);
        if (!targets[options->run.target_count])
            return pj_error_no_memory(err);
        options->run.target_count++;
    }
    return 0;
}

static int apply_module(struct pj_cli_options *options, const char *value, struct pj_error **err)
{
    (void)err;
    options->modules[options->run.module_count++] = value;
    return 0;
}

static int apply_format(struct pj_cli_options *options, const char *value, struct pj_error **err)
{
    if (strcmp(value, "table") == 0)
        options->format = PJ_CLI_TABLE;
    else if (strcmp(value, "json") == 0)
        options->format = PJ_CLI_JSON;
    else
        return pj_error_set(err, PJ_ERROR_USAGE, "--format %s: it is table or json", value);
    return 0;
}

static int apply_workers(struct pj_cli_options *options, const char *value, struct pj_error **err)
{
    uint64_t workers;
    if (!pj_text_to_u64(value, 256, &workers) || workers == 0)
        return pj_error_set(err, PJ_ERROR_USAGE, "-j %s: the number of workers is 1 to 256", value);
    options->run.workers = (unsigned)workers;
    return 0;
}

/* Whole seconds, at most a year; `minimum` 1 where 0 would make no sense. */
static int seconds_to_ms(const char *name, const char *value, uint64_t minimum, double *ret_ms,
                         struct pj_error **err)
{
    enum { YEAR = 366 * 86400 };
    uint64_t seconds;
    if (!pj_text_to_u64(value, YEAR, &seconds) || seconds < minimum)
        return pj_error_set(err, PJ_ERROR_USAGE, "--%s %s: it is a whole number of seconds, %d to %d", name,
                            value, (int)minimum, YEAR);
    *ret_ms = (double)seconds * 1e3;
    return 0;
}

static int apply_timeout(struct pj_cli_options *options, const char *value, struct pj_error **err)
{
    return seconds_to_ms("timeout", value, 1, &options->run.timeout_ms, err);
}

static int apply_deadline(struct pj_cli_options *options, const char *value, struct pj_error **err)
{
    return seconds_to_ms("deadline", value, 1, &options->run.deadline_ms, err);
}

static int apply_wait(struct pj_cli_options *options, const char *value, struct pj_error **err)
{
    return seconds_to_ms("wait", value, 0, &options->run.lock_wait_ms, err);
}

static int apply_no_receipt(struct pj_cli_options *options, const char *value, struct pj_error **err)
{
    (void)value, (void)err;
    options->run.no_receipt = true;
    return 0;
}

static int apply_evict(struct pj_cli_options *options, const char *value, struct pj_error **err)
{
    (void)value, (void)err;
    options->run.evict = true;
    return 0;
}

static int apply_user(struct pj_cli_options *options, const char *value, struct pj_error **err)
{
    (void)err;
    options->run.user = value;
    return 0;
}

static int apply_env_file(struct pj_cli_options *options, const char *value, struct pj_error **err)
{
    (void)err;
    options->env_file = value;
    return 0;
}

static int apply_pid(struct pj_cli_options *options, const char *value, struct pj_error **err)
{
    uint64_t pid;
    if (!pj_text_to_u64(value, INT32_MAX, &pid) || pid == 0)
        return pj_error_set(err, PJ_ERROR_USAGE, "--pid %s: it is the number of a process", value);
    options->pid = (long)pid;
    return 0;
}

static int apply_no_driver(struct pj_cli_options *options, const char *value, struct pj_error **err)
{
    (void)value, (void)err;
    options->no_driver = true;
    return 0;
}

static int apply_quiet(struct pj_cli_options *options, const char *value, struct pj_error **err)
{
    (void)value, (void)err;
    options->quiet++;
    return 0;
}

static int apply_verbose(struct pj_cli_options *options, const char *value, struct pj_error **err)
{
    (void)value, (void)err;
    options->verbose = true;
    return 0;
}

static int apply_help(struct pj_cli_options *options, const char *value, struct pj_error **err)
{
    (void)value, (void)err;
    options->help = true;
    return 0;
}

static const struct option_info option_table[] = {
    {"cache", 0, "DIR", RUNS | DOCTOR, "the compute cache (else the manifest's, else the driver's own rule)",
     apply_cache},
    {"cache", 0, "DIR", CACHE, "the compute cache (else the driver's own rule)", apply_cache},
    {"output", 'o', "FILE", PROFILE, "write the profile here (else to standard output)", apply_out_file},
    {"driver", 0, "PATH", RUNS | DOCTOR | PROFILE, "another libcuda.so.1 (or PREJIT_DRIVER)", apply_driver},
    {"offline", 0, "PROFILE", WARM,
     "without driver and GPU, for the driver of this profile, a file or a version;\n                         "
     "    repeatable",
     apply_offline},
    {"offline", 0, "PROFILE", PLAN,
     "show what the driver of this profile, a file or a version, will look for", apply_offline},
    {"offline", 0, "PROFILE", DOCTOR,
     "would warm with this --offline work here, without driver and GPU; repeatable", apply_offline},
    {"ptxas", 0, "PATH", WARM,
     "with --offline: another ptxas, or a folder with one (else by CUDA_HOME or PATH)", apply_ptxas},
    {"nvjitlink", 0, "PATH", WARM,
     "another libnvJitLink, or a folder with one (else by CUDA_HOME or the loader),\n                        "
     "     "
     "for `linker: nvjitlink`; with --offline it also compiles in place of ptxas",
     apply_nvjitlink},
    {"ptxas", 0, "PATH", PROFILE | DOCTOR, "another ptxas, or a folder with one (else by CUDA_HOME or PATH)",
     apply_ptxas},
    {"out-dir", 0, "DIR", BUILD, "the folder for cubins, PTX and index.json; made where it is missing",
     apply_out_dir},
    {"check", 0, NULL, BUILD, "compile everything, write nothing", apply_check},
    {"nvrtc", 0, "PATH", RUNS | BUILD | DOCTOR,
     "another libnvrtc, or a folder with one (else by CUDA_HOME or the loader)", apply_nvrtc},
    {"nvjitlink", 0, "PATH", BUILD | PROFILE | DOCTOR | VERIFY | PLAN,
     "another libnvJitLink, or a folder with one (else by CUDA_HOME or the loader)", apply_nvjitlink},
    {"target", 't', "ARCH", RUNS,
     "native, all, sm_90, sm_80..sm_90, hopper, h100: instead of the manifest's; a list, or\n                "
     "             repeatable",
     apply_target},
    {"target", 't', "ARCH", BUILD,
     "all, sm_90a, sm_80..sm_90, hopper, h100: instead of the manifest's; a list, or\n                       "
     "  "
     "    repeatable",
     apply_target},
    {"module", 'm', "NAME", RUNS | BUILD, "only this module; repeatable", apply_module},
    {"format", 0, "FORMAT", ALL, "table (default) or json", apply_format},
    {"jobs", 'j', "N", RUNS | BUILD, "compile workers (default: by cores, memory and modules)",
     apply_workers},
    {"timeout", 0, "SECONDS", RUNS | BUILD, "give up on one module after this long (default 3600)",
     apply_timeout},
    {"deadline", 0, "SECONDS", RUNS | BUILD, "end the run after this long; what is done stays done",
     apply_deadline},
    {"timeout", 0, "SECONDS", PROFILE, "give up on one case after this long (default 60)", apply_timeout},
    {"deadline", 0, "SECONDS", PROFILE, "end the run after this long, without a profile", apply_deadline},
    {"wait", 0, "SECONDS", WARM, "wait for another prejit on this cache (default 600; 0 leaves at once)",
     apply_wait},
    {"evict", 0, NULL, WARM, "let entries of this driver go where room is short", apply_evict},
    {"prepare", 0, NULL, PLAN, "run NVRTC, so that the jobs and entries of sources are known", apply_prepare},
    {"against-driver", 0, NULL, VERIFY, "compare the code of what is proven with what the driver compiles",
     apply_against_driver},
    {"measure-cold", 0, NULL, VERIFY, "measure what the driver takes to compile each module",
     apply_measure_cold},
    {"check-stable", 0, NULL, RUNS, "compile sources twice: do they give the same PTX each time",
     apply_check_stable},
    {"user", 0, "USER", RUNS | CACHE, "do everything as this user: UID, UID:GID or a name", apply_user},
    {"user", 0, "USER", DOCTOR, "would this user's program read it: UID, UID:GID or a name", apply_user},
    {"env-file", 0, "FILE", DOCTOR, "would a program with this environment (NAME=VALUE lines) read it",
     apply_env_file},
    {"pid", 0, "PID", DOCTOR, "does this running process read it", apply_pid},
    {"no-driver", 0, NULL, DOCTOR, "do not start the driver to hear what it says", apply_no_driver},
    {"no-receipt", 0, NULL, WARM, "neither read nor write the receipt", apply_no_receipt},
    {"no-receipt", 0, NULL, VERIFY | PLAN, "do not read the receipt", apply_no_receipt},
    {"quiet", 'q', NULL, RUNS | BUILD | DOCTOR | PROFILE,
     "the last line only (a failure to standard error too); -qq: a failure only", apply_quiet},
    {"verbose", 'v', NULL, RUNS, "every job, with entries and witnesses", apply_verbose},
    {"verbose", 'v', NULL, BUILD, "every kernel, input, argument and warning", apply_verbose},
    {"verbose", 'v', NULL, DOCTOR, "each finding with the reason behind it", apply_verbose},
    {"help", 'h', NULL, ALL, "this text", apply_help},
};

static unsigned command_bit(const struct pj_command *command)
{
    return command == &pj_command_warm      ? WARM
           : command == &pj_command_verify  ? VERIFY
           : command == &pj_command_plan    ? PLAN
           : command == &pj_command_build   ? BUILD
           : command == &pj_command_doctor  ? DOCTOR
           : command == &pj_command_profile ? PROFILE
                                            : CACHE;
}

enum { FIRST_LONG = 256 };

static size_t build_getopt(const struct pj_command *command, struct option *long_options, char *letters)
{
    size_t count = 0;
    char *letter = letters;
    *letter++ = ':'; /* a missing argument is told from an unknown option */
    for (size_t i = 0; i < PJ_COUNT(option_table); i++) {
        const struct option_info *info = &option_table[i];
        if (!(info->commands & command_bit(command)))
            continue;
        long_options[count++] = (struct option){.name = info->name,
                                                .has_arg = info->argument ? required_argument : no_argument,
                                                .val = FIRST_LONG + (int)i};
        if (info->letter) {
            *letter++ = info->letter;
            if (info->argument)
                *letter++ = ':';
        }
    }
    *letter = '\0';
    return count;
}

static const struct option_info *find_option(int value)
{
    if (value >= FIRST_LONG)
        return &option_table[value - FIRST_LONG];
    for (size_t i = 0; i < PJ_COUNT(option_table); i++) {
        if (option_table[i].letter == value)
            return &option_table[i];
    }
    return NULL;
}

static int unknown_option(const struct pj_command *command, const char *given, struct pj_error **err)
{
    const char *names[PJ_COUNT(option_table)];
    size_t count = 0;
    bool elsewhere = false;
    const char *name = given + strspn(given, "-");
    char bare[64];
    (void)snprintf(bare, sizeof bare, "%.*s", (int)strcspn(name, "="), name);
    for (size_t i = 0; i < PJ_COUNT(option_table); i++) {
        if (option_table[i].commands & command_bit(command))
            names[count++] = option_table[i].name;
        else
            elsewhere |= strcmp(option_table[i].name, bare) == 0;
    }
    const char *suggestion = elsewhere ? NULL : pj_text_suggest(bare, names, count);
    return pj_error_set(err, PJ_ERROR_USAGE, "%s has no option '%s'%s%s%s; see: prejit %s --help",
                        command->name, given, suggestion ? " (did you mean '--" : "",
                        suggestion ? suggestion : "", suggestion ? "'?)" : "", command->name);
}

/* Does this argument take the one behind it as its value? */
static bool takes_next(const struct pj_command *command, const char *argument)
{
    bool is_long = strncmp(argument, "--", 2) == 0;
    size_t length = strlen(argument);
    for (size_t i = 0; i < PJ_COUNT(option_table); i++) {
        const struct option_info *info = &option_table[i];
        if (!(info->commands & command_bit(command)) || !info->argument)
            continue;
        if (is_long ? strcmp(argument + 2, info->name) == 0
                    : length == 2 && argument[0] == '-' && info->letter && argument[1] == info->letter)
            return true;
    }
    return false;
}

/* The command's long option of this name, or NULL. */
static const char *own_long_option(const struct pj_command *command, const char *name)
{
    size_t size = strcspn(name, "=");
    for (size_t i = 0; i < PJ_COUNT(option_table); i++) {
        const struct option_info *info = &option_table[i];
        if ((info->commands & command_bit(command)) && strncmp(info->name, name, size) == 0 &&
            info->name[size] == '\0')
            return info->name;
    }
    return NULL;
}

/* Does the advice name another command, or an option that this one has? */
static bool can_follow(const struct pj_command *command, const char *advice)
{
    if (advice[0] != '-')
        return true;
    for (size_t i = 0; i < PJ_COUNT(option_table); i++) {
        const struct option_info *info = &option_table[i];
        const char *name = advice[1] == '-' ? advice + 2 : NULL;
        size_t size = name ? strcspn(name, " ") : 0;
        bool same = name ? strncmp(info->name, name, size) == 0 && info->name[size] == '\0'
                         : info->letter && advice[1] == info->letter;
        if ((info->commands & command_bit(command)) && same)
            return true;
    }
    return false;
}

/* Words of other tools, and long options behind one dash, which getopt_long would read as letters: `-arch` as
 * -a, `-timeout` as -t with the value `imeout`. */
static int refuse_foreign(const struct pj_command *command, int count, char **arguments,
                          struct pj_error **err)
{
    for (int i = 1; i < count && strcmp(arguments[i], "--") != 0; i++) {
        const char *argument = arguments[i];
        PJ_CLEANUP_BUFFER struct pj_buffer advice = {0};
        const char *name = argument + strspn(argument, "-");
        size_t dashes = (size_t)(name - argument);
        if (takes_next(command, argument)) {
            i++;
            continue;
        }
        const char *own = dashes == 1 || dashes == 2 ? own_long_option(command, name) : NULL;
        if (own && dashes == 1 && strlen(own) > 1)
            pj_buffer_printf(&advice, "-%s", argument);
        else if (own || !pj_cli_foreign_option(argument, i + 1 < count ? arguments[i + 1] : NULL, &advice))
            continue;
        int r = pj_buffer_check(&advice, err);
        if (r == 0 && !can_follow(command, pj_buffer_text(&advice)))
            continue;
        return r < 0 ? r
                     : pj_error_set(err, PJ_ERROR_USAGE,
                                    "%s has no option '%s': give %s; see: prejit %s --help", command->name,
                                    argument, pj_buffer_text(&advice), command->name);
    }
    return 0;
}

static int missing_manifest(const struct pj_command *command, struct pj_error **err)
{
    PJ_CLEANUP_BUFFER struct pj_buffer here = {0};
    bool found = pj_nearby_manifest(".", &here);
    int r = pj_buffer_check(&here, err);
    return r < 0 ? r
                 : pj_error_set(err, PJ_ERROR_USAGE, "%s needs a manifest%s%s; see: prejit %s --help",
                                command->name, found ? "; there is one here: " : "", pj_buffer_text(&here),
                                command->name);
}

static int parse(const struct pj_command *command, int count, char **arguments,
                 struct pj_cli_options *options, struct pj_error **err)
{
    struct option long_options[PJ_COUNT(option_table) + 1] = {0};
    char letters[2 * PJ_COUNT(option_table) + 2];
    int r = refuse_foreign(command, count, arguments, err);
    if (r < 0)
        return r;
    (void)build_getopt(command, long_options, letters);
    optind = 1;
    opterr = 0;
    for (;;) {
        int at = optind;
        int value = getopt_long(count, arguments, letters, long_options, NULL);
        if (value < 0)
            break;
        if (value == '?') {
            char letter[3] = {'-', (char)optopt, '\0'};
            bool is_long = arguments[at] && strncmp(arguments[at], "--", 2) == 0;
            return unknown_option(command, is_long || optopt == 0 ? arguments[optind - 1] : letter, err);
        }
        if (value == ':')
            return pj_error_set(err, PJ_ERROR_USAGE, "%s needs a value; see: prejit %s --help",
                                arguments[optind - 1], command->name);
        r = find_option(value)->apply(options, optarg, err);
        if (r < 0)
            return r;
    }
    if (options->help)
        return 0;
    if (!command->takes_manifest) {
        return optind == count
                   ? 0
                   : pj_error_set(err, PJ_ERROR_USAGE, "%s takes no further argument, '%s' is one",
                                  command->name, arguments[optind]);
    }
    if (optind == count && command->manifest_is_optional)
        return 0;
    if (optind == count)
        return missing_manifest(command, err);
    if (optind + 1 < count)
        return pj_error_set(err, PJ_ERROR_USAGE, "%s takes one manifest, '%s' is a second one", command->name,
                            arguments[optind + 1]);
    options->run.manifest = arguments[optind];
    return 0;
}

int pj_cli_options_parse(const struct pj_command *command, int count, char **arguments,
                         struct pj_cli_options *ret_options, struct pj_error **err)
{
    struct pj_cli_options options = {.run = {.lock_wait_ms = 600e3, .interrupt_fd = -1}};
    options.modules = calloc((size_t)count + 1, sizeof *options.modules);
    const char *driver = secure_getenv("PREJIT_DRIVER");
    options.offline = calloc((size_t)count + 1, sizeof *options.offline);
    int r = !options.modules || !options.offline ? pj_error_no_memory(err) : 0;
    if (r == 0 && driver && *driver)
        r = apply_driver(&options, driver, err);
    options.run.repeat_driver = NULL; /* the environment is there again when the cure is typed */
    if (r == 0)
        r = parse(command, count, arguments, &options, err);
    if (r < 0) {
        pj_cli_options_free(&options);
        return r;
    }
    options.run.targets = (const char *const *)options.targets;
    options.run.modules = options.modules;
    options.run.offline = options.offline;
    *ret_options = options;
    return 0;
}

void pj_cli_options_help(const struct pj_command *command, struct pj_buffer *text)
{
    pj_buffer_printf(text, "usage: prejit %s %s\n\n%s\n\n", command->name, command->arguments,
                     command->description);
    for (size_t i = 0; i < PJ_COUNT(option_table); i++) {
        const struct option_info *info = &option_table[i];
        char left[64];
        if (!(info->commands & command_bit(command)))
            continue;
        char letter[5] = "    ";
        if (info->letter)
            (void)snprintf(letter, sizeof letter, "-%c, ", info->letter);
        (void)snprintf(left, sizeof left, "%s--%s%s%s", letter, info->name, info->argument ? " " : "",
                       info->argument ? info->argument : "");
        pj_buffer_printf(text, "  %-26s %s\n", left, info->help);
    }
    if (command->takes_manifest)
        pj_buffer_puts(text, "\nMANIFEST is a YAML file, or - for standard input; what goes into it: prejit "
                             "--help manifest\n");
}

void pj_cli_options_free(struct pj_cli_options *options)
{
    for (size_t i = 0; i < options->run.target_count; i++)
        free(options->targets[i]);
    free(options->targets);
    free(options->modules);
    free(options->offline);
    free(options->driver);
    *options = (struct pj_cli_options){0};
}
