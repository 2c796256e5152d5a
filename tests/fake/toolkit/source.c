/* SPDX-License-Identifier: Apache-2.0 */
/* Reads CUDA C++ as far as the stand-in NVRTC understands it. Conditionals are not followed, macros not
 * expanded. */
#include "source.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEPTH_MOST = 200 };

struct file {
    const char *name;
    bool on_disk; /* or the program itself: quoted includes are looked for beside it */
    unsigned depth;
};

static bool read_file(struct toolkit_source *source, const struct file *file, const char *text);

/* A catastrophic error as NVRTC words it. */
static bool fail(struct toolkit_source *source, const struct file *file, unsigned line, const char *what,
                 const char *directive)
{
    fake_buffer_printf(&source->log,
                       "%s(%u): catastrophic error: %s\n  %s\n   ^\n\n1 catastrophic error detected in the "
                       "compilation of \"%s\".\nCompilation terminated.\n",
                       file->name, line, what, directive, source->name);
    return false;
}

/* The text with its comments blanked, lines as they were. */
static char *without_comments(const char *text)
{
    char *copy = fake_copy_text(text, strlen(text));
    char quote = 0;
    for (char *at = copy; *at; at++) {
        if (quote) {
            if (*at == '\\' && at[1])
                at++;
            else if (*at == quote || *at == '\n')
                quote = 0;
        } else if (*at == '"' || *at == '\'') {
            quote = *at;
        } else if (at[0] == '/' && at[1] == '/') {
            while (*at && *at != '\n')
                *at++ = ' ';
            if (!*at)
                break;
        } else if (at[0] == '/' && at[1] == '*') {
            const char *end = strstr(at + 2, "*/");
            const char *stop = end ? end + 2 : at + strlen(at);
            for (; at < stop; at++)
                if (*at != '\n')
                    *at = ' ';
            at--;
        }
    }
    return copy;
}

static const char *skip_blank(const char *at)
{
    while (isspace((unsigned char)*at))
        at++;
    return at;
}

static size_t word_length(const char *at)
{
    size_t length = 0;
    while (isalnum((unsigned char)at[length]) || at[length] == '_')
        length++;
    return length;
}

/* Behind `__global__`: attributes, `void`, attributes, the name, an opening parenthesis. */
static void note_kernel(struct fake_names *names, const char *at)
{
    bool seen_void = false;
    for (at = skip_blank(at); *at; at = skip_blank(at)) {
        size_t length = word_length(at);
        const char *behind = skip_blank(at + length);
        if (!length)
            return;
        if (length == 4 && memcmp(at, "void", 4) == 0) {
            seen_void = true;
        } else if (strncmp(at, "__launch_bounds__", 17) == 0 && *behind == '(') {
            behind = strchr(behind, ')');
            if (!behind)
                return;
            behind++;
        } else if (seen_void && *behind == '(') {
            fake_names_add(names, at, length);
            return;
        }
        at = behind;
    }
}

/* Whether a declaration that ends here began with `template<`: nothing but its own text since the last `;` or
 * `}`. */
static bool is_template(const char *text, const char *at)
{
    const char *start = at;
    while (start > text && start[-1] != ';' && start[-1] != '}' && start[-1] != '#')
        start--;
    return memmem(start, (size_t)(at - start), "template", strlen("template")) != NULL;
}

static void find_kernels(struct toolkit_source *source, const char *text)
{
    for (const char *at = text; (at = strstr(at, "__global__")) != NULL; at += 10)
        note_kernel(is_template(text, at) ? &source->templates : &source->kernels, at + 10);
}

static char *join(const char *folder, size_t folder_length, const char *name)
{
    struct fake_buffer path = {0};
    fake_buffer_add(&path, folder, folder_length);
    if (folder_length && folder[folder_length - 1] != '/')
        fake_buffer_add_text(&path, "/");
    fake_buffer_add_text(&path, name);
    return (char *)path.data;
}

/* The path under which the file opens, and its text; NULL where it is nowhere. */
static char *find_on_disk(const struct toolkit_source *source, const struct file *from, const char *name,
                          bool quoted, struct fake_buffer *ret_text)
{
    for (size_t i = quoted && from->on_disk ? 0 : 1; i <= source->folders.count; i++) {
        const char *slash = strrchr(from->name, '/');
        const char *folder = i ? source->folders.names[i - 1] : from->name;
        size_t length = i ? strlen(folder) : slash ? (size_t)(slash - from->name) : 0;
        char *path = name[0] == '/' ? fake_copy_text(name, strlen(name)) : join(folder, length, name);
        int descriptor = open(path, O_RDONLY | O_CLOEXEC);
        if (descriptor >= 0) {
            bool read = fake_read_all(descriptor, ret_text);
            close(descriptor);
            if (read)
                return path;
        }
        free(path);
    }
    return NULL;
}

