/* SPDX-License-Identifier: Apache-2.0 */
/* Caches of compiled code that frameworks keep themselves. They are named and not touched. */
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "host/check.h"

/* `variable` names the directory itself, else it is `below` HOME, or nothing; XDG_CACHE_HOME replaces .cache
 * there. */
static const struct {
    const char *whose, *variable, *below;
} caches[] = {
    {"Triton's", "TRITON_CACHE_DIR", ".triton/cache"},
    {"PyTorch Inductor's", "TORCHINDUCTOR_CACHE_DIR", ".cache/torch/inductor"},
    {"PyTorch's kernel", "PYTORCH_KERNEL_CACHE_PATH", ".cache/torch/kernels"},
    {"CuPy's", "CUPY_CACHE_DIR", ".cupy/kernel_cache"},
    {"JAX's", "JAX_COMPILATION_CACHE_DIR", ".cache/jax"},
    {"Numba's", "NUMBA_CACHE_DIR", ".cache/numba"},
    {"Warp's", "WARP_CACHE_PATH", ".cache/warp"},
    {"OptiX's", "OPTIX_CACHE_PATH", NULL},
};

static bool is_folder(const struct pj_program *program, const char *path, bool *ret_failed)
{
    struct stat status;
    PJ_CLEANUP_FREE char *full = pj_program_path(program, path);
    *ret_failed |= !full;
    return full && stat(full, &status) == 0 && S_ISDIR(status.st_mode);
}

static int check_folder(const struct pj_program *program, const char *path, const char *whose,
                        struct pj_finding_list *findings, struct pj_error **err)
{
    bool failed = false;
    bool there = path && is_folder(program, path, &failed);
    if (!path || failed)
        return pj_error_no_memory(err);
    return there ? pj_finding_add(findings, PJ_FINDING_OTHER_CACHE, path, NULL, err,
                                  "it is %s own cache, which prejit does not fill", whose)
                 : 0;
}

static char *default_place(const struct pj_program *program, const char *home, const char *below)
{
    static const char standard[] = ".cache/";
    const char *cache = pj_program_variable(program, "XDG_CACHE_HOME");
    if (cache && *cache == '/' && strncmp(below, standard, strlen(standard)) == 0)
        return pj_path_join(cache, below + strlen(standard));
    return pj_path_join(home, below);
}

/* Those whose folder ends in a user's name. `own`: the program's user's alone. */
static int check_matching(const struct pj_program *program, const char *folder, const char *name, bool own,
                          const char *whose, struct pj_finding_list *findings, struct pj_error **err)
{
    glob_t matches = {0};
    PJ_CLEANUP_BUFFER struct pj_buffer pattern = {0};
    pj_buffer_printf(&pattern, "%s%s/%s", program->root, folder, name);
    if (pattern.failed)
        return pj_error_no_memory(err);
    int problem = glob(pattern.data, 0, NULL, &matches);
    int r = problem == GLOB_NOSPACE ? pj_error_no_memory(err) : 0;
    for (size_t i = 0; problem == 0 && r == 0 && i < matches.gl_pathc; i++) {
        struct stat status;
        if (!own || (stat(matches.gl_pathv[i], &status) == 0 && status.st_uid == program->uid))
            r = check_folder(program, matches.gl_pathv[i] + strlen(program->root), whose, findings, err);
    }
    globfree(&matches);
    return r;
}

int pj_check_other_caches(const struct pj_program *program, const char *path,
                          struct pj_finding_list *findings, struct pj_error **err)
{
    const char *home = pj_program_variable(program, "HOME");
    const char *temporary = pj_program_variable(program, "TMPDIR");
    int r = check_matching(program, temporary && *temporary ? temporary : "/tmp", "torchinductor_*", false,
                           "PyTorch Inductor's", findings, err);
    if (r == 0)
        r = check_matching(program, "/var/tmp", "OptixCache_*", true, "OptiX's", findings, err);
    for (size_t i = 0; i < PJ_COUNT(caches) && r == 0; i++) {
        const char *named = pj_program_variable(program, caches[i].variable);
        if (named && *named == '/') {
            r = check_folder(program, named, caches[i].whose, findings, err);
        } else if (caches[i].below && home && *home == '/') {
            PJ_CLEANUP_FREE char *below = default_place(program, home, caches[i].below);
            r = check_folder(program, below, caches[i].whose, findings, err);
        }
    }
    if (r < 0 || !path || !home || *home != '/')
        return r;
    PJ_CLEANUP_FREE char *standard = pj_path_join(home, ".nv/ComputeCache");
    if (!standard)
        return pj_error_no_memory(err);
    if (strcmp(standard, path) == 0)
        return 0;
    bool failed = false;
    if (!is_folder(program, standard, &failed))
        return failed ? pj_error_no_memory(err) : 0;
    return pj_finding_add(findings, PJ_FINDING_OTHER_CACHE, standard, NULL, err,
                          "it is the driver's default cache; programs without CUDA_CACHE_PATH use it");
}
