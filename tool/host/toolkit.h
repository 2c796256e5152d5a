/* SPDX-License-Identifier: Apache-2.0 */
/* Where NVRTC, nvJitLink and the toolkit's headers can be found, found out without loading anything. */
#ifndef PREJIT_HOST_TOOLKIT_H
#define PREJIT_HOST_TOOLKIT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/memory.h"
#include "host/root.h"

enum pj_toolkit_library { PJ_TOOLKIT_NVRTC, PJ_TOOLKIT_NVJITLINK };

/** So many names are given at most: the first ones, which are the best. */
enum { PJ_TOOLKIT_CANDIDATES_MAX = 64 };

/** CUDA_HOME of this process, else its CUDA_PATH; NULL = neither. An empty one is none. */
const char *pj_toolkit_home(void);

/** What to hand to the loader, best first, as absolute paths of files that exist, or as bare names for the
 * loader to search; no file comes twice. At least one, all in the arena.
 *
 * With `given` (--nvrtc or --nvjitlink; NULL: not given) only that: a file, or the versions in a folder or,
 * where it is a toolkit's, in its library folders. PJ_ERROR_ENVIRONMENT where nothing is there. Else the
 * versions below `cuda_home` (CUDA_HOME or CUDA_PATH; NULL or "": none), newest first, the bare names, and
 * those of /usr/local/cuda and /usr/local/cuda-*. These two alone are below the root, whose prefix the paths
 * have. */
int pj_toolkit_candidates(const struct pj_host_root *root, enum pj_toolkit_library which, const char *given,
                          const char *cuda_home, struct pj_arena *arena, const char ***ret_names,
                          size_t *ret_count, struct pj_error **err);

/** The folder with the toolkit's headers (cuda_fp16.h and its like) that belongs to the NVRTC of this real
 * path; else that of `cuda_home` (NULL or "": none). *ret_folder, in the arena, is NULL where there is none.
 */
int pj_toolkit_include(const char *library_path, const char *cuda_home, struct pj_arena *arena,
                       const char **ret_folder, struct pj_error **err);

/** Where ptxas, a toolkit's assembler, may be, best first: absolute paths of files that this process may
 * execute, all in the arena; no file comes twice.
 *
 * With `given` (--ptxas; NULL: not given) only that: a file, or the one in a folder or in its `bin`;
 * PJ_ERROR_ENVIRONMENT where none is there. Else those in `cuda_home`/bin (NULL or "": none), in the folders
 * of `path_variable` ($PATH; NULL or "": none; what is not absolute in it is passed over), in
 * /usr/local/cuda/bin and /usr/local/cuda-<version>/bin, newest first. These two alone are below the root,
 * whose prefix the paths have. Not having any is no error: *ret_count is 0 then. */
int pj_toolkit_ptxas(const struct pj_host_root *root, const char *given, const char *cuda_home,
                     const char *path_variable, struct pj_arena *arena, const char ***ret_paths,
                     size_t *ret_count, struct pj_error **err);

#define PJ_TOOLKIT_DEVICE_RUNTIME "libcudadevrt.a"

/** The library of that name, which defines what kernels call to start others: in the toolkit `cuda_home`
 * (NULL or "": none), else in /usr/local/cuda and /usr/local/cuda-<version>, newest first, below the root.
 * *ret_path, in the arena, is NULL where there is none. */
int pj_toolkit_device_runtime(const struct pj_host_root *root, const char *cuda_home, struct pj_arena *arena,
                              const char **ret_path, struct pj_error **err);

/** Does this folder hold anything of a toolkit, where one has it: NVRTC, nvJitLink, ptxas, headers? */
int pj_toolkit_is_there(const char *cuda_home, struct pj_arena *arena, bool *ret_there,
                        struct pj_error **err);

/** "13.0.88" of ".../libnvrtc.so.13.0.88", the end of that text; NULL where the name does not tell. */
const char *pj_toolkit_build(const char *real_path);

/** "13.0.88" of what a toolkit's compiler made: PTX and cubins say "Cuda compilation tools, release 13.0,
 * V13.0.88". In `arena`; NULL where nothing says so, or memory is out. */
const char *pj_toolkit_build_in(const char *bytes, size_t size, struct pj_arena *arena);

#endif
