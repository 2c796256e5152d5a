/* SPDX-License-Identifier: Apache-2.0 */
/* The table of GPUs: NVIDIA's lists of compute capabilities, and the H800, A800 and A10G, which they leave
 * out. */
#include "arch/gpu.h"

#include <string.h>

#include "base/memory.h"

/* Names of one architecture, separated by blanks; small letters and digits alone. */
static const struct {
    uint16_t number;
    const char *names;
} gpus[] = {
    {121, "gb10 dgxspark"},
    {120, "rtxpro6000 rtxpro5000 rtxpro4500 rtxpro4000 rtxpro2000 rtx5090 rtx5080 rtx5070 rtx5060 rtx5050"},
    {110, "jetsont5000 jetsont4000 jetsonagxthor thor"},
    {103, "gb300 b300"},
    {100, "gb200 b200"},
    {90, "gh200 h200 h100 h800"},
    {89, "l4 l40 l40s rtx6000ada rtx5000ada rtx4500ada rtx4000ada rtx4000sffada rtx2000ada rtx4090 rtx4080 "
         "rtx4070 rtx4060 rtx4050"},
    {87, "jetsonagxorin jetsonorinnx jetsonorinnano jetsonorin orin"},
    {86, "a40 a16 a10 a10g a2 rtxa6000 a6000 rtxa5000 a5000 rtxa4000 a4000 rtxa3000 rtxa2000 rtx3090 rtx3080 "
         "rtx3070 rtx3060 rtx3050"},
    {80, "a100 a800 a30"},
    {75, "t4 quadrortx8000 quadrortx6000 quadrortx5000 quadrortx4000 titanrtx rtx2080 rtx2070 rtx2060 "
         "gtx1660 gtx1650"},
    {72, "jetsonagxxavier jetsonxaviernx xavier"},
    {70, "v100 titanv gv100 quadrogv100"},
    {62, "jetsontx2"},
    {61, "p40 p4 titanxp gtx1080 gtx1070 gtx1060 gtx1050"},
    {60, "p100 gp100 quadrogp100"},
    {53, "jetsonnano"},
    {52, "m60 m40 gtx980 gtx970 gtx960 gtx950"},
};

/* What stands before a name, and what stands behind it for a variant of the same architecture. */
static const char *const brands[] = {"nvidia", "geforce", "tesla"};
static const char *const variants[] = {"laptopgpu", "gpu",    "super",       "ti",         "sxm",
                                       "pcie",      "nvl",    "maxq",        "sff",        "blackwell",
                                       "edition",   "server", "workstation", "generation", "hbm"};

enum { NAME_MAX_BYTES = 80 };

/* Small letters and digits alone; false for any other character, or too many. */
static bool squeeze(const char *name, char ret_text[NAME_MAX_BYTES])
{
    size_t used = 0;
    for (; *name; name++) {
        char c = *name >= 'A' && *name <= 'Z' ? (char)(*name - 'A' + 'a') : *name;
        if (c == ' ' || c == '-' || c == '_')
            continue;
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) || used + 1 >= NAME_MAX_BYTES)
            return false;
        ret_text[used++] = c;
    }
    ret_text[used] = '\0';
    return true;
}

static bool starts(const char *text, const char *word)
{
    return strncmp(text, word, strlen(word)) == 0;
}

/* Is `text` made of words of a variant alone: `sxm4`, `80gb`, `hbm2e`, `ti`? */
static bool is_variant(const char *text)
{
    while (*text) {
        size_t length = strspn(text, "0123456789");
        if (length > 0 && starts(text + length, "gb")) {
            text += length + 2;
            continue;
        }
        length = 0;
        for (size_t i = 0; i < PJ_COUNT(variants) && length == 0; i++)
            length = starts(text, variants[i]) ? strlen(variants[i]) : 0;
        if (length == 0)
            return false;
        bool numbered = starts(text, "sxm") || starts(text, "hbm");
        text += length;
        if (numbered && *text >= '2' && *text <= '9')
            text += 1 + (text[1] == 'e');
    }
    return true;
}

bool pj_gpu_arch(const char *name, struct pj_arch *ret_arch)
{
    char text[NAME_MAX_BYTES];
    const char *at = text;
    size_t longest = 0;
    if (!squeeze(name, text))
        return false;
    for (size_t i = 0; i < PJ_COUNT(brands); i++)
        at += starts(at, brands[i]) ? strlen(brands[i]) : 0;
    for (size_t i = 0; i < PJ_COUNT(gpus); i++) {
        for (const char *known = gpus[i].names; *known;) {
            size_t length = strcspn(known, " ");
            if (length > longest && strncmp(at, known, length) == 0 && is_variant(at + length)) {
                longest = length;
                *ret_arch = (struct pj_arch){.number = gpus[i].number};
            }
            known += length;
            known += *known == ' ';
        }
    }
    return longest > 0;
}
