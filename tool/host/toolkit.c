/* SPDX-License-Identifier: Apache-2.0 */
/* The places of a CUDA toolkit's libraries, headers and ptxas: what was asked for, CUDA_HOME, the loader or
 * PATH, /usr/local. */
#include "host/toolkit.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/file.h"

/* A folder with more of them is no folder of a toolkit. */
enum { NAMES_MAX = 1024 };

#define LIBRARY_FOLDERS "lib64, lib and targets/x86_64-linux/lib"

static const char *const library_folders[] = {"lib64", "lib", "targets/x86_64-linux/lib"};

static const struct library {
    const char *name; /* for messages */
    const char *option;
    const char *file; /* without its version */
    const char *example;
    const char *sonames[5]; /* NULL-terminated, newest first */
} libraries[] = {
    [PJ_TOOLKIT_NVRTC] = {"NVRTC",
                          "--nvrtc",
                          "libnvrtc.so",
                          "libnvrtc.so.13",
                          {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"}},
    [PJ_TOOLKIT_NVJITLINK] = {"nvJitLink",
                              "--nvjitlink",
                              "libnvJitLink.so",
                              "libnvJitLink.so.13",
                              {"libnvJitLink.so.13", "libnvJitLink.so.12"}},
};

const char *pj_toolkit_home(void)
{
    static const char *const names[] = {"CUDA_HOME", "CUDA_PATH"};
    for (size_t i = 0; i < PJ_COUNT(names); i++) {
        const char *home = getenv(names[i]);
        if (home && home[0])
            return home;
    }
    return NULL;
}

struct names {
    const char **items;
    size_t count, capacity;
};

struct search {
    struct pj_arena *arena;
    const struct library *library;
    struct names found, real; /* what is given out, and the file that each of them is */
    struct pj_error **err;
};

static int push(struct names *names, const char *text, struct pj_error **err)
{
    const char **item = text ? PJ_ARRAY_PUSH(names) : NULL;
    if (!item)
        return pj_error_no_memory(err);
    *item = text;
    return 0;
}

/* Newer versions first; of two that begin alike the longer one. */
static int compare_versions(const void *left, const void *right)
{
    return strverscmp(*(const char *const *)right, *(const char *const *)left);
}

/* The names in a folder that are `before` and a version, newest first. A folder that cannot be read has none.
 */
static int list_versions(struct search *search, const char *folder, const char *before, struct names *names)
{
    size_t length = strlen(before);
    PJ_CLEANUP_CLOSEDIR DIR *directory = opendir(folder);
    if (!directory)
        return errno == ENOMEM ? pj_error_no_memory(search->err) : 0;
    const struct dirent *entry;
    int r = 0;
    while (r == 0 && names->count < NAMES_MAX && (entry = readdir(directory)) != NULL) {
        const char *version = entry->d_name + length;
        if (strncmp(entry->d_name, before, length) != 0 || version[0] < '0' || version[0] > '9' ||
            strspn(version, "0123456789.") != strlen(version))
            continue;
        r = push(names, pj_arena_strdup(search->arena, entry->d_name), search->err);
    }
    if (names->count > 0)
        qsort(names->items, names->count, sizeof *names->items, compare_versions);
    return r;
}

static int add(struct search *search, const char *name, const char *real)
{
    if (search->found.count == PJ_TOOLKIT_CANDIDATES_MAX)
        return 0;
    for (size_t i = 0; i < search->real.count; i++) {
        if (strcmp(search->real.items[i], real) == 0)
            return 0;
    }
    int r = push(&search->real, pj_arena_strdup(search->arena, real), search->err);
    return r < 0 ? r : push(&search->found, pj_arena_strdup(search->arena, name), search->err);
}

/* A file that exists; what does not, is passed over. */
static int add_file(struct search *search, const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return 0;
    PJ_CLEANUP_FREE char *real = realpath(path, NULL);
    if (!real)
        return errno == ENOMEM ? pj_error_no_memory(search->err) : 0;
    return add(search, path, real);
}

static int add_file_in(struct search *search, const char *folder, const char *name)
{
    PJ_CLEANUP_FREE char *path = pj_path_join(folder, name);
    return path ? add_file(search, path) : pj_error_no_memory(search->err);
}

/* All versions in one folder, and the name without one. */
static int add_folder(struct search *search, const char *folder)
{
    struct names names = {0};
    PJ_CLEANUP_BUFFER struct pj_buffer before = {0};
    pj_buffer_printf(&before, "%s.", search->library->file);
    int r = pj_buffer_check(&before, search->err);
    if (r == 0)
        r = list_versions(search, folder, before.data, &names);
    for (size_t i = 0; i < names.count && r == 0; i++)
        r = add_file_in(search, folder, names.items[i]);
    free(names.items);
    return r < 0 ? r : add_file_in(search, folder, search->library->file);
}

/* The library folders of a toolkit. */
static int add_toolkit(struct search *search, const char *home)
{
    int r = 0;
    for (size_t i = 0; i < PJ_COUNT(library_folders) && r == 0; i++) {
        PJ_CLEANUP_FREE char *folder = pj_path_join(home, library_folders[i]);
        r = folder ? add_folder(search, folder) : pj_error_no_memory(search->err);
    }
    return r;
}

/* A worker may run in another folder than this process, so relative paths become absolute. */
static int add_home(struct search *search, const char *cuda_home,
                    int (*add_from)(struct search *search, const char *home))
{
    if (!cuda_home || !cuda_home[0])
        return 0;
    PJ_CLEANUP_FREE char *home = NULL;
    int r = pj_path_absolute(cuda_home, &home, search->err);
    return r < 0 ? r : add_from(search, home);
}

/* What `add_from` finds in each toolkit of the machine. */
static int add_installed(struct search *search, const struct pj_host_root *root,
                         int (*add_from)(struct search *search, const char *home))
{
    struct names names = {0};
    PJ_CLEANUP_FREE char *local = pj_host_path(root, "/usr/local");
    PJ_CLEANUP_FREE char *current = pj_host_path(root, "/usr/local/cuda");
    int r = local && current ? add_from(search, current) : pj_error_no_memory(search->err);
    if (r == 0)
        r = list_versions(search, local, "cuda-", &names);
    for (size_t i = 0; i < names.count && r == 0; i++) {
        PJ_CLEANUP_FREE char *home = pj_path_join(local, names.items[i]);
        r = home ? add_from(search, home) : pj_error_no_memory(search->err);
    }
    free(names.items);
    return r;
}

static int add_given_folder(struct search *search, const char *path)
{
    const struct library *library = search->library;
    int r = add_folder(search, path);
    if (r == 0)
        r = add_toolkit(search, path);
    if (r < 0 || search->found.count > 0)
        return r;
    return pj_error_set(search->err, PJ_ERROR_ENVIRONMENT,
                        "%s %s: no %s in that folder, nor in its " LIBRARY_FOLDERS
                        ": give the file of %s, or the folder that holds it",
                        library->option, path, library->file, library->name);
}

static int add_given(struct search *search, const char *given)
{
    const struct library *library = search->library;
    struct stat status;
    PJ_CLEANUP_FREE char *path = NULL;
    if (!given[0])
        return pj_error_set(search->err, PJ_ERROR_ENVIRONMENT,
                            "%s is empty: give the file of %s, such as %s, or the folder that holds it",
                            library->option, library->name, library->example);
    int r = pj_path_absolute(given, &path, search->err);
    if (r < 0)
        return r;
    if (stat(path, &status) != 0)
        return pj_error_errno(search->err, PJ_ERROR_ENVIRONMENT, errno,
                              "%s %s: that should be the file of %s, such as %s, or the folder that holds it",
                              library->option, path, library->name, library->example);
    if (S_ISDIR(status.st_mode))
        return add_given_folder(search, path);
    if (!S_ISREG(status.st_mode))
        return pj_error_set(
            search->err, PJ_ERROR_ENVIRONMENT,
            "%s %s: neither a file nor a folder: give the file of %s, or the folder that holds "
            "it",
            library->option, path, library->name);
    return add(search, path, path);
}

static int add_all(struct search *search, const struct pj_host_root *root, const char *cuda_home)
{
    int r = add_home(search, cuda_home, add_toolkit);
    for (const char *const *name = search->library->sonames; *name && r == 0; name++)
        r = add(search, *name, *name);
    return r < 0 ? r : add_installed(search, root, add_toolkit);
}

/* Hands over what was found, unless the search failed (`r`). */
static int end_search(struct search *search, int r, const char ***ret_names, size_t *ret_count)
{
    size_t count = search->found.count;
    const char **names = r == 0 ? pj_arena_calloc(search->arena, count + 1, sizeof *names) : NULL;
    if (names) {
        if (count > 0)
            memcpy(names, search->found.items, count * sizeof *names);
        *ret_names = names;
        *ret_count = count;
    } else if (r == 0) {
        r = pj_error_no_memory(search->err);
    }
    free(search->found.items);
    free(search->real.items);
    return r;
}

int pj_toolkit_candidates(const struct pj_host_root *root, enum pj_toolkit_library which, const char *given,
                          const char *cuda_home, struct pj_arena *arena, const char ***ret_names,
                          size_t *ret_count, struct pj_error **err)
{
    struct search search = {.arena = arena, .library = &libraries[which], .err = err};
    int r = given ? add_given(&search, given) : add_all(&search, root, cuda_home);
    return end_search(&search, r, ret_names, ret_count);
}

static int add_ptxas_in(struct search *search, const char *folder)
{
    PJ_CLEANUP_FREE char *path = pj_path_join(folder, "ptxas");
    if (!path)
        return pj_error_no_memory(search->err);
    return access(path, X_OK) == 0 ? add_file(search, path) : 0;
}

static int add_ptxas_of_toolkit(struct search *search, const char *home)
{
    PJ_CLEANUP_FREE char *folder = pj_path_join(home, "bin");
    return folder ? add_ptxas_in(search, folder) : pj_error_no_memory(search->err);
}

#define PTXAS_WANTED "the program ptxas, or the folder that holds it"

static int add_given_ptxas(struct search *search, const char *given)
{
    struct stat status;
    PJ_CLEANUP_FREE char *path = NULL;
    if (!given[0])
        return pj_error_set(search->err, PJ_ERROR_ENVIRONMENT, "--ptxas is empty: give " PTXAS_WANTED);
    int r = pj_path_absolute(given, &path, search->err);
    if (r < 0)
        return r;
    if (stat(path, &status) != 0)
        return pj_error_errno(search->err, PJ_ERROR_ENVIRONMENT, errno,
                              "--ptxas %s: that should be " PTXAS_WANTED, path);
    if (!S_ISDIR(status.st_mode)) {
        if (S_ISREG(status.st_mode) && access(path, X_OK) == 0)
            return add(search, path, path);
        return pj_error_set(search->err, PJ_ERROR_ENVIRONMENT,
                            "--ptxas %s: no program that may be executed: give " PTXAS_WANTED, path);
    }
    r = add_ptxas_in(search, path);
    if (r == 0)
        r = add_ptxas_of_toolkit(search, path);
    if (r < 0 || search->found.count > 0)
        return r;
    return pj_error_set(search->err, PJ_ERROR_ENVIRONMENT,
                        "--ptxas %s: no program ptxas in that folder, nor in its bin: give " PTXAS_WANTED,
                        path);
}

/* One folder of PATH. What is not absolute would mean another one wherever a program is started from. */
static int add_ptxas_of_part(struct search *search, const char *part, size_t length)
{
    if (part[0] != '/')
        return 0;
    PJ_CLEANUP_FREE char *folder = strndup(part, length);
    return folder ? add_ptxas_in(search, folder) : pj_error_no_memory(search->err);
}

static int add_ptxas_of_path(struct search *search, const char *path_variable)
{
    int r = 0;
    for (const char *at = path_variable ? path_variable : ""; *at && r == 0;) {
        size_t length = strcspn(at, ":");
        r = add_ptxas_of_part(search, at, length);
        at += length + (at[length] == ':');
    }
    return r;
}

int pj_toolkit_ptxas(const struct pj_host_root *root, const char *given, const char *cuda_home,
                     const char *path_variable, struct pj_arena *arena, const char ***ret_paths,
                     size_t *ret_count, struct pj_error **err)
{
    struct search search = {.arena = arena, .err = err};
    int r;
    if (given) {
        r = add_given_ptxas(&search, given);
    } else {
        r = add_home(&search, cuda_home, add_ptxas_of_toolkit);
        if (r == 0)
            r = add_ptxas_of_path(&search, path_variable);
        if (r == 0)
            r = add_installed(&search, root, add_ptxas_of_toolkit);
    }
    return end_search(&search, r, ret_paths, ret_count);
}

static int add_device_runtime(struct search *search, const char *home)
{
    int r = 0;
    for (size_t i = 0; i < PJ_COUNT(library_folders) && r == 0; i++) {
        PJ_CLEANUP_FREE char *folder = pj_path_join(home, library_folders[i]);
        r = folder ? add_file_in(search, folder, PJ_TOOLKIT_DEVICE_RUNTIME) : pj_error_no_memory(search->err);
    }
    return r;
}

int pj_toolkit_device_runtime(const struct pj_host_root *root, const char *cuda_home, struct pj_arena *arena,
                              const char **ret_path, struct pj_error **err)
{
    struct search search = {.arena = arena, .err = err};
    const char **paths = NULL;
    size_t count = 0;
    int r = add_home(&search, cuda_home, add_device_runtime);
    if (r == 0)
        r = add_installed(&search, root, add_device_runtime);
    r = end_search(&search, r, &paths, &count);
    if (r == 0)
        *ret_path = count > 0 ? paths[0] : NULL;
    return r;
}

/* Does the folder hold the headers that sources include? A wheel of NVRTC alone has a folder without them. */
static bool has_headers(const char *folder, bool *ret_failed)
{
    static const char *const headers[] = {"cuda_fp16.h", "cuda_runtime.h", "cuda.h"};
    for (size_t i = 0; i < PJ_COUNT(headers); i++) {
        struct stat status;
        PJ_CLEANUP_FREE char *path = pj_path_join(folder, headers[i]);
        if (!path)
            *ret_failed = true;
        else if (stat(path, &status) == 0 && S_ISREG(status.st_mode))
            return true;
    }
    return false;
}

/* Length of the folder `levels` above the library's own; 0 where there is none. */
static size_t folder_above(const char *library_path, unsigned levels)
{
    size_t length = strlen(library_path);
    for (unsigned i = 0; i < levels + 1; i++) {
        while (length > 0 && library_path[length - 1] != '/')
            length--;
        if (length > 0)
            length--;
    }
    return length;
}

int pj_toolkit_include(const char *library_path, const char *cuda_home, struct pj_arena *arena,
                       const char **ret_folder, struct pj_error **err)
{
    static const struct {
        unsigned levels; /* above the library's folder */
        const char *name;
    } places[] = {
        {1, "include"}, /* …/cuda/lib64, …/nvidia/cu13/lib, …/targets/x86_64-linux/lib */
        {3, "include"}, /* …/cuda/targets/x86_64-linux/lib */
        {1, "targets/x86_64-linux/include"}, /* …/cuda/lib64 */
        {2, "cuda_runtime/include"},         /* …/nvidia/cuda_nvrtc/lib: a wheel, and the one beside it */
    };
    PJ_CLEANUP_FREE char *home = NULL;
    int r = cuda_home && cuda_home[0] ? pj_path_absolute(cuda_home, &home, err) : 0;
    bool found = false, failed = false;
    const char *folder = NULL;
    for (size_t i = 0; i <= PJ_COUNT(places) && r == 0 && !found && !failed; i++) {
        if (i < PJ_COUNT(places))
            folder = pj_arena_printf(arena, "%.*s/%s", (int)folder_above(library_path, places[i].levels),
                                     library_path, places[i].name);
        else if (home)
            folder = pj_arena_printf(arena, "%s/include", home);
        else
            break;
        failed = !folder;
        found = folder && has_headers(folder, &failed);
    }
    if (r == 0 && failed)
        r = pj_error_no_memory(err);
    if (r == 0)
        *ret_folder = found ? folder : NULL;
    return r;
}

/* What each of the searches would find. */
static int add_any(struct search *search, const char *home)
{
    int r = 0;
    for (size_t i = 0; i < PJ_COUNT(libraries) && r == 0; i++) {
        search->library = &libraries[i];
        r = add_toolkit(search, home);
    }
    return r < 0 ? r : add_ptxas_of_toolkit(search, home);
}

int pj_toolkit_is_there(const char *cuda_home, struct pj_arena *arena, bool *ret_there, struct pj_error **err)
{
    struct search search = {.arena = arena, .err = err};
    const char **names;
    size_t count = 0;
    bool failed = false;
    int r = end_search(&search, add_home(&search, cuda_home, add_any), &names, &count);
    PJ_CLEANUP_FREE char *folder = r == 0 ? pj_path_join(cuda_home, "include") : NULL;
    bool headers = folder && has_headers(folder, &failed);
    if (r == 0 && (!folder || failed))
        return pj_error_no_memory(err);
    *ret_there = count > 0 || headers;
    return r;
}

const char *pj_toolkit_build(const char *real_path)
{
    const char *slash = strrchr(real_path, '/');
    const char *mark = strstr(slash ? slash : real_path, ".so.");
    if (!mark)
        return NULL;
    /* Three numbers: `libnvrtc.so.13` and `libnvrtc.so.11.2` are names for the loader. */
    unsigned numbers = 0;
    for (const char *rest = mark + 4;; rest++) {
        size_t digits = strspn(rest, "0123456789");
        rest += digits;
        if (digits == 0 || (*rest != '.' && *rest != '\0'))
            return NULL;
        numbers++;
        if (*rest == '\0')
            return numbers == 3 ? mark + 4 : NULL;
    }
}

const char *pj_toolkit_build_in(const char *bytes, size_t size, struct pj_arena *arena)
{
    static const char release[] = "Cuda compilation tools, release ", before[] = ", V";
    const char *end = bytes + size;
    const char *at = memmem(bytes, size, release, sizeof release - 1);
    const char *mark = at ? memmem(at, (size_t)(end - at), before, sizeof before - 1) : NULL;
    if (!mark)
        return NULL;
    const char *build = mark + sizeof before - 1;
    size_t length = 0;
    while (build + length < end && ((build[length] >= '0' && build[length] <= '9') || build[length] == '.'))
        length++;
    return length > 0 ? pj_arena_strndup(arena, build, length) : NULL;
}
