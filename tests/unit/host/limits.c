/* SPDX-License-Identifier: Apache-2.0 */
/* Cores, memory and kills for memory, over stand-in roots with cgroups of both versions. */
#include "folder.h"

#include <sched.h>

#include "host/limits.h"

/* A file of the root and its text. */
struct entry {
    const char *name, *text;
};

/* The list ends with a NULL name. */
static void make_root(struct folder *folder, const struct entry *entries)
{
    folder_make(folder);
    for (; entries->name; entries++)
        folder_write(folder, entries->name, entries->text);
}

#define CG "sys/fs/cgroup"
#define V1_LINES                                                                                             \
    "12:cpuset:/wrong\n11:memory:/docker/abc\n4:cpu,cpuacct:/docker/abc\n1:name=systemd:/docker/abc\n"

static size_t affinity(void)
{
    cpu_set_t set;
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    return (size_t)CPU_COUNT(&set);
}

static void test_cores(void **state)
{
    static const struct {
        size_t quota; /* 0 = none */
        struct entry entries[6];
    } cases[] = {
        {0, {{NULL, NULL}}},
        {1, {{"proc/self/cgroup", "0::/\n"}, {CG "/cpu.max", "50000 100000\n"}, {NULL, NULL}}},
        {1, {{"proc/self/cgroup", "0::/\n"}, {CG "/cpu.max", "100000 100000\n"}, {NULL, NULL}}},
        {2, {{"proc/self/cgroup", "0::/\n"}, {CG "/cpu.max", "100001 100000\n"}, {NULL, NULL}}},
        {1, {{"proc/self/cgroup", "0::/\n"}, {CG "/cpu.max", "1 9223372036854775807\n"}, {NULL, NULL}}},
        {0, {{"proc/self/cgroup", "0::/\n"}, {CG "/cpu.max", "max 100000\n"}, {NULL, NULL}}},
        {0, {{"proc/self/cgroup", "0::/\n"}, {CG "/cpu.max", "0 0\n"}, {NULL, NULL}}},
        {0, {{"proc/self/cgroup", "0::/\n"}, {CG "/cpu.max", ""}, {NULL, NULL}}},
        /* The group's own quota. */
        {1, {{"proc/self/cgroup", "0::/a/b\n"}, {CG "/a/b/cpu.max", "100000 100000\n"}, {NULL, NULL}}},
        /* That of a group around it is as binding. */
        {1,
         {{"proc/self/cgroup", "0::/a/b/c\n"},
          {CG "/a/b/c/cpu.max", "max 100000\n"},
          {CG "/a/cpu.max", "100000 100000\n"},
          {NULL, NULL}}},
        /* A container that sees its own group as the top, under the name it has outside. */
        {1, {{"proc/self/cgroup", "0::/outside/x\n"}, {CG "/cpu.max", "70000 100000\n"}, {NULL, NULL}}},
        /* Not readable where it is: the group alone. */
        {1, {{CG "/cpu.max", "70000 100000\n"}, {NULL, NULL}}},
        {1,
         {{"proc/self/cgroup", V1_LINES},
          {CG "/cpu/docker/abc/cpu.cfs_quota_us", "90000\n"},
          {CG "/cpu/docker/abc/cpu.cfs_period_us", "100000\n"},
          {NULL, NULL}}},
        {0,
         {{"proc/self/cgroup", V1_LINES},
          {CG "/cpu/docker/abc/cpu.cfs_quota_us", "-1\n"},
          {CG "/cpu/docker/abc/cpu.cfs_period_us", "100000\n"},
          {NULL, NULL}}},
        {1,
         {{"proc/self/cgroup", V1_LINES},
          {CG "/cpu/cpu.cfs_quota_us", "90000\n"},
          {CG "/cpu/cpu.cfs_period_us", "100000\n"},
          {NULL, NULL}}},
        {0, {{"proc/self/cgroup", V1_LINES}, {CG "/cpu/cpu.cfs_quota_us", "90000\n"}, {NULL, NULL}}},
    };
    (void)state;
    for (size_t i = 0; i < PJ_COUNT(cases); i++) {
        CLEANUP_FOLDER struct folder folder;
        make_root(&folder, cases[i].entries);
        const struct pj_host_root root = {folder.path};
        size_t wanted = cases[i].quota && cases[i].quota < affinity() ? cases[i].quota : affinity();
        if (pj_host_cores(&root) != wanted)
            fail_msg("case %zu: %zu", i, pj_host_cores(&root));
    }
}

#define MEMINFO "MemTotal:       16000000 kB\nMemFree:          100000 kB\nMemAvailable:    8000000 kB\n"

