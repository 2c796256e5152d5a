/* SPDX-License-Identifier: Apache-2.0 */
/* One line of a scenario, word by word, and the complaints about it. */
#ifndef FAKE_SCENARIO_WORDS_H
#define FAKE_SCENARIO_WORDS_H

#include "scenario.h"

struct fake_words {
    const char *path;
    unsigned line;
    char *next;
    bool devices_seen; /* a `device` line came already */
    bool counts;       /* a line needs the `state` file */
};

/* `line` is changed and must stay as long as its words are used. */
void fake_words_start(struct fake_words *words, char *line);
void fake_words_end(struct fake_words *words);
char *fake_words_next(struct fake_words *words); /* NULL: none left */
char *fake_words_rest(struct fake_words *words); /* all that is left, at least one character; the caller's */
_Noreturn void fake_words_die(const struct fake_words *words, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Each reads the next word and ends the process where it is not of that kind. */
double fake_words_number(struct fake_words *words);
CUresult fake_words_result(struct fake_words *words);
bool fake_words_yes(struct fake_words *words);
bool fake_words_expect(struct fake_words *words, const char *only);
double fake_words_parse_number(const struct fake_words *words, const char *word);
/* Relative paths start at the scenario file's folder. */
char *fake_words_path(const struct fake_words *words, const char *word);

/* "GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx". */
bool fake_uuid_parse(const char *text, CUuuid *ret_uuid);

/* A directive with kernel=…; false where `directive` is none of these. */
bool fake_rule_read(const char *directive, struct fake_words *words, struct fake_rule *ret_rule);

#endif
