/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"
const struct check check_jitlink_tests[] = {{NULL, NULL, false}};
