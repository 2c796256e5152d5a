/* SPDX-License-Identifier: Apache-2.0 */
/* prejit cache ls */
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/refuse.h"
#include "cli/user.h"

static int list(const struct pj_command *command, const struct pj_cli_options *options)
{
    PJ_CLEANUP_FREE char *text = NULL;
    struct pj_error *error = NULL;
    if (options->help)
        return pj_cli_show_help(command);
    if (pj_cli_become_user(options, &error) < 0)
        return pj_cli_refuse(command, options->format == PJ_CLI_JSON, error);
    if (pj_cache_ls(options->run.cache, options->format == PJ_CLI_JSON, &text, &error) < 0)
        return pj_cli_refuse(command, options->format == PJ_CLI_JSON, error);
    return pj_cli_show(text, strlen(text));
}

static int run(const struct pj_command *command, int count, char **arguments)
{
    struct pj_cli_options options;
    struct pj_error *error = NULL;
    bool wants_help = count > 1 && (strcmp(arguments[1], "--help") == 0 || strcmp(arguments[1], "-h") == 0);
    bool named = count > 1 && strcmp(arguments[1], "ls") == 0;
    if (!named && !wants_help) {
        (void)pj_error_set(&error, PJ_ERROR_USAGE,
                           "cache has one action in this version: prejit cache ls; see: prejit cache --help");
        return pj_cli_refuse(command, pj_cli_asks_for_json(count, arguments), error);
    }
    if (pj_cli_options_parse(command, count - named, arguments + named, &options, &error) < 0)
        return pj_cli_refuse(command, pj_cli_asks_for_json(count, arguments), error);
    int status = list(command, &options);
    pj_cli_options_free(&options);
    return status;
}

const struct pj_command pj_command_cache = {
    .name = "cache",
    .arguments = "ls [options]",
    .summary = "list what lies in a cache; needs no GPU",
    .description =
        "Lists the entries of the compute cache: target, size, the driver they are for (its version,\n"
        "or its build stamp where that is not known), whether the cache's index names them, whether\n"
        "they are sound, and the options in their key.\n"
        "Exit status: 0; 2 usage; 3 there can be no cache (CUDA_CACHE_PATH is empty, no HOME).",
    .run = run,
};
