/* SPDX-License-Identifier: Apache-2.0 */
/* The complaints that are known, in the words of CUDA 13.0. */
#include "image/complaint.h"

#include <string.h>

#include "base/memory.h"
#include "image/ptx.h"

#define DEFINED_ELSEWHERE "name the file that defines it as well, all of them under `link:`"
#define DEVICE_RUNTIME    "name the toolkit's libcudadevrt.a as well, both under `link:`"

static const struct {
    const char *words, *cure;
    const char
        *runtime_cure; /* where the name behind the words is one of CUDA's device runtime; NULL = the same */
} complaints[] = {
    {"Unresolved extern function '", DEFINED_ELSEWHERE, DEVICE_RUNTIME},
    {"Undefined reference to '", DEFINED_ELSEWHERE, DEVICE_RUNTIME},
    {"Unsupported .version ", "take a newer driver or toolkit, or compile the PTX with an older toolkit",
     NULL},
    {"Unsupported .target ", "take a newer driver or toolkit, or compile the PTX for an older architecture",
     NULL},
    {"cannot be compiled to future architecture",
     "its letter binds the PTX to one architecture: compile it for this target too, or without the letter",
     NULL},
    {"cannot be compiled to different SM-family",
     "its letter binds the PTX to one family: compile it for this target too, or without the letter", NULL},
    {".target is higher than default SM version", "compile the PTX for this architecture or an older one",
     NULL},
    {"is not defined for option 'gpu-name'",
     "this compiler makes no code for the target: leave the target out, or take another toolkit", NULL},
    {"non-ASCII character", "write ASCII only, also in comments", NULL},
    {"requires call prototype",
     "declare the function before the call (`.extern .func`), and define it in another file under `link:`",
     NULL},
    {"'Compile only(-c)' requires PTX ISA",
     "linkers take PTX from ISA 3.1 on: write `.version 3.1`, or compile the file by itself with ptxas",
     NULL},
    {"uses too much shared data",
     "keep static shared memory below 48 kB, or make it dynamic (`extern __shared__`)", NULL},
    {"uses too much parameter space", "pass a pointer to the data, or compile the PTX for ISA 8.1 or newer",
     NULL},
};

/* The name that stands at `at`, up to the quotation mark: does the device runtime define it? */
static bool names_runtime(const char *at)
{
    char name[64];
    size_t length = strcspn(at, "'");
    if (length >= sizeof name)
        return false;
    memcpy(name, at, length);
    name[length] = '\0';
    return pj_ptx_is_device_runtime(name);
}

const char *pj_complaint_cure(const char *log)
{
    const char *first = NULL, *cure = NULL;
    for (size_t i = 0; i < PJ_COUNT(complaints); i++) {
        const char *at = strstr(log, complaints[i].words);
        if (!at || (first && first < at))
            continue;
        bool runtime = complaints[i].runtime_cure && names_runtime(at + strlen(complaints[i].words));
        first = at;
        cure = runtime ? complaints[i].runtime_cure : complaints[i].cure;
    }
    return cure;
}
