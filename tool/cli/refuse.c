/* SPDX-License-Identifier: Apache-2.0 */
/* What a command says where it did not come to its work. */
#include "cli/refuse.h"

#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "cli/options.h"
#include "cli/output.h"
#include "report/model.h"
#include "report/render.h"

int pj_cli_show_help(const struct pj_command *command)
{
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    pj_cli_options_help(command, &text);
    return pj_cli_show(pj_buffer_text(&text), text.size);
}

int pj_cli_lost_report(int status)
{
    pj_cli_complain("the report could not be written to standard output");
    return status == PJ_EXIT_OK ? PJ_EXIT_ENVIRONMENT : status; /* no module failed */
}

int pj_cli_refuse(const struct pj_command *command, bool json, struct pj_error *error)
{
    int status = pj_error_exit_code(error);
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    PJ_CLEANUP_ERROR struct pj_error *no_memory = NULL;
    pj_cli_complain(pj_error_message(error));
    if (json &&
        (pj_render_json_refusal(command ? command->name : NULL, error, status, &text, &no_memory) < 0 ||
         !pj_cli_write(STDOUT_FILENO, pj_buffer_text(&text), text.size)))
        status = pj_cli_lost_report(status);
    pj_error_free(error);
    return status;
}

bool pj_cli_asks_for_json(int count, char **arguments)
{
    for (int i = 1; i < count; i++) {
        bool apart = strcmp(arguments[i], "--format") == 0 && i + 1 < count;
        if (strcmp(arguments[i], "--format=json") == 0 || (apart && strcmp(arguments[i + 1], "json") == 0))
            return true;
    }
    return false;
}
