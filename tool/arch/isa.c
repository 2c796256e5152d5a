/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of PTX ISA versions. */
#include "arch/isa.h"

#include "arch/table.h"
#include "base/memory.h"

/* What CUDA releases brought, ascending; from the release history in NVIDIA's PTX ISA manual 9.4. ISA 1.5
 * and 5.1 are known to ptxas but came with no release of their own. */
static const struct {
    int cuda;
    struct pj_isa isa;
} releases[] = {
    {1000, {1, 0}},  {1010, {1, 1}},  {2000, {1, 2}},  {2010, {1, 3}},  {2020, {1, 4}},  {3000, {2, 0}},
    {3010, {2, 1}},  {3020, {2, 2}},  {4000, {2, 3}},  {4010, {3, 0}},  {4020, {3, 0}},  {5000, {3, 1}},
    {5050, {3, 2}},  {6000, {4, 0}},  {6050, {4, 1}},  {7000, {4, 2}},  {7050, {4, 3}},  {8000, {5, 0}},
    {9000, {6, 0}},  {9010, {6, 1}},  {9020, {6, 2}},  {10000, {6, 3}}, {10010, {6, 4}}, {10020, {6, 5}},
    {11000, {7, 0}}, {11010, {7, 1}}, {11020, {7, 2}}, {11030, {7, 3}}, {11040, {7, 4}}, {11050, {7, 5}},
    {11060, {7, 6}}, {11070, {7, 7}}, {11080, {7, 8}}, {12000, {8, 0}}, {12010, {8, 1}}, {12020, {8, 2}},
    {12030, {8, 3}}, {12040, {8, 4}}, {12050, {8, 5}}, {12060, {8, 5}}, {12070, {8, 6}}, {12080, {8, 7}},
    {12090, {8, 8}}, {13000, {9, 0}}, {13010, {9, 1}}, {13020, {9, 2}}, {13030, {9, 3}}, {13040, {9, 4}},
};

/* Highest minor version of each major one. */
static const uint16_t last_minor[] = {
    [1] = 5, [2] = 3, [3] = 2, [4] = 3, [5] = 1, [6] = 5, [7] = 8, [8] = 8, [9] = 4};

int pj_isa_compare(struct pj_isa a, struct pj_isa b)
{
    if (a.major != b.major)
        return a.major < b.major ? -1 : 1;
    if (a.minor != b.minor)
        return a.minor < b.minor ? -1 : 1;
    return 0;
}

unsigned pj_isa_number(struct pj_isa isa)
{
    return isa.major * 10u + isa.minor;
}

bool pj_isa_known(struct pj_isa isa)
{
    unsigned major = pj_isa_number(isa) / 10, minor = pj_isa_number(isa) % 10;
    return isa.major >= 1 && major < PJ_COUNT(last_minor) && minor <= last_minor[major];
}

struct pj_isa pj_isa_newest(void)
{
    return releases[PJ_COUNT(releases) - 1].isa;
}

bool pj_isa_lowest_for(struct pj_arch target, struct pj_isa *ret_isa)
{
    unsigned isa = pj_arch_row_isa(target);
    if (isa == 0)
        return false;
    *ret_isa = (struct pj_isa){.major = (uint16_t)(isa / 10), .minor = (uint16_t)(isa % 10)};
    return true;
}

bool pj_isa_highest_for_cuda(int cuda_version, struct pj_isa *ret_isa)
{
    /* The last digit of cuDriverGetVersion is no part of the version. */
    int version = cuda_version / 10 * 10;
    if (version < releases[0].cuda || version > releases[PJ_COUNT(releases) - 1].cuda)
        return false;
    for (size_t i = PJ_COUNT(releases); i-- > 0;) {
        if (releases[i].cuda <= version) {
            *ret_isa = releases[i].isa;
            return true;
        }
    }
    return false;
}

int pj_isa_last_cuda_version(struct pj_isa isa)
{
    for (size_t i = PJ_COUNT(releases); i-- > 0;) {
        if (pj_isa_compare(releases[i].isa, isa) <= 0)
            return releases[i].cuda;
    }
    return 0;
}
