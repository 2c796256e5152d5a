/* SPDX-License-Identifier: Apache-2.0 */
/* Toolkits of a stand-in machine: which libraries are tried, in which order, and whose headers are taken. */
#include "folder.h"

#include "failing_memory.h"
#include "host/toolkit.h"

static void folder_link(const struct folder *folder, const char *target, const char *name)
{
    PJ_CLEANUP_FREE char *path = pj_path_join(folder->path, name);
    assert_int_equal(symlink(target, path), 0);
}

/* `text` with the folder's path for each <>. */
static void put_paths(struct pj_buffer *buffer, const struct folder *folder, const char *text)
{
    for (; *text; text++) {
        if (strncmp(text, "<>", 2) == 0) {
            pj_buffer_puts(buffer, folder->path);
            text++;
        } else {
            pj_buffer_putc(buffer, *text);
        }
    }
}

/* The candidates are these lines, where <> is the folder. `given` and `home` are within it. */
static void expect_candidates(const struct folder *folder, enum pj_toolkit_library which, const char *given,
                              const char *home, const char *expected)
{
    const struct pj_host_root root = {folder->path};
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    PJ_CLEANUP_BUFFER struct pj_buffer lines = {0}, wanted = {0};
    PJ_CLEANUP_FREE char *given_path = given ? pj_path_join(folder->path, given) : NULL;
    PJ_CLEANUP_FREE char *home_path = home ? pj_path_join(folder->path, home) : NULL;
    struct pj_error *err = NULL;
    const char **names = NULL;
    size_t count = 0;
    expect_success(pj_toolkit_candidates(&root, which, given_path, home_path, &arena, &names, &count, &err),
                   &err);
    for (size_t i = 0; i < count; i++)
        pj_buffer_printf(&lines, "%s\n", names[i]);
    put_paths(&wanted, folder, expected);
    assert_string_equal(pj_buffer_text(&lines), pj_buffer_text(&wanted));
}

#define NVRTC_NAMES     "libnvrtc.so.13\nlibnvrtc.so.12\nlibnvrtc.so.11.2\nlibnvrtc.so\n"
#define NVJITLINK_NAMES "libnvJitLink.so.13\nlibnvJitLink.so.12\n"

static void the_loader_is_asked_where_nothing_is_known(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    expect_candidates(&folder, PJ_TOOLKIT_NVRTC, NULL, NULL, NVRTC_NAMES);
    expect_candidates(&folder, PJ_TOOLKIT_NVJITLINK, NULL, NULL, NVJITLINK_NAMES);
    expect_candidates(&folder, PJ_TOOLKIT_NVRTC, NULL, "none", NVRTC_NAMES);
}

static void make_toolkits(struct folder *folder)
{
    folder_make(folder);
    /* As NVIDIA's packages lay them out: one file, and links to it. */
    folder_write(folder, "usr/local/cuda-12.9/targets/x86_64-linux/lib/libnvrtc.so.12.9.86", "");
    folder_link(folder, "libnvrtc.so.12.9.86", "usr/local/cuda-12.9/targets/x86_64-linux/lib/libnvrtc.so.12");
    folder_link(folder, "libnvrtc.so.12", "usr/local/cuda-12.9/targets/x86_64-linux/lib/libnvrtc.so");
    folder_link(folder, "targets/x86_64-linux/lib", "usr/local/cuda-12.9/lib64");
    folder_write(folder, "usr/local/cuda-12.10/lib64/libnvrtc.so.12.10.1", "");
    folder_write(folder, "usr/local/cuda-12.10/lib64/libnvJitLink.so.12.10.1", "");
    folder_write(folder, "usr/local/cuda-12.10/lib64/libnvrtc-builtins.so.12.10", "");
    folder_write(folder, "usr/local/cuda-12.10/lib64/libnvrtc.alt.so.12", "");
    folder_write(folder, "usr/local/cuda-12.10/lib64/libnvrtc.so.12.10.1.old", "");
    folder_write(folder, "usr/local/cuda-9.2/lib64/libnvrtc.so.9.2", "");
    folder_write(folder, "usr/local/cuda-old/lib64/libnvrtc.so.8", "");
    folder_link(folder, "cuda-12.9", "usr/local/cuda");
    /* Somebody's own, with several versions in one folder. */
    folder_write(folder, "opt/cuda/lib/libnvrtc.so.9.2.148", "");
    folder_write(folder, "opt/cuda/lib/libnvrtc.so.13.0.88", "");
    folder_write(folder, "opt/cuda/lib/libnvrtc.so.13.1.2", "");
    folder_link(folder, "libnvrtc.so.13.1.2", "opt/cuda/lib/libnvrtc.so.13");
    folder_link(folder, "none", "opt/cuda/lib/libnvrtc.so.14");
    folder_write(folder, "opt/cuda/lib/libnvrtc.so.15/file", "");
    folder_link(folder, "lib", "opt/cuda/lib64");
}

