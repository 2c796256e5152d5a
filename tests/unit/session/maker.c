/* SPDX-License-Identifier: Apache-2.0 */
/* Orders for a stand-in NVRTC that crashes, hangs and changes, through real workers: what becomes of each. */
#include "folder.h"

#include <math.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/digest.h"
#include "session/make/maker.h"

#define WORKER_MODE "NVIDIA_ODD_WORKER"

enum { ORDERS_MAX = 40 };

/* A folder with an NVRTC of its own, a maker and its orders. */
struct shop {
    struct folder folder;
    struct pj_arena arena;
    char *library;
    const char *paths[1];
    struct pj_observer observer;
    struct pj_maker_options options;
    struct pj_maker *maker;
    struct pj_making makings[ORDERS_MAX];
    struct pj_making_part parts[ORDERS_MAX];
    const char *arguments[1];
    char text[2048]; /* what the observer was told */
    unsigned ticks;
};

static void tell(struct shop *shop, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void tell(struct shop *shop, const char *format, ...)
{
    size_t used = strlen(shop->text);
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(shop->text + used, sizeof shop->text - used, format, arguments);
    va_end(arguments);
}

static void told_phase(void *context, const char *phase, size_t jobs, uint64_t weight)
{
    tell(context, "%s %zu %llu\n", phase, jobs, (unsigned long long)weight);
}

static void told_started(void *context, size_t job, const char *name)
{
    tell(context, "started %zu %s\n", job, name);
}

static void told_requeued(void *context, size_t job)
{
    tell(context, "again %zu\n", job);
}

static void told_finished(void *context, size_t job, const char *name, uint64_t weight, const char *outcome,
                          bool attention)
{
    (void)weight;
    const char *took = attention ? NULL : strstr(outcome, " in ");
    int shown = took ? (int)(took - outcome) : (int)strlen(outcome);
    tell(context, "finished %zu %s: %.*s%s\n", job, name, shown, outcome, attention ? " !" : "");
}

static void told_tick(void *context)
{
    ((struct shop *)context)->ticks++;
}

static void make_shop(struct shop *shop, const char *scenario)
{
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    *shop = (struct shop){.arguments = {"-arch=compute_90"}};
    folder_make(&shop->folder);
    assert_int_equal(pj_file_read(AT_FDCWD, TOOLKIT "/libnvrtc.so.13", 1 << 26, &bytes, NULL), 0);
    folder_write_bytes(&shop->folder, "libnvrtc.so.13", bytes.data, bytes.size);
    folder_write(&shop->folder, "scenario", scenario);
    shop->library = pj_path_join(shop->folder.path, "libnvrtc.so.13");
    shop->paths[0] = shop->library;
    shop->observer = (struct pj_observer){.phase = told_phase,
                                          .started = told_started,
                                          .requeued = told_requeued,
                                          .finished = told_finished,
                                          .tick = told_tick,
                                          .context = shop};
    shop->options = (struct pj_maker_options){.library = PJ_LIBRARY_NVRTC,
                                              .paths = shop->paths,
                                              .path_count = 1,
                                              .worker_program = PREJIT,
                                              .root = {"/nonexistent"},
                                              .interrupt_fd = -1,
                                              .timeout_ms = 60000,
                                              .patience_ms = 60000,
                                              .deadline_ms = INFINITY,
                                              .workers = 1,
                                              .observer = &shop->observer,
                                              .phase = "prepare",
                                              .arena = &shop->arena};
    assert_int_equal(unsetenv(WORKER_MODE), 0);
}

static void free_shop(struct shop *shop)
{
    pj_maker_free(shop->maker);
    for (size_t i = 0; i < ORDERS_MAX; i++)
        pj_making_free(&shop->makings[i]);
    pj_arena_free(&shop->arena);
    free(shop->library);
    folder_remove(&shop->folder);
}
#define CLEANUP_SHOP __attribute__((cleanup(free_shop)))

/* Order number `i`: a source in memory. */
static void order(struct shop *shop, size_t i, const char *source)
{
    struct pj_making_part *part = &shop->parts[i];
    *part = (struct pj_making_part){.name = "n.cu", .bytes = source, .size_bytes = strlen(source)};
    pj_sha256_of(source, strlen(source), &part->sha256);
    shop->makings[i] = (struct pj_making){.title = pj_arena_printf(&shop->arena, "order%zu", i),
                                          .name = "n.cu",
                                          .outputs = PJ_OUTPUT_PTX | PJ_OUTPUT_LOG,
                                          .parts = part,
                                          .part_count = 1,
                                          .arguments = shop->arguments,
                                          .argument_count = 1,
                                          .weight_bytes = strlen(source)};
}

static void open_shop(struct shop *shop)
{
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    expect_success(pj_maker_open(&shop->options, &shop->maker, &err), &err);
}

static void run(struct shop *shop, size_t count)
{
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    expect_success(pj_maker_run(shop->maker, shop->makings, count, &err), &err);
}

static void expect_end(struct shop *shop, size_t i, enum pj_making_end end, const char *reason)
{
    assert_int_equal(shop->makings[i].end, end);
    assert_int_equal(shop->makings[i].reason != NULL, reason != NULL);
    if (reason)
        assert_string_equal(shop->makings[i].reason, reason);
    bool has_ptx =
        strstr(pj_buffer_text(pj_making_result(&shop->makings[i], PJ_OUTPUT_PTX)), ".version") != NULL;
    assert_int_equal(has_ptx, end == PJ_MAKING_MADE);
}

#define GOOD     "__global__ void good() {}\n"
#define BAD      "__global__ void bad() {}\n"
#define PTX_MADE "compiled to PTX by NVRTC 13.0\n"
#define CRASH    "killed by signal 11 (Segmentation fault)"

static void test_compiler(void **state)
{
    (void)state;
    CLEANUP_SHOP struct shop shop;
    make_shop(&shop, "version 12 8\narchs 75 90\n");
    open_shop(&shop);
    const struct pj_compiler *compiler = pj_maker_compiler(shop.maker);
    assert_true(compiler->known);
    assert_int_equal(compiler->version, 12080);
    assert_string_equal(compiler->library.version, "12.8");
    assert_string_equal(compiler->library.path, shop.library);
    assert_int_equal(compiler->arch_count, 2);
    assert_int_equal(compiler->archs[1], 90);
    assert_int_equal(compiler->file_count, 1);
    assert_string_equal(compiler->files[0].path, shop.library);
    run(&shop, 0);
    assert_string_equal(shop.text, "");
}

static void test_ends(void **state)
{
    (void)state;
    CLEANUP_SHOP struct shop shop;
    make_shop(&shop, "");
    open_shop(&shop);
    order(&shop, 0, GOOD);
    order(&shop, 1, "#error no luck here\n");
    order(&shop, 2, GOOD GOOD);
    order(&shop, 3, BAD);
    shop.parts[2].bytes = NULL;
    shop.parts[2].path = "/nonexistent/n.cu";
    shop.parts[3].sha256.bytes[0] ^= 1;
    shop.makings[3].quiet = true;
    run(&shop, 4);
    expect_end(&shop, 0, PJ_MAKING_MADE, NULL);
    expect_end(&shop, 1, PJ_MAKING_REFUSED, "n.cu(1): catastrophic error: #error directive: no luck here");
    expect_end(&shop, 2, PJ_MAKING_IMPOSSIBLE, "cannot open /nonexistent/n.cu: No such file or directory");
    expect_end(&shop, 3, PJ_MAKING_CHANGED, "a file changed while prejit was working on it; run again");
    assert_string_equal(shop.makings[1].result_name, "NVRTC_ERROR_COMPILATION");
    assert_string_equal(shop.makings[1].failed_call, "nvrtcCompileProgram");
    assert_true(shop.makings[0].peak_rss_bytes > 0);
    /* The heaviest first; of the quiet one nothing. */
    assert_string_equal(shop.text,
                        "prepare 3 98\n"
                        "finished 2 order2: cannot open /nonexistent/n.cu: No such file or directory !\n"
                        "started 0 order0\nfinished 0 order0: " PTX_MADE "started 1 order1\n"
                        "finished 1 order1: refused by NVRTC 13.0: n.cu(1): catastrophic error: #error "
                        "directive: no luck here !\n");
}

/* An order that kills its worker is tried once more, alone, when all others are done. */
static void test_crashes(void **state)
{
    (void)state;
    CLEANUP_SHOP struct shop shop;
    make_shop(&shop, "state state\ncrash kernel=bad\ncrash kernel=once times=1\n");
    open_shop(&shop);
    order(&shop, 0, "__global__ void bad() {} // heaviest of all, so the first\n");
    order(&shop, 1, "__global__ void once() {} // heavy\n");
    order(&shop, 2, GOOD);
    run(&shop, 3);
    expect_end(&shop, 0, PJ_MAKING_CRASHED, "NVRTC: " CRASH ", tried twice");
    expect_end(&shop, 1, PJ_MAKING_MADE, NULL);
    expect_end(&shop, 2, PJ_MAKING_MADE, NULL);
    assert_string_equal(shop.text, "prepare 3 119\nstarted 0 order0\nagain 0\nstarted 1 order1\nagain 1\n"
                                   "started 2 order2\nfinished 2 order2: " PTX_MADE
                                   "started 0 order0\nfinished 0 order0: NVRTC: " CRASH ", tried twice !\n"
                                   "started 1 order1\nfinished 1 order1: " PTX_MADE);
    /* The maker is as good as new. */
    pj_making_free(&shop.makings[0]);
    order(&shop, 0, GOOD);
    run(&shop, 1);
    expect_end(&shop, 0, PJ_MAKING_MADE, NULL);
}

static void test_hangs(void **state)
{
    (void)state;
    CLEANUP_SHOP struct shop shop;
    make_shop(&shop, "hang kernel=bad\n");
    shop.options.timeout_ms = 300;
    open_shop(&shop);
    order(&shop, 0, BAD "// heavier\n");
    order(&shop, 1, GOOD);
    run(&shop, 2);
    expect_end(&shop, 0, PJ_MAKING_TIMED_OUT, "NVRTC gave up after 300 ms (--timeout)");
    expect_end(&shop, 1, PJ_MAKING_MADE, NULL);
    assert_int_equal(shop.makings[0].deaths, 0);
}

/* More orders than workers, some of them fatal. */
static void test_many(void **state)
{
    (void)state;
    CLEANUP_SHOP struct shop shop;
    make_shop(&shop, "state state\ncrash kernel=bad\ncrash kernel=once times=2\n");
    shop.options.workers = 3;
    shop.options.observer = NULL;
    open_shop(&shop);
    for (size_t i = 0; i < ORDERS_MAX; i++)
        order(&shop, i, i % 10 == 3 ? BAD : i == 4 || i == 5 ? "__global__ void once() {}\n" : GOOD);
    run(&shop, ORDERS_MAX);
    for (size_t i = 0; i < ORDERS_MAX; i++)
        expect_end(&shop, i, i % 10 == 3 ? PJ_MAKING_CRASHED : PJ_MAKING_MADE,
                   i % 10 == 3 ? "NVRTC: " CRASH ", tried twice" : NULL);
}

/* A process that may have few descriptors has fewer workers, and fails no order for it. */
static void test_few_descriptors(void **state)
{
    enum { DESCRIPTORS = 40 };
    (void)state;
    CLEANUP_SHOP struct shop shop;
    struct rlimit before;
    make_shop(&shop, "slow kernel=good ms=20\n");
    shop.options.workers = ORDERS_MAX;
    shop.options.observer = NULL;
    open_shop(&shop);
    for (size_t i = 0; i < ORDERS_MAX; i++)
        order(&shop, i, GOOD);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    const struct rlimit few = {.rlim_cur = DESCRIPTORS, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    run(&shop, ORDERS_MAX);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    for (size_t i = 0; i < ORDERS_MAX; i++)
        expect_end(&shop, i, PJ_MAKING_MADE, NULL);
}

/* A worker that cannot hand its result over says why: here files may not be longer than a source. */
static void test_result_not_written(void **state)
{
    enum { SOURCE_FITS = 64 };
    static const char reason[] = "NVRTC: cannot write a result: File too large, tried twice";
    (void)state;
    CLEANUP_SHOP struct shop shop;
    struct rlimit before;
    make_shop(&shop, "");
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    const struct rlimit small = {.rlim_cur = SOURCE_FITS, .rlim_max = before.rlim_max};
    (void)signal(SIGXFSZ, SIG_IGN); /* as the program does */
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    open_shop(&shop);
    order(&shop, 0, GOOD);
    run(&shop, 1);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    expect_end(&shop, 0, PJ_MAKING_CRASHED, reason);
    assert_string_equal(pj_arena_printf(&shop.arena,
                                        "prepare 1 26\nstarted 0 order0\nagain 0\n"
                                        "started 0 order0\nfinished 0 order0: %s !\n",
                                        reason),
                        shop.text);
}

static void test_interrupt(void **state)
{
    (void)state;
    CLEANUP_SHOP struct shop shop;
    make_shop(&shop, "hang kernel=bad\n");
    PJ_CLEANUP_CLOSE int interrupt = eventfd(0, EFD_CLOEXEC);
    shop.options.interrupt_fd = interrupt;
    open_shop(&shop);
    order(&shop, 0, BAD);
    order(&shop, 1, GOOD);
    shop.makings[1].weight_bytes = 1000; /* the first */
    static const uint64_t one = 1;
    run(&shop, 0);
    assert_false(pj_maker_interrupted(shop.maker));
    assert_int_equal(write(interrupt, &one, sizeof one), sizeof one);
    run(&shop, 2);
    assert_true(pj_maker_interrupted(shop.maker));
    assert_false(pj_maker_deadline_passed(shop.maker));
    assert_int_equal(shop.makings[0].end, PJ_MAKING_NOT_TRIED);
    /* One that was interrupted before anything was known. */
    CLEANUP_SHOP struct shop early;
    make_shop(&early, "");
    early.options.interrupt_fd = interrupt;
    open_shop(&early);
    assert_true(pj_maker_interrupted(early.maker));
    order(&early, 0, GOOD);
    run(&early, 1);
    expect_end(&early, 0, PJ_MAKING_NOT_TRIED, NULL);
}

static void test_deadline(void **state)
{
    (void)state;
    CLEANUP_SHOP struct shop shop;
    make_shop(&shop, "hang kernel=bad\n");
    shop.options.deadline_ms = pj_clock_ms() + 1500;
    open_shop(&shop);
    order(&shop, 0, GOOD "// heavier\n");
    order(&shop, 1, BAD);
    run(&shop, 2);
    assert_true(pj_maker_deadline_passed(shop.maker));
    assert_false(pj_maker_interrupted(shop.maker));
    expect_end(&shop, 0, PJ_MAKING_MADE, NULL);
    expect_end(&shop, 1, PJ_MAKING_NOT_TRIED, NULL);
    assert_true(shop.ticks > 0);
}

static void expect_not_opened(struct shop *shop, enum pj_error_code code, const char *message)
{
    struct pj_error *err = NULL;
    int r = pj_maker_open(&shop->options, &shop->maker, &err);
    expect_error(r, &err, code, message);
    assert_null(shop->maker);
}

static void test_not_opened(void **state)
{
    (void)state;
    CLEANUP_SHOP struct shop shop;
    make_shop(&shop, "");
    shop.options.worker_program = "/nonexistent/prejit";
    expect_not_opened(&shop, PJ_ERROR_WORKER,
                      "cannot start the worker program /nonexistent/prejit: No such file or directory");
    shop.options.worker_program = ODD_WORKER;
    assert_int_equal(setenv(WORKER_MODE, "other-build", 1), 0);
    expect_not_opened(
        &shop, PJ_ERROR_ENVIRONMENT,
        "NVRTC does not start; its worker process: the worker program is another build of prejit");
    assert_int_equal(setenv(WORKER_MODE, "crashes", 1), 0);
    expect_not_opened(&shop, PJ_ERROR_ENVIRONMENT,
                      "NVRTC does not start; its worker process: killed by signal 6 (Aborted)");
    assert_int_equal(unsetenv(WORKER_MODE), 0);
    shop.options.worker_program = PREJIT;
    shop.paths[0] = "/nonexistent/libnvrtc.so";
    expect_not_opened(
        &shop, PJ_ERROR_ENVIRONMENT,
        "no usable NVRTC was found:\ncannot open NVRTC: /nonexistent/libnvrtc.so: cannot open shared object "
        "file: No such file or directory;\ninstall the CUDA toolkit (package cuda-nvrtc), set CUDA_HOME to "
        "it, or name the library with --nvrtc PATH");
}

/* What a library tells of itself last: it vanished behind its first worker's back. */
static void test_library_gone(void **state)
{
    (void)state;
    CLEANUP_SHOP struct shop shop;
    make_shop(&shop, "crash kernel=bad\n");
    open_shop(&shop);
    assert_int_equal(unlink(shop.library), 0);
    order(&shop, 0, BAD);
    struct pj_error *err = NULL;
    char message[1024];
    (void)snprintf(
        message, sizeof message,
        "no usable NVRTC was found:\ncannot open NVRTC: %s: cannot open shared object file: No such file or "
        "directory;\ninstall the CUDA toolkit (package cuda-nvrtc), set CUDA_HOME to it, or name the library "
        "with --nvrtc PATH",
        shop.library);
    expect_error(pj_maker_run(shop.maker, shop.makings, 1, &err), &err, PJ_ERROR_ENVIRONMENT, message);
}

enum { WORKERS = 4 };

/* A worker program of the shop's own, which counts its starts in the file `starts`. */
static char *open_with_own_program(struct shop *shop)
{
    char *program = pj_path_join(shop->folder.path, "worker");
    char script[2048];
    (void)snprintf(script, sizeof script, "#!/bin/sh\necho >> '%s/starts'\nexec '%s' \"$@\"\n",
                   shop->folder.path, PREJIT);
    folder_write(&shop->folder, "worker", script);
    assert_int_equal(chmod(program, 0755), 0);
    shop->options.worker_program = program;
    shop->options.workers = WORKERS;
    open_shop(shop);
    return program;
}

/* All is made, with `least` to `most` processes. */
static void expect_made_by(struct shop *shop, size_t least, size_t most)
{
    PJ_CLEANUP_BUFFER struct pj_buffer starts = {0};
    PJ_CLEANUP_FREE char *list = pj_path_join(shop->folder.path, "starts");
    for (size_t i = 0; i < WORKERS; i++)
        order(shop, i, BAD);
    run(shop, WORKERS);
    for (size_t i = 0; i < WORKERS; i++)
        expect_end(shop, i, PJ_MAKING_MADE, NULL);
    assert_int_equal(pj_file_read(AT_FDCWD, list, 1 << 20, &starts, NULL), 0);
    assert_in_range(starts.size, least, most);
}

/* Others that cannot open it are not tried again and again beside one that can. */
static void test_library_gone_for_others(void **state)
{
    (void)state;
    CLEANUP_SHOP struct shop shop;
    make_shop(&shop, "slow kernel=bad ms=100\n");
    PJ_CLEANUP_FREE char *program = open_with_own_program(&shop);
    assert_int_equal(unlink(shop.library), 0);
    expect_made_by(&shop, 2, WORKERS);
}

/* A process that cannot be started is one less. */
static void test_program_gone_for_others(void **state)
{
    (void)state;
    CLEANUP_SHOP struct shop shop;
    make_shop(&shop, "slow kernel=bad ms=20\n");
    PJ_CLEANUP_FREE char *program = open_with_own_program(&shop);
    assert_int_equal(unlink(program), 0);
    expect_made_by(&shop, 1, 1);
}

/* What an order made is the caller's as soon as it is made; what the caller says ends the run. */
static int take(void *context, struct pj_making *making, struct pj_error **err)
{
    struct shop *shop = context;
    bool made = making->end == PJ_MAKING_MADE;
    tell(shop, "taken %s: %s\n", making->title, made ? "made" : making->reason);
    assert_int_equal(pj_making_result(making, PJ_OUTPUT_PTX)->size > 0, made);
    pj_making_free(making);
    return made ? 0 : pj_error_set(err, PJ_ERROR_IO, "no more");
}

static void test_taken(void **state)
{
    (void)state;
    CLEANUP_SHOP struct shop shop;
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    make_shop(&shop, "");
    shop.options.observer = NULL;
    shop.options.taken = take;
    shop.options.context = &shop;
    open_shop(&shop);
    order(&shop, 0, GOOD GOOD);
    order(&shop, 1, "#error so\n");
    order(&shop, 2, "x");
    assert_int_equal(pj_maker_run(shop.maker, shop.makings, 3, &err), PJ_ERROR_IO);
    assert_string_equal(pj_error_message(err), "no more");
    assert_string_equal(shop.text, "taken order0: made\n"
                                   "taken order1: n.cu(1): catastrophic error: #error directive: so\n");
    assert_int_equal(shop.makings[2].end, PJ_MAKING_NOT_TRIED);
}

/* ptxas is a program; it says itself which one it is. */
static void test_ptxas(void **state)
{
    (void)state;
    CLEANUP_SHOP struct shop shop;
    static const char ptx[] = ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k() { ret; }\n";
    make_shop(&shop, "");
    shop.options.library = PJ_LIBRARY_PTXAS;
    shop.paths[0] = TOOLKIT "/bin/ptxas";
    shop.arguments[0] = "-arch=sm_90";
    open_shop(&shop);
    const struct pj_compiler *compiler = pj_maker_compiler(shop.maker);
    assert_int_equal(compiler->version, 13000);
    assert_string_equal(compiler->library.build, "13.0.88");
    assert_string_equal(compiler->library.path, TOOLKIT "/bin/ptxas");
    order(&shop, 0, ptx);
    order(&shop, 1, ".version 1.0\n");
    shop.makings[0].outputs = shop.makings[1].outputs = PJ_OUTPUT_CUBIN | PJ_OUTPUT_LOG;
    run(&shop, 2);
    assert_int_equal(shop.makings[0].end, PJ_MAKING_MADE);
    assert_true(pj_making_result(&shop.makings[0], PJ_OUTPUT_CUBIN)->size > 0);
    assert_int_equal(shop.makings[1].end, PJ_MAKING_REFUSED);
    assert_string_equal(shop.makings[1].result_name, "exit status 255");
    pj_maker_free(PJ_STEAL(shop.maker));
    shop.paths[0] = "/nonexistent/ptxas";
    expect_not_opened(
        &shop, PJ_ERROR_ENVIRONMENT,
        "no usable ptxas was found:\ncannot start /nonexistent/ptxas: No such file or directory;\n"
        "install the CUDA toolkit (package cuda-nvcc), set CUDA_HOME to it, or name the program with "
        "--ptxas PATH");
}

static void test_first_error(void **state)
{
    static const struct {
        const char *log, *line;
    } rows[] = {
        {"", ""},
        {"one\ntwo\n", "one"},
        {"a.cu(1): warning: x\na.cu(2): error: y\nmore\n", "a.cu(2): error: y"},
        {"\nptxas fatal   : z", "ptxas fatal   : z"},
        {"info\nERROR 9: finish\nerror: later\n", "ERROR 9: finish"},
        {"error\n", "error"},
        {"error_check.cuh(1): warning #177-D: x\nmy-error.h(3): warning: no error yet\nb.cu(4): error: y\n",
         "b.cu(4): error: y"},
        {"nvrtc: error: x", "nvrtc: error: x"},
        {"error   : Undefined reference to 'x'", "error   : Undefined reference to 'x'"},
        {"a\nb.cu(1): catastrophic error: z", "b.cu(1): catastrophic error: z"},
        {"a\nb.cu(1): error #20014-D: z", "b.cu(1): error #20014-D: z"},
        {"terror\nfatality\n", "terror"},
        {"\nx", ""},
    };
    (void)state;
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    for (size_t i = 0; i < PJ_COUNT(rows); i++)
        assert_string_equal(pj_maker_first_error(rows[i].log, &arena), rows[i].line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_compiler),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_crashes),
        cmocka_unit_test(test_hangs),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_few_descriptors),
        cmocka_unit_test(test_result_not_written),
        cmocka_unit_test(test_interrupt),
        cmocka_unit_test(test_deadline),
        cmocka_unit_test(test_not_opened),
        cmocka_unit_test(test_library_gone),
        cmocka_unit_test(test_library_gone_for_others),
        cmocka_unit_test(test_program_gone_for_others),
        cmocka_unit_test(test_taken),
        cmocka_unit_test(test_ptxas),
        cmocka_unit_test(test_first_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
