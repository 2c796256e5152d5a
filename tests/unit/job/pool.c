/* SPDX-License-Identifier: Apache-2.0 */
/* Every way in which a worker can go wrong, and what the pool says of it; nothing is left behind. */
#include "folder.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "descriptors.h"
#include "job/pool.h"

#define MODE "NVIDIA_ODD_WORKER"

static struct pj_pool *make_pool(double start_timeout_ms, const char *root, int interrupt_fd)
{
    const struct pj_pool_options options = {.worker_program = ODD_WORKER,
                                            .root = {root ? root : "/nonexistent"},
                                            .interrupt_fd = interrupt_fd,
                                            .start_timeout_ms = start_timeout_ms};
    struct pj_pool *pool = NULL;
    assert_int_equal(pj_pool_new(&options, &pool, NULL), 0);
    return pool;
}

static struct pj_worker *start(struct pj_pool *pool, const char *mode, void *owner)
{
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    const struct pj_worker_spec spec = {.cache_path = "/c", .owner = owner};
    struct pj_worker *worker = NULL;
    assert_int_equal(setenv(MODE, mode, 1), 0);
    expect_success(pj_pool_start(pool, &spec, &worker, &err), &err);
    return worker;
}

/* The next event, which must come within ten seconds. */
static struct pj_event wait_for(struct pj_pool *pool, enum pj_event_kind kind)
{
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    struct pj_event event;
    expect_success(pj_pool_wait(pool, pj_clock_ms() + 10000, &event, &err), &err);
    if (event.kind == PJ_EVENT_DIED && kind != PJ_EVENT_DIED)
        fail_msg("died: %s", event.death.text);
    assert_int_equal(event.kind, kind);
    return event;
}

static void load(struct pj_pool *pool, struct pj_worker *worker, uint64_t job, int fd, double timeout_ms)
{
    const struct pj_wire_message message = {.type = PJ_WIRE_LOAD, .load = {.job = job}};
    const struct pj_wire_descriptors descriptors = {.count = fd >= 0, .fds = {fd}};
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    expect_success(pj_pool_give(pool, worker, &message, &descriptors, timeout_ms, &err), &err);
}

static void make(struct pj_pool *pool, struct pj_worker *worker, uint64_t job,
                 const struct pj_wire_descriptors *descriptors)
{
    const struct pj_wire_message message = {.type = PJ_WIRE_MAKE, .make = {.job = job}};
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    expect_success(pj_pool_give(pool, worker, &message, descriptors, 10000, &err), &err);
}

static void finish(struct pj_pool *pool, size_t descriptors)
{
    pj_pool_free(pool);
    expect_no_children();
    assert_int_equal(count_descriptors(), descriptors);
}

static void test_good_worker(void **state)
{
    (void)state;
    size_t descriptors = count_descriptors();
    int owner = 0;
    PJ_CLEANUP_CLOSE int image = memfd_create("image", MFD_CLOEXEC);
    assert_int_equal(ftruncate(image, 12345), 0);
    assert_int_equal(setenv("LD_PRELOAD_LIKE", "dropped", 1), 0);
    struct pj_pool *pool = make_pool(10000, NULL, -1);
    struct pj_worker *worker = start(pool, "good", &owner);
    assert_int_equal(pj_pool_size(pool), 1);
    struct pj_event event = wait_for(pool, PJ_EVENT_STARTED);
    assert_ptr_equal(event.worker, worker);
    assert_ptr_equal(event.owner, &owner);
    assert_int_equal(event.started->cuda_version, 4); /* input, output, error, the socket */
    assert_non_null(strstr(event.started->message, "CUDA_CACHE_PATH=/c\n"));
    assert_null(strstr(event.started->message, "LD_PRELOAD_LIKE"));
    for (uint64_t job = 40; job < 43; job++) {
        load(pool, worker, job, image, 10000);
        event = wait_for(pool, PJ_EVENT_LOADED);
        assert_ptr_equal(event.worker, worker);
        assert_int_equal(event.loaded->job, job);
        assert_int_equal(event.loaded->peak_rss_bytes, 12345);
    }
    pj_pool_stop(pool, worker);
    assert_int_equal(pj_pool_size(pool), 0);
    finish(pool, descriptors + 1);
}

