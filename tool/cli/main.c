/* SPDX-License-Identifier: Apache-2.0 */
/* The program: finds the command and runs it. */
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <prejit/prejit.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/foreign.h"
#include "cli/output.h"
#include "cli/refuse.h"
#include "report/phrase.h"
#include "version.h"

const struct pj_command *const pj_commands[] = {&pj_command_warm,    &pj_command_verify, &pj_command_plan,
                                                &pj_command_build,   &pj_command_doctor, &pj_command_cache,
                                                &pj_command_profile, &pj_command_worker, NULL};

static int show(const struct pj_buffer *text)
{
    return pj_cli_show(pj_buffer_text(text), text->size);
}

static int show_help(void)
{
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    pj_buffer_puts(&text,
                   "prejit " PREJIT_VERSION ": fills NVIDIA's compute cache ahead of time and proves it\n\n"
                   "usage: prejit COMMAND [options] MANIFEST\n\n");
    for (size_t i = 0; pj_commands[i]; i++) {
        if (!pj_commands[i]->hidden)
            pj_buffer_printf(&text, "  %-8s %s\n", pj_commands[i]->name, pj_commands[i]->summary);
    }
    pj_buffer_puts(&text,
                   "\n  prejit COMMAND --help    the options of a command (also: prejit --help COMMAND)\n"
                   "  prejit --help manifest   what a manifest holds\n"
                   "  prejit --version\n");
    return show(&text);
}

static int show_manifest_help(void)
{
    PJ_CLEANUP_FREE char *text = NULL;
    struct pj_error *error = NULL;
    if (pj_manifest_help_text(&text, &error) < 0) {
        pj_cli_complain(pj_error_message(error));
        pj_error_free(error);
        return 1;
    }
    return pj_cli_show(text, strlen(text));
}

static int show_version(void)
{
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    pj_buffer_puts(&text, "prejit " PREJIT_VERSION "\n");
    return show(&text);
}

/* `what`: "there is no command '", with words like it that there are. */
static int unknown_word(const char *what, const char *name, const char *const *names, size_t count, bool json)
{
    struct pj_error *error = NULL;
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    const char *suggestion = pj_text_suggest(name, names, count);
    pj_buffer_puts(&text, what);
    pj_text_escape(&text, name, strlen(name));
    pj_buffer_printf(&text, "'%s%s%s; see: prejit --help", suggestion ? " (did you mean '" : "",
                     suggestion ? suggestion : "", suggestion ? "'?)" : "");
    (void)pj_error_set(&error, PJ_ERROR_USAGE, "%s", pj_buffer_text(&text));
    return pj_cli_refuse(NULL, json, error);
}

/* What was meant where the word is no command's: another tool's word, or a manifest. */
static const char *meant_instead(const char *name, struct pj_buffer *buffer)
{
    struct stat status;
    const char *foreign = pj_cli_foreign_command(name);
    if (foreign)
        return foreign;
    if (name[0] == '\0' || name[0] == '-' || stat(name, &status) != 0 || !S_ISREG(status.st_mode))
        return NULL;
    pj_buffer_puts(buffer, "prejit warm ");
    pj_phrase_quote(buffer, name);
    return pj_buffer_text(buffer);
}

static int unknown_command(const char *name, bool json)
{
    PJ_CLEANUP_BUFFER struct pj_buffer instead = {0};
    const char *meant = meant_instead(name, &instead);
    if (meant) {
        PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
        struct pj_error *error = NULL;
        pj_buffer_puts(&text, "there is no command '");
        pj_text_escape(&text, name, strlen(name));
        pj_buffer_printf(&text, "'; type: %s", meant);
        (void)pj_error_set(&error, PJ_ERROR_USAGE, "%s", pj_buffer_text(&text));
        return pj_cli_refuse(NULL, json, error);
    }
    static const char *const options[] = {"--help", "--version"};
    const char *names[PJ_COUNT(pj_commands)];
    size_t count = 0;
    if (name[0] == '-')
        return unknown_word("before the command there is no option '", name, options, PJ_COUNT(options),
                            json);
    for (size_t i = 0; pj_commands[i]; i++) {
        if (!pj_commands[i]->hidden)
            names[count++] = pj_commands[i]->name;
    }
    return unknown_word("there is no command '", name, names, count, json);
}

static const struct pj_command *find_command(const char *name)
{
    for (size_t i = 0; pj_commands[i]; i++) {
        if (strcmp(pj_commands[i]->name, name) == 0)
            return pj_commands[i];
    }
    return NULL;
}

static int extra_word(const char *given, const char *extra)
{
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    pj_buffer_printf(&text, "%s takes no further argument, '", given);
    pj_text_escape(&text, extra, strlen(extra));
    pj_buffer_puts(&text, "' is one");
    pj_cli_complain(pj_buffer_text(&text));
    return 2;
}

/* `prejit --help [TOPIC]`: a topic is a command, or `manifest`. */
static int help(int count, char **arguments)
{
    if (count == 2)
        return show_help();
    const char *topic = arguments[2];
    bool of_cache = strcmp(topic, "cache") == 0 && count == 4 && strcmp(arguments[3], "ls") == 0;
    if (count > 3 && !of_cache)
        return extra_word(arguments[1], arguments[3]);
    if (strcmp(topic, "manifest") == 0)
        return show_manifest_help();
    const struct pj_command *command = find_command(topic);
    if (!command || command->hidden)
        return unknown_command(topic, false);
    char *words[] = {arguments[2], (char[]){"--help"}, NULL};
    return command->run(command, 2, words);
}

/* Whoever started the program may have closed standard descriptors, whose numbers the next open would take,
 * and may ignore SIGCHLD, which would hide how workers end. What is put in place gives errors to whoever uses
 * it, as a closed descriptor does. */
static void prepare_process(void)
{
    (void)signal(SIGCHLD, SIG_DFL);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) >= 0)
            continue;
        int placed = open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
        if (placed >= 0)
            (void)fcntl(placed, F_SETFD, 0); /* workers keep their numbers free, too */
    }
}

int main(int count, char **arguments)
{
    prepare_process();
    if (count < 2) {
        pj_cli_complain("a command is missing; see: prejit --help");
        return 2;
    }
    const char *name = arguments[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0)
        return help(count, arguments);
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0 || strcmp(name, "version") == 0)
        return count > 2 ? extra_word(name, arguments[2]) : show_version();
    const struct pj_command *command = find_command(name);
    return command ? command->run(command, count - 1, arguments + 1)
                   : unknown_command(name, pj_cli_asks_for_json(count, arguments));
}
