/* SPDX-License-Identifier: Apache-2.0 */
/* Scenario files, line by line and word by word; whatever is not understood ends the process. */
#include "words.h"

#include "base.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void fake_words_start(struct fake_words *words, char *line)
{
    words->next = line;
    size_t length = strlen(line);
    while (length && isspace((unsigned char)line[length - 1]))
        line[--length] = 0;
}

static void skip_blank(struct fake_words *words)
{
    while (isspace((unsigned char)*words->next))
        words->next++;
    if (*words->next == '#')
        *words->next = 0;
}

char *fake_words_next(struct fake_words *words)
{
    skip_blank(words);
    if (!*words->next)
        return NULL;
    char *word = words->next;
    while (*words->next && !isspace((unsigned char)*words->next))
        words->next++;
    if (*words->next)
        *words->next++ = 0;
    return word;
}

char *fake_words_rest(struct fake_words *words)
{
    skip_blank(words);
    if (!*words->next)
        fake_words_die(words, "something is missing at the end of the line");
    char *rest = fake_copy_text(words->next, strlen(words->next));
    words->next += strlen(words->next);
    return rest;
}

_Noreturn void fake_words_die(const struct fake_words *words, const char *format, ...)
{
    struct fake_buffer text = {0};
    va_list arguments;
    va_start(arguments, format);
    fake_buffer_vprintf(&text, format, arguments);
    va_end(arguments);
    fake_die("%s:%u: %s", words->path, words->line, fake_buffer_text(&text));
}

double fake_words_parse_number(const struct fake_words *words, const char *word)
{
    char *end = NULL;
    double number = word ? strtod(word, &end) : -1;
    if (!word || end == word || *end || !(number >= 0) || number > 1e12)
        fake_words_die(words, "`%s` is not a number from 0 to 1e12", word ? word : "");
    return number;
}

double fake_words_number(struct fake_words *words)
{
    return fake_words_parse_number(words, fake_words_next(words));
}

bool fake_words_yes(struct fake_words *words)
{
    return fake_words_expect(words, "yes");
}

bool fake_words_expect(struct fake_words *words, const char *only)
{
    const char *word = fake_words_next(words);
    if (!word || strcmp(word, only) != 0)
        fake_words_die(words, "only `%s` can stand here", only);
    return true;
}

char *fake_words_path(const struct fake_words *words, const char *word)
{
    if (!word || !*word)
        fake_words_die(words, "a file name is missing");
    struct fake_buffer path = {0};
    const char *slash = strrchr(words->path, '/');
    if (word[0] != '/' && slash)
        fake_buffer_add(&path, words->path, (size_t)(slash - words->path) + 1);
    fake_buffer_add_text(&path, word);
    return (char *)path.data;
}

char *fake_words_beside_library(const void *inside)
{
    Dl_info info;
    struct fake_buffer path = {0};
    if (!dladdr(inside, &info) || !info.dli_fname)
        return NULL;
    const char *slash = strrchr(info.dli_fname, '/');
    if (slash)
        fake_buffer_add(&path, info.dli_fname, (size_t)(slash - info.dli_fname) + 1);
    fake_buffer_add_text(&path, "scenario");
    return (char *)path.data;
}

bool fake_words_read_file(const char *path, int descriptor, void (*read_line)(void *, struct fake_words *),
                          void *into)
{
    struct fake_buffer text;
    if (!fake_read_all(descriptor, &text))
        fake_die("scenario %s: cannot be read", path);
    struct fake_words words = {.path = path};
    for (char *line = (char *)text.data; line && *line;) {
        char *end = strchr(line, '\n');
        if (end)
            *end = 0;
        words.line++;
        fake_words_start(&words, line);
        skip_blank(&words);
        const char *directive = words.next;
        if (*directive) {
            read_line(into, &words);
            const char *left = fake_words_next(&words);
            if (left)
                fake_words_die(&words, "`%s` is too much behind `%s`", left, directive);
        }
        line = end ? end + 1 : NULL;
    }
    fake_buffer_free(&text);
    return words.counts;
}

unsigned long fake_words_count(const char *path, unsigned line)
{
    int descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor < 0)
        fake_die("state file %s: %s", path, strerror(errno));
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    while (fcntl(descriptor, F_SETLKW, &lock) != 0)
        if (errno != EINTR)
            fake_die("state file %s: cannot lock: %s", path, strerror(errno));
    unsigned char slot[8] = {0};
    off_t offset = (off_t)line * (off_t)sizeof slot;
    if (pread(descriptor, slot, sizeof slot, offset) < 0)
        fake_die("state file %s: %s", path, strerror(errno));
    uint64_t before = fake_get64(slot);
    fake_put64(slot, before + 1);
    if (!fake_write_all(descriptor, slot, sizeof slot, offset))
        fake_die("state file %s: %s", path, strerror(errno));
    close(descriptor);
    return (unsigned long)before;
}
