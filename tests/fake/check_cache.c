/* SPDX-License-Identifier: Apache-2.0 */
/* The cache directory: where it is, who may use it, what is kept, who gets the lock. Numbers are lines of
 * facts. */
#include "check.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct check_answer load_with(enum check_call call, const char *text)
{
    return check_load(&(struct check_request){.call = call, .image = text});
}

static void one_entry_for_all_calls(void)
{
    char *text = check_ptx("k", "");
    check_expect_miss(text);
    EXPECT(load_with(CALL_LOAD, text).load == CUDA_SUCCESS);
    check_write_text("k.ptx", text);
    struct check_answer answer = check_load(&(struct check_request){.call = CALL_FILE, .file = "k.ptx"});
    EXPECT(answer.load == CUDA_SUCCESS, "%d", answer.load);
    EXPECT(load_with(CALL_LIBRARY, text).wall_time_ms <= 0);
    check_expect_hit(text);
    EXPECT(check_entries("cache") == 1 && check_index("cache").count == 1);
}

static void own_arch_is_the_default_entry(void)
{
    struct check_request own = {
        .call = CALL_EX, .image = check_ptx("k", ""), .options = {{CU_JIT_TARGET, 90}}, .option_count = 1};
    struct check_request accelerated = own;
    accelerated.options[0].value = CU_TARGET_COMPUTE_90A;
    struct check_answer answer = check_load(&own);
    EXPECT(answer.load == CUDA_SUCCESS && answer.wall_time_ms > 0, "%d", answer.load);
    check_expect_hit(own.image);
    EXPECT(check_load(&accelerated).wall_time_ms <= 0);
    EXPECT(check_entries("cache") == 1);
}

static void copied_cache_hits(void)
{
    char *text = check_ptx("k", "");
    check_expect_miss(text);
    check_copy_tree("cache", "elsewhere");
    setenv("CUDA_CACHE_PATH", "elsewhere", 1); /* relative, too */
    check_expect_hit(text);
}

static void location(void)
{
    char *text = check_ptx("k", "");
    unsetenv("CUDA_CACHE_PATH");
    check_expect_miss(text);
    EXPECT(check_entries(".nv/ComputeCache") == 1);
    setenv("CUDA_CACHE_PATH", "several/missing/parents", 1);
    check_expect_miss(text);
    EXPECT(check_entries("several/missing/parents") == 1);
    EXPECT(check_mode("several") == 0700 && check_mode("several/missing/parents") == 0700);
    setenv("CUDA_CACHE_PATH", "", 1);
    check_expect_miss(text);
    check_expect_miss(text);
    unsetenv("CUDA_CACHE_PATH");
    unsetenv("HOME");
    check_expect_miss(text);
    check_expect_miss(text);
    setenv("HOME", "/proc/nowhere", 1);
    check_expect_miss(text);
    check_expect_miss(text);
}

static void modes(void)
{
    umask(0);
    check_expect_miss(check_ptx("k", "open"));
    char *entry = check_only_entry("cache");
    struct fake_buffer path = {0};
    fake_buffer_printf(&path, "cache/%s", entry);
    EXPECT(check_mode("cache") == 0700 && check_mode("cache/index") == 0666);
    EXPECT(check_mode((char *)path.data) == 0666);
    path.data[7] = 0;
    EXPECT(check_mode((char *)path.data) == 0700);
    umask(077);
    setenv("CUDA_CACHE_PATH", "second", 1);
    check_expect_miss(check_ptx("k", "closed"));
    EXPECT(check_mode("second/index") == 0600);
}

static void disabled(void)
{
    char *text = check_ptx("k", "");
    check_expect_miss(text);
    setenv("CUDA_CACHE_DISABLE", "1", 1);
    check_expect_miss(text);
    check_expect_miss(check_ptx("other", ""));
    EXPECT(check_entries("cache") == 1);
    /* Read as a number; only 1 disables. */
    static const char *const ones[] = {" 1", "01"}, *const others[] = {"0", "2", "-1", "true", ""};
    for (size_t i = 0; i < sizeof ones / sizeof ones[0]; i++) {
        setenv("CUDA_CACHE_DISABLE", ones[i], 1);
        check_expect_miss(text);
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        setenv("CUDA_CACHE_DISABLE", others[i], 1);
        check_expect_hit(text);
    }
}

