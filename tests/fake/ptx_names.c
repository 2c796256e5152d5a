/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of names met in a PTX text, the instructions of the language, and its published versions. */
#include "ptx_names.h"

#include "base.h"

#include <stdlib.h>
#include <string.h>

/* The slot of the name, or the empty one where it would stand. */
static size_t *find_slot(const struct fake_names *names, const char *name, size_t length)
{
    size_t at = (size_t)fake_fnv(name, length) & (names->slot_count - 1);
    for (;; at = (at + 1) & (names->slot_count - 1)) {
        size_t *slot = &names->slots[at];
        const char *found = *slot ? names->names[*slot - 1] : NULL;
        if (!found || (strncmp(found, name, length) == 0 && !found[length]))
            return slot;
    }
}

/* At least half of the slots stay empty. */
static void make_room(struct fake_names *names)
{
    if (2 * (names->count + 1) <= names->slot_count)
        return;
    names->slot_count = names->slot_count ? 2 * names->slot_count : 16;
    names->slots = fake_reallocate(names->slots, names->slot_count * sizeof *names->slots);
    memset(names->slots, 0, names->slot_count * sizeof *names->slots);
    names->names = fake_reallocate(names->names, names->slot_count / 2 * sizeof *names->names);
    for (size_t i = 0; i < names->count; i++)
        *find_slot(names, names->names[i], strlen(names->names[i])) = i + 1;
}

void fake_names_add(struct fake_names *names, const char *name, size_t length)
{
    make_room(names);
    size_t *slot = find_slot(names, name, length);
    if (*slot)
        return;
    names->names[names->count++] = fake_copy_text(name, length);
    *slot = names->count;
}

bool fake_names_have(const struct fake_names *names, const char *name, size_t length)
{
    return names->slot_count && *find_slot(names, name, length);
}

void fake_names_free(struct fake_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->names[i]);
    free(names->names);
    free(names->slots);
    *names = (struct fake_names){0};
}

/* One string, a space on both sides of every word. */
static const char instructions[] = " abs activemask add addc alloca and applypriority atom bar barrier bfe "
                                   "bfi bfind bmsk bra brev brkpt brx call "
                                   "clusterlaunchcontrol clz cnot copysign cos cp createpolicy cvt cvta "
                                   "discard div dp2a dp4a elect ex2 exit fence "
                                   "fma fns getctarank griddepcontrol isspacep istypep ld ldmatrix ldu lg2 "
                                   "lop3 mad mad24 madc mapa match max mbarrier "
                                   "membar min mma mov movmatrix mul mul24 multimem nanosleep neg not or "
                                   "pmevent popc prefetch prefetchu prmt rcp red "
                                   "redux rem ret rsqrt sad selp set setmaxnreg setp shf shfl shl shr sin "
                                   "slct sqrt st stackrestore stacksave stmatrix "
                                   "sub subc suld suq sured sust szext tanh tcgen05 tensormap testp tex tld4 "
                                   "trap txq vabsdiff vabsdiff2 vabsdiff4 "
                                   "vadd vadd2 vadd4 vavrg2 vavrg4 vmad vmax vmax2 vmax4 vmin vmin2 vmin4 "
                                   "vote vset vset2 vset4 vshl vshr vsub vsub2 "
                                   "vsub4 wgmma wmma xor ";

bool fake_ptx_knows_instruction(const char *opcode, size_t length)
{
    char word[40];
    if (length + 3 > sizeof word)
        return false;
    word[0] = ' ';
    memcpy(word + 1, opcode, length);
    word[length + 1] = ' ';
    word[length + 2] = 0;
    return strstr(instructions, word) != NULL;
}

bool fake_ptx_supplies_function(const char *name)
{
    static const char *const supplied[] = {"vprintf", "malloc", "free", "__assertfail"};
    for (size_t i = 0; i < sizeof supplied / sizeof supplied[0]; i++)
        if (strcmp(name, supplied[i]) == 0)
            return true;
    return false;
}

bool fake_ptx_version_exists(unsigned isa)
{
    static const unsigned char newest_minor[] = {0, 5, 3, 2, 3, 1, 5, 8, 8};
    unsigned major = isa / 10, minor = isa % 10;
    if (major >= 9)
        return true; /* the caller compares with the newest it knows */
    return major >= 1 && minor <= newest_minor[major];
}
