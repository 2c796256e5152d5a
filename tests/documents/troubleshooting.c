/* SPDX-License-Identifier: Apache-2.0 */
/* docs/troubleshooting.md: the table of findings, ordered by what users see. */
#include "documents.h"

#include <string.h>

#include "host/finding.h"

static const struct {
    const char *title, *text;
} symptoms[PJ_SYMPTOM_COUNT] = {
    [PJ_SYMPTOM_EVERY_START] = {"Slow at every start",
                                "The cache is off, cannot be written, or nothing fits. The driver says "
                                "nothing about any of these."},
    [PJ_SYMPTOM_OTHER_USER] = {"Warmed here, slow there",
                               "The program looks in another directory, or may not read what is in this "
                               "one."},
    [PJ_SYMPTOM_LOST] = {"Entries disappear", "What was warmed is thrown out, or goes with its disk."},
    [PJ_SYMPTOM_NO_DRIVER] = {"The driver does not start, or sees no GPU",
                              "Nothing can be compiled or proven before it does."},
    [PJ_SYMPTOM_COMPILE_FAILS] = {"Compiling fails",
                                  "Loads end with an error such as 221 instead of slowly, or prejit itself "
                                  "cannot compile."},
    [PJ_SYMPTOM_STILL_SLOW] = {"Still slow although the cache hits", "The wait is not the driver's JIT."},
    [PJ_SYMPTOM_DANGER] = {"Others can change what runs", "A cache is code."},
    [PJ_SYMPTOM_NOT_SURE] = {"Odd settings, and what could not be looked at",
                             "Not wrong by themselves, but rarely what was meant."},
};

static const char introduction[] =
    "<!-- Made from the table in tool/host/finding_table.c; see the end of this page. -->\n"
    "# Troubleshooting\n"
    "\n"
    "`prejit doctor` looks for everything on this page and prints the cures with your paths filled in. It\n"
    "changes nothing.\n"
    "\n"
    "```\n"
    "prejit doctor                          # would a program started from here use a cache?\n"
    "prejit doctor app.yaml                 # would it read the one that `prejit warm app.yaml` fills?\n"
    "prejit doctor app.yaml --pid 4711      # does this running process?\n"
    "prejit doctor app.yaml --user app --env-file /etc/app.env\n"
    "```\n"
    "\n"
    "Its exit status is 3 where there is an error, else 0. With `--format json` each finding is an object "
    "with\n"
    "`code`, `severity`, `subject`, `found` and `cure`, which is null where there is nothing to do; the "
    "codes "
    "are\n"
    "the headings below. With `-v` each finding has the reason behind it, as here. Numbers in brackets are "
    "those "
    "of\n"
    "[cache-model.md](cache-model.md).\n";

static const char closing[] =
    "\n"
    "## How this page is made\n"
    "\n"
    "It is written by the table that `doctor` works from. After a change of that table,\n"
    "`PREJIT_UPDATE=1 ctest -R documents` writes it anew; without it the test compares.\n";

/* The cure with words for its placeholders. */
static void put_cure(struct pj_buffer *buffer, const struct pj_finding_info *info)
{
    static const char subject_mark[] = "{subject}", value_mark[] = "{value}", folder_mark[] = "{folder}";
    for (const char *text = info->cure; *text;) {
        if (strncmp(text, subject_mark, strlen(subject_mark)) == 0) {
            pj_buffer_printf(buffer, "*%s*", info->subject_word);
            text += strlen(subject_mark);
        } else if (strncmp(text, value_mark, strlen(value_mark)) == 0) {
            pj_buffer_printf(buffer, "*%s*", info->value_word);
            text += strlen(value_mark);
        } else if (strncmp(text, folder_mark, strlen(folder_mark)) == 0) {
            pj_buffer_puts(buffer, "*CACHE*");
            text += strlen(folder_mark);
        } else {
            pj_buffer_putc(buffer, *text++);
        }
    }
}

static void put_finding(struct pj_buffer *buffer, const struct pj_finding_info *info)
{
    pj_buffer_printf(buffer, "\n### `%s`\n\n%s: %s. %s\n", info->code,
                     info->severity == PJ_SEVERITY_ERROR     ? "Error"
                     : info->severity == PJ_SEVERITY_WARNING ? "Warning"
                                                             : "Note",
                     info->title, info->explanation);
    if (!info->cure)
        return;
    pj_buffer_puts(buffer, "\n**Cure:** ");
    put_cure(buffer, info);
    pj_buffer_puts(buffer, ".\n");
}

void document_troubleshooting(struct pj_buffer *buffer)
{
    pj_buffer_puts(buffer, introduction);
    for (int symptom = 0; symptom < PJ_SYMPTOM_COUNT; symptom++) {
        pj_buffer_printf(buffer, "\n## %s\n\n%s\n", symptoms[symptom].title, symptoms[symptom].text);
        for (int code = 0; code < PJ_FINDING_COUNT; code++) {
            const struct pj_finding_info *info = pj_finding_info((enum pj_finding_code)code);
            if ((int)info->symptom == symptom)
                put_finding(buffer, info);
        }
    }
    pj_buffer_puts(buffer, closing);
}