static void force_rewrites(const char *variable)
{
    char *text = check_ptx("k", "");
    check_expect_miss(text);
    char *entry = check_only_entry("cache");
    struct fake_buffer path = {0};
    fake_buffer_printf(&path, "cache/%s", entry);
    struct fake_buffer good = check_read((char *)path.data);
    check_write((char *)path.data, "rubbish", 7);
    setenv(variable, "1", 1);
    check_expect_miss(text);
    struct fake_buffer rewritten = check_read((char *)path.data);
    EXPECT(rewritten.length == good.length && memcmp(rewritten.data, good.data, good.length) == 0);
    check_expect_miss(text);
    unsetenv(variable);
    check_expect_hit(text);
    EXPECT(check_index("cache").count == 1 && check_index("cache").total == check_index("cache").bytes[0]);
}

static void force_ptx_jit(void)
{
    force_rewrites("CUDA_FORCE_PTX_JIT");
}

static void force_jit(void)
{
    force_rewrites("CUDA_FORCE_JIT");
}

static void caps(void)
{
    static const char *const nothing[] = {"0", "nonsense", "2G"};
    char *text = check_ptx("k", "");
    for (size_t i = 0; i < sizeof nothing / sizeof nothing[0]; i++) {
        setenv("CUDA_CACHE_MAXSIZE", nothing[i], 1);
        check_expect_miss(text);
        check_expect_miss(text);
    }
    setenv("CUDA_CACHE_MAXSIZE", "-1", 1); /* no limit */
    check_expect_miss(text);
    check_expect_hit(text);
    /* What is there is read under any cap; a smaller one evicts only at a store. */
    setenv("CUDA_CACHE_MAXSIZE", "10", 1);
    check_expect_hit(text);
    char *other = check_ptx("other", "");
    check_expect_miss(other);
    EXPECT(check_entries("cache") == 1, "an entry above the cap is not stored");
    setenv("CUDA_CACHE_MAXSIZE", "68719476736", 1);
    check_expect_miss(other);
    EXPECT(check_entries("cache") == 2);
}

/* Six modules in turn under a cap for three: none is ever found. A hit does not make an entry younger. */
static void oldest_stored_goes_first(void)
{
    char *texts[6];
    for (int i = 0; i < 6; i++) {
        char comment[2] = {(char)('0' + i), 0};
        texts[i] = check_ptx("k", comment);
    }
    check_expect_miss(texts[0]);
    uint64_t bytes = check_index("cache").bytes[0];
    char cap[32];
    snprintf(cap, sizeof cap, "%llu", (unsigned long long)(3 * bytes + bytes / 2));
    setenv("CUDA_CACHE_MAXSIZE", cap, 1);
    for (int i = 1; i < 3; i++)
        check_expect_miss(texts[i]);
    check_expect_hit(texts[0]);
    check_expect_miss(texts[3]);
    check_expect_hit(texts[1]);
    check_expect_miss(texts[0]);
    for (int i = 1; i < 6; i++)
        check_expect_miss(texts[i]);
    for (int i = 0; i < 6; i++)
        check_expect_miss(texts[i]);
    EXPECT(check_entries("cache") == 3 && check_index("cache").count == 3);
}

static void nobody(void *argument)
{
    if (setgid(65534) != 0 || setuid(65534) != 0)
        _exit(2);
    struct check_request request = {.call = CALL_EX, .image = argument};
    struct check_answer answer = check_load(&request);
    _exit(answer.load != CUDA_SUCCESS ? 3 : answer.wall_time_ms > 0 ? 4 : 5);
}

/* Another user: closed folders, open folders with a closed index, open index. */
static void other_user(void)
{
    char *text = check_ptx("k", "");
    if (geteuid() != 0)
        check_skip("only root can become another user");
    check_expect_miss(text);
    EXPECT(chmod(".", 0755) == 0);
    EXPECT(WEXITSTATUS(check_process(nobody, text)) == 4, "closed folders: compiled");
    char *entry = check_only_entry("cache");
    char folder[] = "cache/h/h";
    EXPECT(chmod("cache", 0755) == 0);
    folder[6] = entry[0];
    folder[8] = entry[2];
    EXPECT(chmod(folder, 0755) == 0);
    folder[7] = 0;
    EXPECT(chmod(folder, 0755) == 0);
    EXPECT(WEXITSTATUS(check_process(nobody, text)) == 4, "a read-only index gives no hits");
    EXPECT(chmod("cache/index", 0666) == 0);
    EXPECT(WEXITSTATUS(check_process(nobody, text)) == 5, "a writable index is enough to hit");
    char *other = check_ptx("other", "");
    EXPECT(WEXITSTATUS(check_process(nobody, other)) == 4);
    EXPECT(check_entries("cache") == 1 && check_index("cache").count == 1, "but nothing new is stored");
}

static void index_as_link(void)
{
    char *text = check_ptx("k", "");
    EXPECT(mkdir("cache", 0700) == 0);
    check_write("real-index", "", 0);
    EXPECT(symlink("../real-index", "cache/index") == 0);
    check_expect_miss(text);
    check_expect_hit(text);
    EXPECT(check_read("real-index").length == 32);
}

