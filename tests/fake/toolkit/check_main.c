/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the tests of the stand-in toolkit libraries, and those that apply on the real ones, and prints TAP.
   usage: fake_toolkit_test [WORD]...   only tests whose name holds one of the words */
#include "check.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TEST_SECONDS = 60, SKIPPED = 77 };

static const char *const files[] = {"libnvrtc.so.13",        "libnvJitLink.so.13",
                                    "old/libnvrtc.so.11.2",  "old/libnvJitLink.so.12",
                                    "broken/libnvrtc.so.13", "broken/libnvJitLink.so.13"};
static bool is_real;

bool check_is_real(void)
{
    return is_real;
}

void check_expect(bool condition, const char *text, const char *file, int line, const char *format, ...)
{
    if (condition)
        return;
    const char *name = strrchr(file, '/');
    fprintf(stderr, "# %s:%d: not so: %s", name ? name + 1 : file, line, text);
    if (format[1]) { /* behind the blank that keeps it from being empty */
        struct fake_buffer more = {0};
        va_list arguments;
        va_start(arguments, format);
        fake_buffer_vprintf(&more, format, arguments);
        va_end(arguments);
        fprintf(stderr, ":%s", fake_buffer_text(&more));
    }
    fputc('\n', stderr);
    _exit(1);
}

_Noreturn void check_skip(const char *why)
{
    printf("# skipped: %s\n", why);
    fflush(stdout);
    _exit(SKIPPED);
}

int check_process(void (*body)(void *), void *argument)
{
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        body(argument);
        _exit(0);
    }
    EXPECT(child > 0 && waitpid(child, &status, 0) == child);
    return status;
}

/* The real library: where the loader finds it, else in the toolkit that was found when this was built. */
static void *open_real(const char *file)
{
    static const char folder[] = TOOLKIT_REAL_PATH; /* empty: none was found */
    struct fake_buffer path = {0};
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    fake_buffer_printf(&path, "%s/%s", folder, file);
    if (!library && sizeof folder > 1)
        library = dlopen((char *)path.data, RTLD_NOW | RTLD_LOCAL);
    fake_buffer_free(&path);
    return library;
}

void *check_symbol(const char *file, const char *name)
{
    struct fake_buffer path = {0};
    void *library;
    if (is_real) {
        library = open_real(file);
        if (!library)
            check_skip("no such real library here");
    } else {
        fake_buffer_printf(&path, "lib/%s", file);
        library = dlopen((char *)path.data, RTLD_NOW | RTLD_LOCAL);
        EXPECT(library != NULL, "%s", dlerror());
        fake_buffer_free(&path);
    }
    return dlsym(library, name);
}

void check_write(const char *path, const char *text)
{
    int descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    EXPECT(descriptor >= 0 && fake_write_all(descriptor, text, strlen(text), 0), "%s", path);
    close(descriptor);
}

struct fake_buffer check_read(const char *path)
{
    struct fake_buffer file = {0};
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    EXPECT(descriptor >= 0 && fake_read_all(descriptor, &file), "%s", path);
    close(descriptor);
    return file;
}

void check_scenario(const char *text)
{
    check_write("lib/scenario", text);
}

static void copy_libraries(void)
{
    EXPECT(mkdir("lib", 0700) == 0 && mkdir("lib/old", 0700) == 0 && mkdir("lib/broken", 0700) == 0);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        struct fake_buffer from = {0}, to = {0};
        fake_buffer_printf(&from, "%s/%s", TOOLKIT_PATH, files[i]);
        fake_buffer_printf(&to, "lib/%s", files[i]);
        struct fake_buffer library = check_read((char *)from.data);
        int descriptor = open((char *)to.data, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
        EXPECT(descriptor >= 0 && fake_write_all(descriptor, library.data, library.length, 0));
        close(descriptor);
        fake_buffer_free(&library);
        fake_buffer_free(&from);
        fake_buffer_free(&to);
    }
}

static void remove_tree(const char *path)
{
    DIR *directory = opendir(path);
    for (struct dirent *item; directory && (item = readdir(directory)) != NULL;) {
        struct fake_buffer inner = {0};
        struct stat status;
        if (strcmp(item->d_name, ".") == 0 || strcmp(item->d_name, "..") == 0)
            continue;
        fake_buffer_printf(&inner, "%s/%s", path, item->d_name);
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

/* wait()'s status. */
static int run(const struct check *test)
{
    char folder[] = "/tmp/prejit-toolkit-XXXXXX";
    int status = 0;
    if (!mkdtemp(folder))
        fake_die("mkdtemp: %s", strerror(errno));
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        if (chdir(folder) != 0 || dup2(1, 2) < 0)
            _exit(1);
        alarm(TEST_SECONDS);
        copy_libraries();
        test->run();
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        fake_die("fork: no child");
    remove_tree(folder);
    return status;
}

static bool is_wanted(const char *name, int count, char **words)
{
    for (int i = 0; i < count; i++)
        if (strstr(name, words[i]))
            return true;
    return count == 0;
}

static bool report(const struct check *test, unsigned number)
{
    int status = run(test);
    bool skipped = WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED;
    if (WIFSIGNALED(status))
        printf("# killed by signal %d\n", WTERMSIG(status));
    printf("%s %u - %s%s%s\n", status && !skipped ? "not ok" : "ok", number, is_real ? "real: " : "",
           test->name, skipped ? " # SKIP" : "");
    return status == 0 || skipped;
}

int main(int argc, char **argv)
{
    static const struct check *const lists[] = {check_nvrtc_tests, check_jitlink_tests};
    unsigned count = 0, failed = 0;
    for (int real = 0; real < 2; real++) {
        is_real = real;
        for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
            for (const struct check *test = lists[i]; test->name; test++)
                if ((!real || test->real_too) && is_wanted(test->name, argc - 1, argv + 1))
                    failed += !report(test, ++count);
    }
    printf("1..%u\n", count);
    return failed || count == 0;
}
