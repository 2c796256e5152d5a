/* SPDX-License-Identifier: Apache-2.0 */
/* What ptxas tells with -v of each kernel that it compiles. */
#ifndef TOOLKIT_USAGE_H
#define TOOLKIT_USAGE_H

#include "../base.h"
#include "../ptx.h"

/* Every kernel is told to use four registers and nothing else. */
void toolkit_usage_report(const struct fake_ptx *ptx, unsigned arch, struct fake_buffer *log);

#endif