/* What becomes of a worker, before it was given anything to load. */
static const struct death {
    const char *mode;
    enum pj_death_cause cause;
    int signal, status;
    const char *text;
} deaths[] = {
    {"crashes", PJ_DEATH_CRASHED, SIGABRT, 0, "killed by signal 6 (Aborted)"},
    {"exits", PJ_DEATH_CRASHED, 0, 7, "exited with status 7"},
    {"garbage", PJ_DEATH_PROTOCOL, SIGKILL, 0, "a message of 100 bytes and type 4008636142 is malformed"},
    {"too-long", PJ_DEATH_PROTOCOL, SIGKILL, 0, "a message is longer than the 65536 bytes allowed"},
    {"other-build", PJ_DEATH_PROTOCOL, SIGKILL, 0, "the worker program is another build of prejit"},
    {"starts-unasked", PJ_DEATH_PROTOCOL, SIGKILL, 0, "the worker sent a message that was not asked for"},
    {"steps-unasked", PJ_DEATH_PROTOCOL, SIGKILL, 0, "the worker sent a message that was not asked for"},
    {"steps-forever", PJ_DEATH_PROTOCOL, SIGKILL, 0, "the worker sent a message that was not asked for"},
    {"crashes-in-step", PJ_DEATH_CRASHED, SIGABRT, 0,
     "killed by signal 6 (Aborted) while calling cuInit; it said last: \"free(): invalid pointer\""},
    {"loads-unasked", PJ_DEATH_PROTOCOL, SIGKILL, 0, "the worker sent a message that was not asked for"},
    {"greets-twice", PJ_DEATH_PROTOCOL, SIGKILL, 0, "the worker sent a message that was not asked for"},
    {"closes", PJ_DEATH_PROTOCOL, SIGKILL, 0, "the worker closed its socket and went on"},
};

static void expect_death(const struct pj_event *event, const struct death *death)
{
    assert_string_equal(event->death.text, death->text);
    assert_int_equal(event->death.cause, death->cause);
    assert_int_equal(event->death.signal, death->signal);
    assert_int_equal(event->death.status, death->status);
}

static void test_deaths(void **state)
{
    (void)state;
    size_t descriptors = count_descriptors();
    for (size_t i = 0; i < PJ_COUNT(deaths); i++) {
        struct pj_pool *pool = make_pool(10000, NULL, -1);
        struct pj_worker *worker = start(pool, deaths[i].mode, pool);
        struct pj_event event = wait_for(pool, PJ_EVENT_DIED);
        expect_death(&event, &deaths[i]);
        assert_false(event.death.busy);
        assert_ptr_equal(event.worker, worker);
        assert_ptr_equal(event.owner, pool);
        assert_int_equal(pj_pool_size(pool), 0);
        assert_int_equal(pj_pool_wait(pool, 0, &event, NULL), 0);
        assert_int_equal(event.kind, PJ_EVENT_TIME);
        finish(pool, descriptors);
    }
}

static const struct death load_deaths[] = {
    {"crashes-in-load", PJ_DEATH_CRASHED, SIGSEGV, 0, "killed by signal 11 (Segmentation fault)"},
    {"killed-in-load", PJ_DEATH_CRASHED, SIGKILL, 0, "killed by signal 9 (Killed)"},
    {"exits-in-load", PJ_DEATH_CRASHED, 0, 3, "exited with status 3"},
    {"garbage-in-load", PJ_DEATH_PROTOCOL, SIGKILL, 0,
     "a message of 100 bytes and type 4008636142 is malformed"},
    {"starts-in-load", PJ_DEATH_PROTOCOL, SIGKILL, 0, "the worker sent a message that was not asked for"},
    {"answers-another-job", PJ_DEATH_PROTOCOL, SIGKILL, 0,
     "the worker sent a message that was not asked for"},
    {"answers-made", PJ_DEATH_PROTOCOL, SIGKILL, 0, "the worker sent a message that was not asked for"},
    {"answers-an-order", PJ_DEATH_PROTOCOL, SIGKILL, 0, "the worker sent a message that was not asked for"},
};

