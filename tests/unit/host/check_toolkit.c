/* SPDX-License-Identifier: Apache-2.0 */
/* Toolkits of stand-in machines: what is taken, and what is missing for a manifest's sources. */
#include "programs.h"

#define TOOLKIT "usr/local/cuda-13.0/targets/x86_64-linux/"

static void add_link(const struct folder *folder, const char *target, const char *name)
{
    PJ_CLEANUP_FREE char *path = pj_path_join(folder->path, name);
    assert_int_equal(symlink(target, path), 0);
}

/* As NVIDIA's packages lay it out, without headers. */
static void add_toolkit(const struct folder *folder)
{
    PJ_CLEANUP_FREE char *ptxas = pj_path_join(folder->path, "usr/local/cuda-13.0/bin/ptxas");
    folder_write(folder, TOOLKIT "lib/libnvrtc.so.13.0.88", "");
    folder_write(folder, TOOLKIT "lib/libnvJitLink.so.13.0.88", "");
    folder_write(folder, "usr/local/cuda-13.0/bin/ptxas", "");
    assert_int_equal(chmod(ptxas, 0755), 0);
    add_link(folder, "libnvrtc.so.13.0.88", TOOLKIT "lib/libnvrtc.so.13");
    add_link(folder, "libnvJitLink.so.13.0.88", TOOLKIT "lib/libnvJitLink.so.13");
    add_link(folder, "targets/x86_64-linux/lib", "usr/local/cuda-13.0/lib64");
    add_link(folder, "cuda-13.0", "usr/local/cuda");
}

/* `text` with the folder's path for each <>; free(). */
static char *with_paths(const struct folder *folder, const char *text)
{
    struct pj_buffer whole = {0};
    for (; *text; text++) {
        if (strncmp(text, "<>", 2) == 0) {
            pj_buffer_puts(&whole, folder->path);
            text++;
        } else {
            pj_buffer_putc(&whole, *text);
        }
    }
    assert_false(whole.failed);
    return whole.data ? whole.data : strdup("");
}

static void expect_path(const struct folder *folder, const char *path, const char *expected)
{
    PJ_CLEANUP_FREE char *wanted = with_paths(folder, expected);
    assert_string_equal(path ? path : "", wanted);
}

/* In `variables` and all that is expected, <> is the folder. `taken`: NVRTC, nvJitLink, ptxas; "" = none. */
static void expect(const struct folder *folder, const char *const *variables, struct pj_toolkit_needs needs,
                   const char *const taken[3], const char *findings)
{
    PJ_CLEANUP_PROGRAM struct pj_program program;
    PJ_CLEANUP_FINDING_LIST struct pj_finding_list list = {0};
    PJ_CLEANUP_FREE char *wanted = with_paths(folder, findings);
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    struct pj_toolkit_facts facts = {.nvrtc = NULL};
    const struct pj_host_root root = {folder->path};
    program_make(&program, (const char *const[]){NULL});
    for (; *variables; variables++) {
        PJ_CLEANUP_FREE char *pair = with_paths(folder, *variables);
        const char *equals = strchr(pair, '=');
        expect_success(pj_program_set_variable(&program, pair, (size_t)(equals - pair), equals + 1, &err),
                       &err);
    }
    expect_success(pj_check_toolkit(&root, &program, &needs, &list, &facts, &err), &err);
    expect_findings(&list, wanted);
    expect_path(folder, facts.nvrtc, taken[0]);
    expect_path(folder, facts.nvjitlink, taken[1]);
    expect_path(folder, facts.ptxas, taken[2]);
    pj_arena_free(&facts.arena);
}

static const struct pj_toolkit_needs nothing, two = {.sources = 2, .required_sources = 1},
                                              optional = {.sources = 1};
static const char *const no_variables[] = {NULL}, *const none[] = {"", "", ""};
static const char *const installed[] = {"<>/" TOOLKIT "lib/libnvrtc.so.13.0.88",
                                        "<>/" TOOLKIT "lib/libnvJitLink.so.13.0.88",
                                        "<>/usr/local/cuda-13.0/bin/ptxas"};

static void nvrtc_is_missed_only_where_it_is_required(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    expect(&folder, no_variables, nothing, none, "");
    expect(&folder, no_variables, optional, none, "");
    expect(&folder, no_variables, two, none,
           "nvrtc-missing libnvrtc.so: it is neither in the loader's folders nor below /usr/local/cuda*; 1 "
           "required module is a source\n");
    folder_write(&folder, "opt/include/cuda.h", "");
    expect(&folder, (const char *const[]){"CUDA_PATH=<>/opt", NULL},
           (struct pj_toolkit_needs){.sources = 3, .required_sources = 3}, none,
           "nvrtc-missing libnvrtc.so: it is neither below CUDA_PATH nor in the loader's folders nor below "
           "/usr/local/cuda*; 3 required modules are sources\n");
    add_toolkit(&folder);
    folder_write(&folder, TOOLKIT "include/cuda_fp16.h", "");
    expect(&folder, no_variables, two, installed, "");
}