/* `rest` is behind the word include. */
static bool include(struct toolkit_source *source, const struct file *from, unsigned line, const char *rest,
                    const char *directive)
{
    struct fake_buffer what = {0}, text = {0};
    char close = *rest == '<' ? '>' : '"';
    const char *end = *rest == '<' || *rest == '"' ? strchr(rest + 1, close) : NULL;
    if (!end)
        return fail(source, from, line, "expected a file name", directive);
    char *name = fake_copy_text(rest + 1, (size_t)(end - rest - 1)), *path = NULL;
    struct file file = {.depth = from->depth + 1};
    const char *contents = NULL;
    for (size_t i = 0; i < source->header_count && !contents; i++)
        if (strcmp(source->headers[i].name, name) == 0)
            contents = source->headers[i].text;
    file.name = name;
    if (!contents && (path = find_on_disk(source, from, name, close == '"', &text)) != NULL) {
        contents = fake_buffer_text(&text);
        file.name = path;
        file.on_disk = true;
    }
    bool good = false;
    if (contents) {
        if (source->trace)
            fprintf(stderr, "%*s%s\n", (int)from->depth, "", file.name);
        good = file.depth < DEPTH_MOST ? read_file(source, &file, contents)
                                       : fail(source, from, line, "included too deeply", directive);
    } else {
        fake_buffer_printf(&what, "cannot open source file \"%s\"", name);
        fail(source, from, line, fake_buffer_text(&what), directive);
    }
    fake_buffer_free(&what);
    fake_buffer_free(&text);
    free(name);
    free(path);
    return good;
}

static bool read_directive(struct toolkit_source *source, const struct file *file, unsigned number,
                           const char *line)
{
    const char *word = skip_blank(line + 1);
    const char *rest = skip_blank(word + word_length(word));
    if (strncmp(word, "include", 7) == 0)
        return include(source, file, number, rest, line);
    if (strncmp(word, "error", 5) == 0) {
        struct fake_buffer what = {0};
        fake_buffer_printf(&what, "#error directive: %s", rest);
        fail(source, file, number, fake_buffer_text(&what), line);
        fake_buffer_free(&what);
        return false;
    }
    return true;
}

/* Guarded by a pragma, or by an #ifndef around it all. */
static bool is_guarded(const char *text)
{
    const char *start = skip_blank(text);
    return strstr(text, "#pragma once") || strncmp(start, "#ifndef", 7) == 0;
}

static bool read_lines(struct toolkit_source *source, const struct file *file, char *text)
{
    unsigned number = 0;
    for (char *line = text; line;) {
        char *end = strchr(line, '\n');
        if (end)
            *end = 0;
        number++;
        const char *start = skip_blank(line);
        if (*start == '#' && !read_directive(source, file, number, start))
            return false;
        if (end)
            *end = '\n';
        line = end ? end + 1 : NULL;
    }
    return true;
}

static bool read_file(struct toolkit_source *source, const struct file *file, const char *text)
{
    if (fake_names_have(&source->guarded, file->name, strlen(file->name)))
        return true;
    char *code = without_comments(text);
    if (is_guarded(code))
        fake_names_add(&source->guarded, file->name, strlen(file->name));
    source->digest = source->digest * 0x100000001b3u ^ fake_fnv(text, strlen(text));
    bool good = read_lines(source, file, code);
    if (good)
        find_kernels(source, code);
    free(code);
    return good;
}

bool toolkit_source_read(struct toolkit_source *source, const char *text)
{
    struct file file = {.name = source->name, .on_disk = true};
    if (source->trace)
        fputs("__nv_nvrtc_builtin_header.h\n", stderr);
    bool good = read_file(source, &file, text);
    if (good && source->trace)
        fputs("__nv_name_map\n", stderr);
    fflush(stderr);
    return good;
}

void toolkit_source_free(struct toolkit_source *source)
{
    fake_names_free(&source->folders);
    fake_names_free(&source->kernels);
    fake_names_free(&source->templates);
    fake_names_free(&source->guarded);
    fake_buffer_free(&source->log);
}