static void test_deaths_in_load(void **state)
{
    (void)state;
    size_t descriptors = count_descriptors();
    for (size_t i = 0; i < PJ_COUNT(load_deaths); i++) {
        struct pj_pool *pool = make_pool(10000, NULL, -1);
        struct pj_worker *worker = start(pool, load_deaths[i].mode, NULL);
        (void)wait_for(pool, PJ_EVENT_STARTED);
        load(pool, worker, 4711, -1, 10000);
        struct pj_event event = wait_for(pool, PJ_EVENT_DIED);
        expect_death(&event, &load_deaths[i]);
        assert_true(event.death.busy);
        assert_int_equal(event.death.job, 4711);
        finish(pool, descriptors);
    }
}

/* A worker of a compiler: several files go along, and another answer comes back. */
static void test_compiler(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    size_t before = count_descriptors();
    static const char *const paths[] = {"/opt/a/libnvrtc.so.13", "libnvrtc.so"};
    const struct pj_worker_spec spec = {.library = PJ_LIBRARY_NVRTC,
                                        .library_paths = paths,
                                        .library_path_count = PJ_COUNT(paths),
                                        .directory = folder.path};
    struct pj_wire_descriptors files = {.count = 0};
    for (int i = 0; i < 3; i++) {
        files.fds[files.count] = memfd_create("part", MFD_CLOEXEC);
        assert_int_equal(ftruncate(files.fds[files.count++], 100 + i), 0);
    }
    struct pj_pool *pool = make_pool(10000, NULL, -1);
    struct pj_worker *worker = NULL;
    assert_int_equal(setenv(MODE, "tells-start", 1), 0);
    assert_int_equal(pj_pool_start(pool, &spec, &worker, NULL), 0);
    struct pj_event event = wait_for(pool, PJ_EVENT_STARTED);
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    const char *told = pj_arena_printf(
        &arena, "library 1 in %s\npath /opt/a/libnvrtc.so.13\npath libnvrtc.so\n", folder.path);
    assert_memory_equal(event.started->message, told, strlen(told));
    assert_non_null(strstr(event.started->message, "\nCUDA_CACHE_DISABLE=1\n"));
    assert_null(strstr(event.started->message, "CUDA_CACHE_PATH"));
    assert_int_equal(event.started->cuda_version, 4);
    for (uint64_t job = 0; job < 2; job++) {
        make(pool, worker, job, &files);
        event = wait_for(pool, PJ_EVENT_MADE);
        assert_ptr_equal(event.worker, worker);
        assert_null(event.loaded);
        assert_int_equal(event.made->job, job);
        assert_int_equal(event.made->peak_rss_bytes, 303);
    }
    pj_wire_close(&files);
    finish(pool, before);
}

/* More names than an order may have are as many as it may have. */
static void test_many_paths(void **state)
{
    (void)state;
    size_t descriptors = count_descriptors();
    const char *paths[PJ_WIRE_PATHS_MAX + 5];
    for (size_t i = 0; i < PJ_COUNT(paths); i++)
        paths[i] = i < PJ_WIRE_PATHS_MAX ? "/a" : "/surplus";
    const struct pj_worker_spec spec = {
        .library = PJ_LIBRARY_NVJITLINK, .library_paths = paths, .library_path_count = PJ_COUNT(paths)};
    struct pj_pool *pool = make_pool(10000, NULL, -1);
    struct pj_worker *worker = NULL;
    assert_int_equal(setenv(MODE, "tells-start", 1), 0);
    assert_int_equal(pj_pool_start(pool, &spec, &worker, NULL), 0);
    struct pj_event event = wait_for(pool, PJ_EVENT_STARTED);
    assert_non_null(strstr(event.started->message, "library 2 in "));
    assert_non_null(strstr(event.started->message, "path /a\n"));
    assert_null(strstr(event.started->message, "surplus"));
    finish(pool, descriptors);
}