static void toolkits_come_newest_first_and_once(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    make_toolkits(&folder);
#define INSTALLED                                                                                            \
    "<>/usr/local/cuda/lib64/libnvrtc.so.12.9.86\n"                                                          \
    "<>/usr/local/cuda-12.10/lib64/libnvrtc.so.12.10.1\n"                                                    \
    "<>/usr/local/cuda-9.2/lib64/libnvrtc.so.9.2\n"
    expect_candidates(&folder, PJ_TOOLKIT_NVRTC, NULL, NULL, NVRTC_NAMES INSTALLED);
    expect_candidates(&folder, PJ_TOOLKIT_NVRTC, NULL, "opt/cuda",
                      "<>/opt/cuda/lib64/libnvrtc.so.13.1.2\n"
                      "<>/opt/cuda/lib64/libnvrtc.so.13.0.88\n"
                      "<>/opt/cuda/lib64/libnvrtc.so.9.2.148\n" NVRTC_NAMES INSTALLED);
    expect_candidates(&folder, PJ_TOOLKIT_NVRTC, NULL, "usr/local/cuda-12.10",
                      "<>/usr/local/cuda-12.10/lib64/libnvrtc.so.12.10.1\n" NVRTC_NAMES
                      "<>/usr/local/cuda/lib64/libnvrtc.so.12.9.86\n"
                      "<>/usr/local/cuda-9.2/lib64/libnvrtc.so.9.2\n");
    expect_candidates(&folder, PJ_TOOLKIT_NVJITLINK, NULL, "opt/cuda",
                      NVJITLINK_NAMES "<>/usr/local/cuda-12.10/lib64/libnvJitLink.so.12.10.1\n");
}

static void what_is_given_is_all_that_is_tried(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    make_toolkits(&folder);
    folder_write(&folder, "lone/libnvrtc.so", "");
    folder_write(&folder, "odd/my-nvrtc", "");
    expect_candidates(&folder, PJ_TOOLKIT_NVRTC, "opt/cuda/lib/libnvrtc.so.13", "usr/local/cuda",
                      "<>/opt/cuda/lib/libnvrtc.so.13\n");
    expect_candidates(&folder, PJ_TOOLKIT_NVRTC, "odd/my-nvrtc", NULL, "<>/odd/my-nvrtc\n");
    expect_candidates(&folder, PJ_TOOLKIT_NVRTC, "opt/cuda/lib", NULL,
                      "<>/opt/cuda/lib/libnvrtc.so.13.1.2\n"
                      "<>/opt/cuda/lib/libnvrtc.so.13.0.88\n"
                      "<>/opt/cuda/lib/libnvrtc.so.9.2.148\n");
    expect_candidates(&folder, PJ_TOOLKIT_NVRTC, "usr/local/cuda-12.9", NULL,
                      "<>/usr/local/cuda-12.9/lib64/libnvrtc.so.12.9.86\n");
    expect_candidates(&folder, PJ_TOOLKIT_NVRTC, "lone", NULL, "<>/lone/libnvrtc.so\n");
}

