/* SPDX-License-Identifier: Apache-2.0 */
/* What ptxas tells with -v of each kernel that it compiles. */
#include "usage.h"

void toolkit_usage_report(const struct fake_ptx *ptx, unsigned arch, struct fake_buffer *log)
{
    fake_buffer_add_text(log, "ptxas info    : 0 bytes gmem\n");
    for (size_t i = 0; i < ptx->kernel_count; i++)
        fake_buffer_printf(
            log,
            "ptxas info    : Compiling entry function '%s' for 'sm_%u'\n"
            "ptxas info    : Function properties for %s\n"
            "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
            "ptxas info    : Used 4 registers, used 0 barriers\n"
            "ptxas info    : Compile time = 0.100 ms\n",
            ptx->kernels[i].name, arch, ptx->kernels[i].name);
}
