/* SPDX-License-Identifier: Apache-2.0 */
/* The table of architectures, as ptxas 13.0 and driver 580 treat them; what came later as in NVIDIA's PTX ISA
 * manual 9.4. sm_82 is a .target alone: no compiler makes code for it. */
#include "arch/table.h"

#include "base/memory.h"

/* clang-format off */
#define ABOVE(capability) "on compute capability " capability " and above"
#define ALONE(capability) "on compute capability " capability " alone"
#define PLAIN(number, isa, capability) {number, isa, 0, 0, ABOVE(capability), NULL, NULL}
#define WITH_A(number, isa, isa_a, capability) {number, isa, isa_a, 0, ABOVE(capability), ALONE(capability), NULL}
#define WITH_A_F(number, isa, isa_a, isa_f, capability, alone, family)                                       \
    {number, isa, isa_a, isa_f, ABOVE(capability), ALONE(alone), ALONE(family)}

static const struct pj_arch_row rows[] = {
    PLAIN(10, 10, "1.0"), PLAIN(11, 10, "1.1"), PLAIN(12, 12, "1.2"), PLAIN(13, 12, "1.3"),
    PLAIN(20, 20, "2.0"), PLAIN(21, 20, "2.1"),
    PLAIN(30, 30, "3.0"), PLAIN(32, 40, "3.2"), PLAIN(35, 31, "3.5"), PLAIN(37, 41, "3.7"),
    PLAIN(50, 40, "5.0"), PLAIN(52, 41, "5.2"), PLAIN(53, 42, "5.3"),
    PLAIN(60, 50, "6.0"), PLAIN(61, 50, "6.1"), PLAIN(62, 50, "6.2"),
    PLAIN(70, 51, "7.0"), PLAIN(72, 61, "7.2"), PLAIN(75, 63, "7.5"),
    PLAIN(80, 70, "8.0"), PLAIN(82, 70, "8.2"), PLAIN(86, 71, "8.6"), PLAIN(87, 74, "8.7"), PLAIN(88, 73, "8.8"),
    PLAIN(89, 78, "8.9"),
    WITH_A(90, 78, 80, "9.0"),
    WITH_A_F(100, 86, 86, 88, "10.0", "10.0", "10.0 and 10.3"),
    WITH_A_F(101, 86, 86, 88, "10.1", "11.0 (10.1 before CUDA 13)", "11.0 (10.1 before CUDA 13)"),
    WITH_A_F(103, 88, 88, 88, "10.3", "10.3", "10.3"),
    WITH_A_F(107, 94, 94, 94, "10.7", "10.7", "10.7"),
    WITH_A_F(110, 90, 90, 90, "11.0", "11.0", "11.0"),
    WITH_A_F(120, 87, 87, 88, "12.0", "12.0", "12.0 and 12.1"),
    WITH_A_F(121, 88, 88, 88, "12.1", "12.1", "12.1"),
};
/* clang-format on */

const struct pj_arch_row *pj_arch_row_find(uint16_t number)
{
    for (size_t i = 0; i < PJ_COUNT(rows); i++) {
        if (rows[i].number == number)
            return &rows[i];
    }
    return NULL;
}

unsigned pj_arch_row_isa(struct pj_arch arch)
{
    const struct pj_arch_row *row = pj_arch_row_find(arch.number);
    if (!row)
        return 0;
    switch (arch.letter) {
    case 0:
        return row->isa_plain;
    case 'a':
        return row->isa_a;
    case 'f':
        return row->isa_f;
    default:
        return 0;
    }
}