/* A worker runs elsewhere. */
static void relative_paths_become_absolute(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    make_toolkits(&folder);
    PJ_CLEANUP_FREE char *here = getcwd(NULL, 0);
    PJ_CLEANUP_FREE char *real = realpath(folder.path, NULL);
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    PJ_CLEANUP_BUFFER struct pj_buffer expected = {0};
    const struct pj_host_root root = {"/none"};
    const char **names = NULL;
    size_t count = 0;
    assert_int_equal(chdir(folder.path), 0);
    int r = pj_toolkit_candidates(&root, PJ_TOOLKIT_NVRTC, "opt/./cuda/lib/libnvrtc.so.13", NULL, &arena,
                                  &names, &count, NULL);
    const char **home_names = NULL;
    size_t home_count = 0;
    int home = pj_toolkit_candidates(&root, PJ_TOOLKIT_NVRTC, NULL, "opt/cuda", &arena, &home_names,
                                     &home_count, NULL);
    assert_int_equal(chdir(here), 0);
    assert_int_equal(r, 0);
    assert_int_equal(home, 0);
    assert_int_equal(count, 1);
    pj_buffer_printf(&expected, "%s/opt/cuda/lib/libnvrtc.so.13", real);
    assert_string_equal(names[0], pj_buffer_text(&expected));
    assert_int_equal(home_count, 7);
    pj_buffer_reset(&expected);
    pj_buffer_printf(&expected, "%s/opt/cuda/lib64/libnvrtc.so.13.1.2", real);
    assert_string_equal(home_names[0], pj_buffer_text(&expected));
}

static void expect_not_given(const struct folder *folder, enum pj_toolkit_library which, const char *given,
                             const char *message)
{
    const struct pj_host_root root = {folder->path};
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    PJ_CLEANUP_BUFFER struct pj_buffer wanted = {0};
    PJ_CLEANUP_FREE char *path = pj_path_join(folder->path, given);
    struct pj_error *err = NULL;
    const char **names = NULL;
    size_t count = 7;
    put_paths(&wanted, folder, message);
    expect_error(
        pj_toolkit_candidates(&root, which, given[0] ? path : "", "opt/cuda", &arena, &names, &count, &err),
        &err, PJ_ERROR_ENVIRONMENT, pj_buffer_text(&wanted));
    assert_null(names);
    assert_int_equal(count, 7);
}

static void what_is_given_must_be_there(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    make_toolkits(&folder);
    folder_write(&folder, "empty/readme", "");
    PJ_CLEANUP_FREE char *fifo = pj_path_join(folder.path, "fifo");
    assert_int_equal(mkfifo(fifo, 0600), 0);
    expect_not_given(
        &folder, PJ_TOOLKIT_NVRTC, "none/libnvrtc.so.13",
        "--nvrtc <>/none/libnvrtc.so.13: that should be the file of NVRTC, such as libnvrtc.so.13, "
        "or the folder that holds it: No such file or directory");
    expect_not_given(
        &folder, PJ_TOOLKIT_NVJITLINK, "none",
        "--nvjitlink <>/none: that should be the file of nvJitLink, such as libnvJitLink.so.13, or "
        "the folder that holds it: No such file or directory");
    expect_not_given(
        &folder, PJ_TOOLKIT_NVJITLINK, "usr/local/cuda-12.9",
        "--nvjitlink <>/usr/local/cuda-12.9: no libnvJitLink.so in that folder, nor in its lib64, "
        "lib and targets/x86_64-linux/lib: give the file of nvJitLink, or the folder that holds it");
    expect_not_given(&folder, PJ_TOOLKIT_NVRTC, "empty",
                     "--nvrtc <>/empty: no libnvrtc.so in that folder, nor in its lib64, lib and "
                     "targets/x86_64-linux/lib: give the file of NVRTC, or the folder that holds it");
    expect_not_given(
        &folder, PJ_TOOLKIT_NVRTC, "fifo",
        "--nvrtc <>/fifo: neither a file nor a folder: give the file of NVRTC, or the folder that "
        "holds it");
    expect_not_given(
        &folder, PJ_TOOLKIT_NVRTC, "",
        "--nvrtc is empty: give the file of NVRTC, such as libnvrtc.so.13, or the folder that holds "
        "it");
}

static void candidates_are_at_most_64(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    for (unsigned i = 1; i <= 70; i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "many/libnvrtc.so.%u", i);
        folder_write(&folder, name, "");
    }
    const struct pj_host_root root = {folder.path};
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    PJ_CLEANUP_FREE char *many = pj_path_join(folder.path, "many");
    const char **names = NULL;
    size_t count = 0;
    assert_int_equal(pj_toolkit_candidates(&root, PJ_TOOLKIT_NVRTC, many, NULL, &arena, &names, &count, NULL),
                     0);
    assert_int_equal(count, PJ_TOOLKIT_CANDIDATES_MAX);
    assert_string_equal(strrchr(names[0], '/'), "/libnvrtc.so.70");
    assert_string_equal(strrchr(names[63], '/'), "/libnvrtc.so.7");
}

