/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA toolkit: is it where CUDA_HOME says, and has it what the manifest's modules need? */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/file.h"
#include "host/check.h"
#include "host/library.h"
#include "host/toolkit.h"

struct look {
    const struct pj_host_root *root;
    const struct pj_program *program;
    const struct pj_toolkit_needs *needs;
    const char *variable, *home; /* CUDA_HOME and its value, else CUDA_PATH's; NULL = neither */
    struct pj_library_search search;
    struct pj_toolkit_facts *facts;
    struct pj_finding_list *findings;
    struct pj_error **err;
};

/* As pj_toolkit_home has it for this process. */
static void find_home(struct look *look)
{
    static const char *const names[] = {"CUDA_HOME", "CUDA_PATH"};
    for (size_t i = 0; i < PJ_COUNT(names) && !look->home; i++) {
        const char *value = pj_program_variable(look->program, names[i]);
        if (value && *value) {
            look->variable = names[i];
            look->home = value;
        }
    }
}

/* What a path leads to; NULL where that is gone again. */
static int follow(struct look *look, const char *path, const char **ret_real)
{
    PJ_CLEANUP_FREE char *real = realpath(path, NULL);
    if (!real)
        return errno == ENOMEM ? pj_error_no_memory(look->err) : 0;
    *ret_real = pj_arena_strdup(&look->facts->arena, real);
    return *ret_real ? 0 : pj_error_no_memory(look->err);
}

/* A name that the loader would search for. */
static int search(struct look *look, const char *name, const char **ret_real)
{
    struct pj_library library;
    bool found;
    int r = pj_library_find(&look->search, name, &library, &found, look->err);
    if (r < 0 || !found)
        return r;
    *ret_real = pj_arena_strdup(&look->facts->arena, library.real);
    return *ret_real ? 0 : pj_error_no_memory(look->err);
}

/* Nothing is where the option says: `r` with `problem`, whose message begins with the option. */
static int option_is_wrong(struct look *look, const char *option, int r, const struct pj_error *problem)
{
    const char *message = pj_error_message(problem);
    size_t length = strlen(option);
    if (r == PJ_ERROR_NO_MEMORY)
        return pj_error_no_memory(look->err);
    if (strncmp(message, option, length) == 0 && message[length] == ' ')
        message += length + 1;
    return pj_finding_add(look->findings, PJ_FINDING_TOOLKIT_OPTION_WRONG, option, NULL, look->err, "%s",
                          message);
}

static int find_library(struct look *look, enum pj_toolkit_library which, const char *option,
                        const char *given, const char **ret_real)
{
    const char **names;
    size_t count;
    PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
    int r = pj_toolkit_candidates(look->root, which, given, look->home, &look->facts->arena, &names, &count,
                                  given ? &problem : look->err);
    if (r < 0 && given)
        return option_is_wrong(look, option, r, problem);
    for (size_t i = 0; r == 0 && i < count && !*ret_real; i++)
        r = strchr(names[i], '/') ? follow(look, names[i], ret_real) : search(look, names[i], ret_real);
    return r;
}

static int find_ptxas(struct look *look)
{
    const char **paths, *given = look->needs->ptxas;
    size_t count;
    PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
    int r = pj_toolkit_ptxas(look->root, given, look->home, pj_program_variable(look->program, "PATH"),
                             &look->facts->arena, &paths, &count, given ? &problem : look->err);
    if (r < 0 && given)
        return option_is_wrong(look, "--ptxas", r, problem);
    for (size_t i = 0; r == 0 && i < count && !look->facts->ptxas; i++)
        r = follow(look, paths[i], &look->facts->ptxas);
    return r;
}

#define NVRTC_MAX_BYTES (UINT64_C(1) << 30)

/* "libnvrtc-builtins.so.13.0", which stands in the library as it opens it; NULL where it does not tell.
 * *ret_beside: it looks beside itself too. */
static int read_builtins_name(struct look *look, const char **ret_name, bool *ret_beside)
{
    static const char begin[] = "libnvrtc-builtins.so.", origin[] = "$ORIGIN";
    PJ_CLEANUP_ERROR struct pj_error *unreadable = NULL;
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    int r = pj_file_read(AT_FDCWD, look->facts->nvrtc, NVRTC_MAX_BYTES, &bytes, &unreadable);
    if (r < 0)
        return r == PJ_ERROR_NO_MEMORY ? pj_error_no_memory(look->err) : 0;
    const char *data = pj_buffer_text(&bytes), *end = data + bytes.size;
    *ret_beside = memmem(data, bytes.size, origin, strlen(origin)) != NULL;
    for (const char *at = data; (at = memmem(at, (size_t)(end - at), begin, strlen(begin))); at++) {
        size_t digits = strspn(at + strlen(begin), "0123456789.");
        if (digits < 3 || at[strlen(begin) + digits] != '\0') /* a message has more text behind it */
            continue;
        *ret_name = pj_arena_strndup(&look->facts->arena, at, strlen(begin) + digits);
        return *ret_name ? 0 : pj_error_no_memory(look->err);
    }
    return 0;
}

