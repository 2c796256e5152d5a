/* SPDX-License-Identifier: Apache-2.0 */
/* Architectures as the driver takes them, and which PTX may be compiled for which. */
#include "arch.h"

#include "cuda_types.h"

#include <stdlib.h>
#include <string.h>

struct target {
    unsigned number;
    unsigned plain; /* lowest ISA of sm_N, of sm_Na and of sm_Nf; 0: there is no such target */
    unsigned accelerated;
    unsigned family;
};

static const struct target targets[] = {
    {10, 10, 0, 0},    {11, 10, 0, 0},    {12, 12, 0, 0},    {13, 12, 0, 0},    {20, 20, 0, 0},
    {21, 20, 0, 0},    {30, 30, 0, 0},    {32, 40, 0, 0},    {35, 31, 0, 0},    {37, 41, 0, 0},
    {50, 40, 0, 0},    {52, 41, 0, 0},    {53, 42, 0, 0},    {60, 50, 0, 0},    {61, 50, 0, 0},
    {62, 50, 0, 0},    {70, 51, 0, 0},    {72, 61, 0, 0},    {75, 63, 0, 0},    {80, 70, 0, 0},
    {82, 70, 0, 0},    {86, 71, 0, 0},    {87, 74, 0, 0},    {88, 73, 0, 0},    {89, 78, 0, 0},
    {90, 78, 80, 0},   {100, 86, 86, 88}, {101, 86, 86, 88}, {103, 88, 88, 88}, {110, 90, 90, 90},
    {120, 87, 87, 88}, {121, 88, 88, 88},
};

static const struct target *find(unsigned number)
{
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++)
        if (targets[i].number == number)
            return &targets[i];
    return NULL;
}

bool fake_arch_parse(const char *text, bool virtual_too, struct fake_arch *ret_arch)
{
    size_t prefix = strncmp(text, "sm_", 3) == 0 ? 3 : 0;
    if (!prefix && virtual_too && strncmp(text, "compute_", 8) == 0)
        prefix = 8;
    if (!prefix || text[prefix] < '1' || text[prefix] > '9')
        return false;
    char *end;
    unsigned long number = strtoul(text + prefix, &end, 10);
    if (number > 999)
        return false;
    struct fake_arch arch = {.number = (unsigned)number};
    if (*end == 'a' || *end == 'f')
        arch.letter = *end++;
    if (*end)
        return false;
    *ret_arch = arch;
    return true;
}

bool fake_arch_from_option(unsigned value, struct fake_arch *ret_arch)
{
    struct fake_arch arch = {.number = value & 0xffffu};
    unsigned base = value & ~0xffffu;
    const struct target *target = find(arch.number);
    /* The header has no 82, 88 and 101, and nothing below 30. */
    if (!target || arch.number < 30 || arch.number == 82 || arch.number == 88 || arch.number == 101)
        return false;
    if (base == 0x10000u && target->accelerated)
        arch.letter = 'a';
    else if (base == 0x20000u && target->family)
        arch.letter = 'f';
    else if (base != 0)
        return false;
    *ret_arch = arch;
    return true;
}

bool fake_arch_is_output(unsigned number)
{
    return number >= 75 && number != 82 && find(number) != NULL;
}

unsigned fake_arch_lowest_isa(struct fake_arch arch)
{
    const struct target *target = find(arch.number);
    if (!target)
        return 0;
    return arch.letter == 'a' ? target->accelerated : arch.letter == 'f' ? target->family : target->plain;
}

const char *fake_arch_objection(struct fake_arch target, unsigned device)
{
    if (target.letter == 'a')
        return target.number == device
                   ? NULL
                   : "Program with .target '%s' cannot be compiled to future architecture";
    if (target.letter == 'f' && (target.number / 10 != device / 10 || device < target.number))
        return "Program with .target '%s' cannot be compiled to different SM-family architecture";
    if (device < target.number)
        return "SM version specified by .target is higher than default SM version assumed";
    return NULL;
}