/* The headers of the library at `library`, both within the folder; NULL for none. */
static void expect_include(const struct folder *folder, const char *library, const char *home,
                           const char *expected)
{
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    PJ_CLEANUP_FREE char *path = pj_path_join(folder->path, library);
    PJ_CLEANUP_FREE char *home_path = home ? pj_path_join(folder->path, home) : NULL;
    PJ_CLEANUP_FREE char *wanted = expected ? pj_path_join(folder->path, expected) : NULL;
    struct pj_error *err = NULL;
    const char *include = "untouched";
    expect_success(pj_toolkit_include(path, home_path, &arena, &include, &err), &err);
    if (wanted)
        assert_string_equal(include ? include : "none", wanted);
    else
        assert_null(include);
}

static void headers_are_those_of_the_library(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    folder_write(&folder, "a/include/cuda_fp16.h", "");
    folder_write(&folder, "b/include/cuda.h", "");
    folder_write(&folder, "c/targets/x86_64-linux/include/cuda_runtime.h", "");
    folder_write(&folder, "nvidia/cuda_runtime/include/cuda_fp16.h", "");
    folder_write(&folder, "nvidia/cuda_nvrtc/include/nvrtc.h", "");
    folder_write(&folder, "nvidia/cu13/include/cuda_fp16.h", "");
    folder_write(&folder, "home/include/cuda.h", "");
    folder_write(&folder, "odd/include/cuda.h/file", "");
    expect_include(&folder, "a/lib64/libnvrtc.so.13", "home", "a/include");
    expect_include(&folder, "b/targets/x86_64-linux/lib/libnvrtc.so.12.9.86", "home", "b/include");
    expect_include(&folder, "c/lib64/libnvrtc.so.12", "home", "c/targets/x86_64-linux/include");
    expect_include(&folder, "c/targets/x86_64-linux/lib/libnvrtc.so.12", "home",
                   "c/targets/x86_64-linux/include");
    expect_include(&folder, "nvidia/cuda_nvrtc/lib/libnvrtc.so.12", "home", "nvidia/cuda_runtime/include");
    expect_include(&folder, "nvidia/cu13/lib/libnvrtc.so.13", "home", "nvidia/cu13/include");
    expect_include(&folder, "odd/lib/libnvrtc.so.13", "home", "home/include");
    expect_include(&folder, "odd/lib/libnvrtc.so.13", NULL, NULL);
    expect_include(&folder, "odd/lib/libnvrtc.so.13", "odd", NULL);

    /* Few folders above it, or none. */
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    const char *include = "untouched";
    assert_int_equal(pj_toolkit_include("/libnvrtc.so", "", &arena, &include, NULL), 0);
    assert_int_equal(pj_toolkit_include("libnvrtc.so", NULL, &arena, &include, NULL), 0);
}

static void the_name_tells_the_build(void **state)
{
    (void)state;
    assert_string_equal(pj_toolkit_build("/usr/lib/libnvrtc.so.13.0.88"), "13.0.88");
    assert_string_equal(pj_toolkit_build("libnvJitLink.so.12.9.86"), "12.9.86");
    static const char *const silent[] = {
        "/a/libnvrtc.so.13",        "/a/libnvrtc.so.11.2",   "/a/libnvrtc.so",
        "/a/libnvrtc.so.13.0.88.1", "/a/libnvrtc.so.13.0.x", "/a/libnvrtc.so.13.0.",
        "/a.so.13.0.88/libnvrtc",   "/a/libnvrtc.so.13..88", ""};
    for (size_t i = 0; i < PJ_COUNT(silent); i++)
        assert_null(pj_toolkit_build(silent[i]));
}

static void write_program(const struct folder *folder, const char *name)
{
    PJ_CLEANUP_FREE char *path = pj_path_join(folder->path, name);
    folder_write(folder, name, "");
    assert_int_equal(chmod(path, 0755), 0);
}

static void expect_there(const struct folder *folder, const char *home, bool expected)
{
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    PJ_CLEANUP_FREE char *path = pj_path_join(folder->path, home);
    struct pj_error *err = NULL;
    bool there = !expected;
    expect_success(pj_toolkit_is_there(path, &arena, &there, &err), &err);
    assert_int_equal(there, expected);
}

