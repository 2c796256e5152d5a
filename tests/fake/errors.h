/* SPDX-License-Identifier: Apache-2.0 */
/* Result codes and their names. */
#ifndef FAKE_ERRORS_H
#define FAKE_ERRORS_H

#include "cuda_types.h"

#include <stdbool.h>

bool fake_error_from_name(const char *name, CUresult *ret_result);
const char *fake_error_name(CUresult result);

#endif
