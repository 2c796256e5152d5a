/* SPDX-License-Identifier: Apache-2.0 */
/* Which code runs on which architecture. */
#include "arch/arch.h"

#include <stdio.h>

#include "arch/table.h"
#include "base/memory.h"

char *pj_arch_text(struct pj_arch arch, char ret_text[PJ_ARCH_TEXT])
{
    const char letter[2] = {arch.letter, '\0'};
    (void)snprintf(ret_text, PJ_ARCH_TEXT, "sm_%u%s", arch.number, letter);
    return ret_text;
}

int pj_arch_compare(struct pj_arch a, struct pj_arch b)
{
    if (a.number != b.number)
        return a.number < b.number ? -1 : 1;
    if (a.letter != b.letter)
        return a.letter < b.letter ? -1 : 1;
    return 0;
}

bool pj_arch_exists(struct pj_arch arch)
{
    return pj_arch_row_isa(arch) != 0;
}

const uint16_t *pj_arch_all(size_t *ret_count)
{
    static const uint16_t all[] = {75, 80, 86, 87, 89, 90, 100, 103, 110, 120, 121};
    *ret_count = PJ_COUNT(all);
    return all;
}

/* CUDA 13 renamed sm_101 to sm_110: code bound to either by a letter runs on the same devices. */
static unsigned renamed(uint16_t number)
{
    return number == 101 ? 110 : number;
}

/* A family is all devices of one major number, but for 10.1, which became 11.0. */
static bool in_family(uint16_t target, uint16_t device)
{
    unsigned from = renamed(target), to = renamed(device);
    return from / 10 == to / 10 && to >= from;
}

bool pj_arch_ptx_runs_on(struct pj_arch ptx_target, uint16_t device)
{
    switch (ptx_target.letter) {
    case 'a':
        return renamed(ptx_target.number) == renamed(device);
    case 'f':
        return in_family(ptx_target.number, device);
    default:
        return device >= ptx_target.number;
    }
}

bool pj_arch_ptx_compiles_for(struct pj_arch ptx_target, struct pj_arch output)
{
    if (!pj_arch_ptx_runs_on(ptx_target, output.number))
        return false;
    return ptx_target.letter != 'a' || output.letter == 'a';
}

const char *pj_arch_runs_where(struct pj_arch ptx_target)
{
    const struct pj_arch_row *row = pj_arch_row_find(ptx_target.number);
    const char *where = NULL;
    if (row)
        where = ptx_target.letter == 'a'   ? row->where_a
                : ptx_target.letter == 'f' ? row->where_f
                                           : row->where_plain;
    if (where)
        return where;
    switch (ptx_target.letter) {
    case 'a':
        return "on that compute capability alone";
    case 'f':
        return "on that compute capability and later ones of its family alone";
    default:
        return "on that compute capability and above";
    }
}