static void any_part_makes_a_toolkit(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    folder_write(&folder, "nvrtc/lib64/libnvrtc.so.13", "");
    folder_write(&folder, "nvjitlink/targets/x86_64-linux/lib/libnvJitLink.so.13", "");
    folder_write(&folder, "headers/include/cuda_fp16.h", "");
    write_program(&folder, "ptxas/bin/ptxas");
    folder_write(&folder, "runtime/lib64/libcudart.so.13", "");
    folder_write(&folder, "runtime/bin/ptxas", ""); /* may not be executed */
    folder_write(&folder, "runtime/include/nvrtc.h", "");
    expect_there(&folder, "nvrtc", true);
    expect_there(&folder, "nvjitlink", true);
    expect_there(&folder, "headers", true);
    expect_there(&folder, "ptxas", true);
    expect_there(&folder, "runtime", false);
    expect_there(&folder, "nvrtc/lib64", false); /* a folder of a toolkit is none */
    expect_there(&folder, "none", false);
}

/* A candidate is never left out because memory was: `count` of them, or an error. */
static void sweep(const struct folder *folder, const char *given, const char *home, size_t count)
{
    const struct pj_host_root root = {folder->path};
    PJ_CLEANUP_FREE char *library = pj_path_join(folder->path, "none/lib/libnvrtc.so.13");
    bool failed = true;
    size_t failures = 0;
    for (size_t n = 1; failed; n++, failures += failed) {
        PJ_CLEANUP_ARENA struct pj_arena arena = {0};
        PJ_CLEANUP_ERROR struct pj_error *err = NULL;
        const char **names = NULL;
        size_t found = 4711;
        const char *include = "untouched";
        failing_memory_start(n);
        int r = pj_toolkit_candidates(&root, PJ_TOOLKIT_NVRTC, given, home, &arena, &names, &found, &err);
        if (r == 0)
            r = pj_toolkit_include(library, home, &arena, &include, &err);
        failed = failing_memory_stop();
        assert_int_equal(r, failed ? PJ_ERROR_NO_MEMORY : 0);
        assert_true(failed || (found == count && include));
    }
    assert_true(failures >= 20);
}

static void no_memory_is_told(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    make_toolkits(&folder);
    folder_write(&folder, "opt/cuda/include/cuda.h", "");
    PJ_CLEANUP_FREE char *home = pj_path_join(folder.path, "opt/cuda");
    sweep(&folder, NULL, home, 10);
    sweep(&folder, home, home, 3);
}

/* The paths are these lines; each <> in `path_variable`, too, is the folder. */
static void expect_ptxas(const struct folder *folder, const char *given, const char *home,
                         const char *path_variable, const char *expected)
{
    const struct pj_host_root root = {folder->path};
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    PJ_CLEANUP_BUFFER struct pj_buffer lines = {0}, wanted = {0}, folders = {0};
    PJ_CLEANUP_FREE char *given_path = given ? pj_path_join(folder->path, given) : NULL;
    PJ_CLEANUP_FREE char *home_path = home ? pj_path_join(folder->path, home) : NULL;
    struct pj_error *err = NULL;
    const char **paths = NULL;
    size_t count = 99;
    put_paths(&folders, folder, path_variable ? path_variable : "");
    expect_success(pj_toolkit_ptxas(&root, given_path, home_path,
                                    path_variable ? pj_buffer_text(&folders) : NULL, &arena, &paths, &count,
                                    &err),
                   &err);
    for (size_t i = 0; i < count; i++)
        pj_buffer_printf(&lines, "%s\n", paths[i]);
    put_paths(&wanted, folder, expected);
    assert_string_equal(pj_buffer_text(&lines), pj_buffer_text(&wanted));
}

static void make_ptxas(struct folder *folder)
{
    folder_make(folder);
    write_program(folder, "usr/local/cuda-12.9/bin/ptxas");
    write_program(folder, "usr/local/cuda-13.0/bin/ptxas");
    folder_write(folder, "usr/local/cuda-13.1/bin/ptxas", ""); /* may not be executed */
    folder_link(folder, "cuda-12.9", "usr/local/cuda");
    write_program(folder, "opt/cuda/bin/ptxas");
    write_program(folder, "home/tools/ptxas");
    write_program(folder, "home/folder/ptxas/file"); /* a folder is no program */
    PJ_CLEANUP_FREE char *links = pj_path_join(folder->path, "links");
    assert_int_equal(mkdir(links, 0755), 0);
    folder_link(folder, "../opt/cuda/bin/ptxas", "links/ptxas");
}