static void headers_are_missed_where_there_are_sources(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    add_toolkit(&folder);
    folder_write(&folder, TOOLKIT "include/nvrtc.h", "");
    expect(&folder, no_variables, nothing, installed, "");
#define HEADERS                                                                                              \
    "toolkit-headers-missing <>/" TOOLKIT "lib/libnvrtc.so.13.0.88: cuda_fp16.h, cuda_runtime.h and cuda.h " \
    "are in no include folder beside it"
    expect(&folder, no_variables, two, installed, HEADERS "\n");
    expect(&folder, no_variables, optional, installed, HEADERS "\n");
    const char *const variables[] = {"CUDA_HOME=<>/usr/local/cuda", NULL};
    expect(&folder, variables, two, installed, HEADERS ", nor in that of CUDA_HOME\n");
    folder_write(&folder, "opt/include/cuda_runtime.h", "");
    expect(&folder, (const char *const[]){"CUDA_HOME=<>/opt", NULL}, two, installed, "");
    folder_write(&folder, TOOLKIT "include/cuda.h", "");
    expect(&folder, variables, two, installed, "");
}

static void a_home_without_a_toolkit_is_told(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    folder_write(&folder, "opt/runtime/lib64/libcudart.so.13", "");
    expect(&folder, (const char *const[]){"CUDA_HOME=", "CUDA_PATH=", NULL}, nothing, none, "");
    expect(
        &folder, (const char *const[]){"CUDA_HOME=<>/none", NULL}, nothing, none,
        "cuda-home-passed-over CUDA_HOME: it is \"<>/none\", which is no folder: prejit passes it over, and "
        "finds no other toolkit\n");
    expect(&folder, (const char *const[]){"CUDA_HOME=<>/opt/runtime/lib64/libcudart.so.13", NULL}, nothing,
           none,
           "cuda-home-passed-over CUDA_HOME: it is \"<>/opt/runtime/lib64/libcudart.so.13\", which is no "
           "folder: prejit passes it over, and finds no other toolkit\n");
    add_toolkit(&folder);
    expect(&folder, (const char *const[]){"CUDA_HOME=", "CUDA_PATH=<>/opt/runtime", NULL}, nothing, installed,
           "cuda-home-passed-over CUDA_PATH: it is \"<>/opt/runtime\", where neither NVRTC nor nvJitLink, "
           "ptxas or headers are: prejit passes it over and takes <>/" TOOLKIT "lib/libnvrtc.so.13.0.88\n");
    /* CUDA_PATH does not count beside CUDA_HOME. */
    expect(
        &folder, (const char *const[]){"CUDA_HOME=<>/none", "CUDA_PATH=<>/usr/local/cuda", NULL}, nothing,
        installed,
        "cuda-home-passed-over CUDA_HOME: it is \"<>/none\", which is no folder: prejit passes it over and "
        "takes <>/" TOOLKIT "lib/libnvrtc.so.13.0.88\n");
    expect(&folder, (const char *const[]){"CUDA_HOME=<>/usr/local/cuda", "CUDA_PATH=<>/none", NULL}, nothing,
           installed, "");
}

/* CUDA_HOME, the loader's folders, /usr/local/cuda: for each part on its own. */
static void the_first_one_is_taken(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    add_toolkit(&folder);
    folder_write(&folder, "etc/ld.so.conf", "/opt/loader\n");
    folder_write(&folder, "opt/loader/libnvrtc.so.12.9.86", "");
    folder_write(&folder, "opt/loader/libnvJitLink.so.11", ""); /* no name that is asked for */
    add_link(&folder, "libnvrtc.so.12.9.86", "opt/loader/libnvrtc.so.12");
    folder_write(&folder, "home/lib/libnvJitLink.so.12.8.93", "");
    folder_write(&folder, "variable/libnvrtc.so.12.6.1", "");
    add_link(&folder, "libnvrtc.so.12.6.1", "variable/libnvrtc.so.12");
    expect(&folder, no_variables, nothing,
           (const char *const[]){"<>/opt/loader/libnvrtc.so.12.9.86", installed[1], installed[2]}, "");
    expect(&folder, (const char *const[]){"CUDA_HOME=<>/home", NULL}, nothing,
           (const char *const[]){"<>/opt/loader/libnvrtc.so.12.9.86", "<>/home/lib/libnvJitLink.so.12.8.93",
                                 installed[2]},
           "");
    expect(&folder, (const char *const[]){"LD_LIBRARY_PATH=<>/variable", NULL}, nothing,
           (const char *const[]){"<>/variable/libnvrtc.so.12.6.1", installed[1], installed[2]}, "");
    expect(&folder, (const char *const[]){"CUDA_HOME=<>/usr/local/cuda", NULL}, nothing, installed, "");
}