static const struct death make_deaths[] = {
    {"crashes-in-make", PJ_DEATH_CRASHED, SIGSEGV, 0, "killed by signal 11 (Segmentation fault)"},
    {"answers-loaded", PJ_DEATH_PROTOCOL, SIGKILL, 0, "the worker sent a message that was not asked for"},
    {"makes-another-job", PJ_DEATH_PROTOCOL, SIGKILL, 0, "the worker sent a message that was not asked for"},
};

static void test_deaths_in_make(void **state)
{
    (void)state;
    size_t descriptors = count_descriptors();
    for (size_t i = 0; i < PJ_COUNT(make_deaths); i++) {
        struct pj_pool *pool = make_pool(10000, NULL, -1);
        struct pj_worker *worker = start(pool, make_deaths[i].mode, NULL);
        (void)wait_for(pool, PJ_EVENT_STARTED);
        make(pool, worker, 4712, NULL);
        struct pj_event event = wait_for(pool, PJ_EVENT_DIED);
        expect_death(&event, &make_deaths[i]);
        assert_true(event.death.busy);
        assert_int_equal(event.death.job, 4712);
        finish(pool, descriptors);
    }
}

/* The answer came; what it says later is not for anybody. */
static void test_second_answers(void **state)
{
    (void)state;
    static const char *const modes[] = {"answers-twice", "starts-twice"};
    size_t descriptors = count_descriptors();
    for (size_t i = 0; i < PJ_COUNT(modes); i++) {
        struct pj_pool *pool = make_pool(10000, NULL, -1);
        struct pj_worker *worker = start(pool, modes[i], NULL);
        (void)wait_for(pool, PJ_EVENT_STARTED);
        if (i == 0) {
            load(pool, worker, 1, -1, 10000);
            (void)wait_for(pool, PJ_EVENT_LOADED);
        }
        struct pj_event event = wait_for(pool, PJ_EVENT_DIED);
        assert_string_equal(event.death.text, "the worker sent a message that was not asked for");
        assert_int_equal(event.death.cause, PJ_DEATH_PROTOCOL);
        assert_false(event.death.busy);
        finish(pool, descriptors);
    }
}

static void test_start_deadline(void **state)
{
    (void)state;
    static const struct {
        const char *mode;
        double ms; /* the last one must come as far as its steps */
        const char *text;
    } cases[] = {
        {"silent", 150, "the start of the worker program did not end within 150 ms"},
        {"hangs-in-start", 150, "the start of the worker program did not end within 150 ms"},
        {"hangs-in-step", 2000, "calling cuInit did not end within 2.0 s"},
    };
    size_t descriptors = count_descriptors();
    for (size_t i = 0; i < PJ_COUNT(cases); i++) {
        struct pj_pool *pool = make_pool(cases[i].ms, NULL, -1);
        double begin = pj_clock_ms();
        (void)start(pool, cases[i].mode, NULL);
        struct pj_event event = wait_for(pool, PJ_EVENT_DIED);
        expect_death(&event, &(struct death){"", PJ_DEATH_TIMED_OUT, SIGKILL, 0, cases[i].text});
        assert_true(pj_clock_ms() - begin >= cases[i].ms);
        finish(pool, descriptors);
    }
}

static void test_load_deadline(void **state)
{
    (void)state;
    size_t descriptors = count_descriptors();
    struct pj_pool *pool = make_pool(10000, NULL, -1);
    struct pj_worker *hanging = start(pool, "hangs-in-load", &descriptors);
    (void)wait_for(pool, PJ_EVENT_STARTED);
    struct pj_worker *other = start(pool, "good", NULL);
    (void)wait_for(pool, PJ_EVENT_STARTED);
    load(pool, hanging, 5, -1, 100);
    struct pj_event event = wait_for(pool, PJ_EVENT_DIED);
    expect_death(&event,
                 &(struct death){"", PJ_DEATH_TIMED_OUT, SIGKILL, 0, "its work did not end within 100 ms"});
    assert_true(event.death.busy);
    assert_int_equal(event.death.job, 5);
    assert_ptr_equal(event.worker, hanging);
    assert_ptr_equal(event.owner, &descriptors);
    load(pool, other, 6, -1, 10000); /* the others go on */
    assert_int_equal(wait_for(pool, PJ_EVENT_LOADED).loaded->job, 6);
    /* An idle worker has no deadline. */
    assert_int_equal(pj_pool_wait(pool, pj_clock_ms() + 50, &event, NULL), 0);
    assert_int_equal(event.kind, PJ_EVENT_TIME);
    finish(pool, descriptors);
}

