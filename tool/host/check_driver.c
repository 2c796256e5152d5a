/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's libraries one by one, against each other and against the kernel driver. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "host/check.h"
#include "host/gpus.h"
#include "host/library.h"

/* Has the folder a part of this name? */
static bool has_part(const char *folder, const char *part)
{
    size_t size = strlen(part);
    for (const char *at = folder; (at = strstr(at, part)) != NULL; at += size) {
        if (at > folder && at[-1] == '/' && (at[size] == '/' || at[size] == '\0'))
            return true;
    }
    return false;
}

static const struct {
    const char *name, *stem; /* the name that is looked for, and what stands before the version */
    bool needed;
} helpers[] = {
    {"libnvidia-ptxjitcompiler.so.1", "libnvidia-ptxjitcompiler", true},
    {"libnvidia-nvvm.so.4", "libnvidia-nvvm", false},
    {"libnvidia-ml.so.1", "libnvidia-ml", false},
};

static int check_helper(struct pj_library_search *search, size_t which, const struct pj_driver_facts *facts,
                        struct pj_finding_list *findings, struct pj_error **err)
{
    const char *name = helpers[which].name;
    struct pj_library library;
    bool found;
    PJ_CLEANUP_BUFFER struct pj_buffer file = {0};
    pj_buffer_printf(&file, "%s.so.%s", helpers[which].stem, facts->version);
    int r = pj_buffer_check(&file, err);
    if (r == 0)
        r = pj_library_find(search, name, &library, &found, err);
    if (r < 0)
        return r;
    if (!found)
        return pj_finding_add(
            findings, helpers[which].needed ? PJ_FINDING_JIT_COMPILER_MISSING : PJ_FINDING_HELPER_MISSING,
            name, file.data, err, "it is in none of the loader's folders, and libcuda is %s of %s",
            facts->version, facts->library);
    if (!library.version || strcmp(library.version, facts->version) == 0)
        return 0;
    return pj_finding_add(findings, PJ_FINDING_HELPER_VERSION, name, file.data, err,
                          "%s is %s, libcuda is %s", library.path, library.version, facts->version);
}

static int copy_facts(const struct pj_library *library, struct pj_driver_facts *facts, struct pj_error **err)
{
    facts->library = pj_arena_strdup(&facts->arena, library->path);
    facts->version = library->version ? pj_arena_strdup(&facts->arena, library->version) : NULL;
    facts->stub = has_part(library->folder, "stubs");
    facts->compat = has_part(library->folder, "compat");
    return facts->library && (!library->version || facts->version) ? 0 : pj_error_no_memory(err);
}

static int check_found(struct pj_library_search *search, const struct pj_library *library,
                       const struct pj_driver_facts *facts, struct pj_finding_list *findings,
                       struct pj_error **err)
{
    int r = 0;
    if (facts->stub)
        return pj_finding_add(findings, PJ_FINDING_DRIVER_STUB, facts->library, library->folder, err,
                              "the loader finds it first, and it is for linking only");
    if (facts->compat)
        r = pj_finding_add(findings, PJ_FINDING_FORWARD_COMPATIBILITY, facts->library, library->folder, err,
                           "it is %s%s", facts->version ? "version " : "of an unknown version",
                           facts->version ? facts->version : "");
    if (!facts->version)
        return r; /* nothing to compare the helpers with */
    for (size_t i = 0; i < PJ_COUNT(helpers) && r == 0; i++)
        r = check_helper(search, i, facts, findings, err);
    return r;
}

static int find_driver(struct pj_library_search *search, const char *driver, struct pj_library *ret_library,
                       bool *ret_found, struct pj_error **err)
{
    const char *slash = driver ? strrchr(driver, '/') : NULL;
    return slash ? pj_library_at(search, &search->folders.items[0], slash + 1, ret_library, ret_found, err)
                 : pj_library_find(search, driver ? driver : "libcuda.so.1", ret_library, ret_found, err);
}

static int check_libraries(const struct pj_host_root *root, const struct pj_program *program,
                           const char *driver, struct pj_finding_list *findings,
                           struct pj_driver_facts *facts, struct pj_error **err)
{
    PJ_CLEANUP_LIBRARIES struct pj_library_search search = {.folders = {0}};
    struct pj_library library;
    bool found;
    int r = pj_library_search_make(root, program, driver, &search, err);
    if (r == 0)
        r = find_driver(&search, driver, &library, &found, err);
    if (r < 0)
        return r;
    if (!found)
        return pj_finding_add(findings, PJ_FINDING_DRIVER_MISSING, driver ? driver : "libcuda.so.1", NULL,
                              err,
                              driver ? "there is no such file" : "it is in none of the loader's folders");
    r = copy_facts(&library, facts, err);
    return r == 0 ? check_found(&search, &library, facts, findings, err) : r;
}

int pj_check_driver(const struct pj_host_root *root, const struct pj_program *program, const char *driver,
                    struct pj_finding_list *findings, struct pj_driver_facts *ret_facts,
                    struct pj_error **err)
{
    struct pj_driver_facts facts = {.library = NULL};
    PJ_CLEANUP_FREE char *kernel = pj_host_kernel_driver(root);
    facts.kernel_version = kernel ? pj_arena_strdup(&facts.arena, kernel) : NULL;
    int r = kernel && !facts.kernel_version ? pj_error_no_memory(err) : 0;
    if (r == 0)
        r = check_libraries(root, program, driver, findings, &facts, err);
    if (r < 0) {
        pj_arena_free(&facts.arena);
        return r;
    }
    *ret_facts = facts;
    return 0;
}
