/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the lines in which ptxas, nvlink and the libraries made of them tell what a kernel needs:
 *   ptxas info    : Compiling entry function 'k' for 'sm_90'
 *   ptxas info    : Function properties for k
 *       40 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
 *   ptxas info    : Used 28 registers, used 0 barriers, 1024 bytes smem, 360 bytes cmem[0]
 *   nvlink info    : Function properties for 'k':
 *   nvlink info    : used 54 registers, used 0 barriers, 88 stack, 0 bytes smem, 536 bytes cmem[0]
 * The libraries begin the third with "ptxas         ." and leave "nvlink" out. */
#include "image/usage.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* A piece of the text. */
struct span {
    const char *at;
    size_t size;
};

enum { NAME_LISTS = 4096 };

#define NO_FUNCTION SIZE_MAX

struct known_function {
    struct pj_usage_function function;
    size_t earlier; /* the last one before it in the same list of names, or NO_FUNCTION */
};

struct usage_reader {
    struct pj_arena *arena;
    struct {
        struct known_function *items;
        size_t count, capacity;
    } functions;
    struct {
        const char **items;
        size_t count, capacity;
    } warnings;
    size_t by_name[NAME_LISTS]; /* the last function of each list of names */
    size_t kernel;              /* that is being compiled, or NO_FUNCTION */
    size_t described;           /* that the next lines are about, or NO_FUNCTION */
    bool linker;                /* whose words they are */
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static void skip(struct span *span, size_t size)
{
    span->at += size;
    span->size -= size;
}

static void skip_blanks(struct span *span)
{
    while (span->size > 0 && is_blank(*span->at))
        skip(span, 1);
}

static void trim_end(struct span *span)
{
    while (span->size > 0 && is_blank(span->at[span->size - 1]))
        span->size--;
}

static bool skip_text(struct span *span, const char *text)
{
    size_t length = strlen(text);
    if (span->size < length || memcmp(span->at, text, length) != 0)
        return false;
    skip(span, length);
    return true;
}

static bool equals(struct span span, const char *text)
{
    return span.size == strlen(text) && memcmp(span.at, text, span.size) == 0;
}

/* Letters: "ptxas", "info". */
static struct span take_word(struct span *span)
{
    struct span word = {span->at, 0};
    while (span->size > 0 && ((*span->at | 0x20) >= 'a' && (*span->at | 0x20) <= 'z'))
        skip(span, 1);
    word.size = (size_t)(span->at - word.at);
    return word;
}

/* Leaves what the tool says, without "ptxas info    :" and the like; false for lines of another kind. */
static bool skip_prefix(struct span *line)
{
    if (line->size > 0 && is_blank(*line->at)) { /* goes on with the line before */
        skip_blanks(line);
        return true;
    }
    struct span word = take_word(line);
    skip_blanks(line);
    if (skip_text(line, ". ")) {
        skip_blanks(line);
        return word.size > 0;
    }
    if (!equals(word, "info")) {
        word = take_word(line);
        skip_blanks(line);
    }
    if (!equals(word, "info") || !skip_text(line, ":"))
        return false;
    skip_blanks(line);
    return true;
}

/* Is a warning announced? "warning" as a word, and a colon or a number behind it; NVRTC indents the source
 * that it shows, in which there may be anything. */
static bool is_warning(struct span line)
{
    static const char word[] = "warning";
    const char *start = line.at;
    if (line.size > 0 && is_blank(*start))
        return false;
    for (const char *found; (found = memmem(line.at, line.size, word, sizeof word - 1)) != NULL;) {
        skip(&line, (size_t)(found - line.at) + sizeof word - 1);
        bool starts = found == start || is_blank(found[-1]);
        skip_blanks(&line);
        if (starts && line.size > 0 && (*line.at == ':' || *line.at == '#'))
            return true;
    }
    return false;
}

static int add_warning(struct usage_reader *reader, struct span line, struct pj_error **err)
{
    PJ_CLEANUP_BUFFER struct pj_buffer escaped = {0};
    trim_end(&line);
    pj_text_escape(&escaped, line.at, line.size);
    if (pj_buffer_check(&escaped, err) < 0)
        return PJ_ERROR_NO_MEMORY;
    const char *text = pj_arena_strdup(reader->arena, pj_buffer_text(&escaped));
    const char **item = text ? PJ_ARRAY_PUSH(&reader->warnings) : NULL;
    if (!item)
        return pj_error_no_memory(err);
    *item = text;
    return 0;
}

static size_t list_of(struct span name)
{
    size_t hash = 5381;
    for (size_t i = 0; i < name.size; i++)
        hash = hash * 33 + (unsigned char)name.at[i];
    return hash % NAME_LISTS;
}

/* The last kernel of that name, or NO_FUNCTION. */
static size_t find_kernel(const struct usage_reader *reader, struct span name)
{
    size_t index = reader->by_name[list_of(name)];
    while (index != NO_FUNCTION) {
        const struct known_function *known = &reader->functions.items[index];
        if (known->function.kernel && equals(name, known->function.name))
            return index;
        index = known->earlier;
    }
    return NO_FUNCTION;
}

static int add_function(struct usage_reader *reader, struct span name, bool kernel, size_t *ret_index,
                        struct pj_error **err)
{
    const char *copy = pj_arena_strndup(reader->arena, name.at, name.size);
    struct known_function *known = copy ? PJ_ARRAY_PUSH(&reader->functions) : NULL;
    if (!known)
        return pj_error_no_memory(err);
    size_t *last = &reader->by_name[list_of(name)];
    *known = (struct known_function){.function = {.name = copy, .kernel = kernel}, .earlier = *last};
    *last = *ret_index = reader->functions.count - 1;
    return 0;
}

/* Behind the opening quotation mark: what stands before the closing one. */
static bool take_quoted(struct span *line, struct span *ret_text)
{
    const char *end = memchr(line->at, '\'', line->size);
    if (!end || end == line->at)
        return false;
    *ret_text = (struct span){line->at, (size_t)(end - line->at)};
    skip(line, ret_text->size + 1);
    return true;
}

/* NAME' for 'sm_90' */
static int start_kernel(struct usage_reader *reader, struct span line, struct pj_error **err)
{
    struct span name, arch;
    if (!take_quoted(&line, &name))
        return 0;
    int status = add_function(reader, name, true, &reader->kernel, err);
    if (status < 0)
        return status;
    reader->described = reader->kernel;
    reader->linker = false;
    if (skip_text(&line, " for '") && take_quoted(&line, &arch))
        (void)pj_arch_parse_ptx(arch.at, arch.size, &reader->functions.items[reader->kernel].function.arch);
    return 0;
}

/* NAME from a compiler, 'NAME': from a linker, which speaks of kernels alone. */
static int describe(struct usage_reader *reader, struct span name, struct pj_error **err)
{
    struct span quoted;
    trim_end(&name);
    reader->linker = skip_text(&name, "'");
    reader->described = NO_FUNCTION;
    if (reader->linker) {
        if (!take_quoted(&name, &quoted))
            return 0;
        reader->described = find_kernel(reader, quoted);
        return reader->described != NO_FUNCTION ? 0
                                                : add_function(reader, quoted, true, &reader->described, err);
    }
    if (name.size == 0)
        return 0;
    if (reader->kernel != NO_FUNCTION &&
        equals(name, reader->functions.items[reader->kernel].function.name)) {
        reader->described = reader->kernel;
        return 0;
    }
    return add_function(reader, name, false, &reader->described, err);
}

/* Digits, and `+digits` as toolkits of long ago wrote shared memory; false where it does not fit. */
static bool take_number(struct span *item, uint64_t *ret_value)
{
    uint64_t sum = 0;
    do {
        uint64_t value = 0;
        if (item->size == 0 || *item->at < '0' || *item->at > '9')
            return false;
        for (; item->size > 0 && *item->at >= '0' && *item->at <= '9'; skip(item, 1)) {
            if (__builtin_mul_overflow(value, 10, &value) ||
                __builtin_add_overflow(value, (uint64_t)(*item->at - '0'), &value))
                return false;
        }
        if (__builtin_add_overflow(sum, value, &sum))
            return false;
    } while (skip_text(item, "+"));
    *ret_value = sum;
    return true;
}

/* Which number the words behind it name; NULL for those that nobody asked for. */
static struct pj_usage_number *number_named(struct pj_usage_function *function, struct span words,
                                            bool linker)
{
    if (equals(words, "registers"))
        return &function->registers;
    if (equals(words, "barriers"))
        return &function->barriers;
    if (equals(words, "bytes smem"))
        return linker ? &function->linked_shared_bytes : &function->shared_bytes;
    if (equals(words, "bytes stack frame"))
        return &function->stack_bytes;
    if (equals(words, "stack") || equals(words, "bytes cumulative stack size"))
        return &function->whole_stack_bytes;
    if (equals(words, "bytes spill stores"))
        return &function->spill_store_bytes;
    if (equals(words, "bytes spill loads"))
        return &function->spill_load_bytes;
    if (equals(words, "bytes cmem[0]"))
        return &function->constant_bytes;
    return NULL;
}

/* "28 registers, used 0 barriers, 40 bytes cumulative stack size" */
static void read_numbers(struct pj_usage_function *function, struct span line, bool linker)
{
    while (line.size > 0) {
        const char *comma = memchr(line.at, ',', line.size);
        struct span item = {line.at, comma ? (size_t)(comma - line.at) : line.size};
        skip(&line, comma ? item.size + 1 : item.size);
        skip_blanks(&item);
        trim_end(&item);
        (void)skip_text(&item, "used ");
        uint64_t value = 0;
        if (!take_number(&item, &value) || !skip_text(&item, " "))
            continue;
        struct pj_usage_number *number = number_named(function, item, linker);
        if (number)
            *number = (struct pj_usage_number){true, value};
    }
}

/* Whose registers are told: the kernel's that is being compiled, also where functions were described
 * meanwhile. */
static size_t user(const struct usage_reader *reader)
{
    if (reader->linker || reader->kernel == NO_FUNCTION)
        return reader->described;
    return reader->functions.items[reader->kernel].function.registers.known ? reader->described
                                                                            : reader->kernel;
}

static int read_line(struct usage_reader *reader, struct span line, struct pj_error **err)
{
    if (is_warning(line))
        return add_warning(reader, line, err);
    if (!skip_prefix(&line))
        return 0;
    if (skip_text(&line, "Compiling entry function '"))
        return start_kernel(reader, line, err);
    if (skip_text(&line, "Function properties for "))
        return describe(reader, line, err);
    size_t index = reader->described;
    if (skip_text(&line, "Used ") || skip_text(&line, "used "))
        index = user(reader);
    else if (!memmem(line.at, line.size, " stack frame", strlen(" stack frame")))
        return 0;
    if (index != NO_FUNCTION)
        read_numbers(&reader->functions.items[index].function, line, reader->linker);
    return 0;
}

/* Of a recursive kernel the linker says "0 stack", and in a warning that it does not know: then nothing is
 * known. */
static void forget_stack(struct usage_reader *reader, const char *warning)
{
    static const char before[] = "Stack size for entry function '", after[] = " cannot be";
    const char *found = strstr(warning, before);
    if (!found)
        return;
    struct span line = {found, strlen(found)}, name;
    skip(&line, sizeof before - 1);
    if (!take_quoted(&line, &name) || !skip_text(&line, after))
        return;
    size_t index = find_kernel(reader, name);
    if (index != NO_FUNCTION)
        reader->functions.items[index].function.whole_stack_bytes = (struct pj_usage_number){false, 0};
}

/* Copies what was found into the arena. */
static int finish(struct usage_reader *reader, struct pj_usage *usage, struct pj_error **err)
{
    for (size_t i = 0; i < reader->warnings.count; i++)
        forget_stack(reader, reader->warnings.items[i]);
    usage->count = reader->functions.count;
    usage->warning_count = reader->warnings.count;
    if (usage->count > 0) {
        usage->functions = pj_arena_calloc(reader->arena, usage->count, sizeof *usage->functions);
        if (!usage->functions)
            return pj_error_no_memory(err);
    }
    for (size_t i = 0; i < usage->count; i++) {
        usage->functions[i] = reader->functions.items[i].function;
        usage->kernel_count += usage->functions[i].kernel;
    }
    if (usage->warning_count > 0) {
        usage->warnings = pj_arena_calloc(reader->arena, usage->warning_count, sizeof *usage->warnings);
        if (!usage->warnings)
            return pj_error_no_memory(err);
        memcpy(usage->warnings, reader->warnings.items, usage->warning_count * sizeof *usage->warnings);
    }
    return 0;
}

int pj_usage_read(const char *text, size_t size, struct pj_arena *arena, struct pj_usage *ret,
                  struct pj_error **err)
{
    if (size > PJ_USAGE_BYTES_MAX)
        return pj_error_set(err, PJ_ERROR_FORMAT,
                            "a compiler's text of %zu bytes is too long: prejit reads at most %d", size,
                            PJ_USAGE_BYTES_MAX);
    struct usage_reader reader = {.arena = arena, .kernel = NO_FUNCTION, .described = NO_FUNCTION};
    for (size_t i = 0; i < NAME_LISTS; i++)
        reader.by_name[i] = NO_FUNCTION;
    struct pj_usage usage = {0};
    struct span rest = {text, size > 0 ? strnlen(text, size) : 0};
    int status = 0;
    while (status == 0 && rest.size > 0) {
        const char *end = memchr(rest.at, '\n', rest.size);
        struct span line = {rest.at, end ? (size_t)(end - rest.at) : rest.size};
        skip(&rest, end ? line.size + 1 : line.size);
        status = read_line(&reader, line, err);
    }
    if (status == 0)
        status = finish(&reader, &usage, err);
    free(reader.functions.items);
    free(reader.warnings.items);
    if (status == 0)
        *ret = usage;
    return status;
}