/* Memory is blamed only where the kernel counted a kill. */
static void test_out_of_memory(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    folder_write(&folder, "sys/fs/cgroup/memory.events", "oom_kill 4\n");
    size_t descriptors = count_descriptors();
    struct pj_pool *pool = make_pool(10000, folder.path, -1);
    static const struct {
        const char *mode, *events;
        enum pj_death_cause cause;
        const char *text;
    } cases[] = {
        {"killed-in-load", "oom_kill 4\n", PJ_DEATH_CRASHED, "killed by signal 9 (Killed)"},
        {"crashes-in-load", "oom_kill 5\n", PJ_DEATH_CRASHED, "killed by signal 11 (Segmentation fault)"},
        {"killed-in-load", "oom_kill 5\n", PJ_DEATH_OUT_OF_MEMORY, "killed by the kernel: out of memory"},
        {"killed-in-load", "oom_kill 5\n", PJ_DEATH_CRASHED, "killed by signal 9 (Killed)"},
        {"killed-in-load", "", PJ_DEATH_CRASHED, "killed by signal 9 (Killed)"},
    };
    for (size_t i = 0; i < PJ_COUNT(cases); i++) {
        struct pj_worker *worker = start(pool, cases[i].mode, NULL);
        (void)wait_for(pool, PJ_EVENT_STARTED);
        folder_write(&folder, "sys/fs/cgroup/memory.events", cases[i].events);
        load(pool, worker, 1, -1, 10000);
        struct pj_event event = wait_for(pool, PJ_EVENT_DIED);
        assert_string_equal(event.death.text, cases[i].text);
        assert_int_equal(event.death.cause, cases[i].cause);
    }
    finish(pool, descriptors);
}

static void test_interrupt(void **state)
{
    (void)state;
    size_t descriptors = count_descriptors();
    int interrupt = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    const uint64_t one = 1;
    struct pj_event event;
    struct pj_pool *pool = make_pool(10000, NULL, interrupt);
    (void)start(pool, "good", NULL);
    (void)wait_for(pool, PJ_EVENT_STARTED);
    double begin = pj_clock_ms();
    assert_int_equal(pj_pool_wait(pool, begin + 30, &event, NULL), 0);
    assert_int_equal(event.kind, PJ_EVENT_TIME);
    assert_true(pj_clock_ms() >= begin + 30);
    assert_int_equal(write(interrupt, &one, sizeof one), sizeof one);
    assert_int_equal(pj_pool_wait(pool, (double)INFINITY, &event, NULL), 0);
    assert_int_equal(event.kind, PJ_EVENT_INTERRUPTED);
    assert_int_equal(pj_pool_size(pool), 1); /* whom to end is the caller's decision */
    pj_close(interrupt);
    finish(pool, descriptors);
}

/* A worker that answers but never reads fills the socket; the parent does not wait for it. */
static void test_deaf_worker(void **state)
{
    (void)state;
    size_t descriptors = count_descriptors();
    struct pj_pool *pool = make_pool(10000, NULL, -1);
    struct pj_worker *worker = start(pool, "deaf", NULL);
    (void)wait_for(pool, PJ_EVENT_STARTED);
    struct pj_event event = {.kind = PJ_EVENT_LOADED};
    for (uint64_t job = 0; event.kind == PJ_EVENT_LOADED; job++) {
        assert_true(job < 100000);
        load(pool, worker, job, -1, 300);
        assert_int_equal(pj_pool_wait(pool, pj_clock_ms() + 10000, &event, NULL), 0);
    }
    expect_death(&event,
                 &(struct death){"", PJ_DEATH_TIMED_OUT, SIGKILL, 0, "its work did not end within 300 ms"});
    finish(pool, descriptors);
}