static void expect_device_runtime(const struct folder *folder, const char *home, const char *expected)
{
    const struct pj_host_root root = {folder->path};
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    PJ_CLEANUP_FREE char *home_path = home ? pj_path_join(folder->path, home) : NULL;
    PJ_CLEANUP_FREE char *wanted = expected ? pj_path_join(folder->path, expected) : NULL;
    struct pj_error *err = NULL;
    const char *path = "";
    expect_success(pj_toolkit_device_runtime(&root, home_path, &arena, &path, &err), &err);
    if (expected)
        assert_string_equal(path, wanted);
    else
        assert_null(path);
}

static void device_runtime_comes_from_home_and_toolkits(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    expect_device_runtime(&folder, NULL, NULL);
    folder_write(&folder, "usr/local/cuda-12.9/targets/x86_64-linux/lib/libcudadevrt.a", "");
    folder_write(&folder, "usr/local/cuda-13.0/lib64/libcudadevrt.a", "");
    folder_write(&folder, "opt/cuda/lib/libcudadevrt.a", "");
    expect_device_runtime(&folder, NULL, "usr/local/cuda-13.0/lib64/libcudadevrt.a");
    expect_device_runtime(&folder, "none", "usr/local/cuda-13.0/lib64/libcudadevrt.a");
    expect_device_runtime(&folder, "opt/cuda", "opt/cuda/lib/libcudadevrt.a");
    folder_link(&folder, "cuda-12.9", "usr/local/cuda");
    expect_device_runtime(&folder, NULL, "usr/local/cuda/targets/x86_64-linux/lib/libcudadevrt.a");
}

static void ptxas_comes_from_home_path_and_toolkits(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    make_ptxas(&folder);
#define PTXAS_INSTALLED "<>/usr/local/cuda/bin/ptxas\n<>/usr/local/cuda-13.0/bin/ptxas\n"
    expect_ptxas(&folder, NULL, NULL, NULL, PTXAS_INSTALLED);
    expect_ptxas(&folder, NULL, NULL, "", PTXAS_INSTALLED);
    expect_ptxas(&folder, NULL, "opt/cuda", NULL, "<>/opt/cuda/bin/ptxas\n" PTXAS_INSTALLED);
    expect_ptxas(&folder, NULL, "none", ":home/tools:.:<>/home/folder:<>/none:<>/home/tools:",
                 "<>/home/tools/ptxas\n" PTXAS_INSTALLED);
    /* By what a link leads to it is there already. */
    expect_ptxas(&folder, NULL, "opt/cuda", "<>/links:<>/usr/local/cuda-13.0/bin",
                 "<>/opt/cuda/bin/ptxas\n<>/usr/local/cuda-13.0/bin/ptxas\n<>/usr/local/cuda/bin/ptxas\n");
    expect_ptxas(&folder, "opt/cuda", "none", "<>/home/tools", "<>/opt/cuda/bin/ptxas\n");
    expect_ptxas(&folder, "home/tools", NULL, NULL, "<>/home/tools/ptxas\n");
    expect_ptxas(&folder, "links/ptxas", NULL, NULL, "<>/links/ptxas\n");
    CLEANUP_FOLDER struct folder empty;
    folder_make(&empty);
    expect_ptxas(&empty, NULL, NULL, NULL, "");
}

static void ptxas_that_is_given_must_be_there(void **state)
{
    static const struct {
        const char *given, *message; /* <> is the folder */
    } wrong[] = {
        {"none",
         "--ptxas <>/none: that should be the program ptxas, or the folder that holds it: No such file "
         "or directory"},
        {"usr/local/cuda-13.1/bin/ptxas", "--ptxas <>/usr/local/cuda-13.1/bin/ptxas: no program that may be "
                                          "executed: give the program ptxas, or the folder that holds it"},
        {"usr/local/cuda-13.1", "--ptxas <>/usr/local/cuda-13.1: no program ptxas in that folder, nor in its "
                                "bin: give the program ptxas, or the folder that holds it"},
        {NULL, "--ptxas is empty: give the program ptxas, or the folder that holds it"},
    };
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    make_ptxas(&folder);
    const struct pj_host_root root = {folder.path};
    for (size_t i = 0; i < PJ_COUNT(wrong); i++) {
        PJ_CLEANUP_ARENA struct pj_arena arena = {0};
        PJ_CLEANUP_BUFFER struct pj_buffer wanted = {0};
        PJ_CLEANUP_FREE char *given = wrong[i].given ? pj_path_join(folder.path, wrong[i].given) : strdup("");
        struct pj_error *err = NULL;
        const char **paths = NULL;
        size_t count = 99;
        put_paths(&wanted, &folder, wrong[i].message);
        expect_error(pj_toolkit_ptxas(&root, given, NULL, NULL, &arena, &paths, &count, &err), &err,
                     PJ_ERROR_ENVIRONMENT, pj_buffer_text(&wanted));
        assert_null(paths);
        assert_int_equal(count, 99);
    }
}

