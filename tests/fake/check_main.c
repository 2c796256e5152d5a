/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the tests of the emulated driver, each in a process and a folder of its own, and prints TAP.
   usage: fake_golden_test [WORD]...   only tests whose name holds one of the words */
#include "check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* They sleep more than they work. */
enum { TEST_SECONDS = 60, TESTS_MOST = 200, AT_ONCE = 4 };

extern char **environ;

static void remove_tree(const char *path)
{
    DIR *directory = opendir(path);
    for (struct dirent *item; directory && (item = readdir(directory)) != NULL;) {
        struct fake_buffer inner = {0};
        if (strcmp(item->d_name, ".") == 0 || strcmp(item->d_name, "..") == 0)
            continue;
        fake_buffer_printf(&inner, "%s/%s", path, item->d_name);
        struct stat status;
        if (lstat((char *)inner.data, &status) == 0 && S_ISDIR(status.st_mode))
            remove_tree((char *)inner.data);
        else
            unlink((char *)inner.data);
        fake_buffer_free(&inner);
    }
    if (directory)
        closedir(directory);
    rmdir(path);
}

/* Nothing of the caller's CUDA settings; a HOME and a cache in the test's own folder. */
static void clean_environment(const char *folder)
{
    struct fake_buffer path = {0};
    for (char **variable = environ; *variable;) {
        if (strncmp(*variable, "CUDA_", 5) == 0 || strncmp(*variable, "NVIDIA_FAKE", 11) == 0) {
            char *name = fake_copy_text(*variable, strcspn(*variable, "="));
            unsetenv(name);
            free(name);
            variable = environ;
        } else {
            variable++;
        }
    }
    setenv("HOME", folder, 1);
    fake_buffer_printf(&path, "%s/cache", folder);
    setenv("CUDA_CACHE_PATH", (char *)path.data, 1);
    fake_buffer_free(&path);
}

/* A test that runs; its output is kept in a file until its turn comes. */
struct running {
    const struct check *test;
    char folder[64];
    pid_t process;
    int output;
};

static void start(struct running *running)
{
    snprintf(running->folder, sizeof running->folder, "/tmp/prejit-fake-XXXXXX");
    if (!mkdtemp(running->folder))
        fake_die("mkdtemp: %s", strerror(errno));
    char output[80];
    snprintf(output, sizeof output, "%s/.output", running->folder);
    running->output = open(output, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
    if (running->output < 0)
        fake_die("%s: %s", output, strerror(errno));
    fflush(NULL);
    running->process = fork();
    if (running->process == 0) {
        if (setpgid(0, 0) != 0 || chdir(running->folder) != 0 || dup2(running->output, 1) < 0 ||
            dup2(running->output, 2) < 0)
            _exit(1);
        umask(022);
        clean_environment(running->folder);
        alarm(TEST_SECONDS);
        running->test->run();
        _exit(0);
    }
}

/* True where the test passed or was left out. */
static bool finish(struct running *running, unsigned number)
{
    struct fake_buffer text;
    int status = 0;
    waitpid(running->process, &status, 0);
    kill(-running->process, SIGKILL); /* what a test left hanging */
    if (fake_read_all(running->output, &text)) {
        fwrite(text.data, 1, text.length, stdout);
        fake_buffer_free(&text);
    }
    close(running->output);
    remove_tree(running->folder);
    if (WIFSIGNALED(status))
        printf("# killed by signal %d\n", WTERMSIG(status));
    bool left_out = WIFEXITED(status) && WEXITSTATUS(status) == CHECK_SKIPPED;
    printf("%s %u - %s%s\n", status && !left_out ? "not ok" : "ok", number, running->test->name,
           left_out ? " # SKIP" : "");
    fflush(stdout);
    return status == 0 || left_out;
}

static bool is_wanted(const char *name, int word_count, char **words)
{
    for (int i = 0; i < word_count; i++)
        if (strstr(name, words[i]))
            return true;
    return word_count == 0;
}

static void unsuitable(void)
{
    check_skip("a real driver has no scenario");
}

/* All wanted tests of all lists, in order. */
static size_t collect(struct check *ret_tests, size_t most, int word_count, char **words)
{
    static const struct check *const lists[] = {
        check_golden_tests, check_cache_tests,         check_danger_tests,
        check_load_tests,   check_link_tests,          check_link_fatbin_tests,
        check_device_tests, check_link_scenario_tests, check_scenario_tests};
    size_t count = 0;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        for (const struct check *test = lists[i]; test->name; test++) {
            if (!is_wanted(test->name, word_count, words))
                continue;
            if (count == most)
                fake_die("more than %zu tests", most);
            ret_tests[count] = *test;
            if (check_is_real_driver() &&
                (lists[i] == check_scenario_tests || lists[i] == check_link_scenario_tests))
                ret_tests[count].run = unsuitable;
            count++;
        }
    }
    return count;
}

int main(int argc, char **argv)
{
    struct check tests[TESTS_MOST];
    struct running running[AT_ONCE];
    size_t count = collect(tests, TESTS_MOST, argc - 1, argv + 1), started = 0;
    unsigned failed = 0;
    for (size_t i = 0; i < count; i++) {
        for (; started < count && started < i + AT_ONCE; started++) {
            running[started % AT_ONCE] = (struct running){.test = &tests[started]};
            start(&running[started % AT_ONCE]);
        }
        failed += !finish(&running[i % AT_ONCE], (unsigned)i + 1);
    }
    printf("1..%zu\n", count);
    if (failed)
        printf("# %u of %zu failed\n", failed, count);
    return failed || count == 0;
}
