/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the stand-in toolkit libraries are made of: the libraries' functions, compilations,
 * expectations. */
#ifndef TOOLKIT_CHECK_H
#define TOOLKIT_CHECK_H

#include "../base.h"

/* A test runs in a process and an empty working directory of its own; the stand-ins are copied to `lib`
   there, so that each may have a scenario. */
struct check {
    const char *name;
    void (*run)(void);
    bool real_too; /* the real libraries must pass it as well */
};

extern const struct check check_nvrtc_tests[];
extern const struct check check_jitlink_tests[];

#define EXPECT(condition, ...) check_expect((condition), #condition, __FILE__, __LINE__, " " __VA_ARGS__)
void check_expect(bool condition, const char *text, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Ends the test as one that could not be run here. */
_Noreturn void check_skip(const char *why);

bool check_is_real(void);
/* A function of a library, opened when it is first asked for; NULL where it has none of that name. `file` is
   for instance "libnvrtc.so.13" or "old/libnvrtc.so.11.2". */
void *check_symbol(const char *file, const char *name);
#define CHECK_SYMBOL(variable, file, name)                                                                   \
    do {                                                                                                     \
        void *address_ = check_symbol(file, name);                                                           \
        check_expect(address_ != NULL, name, __FILE__, __LINE__, " missing");                                \
        memcpy(&(variable), &address_, sizeof address_);                                                     \
    } while (0)

void check_scenario(const char *text);
/* Runs `body` in a process of its own; wait()'s status. */
int check_process(void (*body)(void *), void *argument);
void check_write(const char *path, const char *text);
struct fake_buffer check_read(const char *path);

/* ---- compilations ---- */

enum { CHECK_MOST = 8 };

struct check_program {
    const char *source;
    const char *name; /* NULL: "n.cu" */
    const char *header_names[CHECK_MOST], *headers[CHECK_MOST];
    const char *options[CHECK_MOST];
    const char *expressions[CHECK_MOST];
};

struct check_compiled {
    int result;
    struct fake_buffer ptx, cubin, ltoir, log; /* texts without their NUL */
    int lowered_result[CHECK_MOST];
    char *lowered[CHECK_MOST];
};

/* With the library "libnvrtc.so.13". */
struct check_compiled check_compile(const struct check_program *program);
/* The same, and what it wrote to stderr. */
struct check_compiled check_compile_traced(const struct check_program *program,
                                           struct fake_buffer *ret_trace);

#endif
