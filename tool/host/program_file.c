/* SPDX-License-Identifier: Apache-2.0 */
/* The program's environment from a file of NAME=VALUE lines, as docker and systemd read them. */
#include <ctype.h>
#include <fcntl.h>
#include <string.h>

#include "base/file.h"
#include "host/program.h"

enum { FILE_MAX_BYTES = 1 << 20 };

static size_t name_length(const char *line)
{
    size_t length = 0;
    while (isalnum((unsigned char)line[length]) || line[length] == '_' || line[length] == '.' ||
           line[length] == '-')
        length++;
    return length;
}

/* Does it matter here how the value is read? */
static bool is_ours(const char *name)
{
    return strncmp(name, "CUDA", 4) == 0 || strncmp(name, "NVIDIA", 6) == 0 || strncmp(name, "HOME", 4) == 0;
}

static bool is_quoted(const char *value)
{
    size_t length = strlen(value);
    return length >= 2 && (value[0] == '"' || value[0] == '\'') && value[length - 1] == value[0];
}

static int take_line(struct pj_program *program, const char *path, size_t number, char *line,
                     struct pj_finding_list *findings, struct pj_error **err)
{
    PJ_CLEANUP_BUFFER struct pj_buffer place = {0};
    size_t size = strlen(line);
    if (size > 0 && line[size - 1] == '\r')
        line[--size] = '\0';
    line += strspn(line, " \t");
    if (*line == '\0' || *line == '#' || *line == ';')
        return 0;
    pj_buffer_printf(&place, "%s:%zu", path, number);
    int r = pj_buffer_check(&place, err);
    if (r < 0)
        return r;
    if (strncmp(line, "export ", 7) == 0) {
        line += 7 + strspn(line + 7, " \t");
        r = pj_finding_add(findings, PJ_FINDING_ENV_FILE_LINE, place.data, NULL, err,
                           "begins with `export`, which is for shells; read without it here");
    }
    size_t length = name_length(line);
    if (r < 0)
        return r;
    if (length == 0 || line[length] != '=')
        return pj_finding_add(findings, PJ_FINDING_ENV_FILE_LINE, place.data, NULL, err,
                              "`%s` is no NAME=VALUE and was passed over", line);
    char *value = line + length + 1;
    if (is_quoted(value)) {
        if (is_ours(line))
            r = pj_finding_add(findings, PJ_FINDING_ENV_FILE_LINE, place.data, NULL, err,
                               "the value of %.*s is in quotes: docker keeps them in the value, systemd "
                               "does not; read without them here",
                               (int)length, line);
        value[strlen(value) - 1] = '\0';
        value++;
    }
    return r == 0 ? pj_program_set_variable(program, line, length, value, err) : r;
}

int pj_program_set_environment_file(struct pj_program *program, const char *path,
                                    struct pj_finding_list *findings, struct pj_error **err)
{
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    int r = pj_file_read(AT_FDCWD, path, FILE_MAX_BYTES, &text, err);
    if (r < 0) {
        r = pj_error_recode(err, PJ_ERROR_USAGE, 0);
        return pj_error_wrap(err, r, "--env-file");
    }
    program->own = false;
    program->who = "a program with that environment";
    program->environment.count = 0;
    program->environment_known = true;
    program->directory = NULL;
    char *rest = text.data;
    for (size_t number = 1; r == 0 && rest; number++)
        r = take_line(program, path, number, strsep(&rest, "\n"), findings, err);
    return r;
}