static bool is_library(const char *path)
{
    char magic[4];
    PJ_CLEANUP_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    return fd >= 0 && pread(fd, magic, sizeof magic, 0) == sizeof magic && memcmp(magic, "\177ELF", 4) == 0;
}

static int check_builtins(struct look *look)
{
    const char *name = NULL, *nvrtc = look->facts->nvrtc, *slash = nvrtc ? strrchr(nvrtc, '/') : NULL;
    struct pj_library library;
    bool beside = false, found = false;
    if (look->needs->sources == 0 || !slash)
        return 0;
    int r = read_builtins_name(look, &name, &beside);
    if (r < 0 || !name)
        return r;
    r = pj_library_find(&look->search, name, &library, &found, look->err);
    if (r < 0 || (found && is_library(library.real)))
        return r;
    const char *own = pj_arena_printf(&look->facts->arena, "%.*s/%s", (int)(slash - nvrtc), nvrtc, name);
    if (!own)
        return pj_error_no_memory(look->err);
    if (!found && beside && is_library(own))
        return 0;
    const char *folder = pj_arena_strndup(&look->facts->arena, nvrtc, (size_t)(slash - nvrtc));
    if (!folder)
        return pj_error_no_memory(look->err);
    return pj_finding_add(look->findings, PJ_FINDING_NVRTC_BUILTINS_MISSING, name, folder, look->err,
                          "%s needs it, and %s%s%s; in %s, where it belongs, %s", nvrtc,
                          found ? "the loader takes " : "it is in none of the loader's folders",
                          found ? library.path : "", found ? ", which is no library" : "", folder,
                          is_library(own) ? "there is one" : "there is none");
}

static int find_all(struct look *look)
{
    int r = pj_library_search_make(look->root, look->program, NULL, &look->search, look->err);
    if (r < 0)
        return r;
    r = find_library(look, PJ_TOOLKIT_NVRTC, "--nvrtc", look->needs->nvrtc, &look->facts->nvrtc);
    if (r == 0)
        r = find_library(look, PJ_TOOLKIT_NVJITLINK, "--nvjitlink", look->needs->nvjitlink,
                         &look->facts->nvjitlink);
    if (r == 0)
        r = check_builtins(look);
    pj_library_search_free(&look->search);
    return r == 0 ? find_ptxas(look) : r;
}

static int check_home(struct look *look)
{
    struct stat status;
    bool there;
    const struct pj_toolkit_facts *facts = look->facts;
    const char *instead = facts->nvrtc ? facts->nvrtc : facts->nvjitlink ? facts->nvjitlink : facts->ptxas;
    if (!look->home)
        return 0;
    int r = pj_toolkit_is_there(look->home, &look->facts->arena, &there, look->err);
    if (r < 0 || there)
        return r;
    bool folder = stat(look->home, &status) == 0 && S_ISDIR(status.st_mode);
    return pj_finding_add(
        look->findings, PJ_FINDING_CUDA_HOME_PASSED_OVER, look->variable, NULL, look->err,
        "it is \"%s\", %s: prejit %s%s", look->home,
        folder ? "where neither NVRTC nor nvJitLink, ptxas or headers are" : "which is no folder",
        instead ? "passes it over and takes " : "passes it over, and finds no other toolkit",
        instead ? instead : "");
}

static int check_nvrtc(struct look *look)
{
    size_t required = look->needs->required_sources;
    if (required == 0 || look->needs->nvrtc)
        return 0;
    return pj_finding_add(
        look->findings, PJ_FINDING_NVRTC_MISSING, "libnvrtc.so", NULL, look->err,
        "it is neither %s%s%sin the loader's folders nor below /usr/local/cuda*; %zu required "
        "module%s",
        look->home ? "below " : "", look->home ? look->variable : "", look->home ? " nor " : "", required,
        required == 1 ? " is a source" : "s are sources");
}

static int check_headers(struct look *look)
{
    const char *folder;
    if (look->needs->sources == 0)
        return 0;
    int r = pj_toolkit_include(look->facts->nvrtc, look->home, &look->facts->arena, &folder, look->err);
    if (r < 0 || folder)
        return r;
    return pj_finding_add(look->findings, PJ_FINDING_TOOLKIT_HEADERS_MISSING, look->facts->nvrtc, NULL,
                          look->err,
                          "cuda_fp16.h, cuda_runtime.h and cuda.h are in no include folder beside it%s%s",
                          look->home ? ", nor in that of " : "", look->home ? look->variable : "");
}

int pj_check_toolkit(const struct pj_host_root *root, const struct pj_program *program,
                     const struct pj_toolkit_needs *needs, struct pj_finding_list *findings,
                     struct pj_toolkit_facts *ret_facts, struct pj_error **err)
{
    struct pj_toolkit_facts facts = {.nvrtc = NULL};
    struct look look = {
        .root = root, .program = program, .needs = needs, .facts = &facts, .findings = findings, .err = err};
    find_home(&look);
    int r = find_all(&look);
    if (r == 0)
        r = check_home(&look);
    if (r == 0)
        r = facts.nvrtc ? check_headers(&look) : check_nvrtc(&look);
    if (r < 0) {
        pj_arena_free(&facts.arena);
        return r;
    }
    *ret_facts = facts;
    return 0;
}