/* An option's own file or folder, and nothing in its stead. */
static void what_is_named_is_taken_alone(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    add_toolkit(&folder);
    folder_write(&folder, TOOLKIT "include/cuda.h", "");
    folder_write(&folder, "named/libnvrtc.so.13.1.2", "");
    folder_write(&folder, "named/text", "");
    PJ_CLEANUP_FREE char *named = pj_path_join(folder.path, "named");
    PJ_CLEANUP_FREE char *text = pj_path_join(folder.path, "named/text");
    PJ_CLEANUP_FREE char *nowhere = pj_path_join(folder.path, "nowhere");
    struct pj_toolkit_needs needs = two;
    needs.nvrtc = needs.nvjitlink = named;
    expect(&folder, no_variables, needs,
           (const char *const[]){"<>/named/libnvrtc.so.13.1.2", "", installed[2]},
           "toolkit-option-wrong --nvjitlink: <>/named: no libnvJitLink.so in that folder, nor in its lib64, "
           "lib and targets/x86_64-linux/lib: give the file of nvJitLink, or the folder that holds it\n"
           "toolkit-headers-missing <>/named/libnvrtc.so.13.1.2: cuda_fp16.h, cuda_runtime.h and cuda.h are "
           "in no include folder beside it\n");
    needs.nvrtc = nowhere;
    needs.nvjitlink = NULL;
    needs.ptxas = text;
    expect(&folder, no_variables, needs, (const char *const[]){"", installed[1], ""},
           "toolkit-option-wrong --nvrtc: <>/nowhere: that should be the file of NVRTC, such as "
           "libnvrtc.so.13, or the folder that holds it: No such file or directory\n"
           "toolkit-option-wrong --ptxas: <>/named/text: no program that may be executed: give the program "
           "ptxas, or the folder that holds it\n");
}

/* NVRTC's file has the name of what it opens; a message of it has that name too, and a full stop. */
static void builtins_are_looked_for_as_the_loader_does(void **state)
{
    static const char library[] =
        "\177ELF failed to open libnvrtc-builtins.so.13.0.\n Make sure\0libnvrtc-builtins.so.13.0\0more";
#define NEEDS                                                                                                \
    "nvrtc-builtins-missing libnvrtc-builtins.so.13.0: <>/" TOOLKIT "lib/libnvrtc.so.13.0.88 needs it, and "
#define WHERE "; in <>/" TOOLKIT "lib, where it belongs, there is "
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    add_toolkit(&folder);
    folder_write_bytes(&folder, TOOLKIT "lib/libnvrtc.so.13.0.88", library, sizeof library);
    folder_write(&folder, TOOLKIT "include/cuda.h", "");
    expect(&folder, no_variables, nothing, installed, ""); /* without sources nobody asks for it */
    expect(&folder, no_variables, two, installed,
           NEEDS "it is in none of the loader's folders" WHERE "none\n");
    folder_write(&folder, TOOLKIT "lib/libnvrtc-builtins.so.13.0", "\177ELF");
    expect(&folder, no_variables, two, installed,
           NEEDS "it is in none of the loader's folders" WHERE "one\n");
    folder_write(&folder, "etc/ld.so.conf", "/opt/loader\n");
    folder_write(&folder, "opt/loader/libnvrtc-builtins.so.13.0", "");
    expect(&folder, no_variables, two, installed,
           NEEDS "the loader takes /opt/loader/libnvrtc-builtins.so.13.0, which is no library" WHERE "one\n");
    folder_write(&folder, "opt/loader/libnvrtc-builtins.so.13.0", "\177ELF");
    expect(&folder, no_variables, two, installed, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(builtins_are_looked_for_as_the_loader_does),
        cmocka_unit_test(nvrtc_is_missed_only_where_it_is_required),
        cmocka_unit_test(headers_are_missed_where_there_are_sources),
        cmocka_unit_test(a_home_without_a_toolkit_is_told),
        cmocka_unit_test(the_first_one_is_taken),
        cmocka_unit_test(what_is_named_is_taken_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
