/* SPDX-License-Identifier: Apache-2.0 */
/* POSIX access lists, as the kernel keeps them in the attribute system.posix_acl_access. */
#ifndef PREJIT_HOST_ACCESS_LIST_H
#define PREJIT_HOST_ACCESS_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "host/program.h"

/** By the kernel's rule: does the list allow the program all that `wanted` (PJ_MAY_…) says? False, leaving
 * *ret_allowed alone, where the bytes are no list of version 2. */
bool pj_access_list_allows(const void *bytes, size_t size, const struct pj_program *program,
                           const struct stat *status, unsigned wanted, bool *ret_allowed);

#endif
