/* SPDX-License-Identifier: Apache-2.0 */
/* What is said about complaints of compilers and linkers, in their own words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "image/complaint.h"

#define ELSEWHERE "name the file that defines it as well, all of them under `link:`"
#define RUNTIME   "name the toolkit's libcudadevrt.a as well, both under `link:`"

static void test_cures(void **state)
{
    (void)state;
    static const struct {
        const char *log, *cure; /* NULL = none is known */
    } rows[] = {
        {"ptxas fatal   : Unresolved extern function 'curve'", ELSEWHERE},
        {"ptxas fatal   : Unresolved extern function 'cudaLaunchDeviceV2'", RUNTIME},
        {"error   : Undefined reference to '__cudaCDP2LaunchDeviceV2' in 'cdp.ptx'\nERROR 9: finish",
         RUNTIME},
        {"error   : Undefined reference to 'g' in 'x'", ELSEWHERE},
        {"ptxas x.ptx, line 1; fatal   : Unsupported .version 9.1; current version is '9.0'",
         "take a newer driver or toolkit, or compile the PTX with an older toolkit"},
        {"ptxas x.ptx, line 2; fatal   : Unsupported .target 'sm_107'",
         "take a newer driver or toolkit, or compile the PTX for an older architecture"},
        {"ptxas fatal   : Program with .target 'sm_90a' cannot be compiled to future architecture",
         "its letter binds the PTX to one architecture: compile it for this target too, or without the "
         "letter"},
        {"ptxas fatal   : SM version specified by .target is higher than default SM version assumed",
         "compile the PTX for this architecture or an older one"},
        {"ptxas fatal   : Value 'sm_70' is not defined for option 'gpu-name'",
         "this compiler makes no code for the target: leave the target out, or take another toolkit"},
        {"ptxas fatal   : Unexpected non-ASCII character encountered on line 1",
         "write ASCII only, also in comments"},
        {"ptxas x, line 7; error   : Call to 'f' requires call prototype",
         "declare the function before the call (`.extern .func`), and define it in another file under "
         "`link:`"},
        {"ptxas fatal   : 'Compile only(-c)' requires PTX ISA .version 3.1 or later",
         "linkers take PTX from ISA 3.1 on: write `.version 3.1`, or compile the file by itself with ptxas"},
        {"error   : Entry function 'k' uses too much shared data (0xc400 bytes, 0xc000 max)",
         "keep static shared memory below 48 kB, or make it dynamic (`extern __shared__`)"},
        {"ptxas x, line 7; error   : Entry function 'k' uses too much parameter space (0x7ffc bytes, 0x1100 "
         "max).",
         "pass a pointer to the data, or compile the PTX for ISA 8.1 or newer"},
        /* The first one counts. */
        {"error: Undefined reference to 'f'\nUnexpected non-ASCII character", ELSEWHERE},
        {"Unexpected non-ASCII character\nerror: Undefined reference to 'f'",
         "write ASCII only, also in comments"},
        {"ptxas x, line 6; error   : no good", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < PJ_COUNT(rows); i++) {
        const char *cure = pj_complaint_cure(rows[i].log);
        if (rows[i].cure && cure)
            assert_string_equal(cure, rows[i].cure);
        else if (cure || rows[i].cure)
            fail_msg("%s", rows[i].log);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cures)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