/* A worker that is gone before it is given work: no error, but an event with the cause. */
static void test_load_after_death(void **state)
{
    (void)state;
    size_t descriptors = count_descriptors();
    struct pj_pool *pool = make_pool(10000, NULL, -1);
    struct pj_worker *worker = start(pool, "exits", NULL);
    siginfo_t info;
    assert_int_equal(waitid(P_ALL, 0, &info, WEXITED | WNOWAIT), 0);
    load(pool, worker, 9, -1, 10000);
    struct pj_event event = wait_for(pool, PJ_EVENT_DIED);
    assert_int_equal(event.death.status, 7);
    assert_true(event.death.busy);
    assert_int_equal(event.death.job, 9);
    finish(pool, descriptors);
}

static void test_no_program(void **state)
{
    (void)state;
    size_t descriptors = count_descriptors();
    const struct pj_pool_options options = {
        .worker_program = "/nonexistent/prejit", .root = {"/nonexistent"}, .interrupt_fd = -1};
    const struct pj_worker_spec spec = {.cache_path = "/c"};
    struct pj_error *err = NULL;
    struct pj_pool *pool = NULL;
    struct pj_worker *worker = NULL;
    assert_int_equal(pj_pool_new(&options, &pool, NULL), 0);
    expect_error(pj_pool_start(pool, &spec, &worker, &err), &err, PJ_ERROR_WORKER,
                 "cannot start the worker program /nonexistent/prejit: No such file or directory");
    assert_null(worker);
    assert_int_equal(pj_pool_size(pool), 0);
    finish(pool, descriptors);
    pj_pool_free(NULL);
}

/* Twenty at once, ended in the middle of everything. */
static void test_many(void **state)
{
    (void)state;
    size_t descriptors = count_descriptors();
    struct pj_pool *pool = make_pool(10000, NULL, -1);
    for (int i = 0; i < 20; i++)
        (void)start(pool, i % 3 ? "good" : "hangs-in-load", NULL);
    struct pj_worker *started[15];
    for (int i = 0; i < 15; i++)
        started[i] = wait_for(pool, PJ_EVENT_STARTED).worker;
    for (int i = 0; i < 15; i++)
        load(pool, started[i], 1, -1, 10000);
    assert_int_equal(pj_pool_size(pool), 20);
    finish(pool, descriptors);
}

/* A program may ignore SIGCHLD: its children are gone without anybody having heard how. */
static void test_ignored_children(void **state)
{
    (void)state;
    size_t descriptors = count_descriptors();
    struct pj_event event;
    (void)signal(SIGCHLD, SIG_IGN);
    struct pj_pool *pool = make_pool(10000, NULL, -1);
    (void)start(pool, "exits", NULL);
    event = wait_for(pool, PJ_EVENT_DIED);
    expect_death(&event, &(struct death){"", PJ_DEATH_CRASHED, 0, 0, "gone, and how it ended is not known"});
    struct pj_worker *worker = start(pool, "good", NULL);
    (void)wait_for(pool, PJ_EVENT_STARTED);
    pj_pool_stop(pool, worker);
    double end = pj_clock_ms() + 10000;
    while (count_descriptors() > descriptors && pj_clock_ms() < end)
        assert_int_equal(pj_pool_wait(pool, pj_clock_ms() + 5, &event, NULL), 0);
    assert_int_equal(count_descriptors(), descriptors); /* not kept until the pool ends */
    finish(pool, descriptors);
    (void)signal(SIGCHLD, SIG_DFL);
}

/* A worker that ends, with its socket open in a process that it started: that one is killed, and comes to us,
 * who take orphans. */