static void no_memory_for_ptxas_is_told(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    make_ptxas(&folder);
    const struct pj_host_root root = {folder.path};
    PJ_CLEANUP_FREE char *home = pj_path_join(folder.path, "opt/cuda");
    PJ_CLEANUP_FREE char *path = pj_path_join(folder.path, "home/tools");
    size_t n = 1;
    for (bool failed = true; failed; n++) {
        PJ_CLEANUP_ARENA struct pj_arena arena = {0};
        struct pj_error *err = NULL;
        const char **paths = NULL;
        size_t count = 99;
        failing_memory_start(n);
        int r = pj_toolkit_ptxas(&root, NULL, home, path, &arena, &paths, &count, &err);
        failed = failing_memory_stop();
        assert_int_equal(r, failed ? PJ_ERROR_NO_MEMORY : 0);
        assert_int_equal(count, failed ? 99 : 4);
        pj_error_free(err);
    }
    assert_true(n > 10);
}

static void test_build_in_output(void **state)
{
    (void)state;
    static const char ptx[] = "// Cuda compilation tools, release 13.0, V13.0.88\n.version 9.0\n";
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    assert_string_equal(pj_toolkit_build_in(ptx, strlen(ptx), &arena), "13.0.88");
    assert_string_equal(
        pj_toolkit_build_in(ptx, strlen("// Cuda compilation tools, release 13.0, V13"), &arena), "13");
    assert_null(pj_toolkit_build_in(ptx, strlen("// Cuda compilation tools, release 13.0, V"), &arena));
    assert_null(pj_toolkit_build_in(ptx + 4, strlen(ptx) - 4, &arena));
    assert_null(pj_toolkit_build_in("", 0, &arena));
}

static void home_is_the_first_that_is_not_empty(void **state)
{
    (void)state;
    static const struct {
        const char *home, *path, *expected;
    } rows[] = {{NULL, NULL, NULL}, {"", "", NULL}, {NULL, "/p", "/p"}, {"", "/p", "/p"}, {"/h", "/p", "/h"}};
    for (size_t i = 0; i < PJ_COUNT(rows); i++) {
        assert_int_equal(rows[i].home ? setenv("CUDA_HOME", rows[i].home, 1) : unsetenv("CUDA_HOME"), 0);
        assert_int_equal(rows[i].path ? setenv("CUDA_PATH", rows[i].path, 1) : unsetenv("CUDA_PATH"), 0);
        const char *home = pj_toolkit_home();
        assert_int_equal(home != NULL, rows[i].expected != NULL);
        if (home)
            assert_string_equal(home, rows[i].expected);
    }
    assert_int_equal(unsetenv("CUDA_HOME"), 0);
    assert_int_equal(unsetenv("CUDA_PATH"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_build_in_output),
        cmocka_unit_test(home_is_the_first_that_is_not_empty),
        cmocka_unit_test(the_loader_is_asked_where_nothing_is_known),
        cmocka_unit_test(toolkits_come_newest_first_and_once),
        cmocka_unit_test(what_is_given_is_all_that_is_tried),
        cmocka_unit_test(relative_paths_become_absolute),
        cmocka_unit_test(what_is_given_must_be_there),
        cmocka_unit_test(candidates_are_at_most_64),
        cmocka_unit_test(headers_are_those_of_the_library),
        cmocka_unit_test(any_part_makes_a_toolkit),
        cmocka_unit_test(the_name_tells_the_build),
        cmocka_unit_test(no_memory_is_told),
        cmocka_unit_test(ptxas_comes_from_home_path_and_toolkits),
        cmocka_unit_test(device_runtime_comes_from_home_and_toolkits),
        cmocka_unit_test(ptxas_that_is_given_must_be_there),
        cmocka_unit_test(no_memory_for_ptxas_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
