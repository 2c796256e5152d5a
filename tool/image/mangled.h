/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the kernel that a name of C++ stands for. Pure code. */
#ifndef PREJIT_IMAGE_MANGLED_H
#define PREJIT_IMAGE_MANGLED_H

#include <stddef.h>

/** Of `count` names the first that is the mangled form of `wanted` (`saxpy`, `math::saxpy`, `saxpy(int, float
 * *)`):
 * `_Z5saxpyifPfS_`, `_ZN4math5saxpyEif`. NULL where none is. */
const char *pj_mangled_find(const char *const *names, size_t count, const char *wanted);

#endif