/* Holds the lock in another process until it is killed. */
static pid_t hold_lock(short type)
{
    int ready[2];
    EXPECT(pipe2(ready, O_CLOEXEC) == 0);
    pid_t holder = fork();
    EXPECT(holder >= 0);
    if (holder == 0) {
        struct flock lock = {.l_type = type, .l_whence = SEEK_SET};
        int descriptor = open("cache/index", O_RDWR | O_CLOEXEC);
        if (descriptor < 0 || fcntl(descriptor, F_SETLK, &lock) != 0)
            _exit(1);
        if (write(ready[1], "", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    char byte;
    close(ready[1]);
    EXPECT(read(ready[0], &byte, 1) == 1, "the lock could not be taken");
    close(ready[0]);
    return holder;
}

static void release(pid_t holder)
{
    kill(holder, SIGKILL);
    waitpid(holder, NULL, 0);
}

/* Somebody else has the lock for long: a hit compiles again, a new entry is not kept, nothing is said. */
static void lock_given_up(void)
{
    char *text = check_ptx("k", ""), *other = check_ptx("other", "");
    check_expect_miss(text);
    pid_t holder = hold_lock(F_WRLCK);
    struct check_answer answer = check_load_text(text);
    EXPECT(answer.load == CUDA_SUCCESS && answer.wall_time_ms > 0, "%d", answer.load);
    EXPECT(answer.ms >= 380 && answer.ms < 10000, "two attempts of 200 ms each, not %f ms", answer.ms);
    EXPECT(check_load_text(other).load == CUDA_SUCCESS);
    release(holder);
    EXPECT(check_entries("cache") == 1 && check_index("cache").count == 1);
    check_expect_hit(text);
    check_expect_miss(other);
    check_expect_hit(other);
}

/* Readers share; a store does not get in beside them. */
static void lock_is_shared_by_readers(void)
{
    char *text = check_ptx("k", ""), *other = check_ptx("other", "");
    check_expect_miss(text);
    pid_t holder = hold_lock(F_RDLCK);
    struct check_answer answer = check_load_text(text);
    EXPECT(answer.load == CUDA_SUCCESS && answer.wall_time_ms <= 0, "%d", answer.load);
    answer = check_load_text(other);
    EXPECT(answer.load == CUDA_SUCCESS && answer.ms >= 180, "%f ms", answer.ms);
    release(holder);
    EXPECT(check_entries("cache") == 1);
}

/* An entry and its record written by another hand between two loads: both are used and kept. */
static void written_beside(void)
{
    char *first = check_ptx("first", ""), *second = check_ptx("second", "");
    check_expect_miss(first);
    setenv("CUDA_CACHE_PATH", "private", 1);
    check_expect_miss(second);
    struct check_index index = check_index("cache"), private = check_index("private");
    uint64_t records[4] = {index.hash[0], index.bytes[0], private.hash[0], private.bytes[0]};
    check_copy_tree("private", "cache");
    check_write_index("cache", 65, 2, records[1] + records[3], records, 2);
    setenv("CUDA_CACHE_PATH", "cache", 1);
    check_expect_hit(second);
    check_expect_hit(first);
    check_expect_miss(check_ptx("third", ""));
    index = check_index("cache");
    EXPECT(index.count == 3 && index.hash[0] == records[0] && index.hash[1] == records[2]);
    check_expect_hit(second);
}

const struct check check_cache_tests[] = {
    {"[9] load, load with options, file and library: one entry", one_entry_for_all_calls},
    {"[6][10] CU_JIT_TARGET of the own architecture is the default entry", own_arch_is_the_default_entry},
    {"[12] a copied cache hits at its new path", copied_cache_hits},
    {"[18] index may be a link", index_as_link},
    {"[18][19] another user hits only through open folders and a writable index", other_user},
    {"[19] modes of folders and files", modes},
    {"[23] a lock held for long: nothing read, nothing kept", lock_given_up},
    {"[23] readers share the lock, a store gives up beside one", lock_is_shared_by_readers},
    {"[24] caps: none, nonsense, huge, below one entry", caps},
    {"[24] the oldest stored goes first, whatever was hit", oldest_stored_goes_first},
    {"[25] where the cache is", location},
    {"[26] CUDA_CACHE_DISABLE neither reads nor writes", disabled},
    {"[26] CUDA_FORCE_PTX_JIT compiles and rewrites", force_ptx_jit},
    {"[26] CUDA_FORCE_JIT does too", force_jit},
    {"[38] entries written by another hand are used and kept", written_beside},
    {NULL, NULL},
};