static void test_memory(void **state)
{
    static const struct {
        uint64_t bytes;
        struct entry entries[8];
    } cases[] = {
        {0, {{NULL, NULL}}},
        {UINT64_C(8192000000), {{"proc/meminfo", MEMINFO}, {NULL, NULL}}},
        {0, {{"proc/meminfo", "MemTotal: 1 kB\nMemAvailableX: 2 kB\n"}, {NULL, NULL}}},
        {700,
         {{"proc/meminfo", MEMINFO},
          {"proc/self/cgroup", "0::/a\n"},
          {CG "/a/memory.max", "1000\n"},
          {CG "/a/memory.current", "300\n"},
          {NULL, NULL}}},
        /* Pages of files that nobody needs any more are as good as free. */
        {900,
         {{"proc/self/cgroup", "0::/a\n"},
          {CG "/a/memory.max", "1000\n"},
          {CG "/a/memory.current", "300\n"},
          {CG "/a/memory.stat", "anon 100\nfile 200\ninactive_anon 5\ninactive_file 200\n"},
          {NULL, NULL}}},
        {1000,
         {{"proc/self/cgroup", "0::/a\n"},
          {CG "/a/memory.max", "1000\n"},
          {CG "/a/memory.current", "300\n"},
          {CG "/a/memory.stat", "inactive_file 400\n"},
          {NULL, NULL}}},
        /* Full, or over its limit: something, so that it is not taken for "not known". */
        {1,
         {{"proc/self/cgroup", "0::/a\n"},
          {CG "/a/memory.max", "1000\n"},
          {CG "/a/memory.current", "1300\n"},
          {NULL, NULL}}},
        {1,
         {{"proc/self/cgroup", "0::/a\n"},
          {CG "/a/memory.max", "0\n"},
          {CG "/a/memory.current", "0\n"},
          {NULL, NULL}}},
        {UINT64_C(8192000000),
         {{"proc/meminfo", MEMINFO},
          {"proc/self/cgroup", "0::/a\n"},
          {CG "/a/memory.max", "max\n"},
          {CG "/a/memory.current", "300\n"},
          {NULL, NULL}}},
        /* The group around it leaves less. */
        {50,
         {{"proc/meminfo", MEMINFO},
          {"proc/self/cgroup", "0::/a/b\n"},
          {CG "/a/b/memory.max", "1000\n"},
          {CG "/a/b/memory.current", "300\n"},
          {CG "/a/memory.max", "2000\n"},
          {CG "/a/memory.current", "1950\n"},
          {NULL, NULL}}},
        {600,
         {{"proc/meminfo", MEMINFO},
          {"proc/self/cgroup", V1_LINES},
          {CG "/memory/docker/abc/memory.limit_in_bytes", "1000\n"},
          {CG "/memory/docker/abc/memory.usage_in_bytes", "500\n"},
          {CG "/memory/docker/abc/memory.stat", "inactive_file 1\ntotal_inactive_file 100\n"},
          {NULL, NULL}}},
        {500,
         {{"proc/self/cgroup", V1_LINES},
          {CG "/memory/memory.limit_in_bytes", "1000\n"},
          {CG "/memory/memory.usage_in_bytes", "500\n"},
          {NULL, NULL}}},
        /* What v1 writes for "no limit". */
        {0,
         {{"proc/self/cgroup", V1_LINES},
          {CG "/memory/memory.limit_in_bytes", "9223372036854771712\n"},
          {CG "/memory/memory.usage_in_bytes", "500\n"},
          {NULL, NULL}}},
    };
    (void)state;
    for (size_t i = 0; i < PJ_COUNT(cases); i++) {
        CLEANUP_FOLDER struct folder folder;
        make_root(&folder, cases[i].entries);
        const struct pj_host_root root = {folder.path};
        uint64_t bytes = pj_host_memory_available(&root);
        if (bytes != cases[i].bytes)
            fail_msg("case %zu: %llu", i, (unsigned long long)bytes);
    }
}

static void test_oom_kills(void **state)
{
    static const struct {
        bool known;
        uint64_t count;
        struct entry entries[5];
    } cases[] = {
        {false, 7, {{NULL, NULL}}},
        {true,
         3,
         {{"proc/self/cgroup", "0::/a\n"},
          {CG "/a/memory.events", "low 0\nhigh 0\nmax 9\noom 4\noom_kill 3\noom_group_kill 1\n"},
          {NULL, NULL}}},
        {true,
         5,
         {{"proc/self/cgroup", "0::/not/visible\n"}, {CG "/memory.events", "oom_kill 5\n"}, {NULL, NULL}}},
        {true,
         2,
         {{"proc/self/cgroup", "0::/a/b\n"},
          {CG "/a/b/memory.events", "oom_kill 2\n"},
          {CG "/a/memory.events", "oom_kill 9\n"},
          {NULL, NULL}}},
        {true,
         6,
         {{"proc/self/cgroup", V1_LINES},
          {CG "/memory/docker/abc/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 6\n"},
          {NULL, NULL}}},
        /* Kernels before 4.13 do not count. */
        {false,
         7,
         {{"proc/self/cgroup", V1_LINES},
          {CG "/memory/docker/abc/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\n"},
          {NULL, NULL}}},
    };
    (void)state;
    for (size_t i = 0; i < PJ_COUNT(cases); i++) {
        CLEANUP_FOLDER struct folder folder;
        make_root(&folder, cases[i].entries);
        const struct pj_host_root root = {folder.path};
        uint64_t count = 7;
        assert_int_equal(pj_host_oom_kills(&root, &count), cases[i].known);
        assert_int_equal(count, cases[i].count);
    }
}

/* A path that does not fit is passed over, as if the group were not visible. */
static void test_long_group_path(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    PJ_CLEANUP_BUFFER struct pj_buffer lines = {0};
    pj_buffer_puts(&lines, "no colon here\none:colon\n0::/");
    for (int i = 0; i < 2000; i++)
        pj_buffer_putc(&lines, 'x');
    const struct entry entries[] = {
        {"proc/self/cgroup", pj_buffer_text(&lines)}, {CG "/memory.events", "oom_kill 1\n"}, {NULL, NULL}};
    make_root(&folder, entries);
    const struct pj_host_root root = {folder.path};
    uint64_t count = 0;
    assert_true(pj_host_oom_kills(&root, &count));
    assert_int_equal(count, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cores),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_oom_kills),
        cmocka_unit_test(test_long_group_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
