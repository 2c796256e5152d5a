/* SPDX-License-Identifier: Apache-2.0 */
/* prejit warm */
#include "cli/command.h"
#include "cli/run.h"

static int run(const struct pj_command *command, int count, char **arguments)
{
    return pj_cli_run(command, count, arguments, pj_warm);
}

const struct pj_command pj_command_warm = {
    .name = "warm",
    .arguments = "[options] MANIFEST",
    .takes_manifest = true,
    .summary = "compile what is missing into the cache, and prove that later loads skip the JIT",
    .description =
        "Has the CUDA driver compile every module of the manifest that is not in the compute cache,\n"
        "and proves from fresh processes, with JIT disabled, that programs will find it there.\n"
        "Nothing to do costs milliseconds and opens no driver. With --offline neither driver nor GPU is\n"
        "needed: ptxas compiles, and the next warm where the driver is proves what was stored.\n"
        "Exit status: 0 proven, or stored offline; 1 a module failed; 2 usage or manifest;\n"
        "3 the machine cannot do it; 4 something will be compiled at first use, or loads slower than the\n"
        "manifest allows; 75 try again later.",
    .run = run,
};