static void test_left_child(void **state)
{
    (void)state;
    size_t descriptors = count_descriptors();
    int status;
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    struct pj_pool *pool = make_pool(60000, NULL, -1);
    (void)start(pool, "leaves-a-child", NULL);
    struct pj_event event = {.kind = PJ_EVENT_TIME};
    double end = pj_clock_ms() + 10000;
    while (event.kind == PJ_EVENT_TIME && pj_clock_ms() < end)
        assert_int_equal(pj_pool_wait(pool, pj_clock_ms() + 50, &event, NULL), 0);
    assert_int_equal(event.kind, PJ_EVENT_DIED);
    expect_death(&event, &(struct death){"", PJ_DEATH_CRASHED, 0, 0, "exited with status 0"});
    assert_true(waitpid(-1, &status, 0) > 0);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGKILL);
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 0), 0);
    finish(pool, descriptors);
}

struct heard {
    size_t bytes;
    char last[256];
};

static void hear(void *context, const char *text)
{
    struct heard *heard = context;
    heard->bytes += strlen(text);
    (void)snprintf(heard->last, sizeof heard->last, "%s", text);
}

/* Nearly 1 MB on standard error of each: the begin is passed on, the workers get errors from then on. */
static void test_flood(void **state)
{
    (void)state;
    size_t descriptors = count_descriptors();
    struct heard heard = {0};
    const struct pj_pool_options options = {.worker_program = ODD_WORKER,
                                            .root = {"/nonexistent"},
                                            .interrupt_fd = -1,
                                            .start_timeout_ms = 10000,
                                            .hear = hear,
                                            .hear_context = &heard};
    struct pj_pool *pool = NULL;
    assert_int_equal(pj_pool_new(&options, &pool, NULL), 0);
    for (size_t i = 1; i <= 6; i++) {
        (void)start(pool, "floods", NULL);
        (void)wait_for(pool, PJ_EVENT_STARTED);
        assert_string_equal(heard.last,
                            i < 5 ? "(this worker writes too much to standard error: the rest is left out)"
                                  : "(workers write too much to standard error: the rest is left out)");
        assert_in_range(heard.bytes, i < 4 ? i * 50000 : 200000, i < 4 ? i * 70000 : 270000);
    }
    finish(pool, descriptors);
}

/* A caller without standard input and output: the worker has all four descriptors all the same. */
static void test_closed_standard_descriptors(void **state)
{
    (void)state;
    int input = fcntl(0, F_DUPFD_CLOEXEC, 10), output = fcntl(1, F_DUPFD_CLOEXEC, 10);
    (void)close(0);
    (void)close(1);
    struct pj_pool *pool = make_pool(10000, NULL, -1);
    const struct pj_worker_spec spec = {.cache_path = "/c"};
    struct pj_worker *worker = NULL;
    struct pj_event event = {0};
    (void)setenv(MODE, "good", 1);
    int r = pj_pool_start(pool, &spec, &worker, NULL);
    if (r == 0)
        r = pj_pool_wait(pool, pj_clock_ms() + 10000, &event, NULL);
    int open_there = event.kind == PJ_EVENT_STARTED ? event.started->cuda_version : -1;
    pj_pool_free(pool);
    (void)dup2(input, 0);
    (void)dup2(output, 1);
    pj_close(input);
    pj_close(output);
    assert_int_equal(r, 0);
    assert_int_equal(open_there, 4);
    expect_no_children();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good_worker),
        cmocka_unit_test(test_deaths),
        cmocka_unit_test(test_deaths_in_load),
        cmocka_unit_test(test_second_answers),
        cmocka_unit_test(test_compiler),
        cmocka_unit_test(test_deaths_in_make),
        cmocka_unit_test(test_many_paths),
        cmocka_unit_test(test_start_deadline),
        cmocka_unit_test(test_load_deadline),
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_interrupt),
        cmocka_unit_test(test_deaf_worker),
        cmocka_unit_test(test_load_after_death),
        cmocka_unit_test(test_no_program),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_ignored_children),
        cmocka_unit_test(test_closed_standard_descriptors),
        cmocka_unit_test(test_left_child),
        cmocka_unit_test(test_flood),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
