/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the emulated driver are made of: loads in processes of their own, files to look at,
 * expectations. */
#ifndef FAKE_CHECK_H
#define FAKE_CHECK_H

#include "base.h"

#include <cuda.h>

/* A test runs in a process and an empty working directory of its own, with no CUDA variable set but
   CUDA_CACHE_PATH, which names `cache` there. */
struct check {
    const char *name;
    void (*run)(void);
};

/* Ends the test with a message where `condition` is false. */
#define EXPECT(condition, ...) check_expect((condition), #condition, __FILE__, __LINE__, " " __VA_ARGS__)
void check_expect(bool condition, const char *text, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

enum { CHECK_SKIPPED = 77 };

/* Ends the test as one that could not be run here. */
_Noreturn void check_skip(const char *why);

/* The driver under test: the emulation, or the library of FAKE_TEST_DRIVER. */
bool check_is_real_driver(void);
const char *check_driver_path(void);
/* A file of the data folder, for instance "golden/inputs/axpb.ptx". */
char *check_data_path(const char *name);

/* ---- loads ---- */

enum check_call { CALL_LOAD, CALL_EX, CALL_LIBRARY, CALL_FILE };

struct check_option {
    CUjit_option option;
    unsigned value;
};

enum { CHECK_OPTIONS_MOST = 12 };

struct check_request {
    enum check_call call;
    bool no_context;
    unsigned device;
    const void *image; /* ended by a NUL of its own */
    const char *file;  /* CALL_FILE */
    struct check_option options[CHECK_OPTIONS_MOST];
    unsigned option_count;
    const char *kernel; /* asked for when the load succeeded with a context */
};

struct check_answer {
    int signal;   /* 0: the process ended by itself */
    bool aborted; /* by SIGABRT, which is a signal too */
    CUresult init, context, load, function;
    float wall_time_ms; /* CALL_EX and CALL_LIBRARY only */
    double ms;          /* of the load call */
    char error_log[2048];
    char info_log[2048];
};

/* Does it all in a new process: cuInit, context, load. */
struct check_answer check_load(const struct check_request *request);
/* The usual one: cuModuleLoadDataEx of a text, with a context. */
struct check_answer check_load_text(const char *text);
/* Compiled now, found, or told by the JIT-disabled error. */
void check_expect_miss(const char *text);
void check_expect_hit(const char *text);

/* ---- links ---- */

enum { CHECK_INPUTS_MOST = 4 };

struct check_input {
    CUjitInputType type;
    const void *bytes;
    size_t length; /* 0: a text, its NUL included */
    const char *name;
    bool is_file; /* cuLinkAddFile of `name` */
};

struct check_link_request {
    bool no_context;
    unsigned device;
    struct check_option options[CHECK_OPTIONS_MOST];
    unsigned option_count;
    struct check_input inputs[CHECK_INPUTS_MOST];
    unsigned input_count;
    const char *kernel;                      /* asked for where the linked cubin loads */
    const struct check_link_request *before; /* a link that the same process makes first; NULL = none */
};

struct check_link_answer {
    int signal; /* 0: the process ended by itself */
    CUresult init, create, add[CHECK_INPUTS_MOST], complete, load, function;
    float add_ms[CHECK_INPUTS_MOST]; /* the wall time as it stands after each input */
    float wall_time_ms;
    size_t cubin_bytes;
    unsigned char cubin_head[64];
    char error_log[2048];
};

/* All of it in a new process. It goes on after an input that was refused. */
struct check_link_answer check_link(const struct check_link_request *request);

/* Runs `body` in a process of its own with every driver function at hand through check_symbol; returns
 * wait()'s status. */
int check_process(void (*body)(void *), void *argument);
void *check_symbol(const char *name);
#define CHECK_SYMBOL(variable, name)                                                                         \
    do {                                                                                                     \
        void *address_ = check_symbol(name);                                                                 \
        memcpy(&(variable), &address_, sizeof address_);                                                     \
    } while (0)

/* A small module whose one kernel has this name; `comment` makes it another module. The caller's. */
char *check_ptx(const char *kernel, const char *comment);

/* ---- files ---- */

struct fake_buffer check_read(const char *path);
void check_write(const char *path, const void *bytes, size_t length);
void check_write_text(const char *path, const char *text);
bool check_exists(const char *path);
unsigned check_mode(const char *path);
/* Lines of a file that start so. */
unsigned check_count_lines(const char *path, const char *start);
/* Makes this text the scenario of the processes to come. */
void check_play(const char *scenario);
/* Files below hash directories of the cache. */
unsigned check_entries(const char *cache);
/* The one entry of a cache, relative to it: "c/a/920786966c763d". */
char *check_only_entry(const char *cache);
void check_copy_tree(const char *from, const char *to);

struct check_index {
    uint32_t format, count;
    uint64_t total;
    uint64_t hash[64], bytes[64];
    size_t length; /* of the file */
};
struct check_index check_index(const char *cache);
void check_write_index(const char *cache, uint32_t format, uint32_t count, uint64_t total,
                       const uint64_t *records, size_t record_count);

/* ---- the lists of tests, ended by a NULL name ---- */
extern const struct check check_golden_tests[];
extern const struct check check_cache_tests[];
extern const struct check check_danger_tests[];
extern const struct check check_load_tests[];
extern const struct check check_link_tests[];
extern const struct check check_link_fatbin_tests[];
extern const struct check check_device_tests[];
/* These need the emulation: they are skipped on a real driver. */
extern const struct check check_scenario_tests[];
extern const struct check check_link_scenario_tests[];

#endif
