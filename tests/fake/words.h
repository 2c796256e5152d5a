/* SPDX-License-Identifier: Apache-2.0 */
/* Scenario files: one directive a line, `#` starts a comment. Read line by line, word by word. */
#ifndef FAKE_WORDS_H
#define FAKE_WORDS_H

#include <stdbool.h>

struct fake_words {
    const char *path;
    unsigned line;
    char *next;
    bool devices_seen; /* a `device` line came already */
    bool counts;       /* a line needs the `state` file */
};

/* Calls `read_line` for each line that is not empty; it reads the words, the directive first. Ends the
   process where words are left over. True where a line counts across processes. */
bool fake_words_read_file(const char *path, int descriptor, void (*read_line)(void *, struct fake_words *),
                          void *into);

/* A number kept for a line across processes in the file `path`; returns how often it was asked before. */
unsigned long fake_words_count(const char *path, unsigned line);

/* The file `scenario` in the folder of the library that has this address; NULL where that is unknown. The
 * caller's. */
char *fake_words_beside_library(const void *inside);

/* `line` is changed and must stay as long as its words are used. */
void fake_words_start(struct fake_words *words, char *line);
char *fake_words_next(struct fake_words *words); /* NULL: none left */
char *fake_words_rest(struct fake_words *words); /* all that is left, at least one character; the caller's */
_Noreturn void fake_words_die(const struct fake_words *words, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Each reads the next word and ends the process where it is not of that kind. */
double fake_words_number(struct fake_words *words);
bool fake_words_yes(struct fake_words *words);
bool fake_words_expect(struct fake_words *words, const char *only);
double fake_words_parse_number(const struct fake_words *words, const char *word);
/* Relative paths start at the scenario file's folder. */
char *fake_words_path(const struct fake_words *words, const char *word);

#endif
