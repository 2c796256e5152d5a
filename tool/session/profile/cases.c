/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels and options of the cases. */
#include "session/profile/cases.h"

#include <string.h>

#include "arch/arch.h"
#include "image/fatbin_key.h"
#include "image/fatbin_write.h"

/* Old enough for every driver that this is for: PTX ISA 6.4 is CUDA 10.1's, sm_75 the oldest that CUDA 13
 * compiles for. */
#define HEAD                                                                                                 \
    ".version 6.4\n"                                                                                         \
    ".target sm_75\n"                                                                                        \
    ".address_size 64\n"

#define ENTRY(name, body)                                                                                    \
    ".visible .entry " name "(.param .u64 in, .param .u64 out, .param .u32 count)\n"                         \
    "{\n"                                                                                                    \
    "\t.reg .pred %p<2>;\n"                                                                                  \
    "\t.reg .b32 %r<12>;\n"                                                                                  \
    "\t.reg .b64 %rd<8>;\n"                                                                                  \
    "\tld.param.u64 %rd1, [in];\n"                                                                           \
    "\tld.param.u64 %rd2, [out];\n"                                                                          \
    "\tld.param.u32 %r1, [count];\n"                                                                         \
    "\tmov.u32 %r2, %ctaid.x;\n"                                                                             \
    "\tmov.u32 %r3, %ntid.x;\n"                                                                              \
    "\tmov.u32 %r4, %tid.x;\n"                                                                               \
    "\tmad.lo.s32 %r5, %r2, %r3, %r4;\n"                                                                     \
    "\tsetp.ge.u32 %p1, %r5, %r1;\n"                                                                         \
    "\t@%p1 bra DONE;\n"                                                                                     \
    "\tcvta.to.global.u64 %rd3, %rd1;\n"                                                                     \
    "\tcvta.to.global.u64 %rd4, %rd2;\n"                                                                     \
    "\tmul.wide.u32 %rd5, %r5, 4;\n"                                                                         \
    "\tadd.s64 %rd6, %rd3, %rd5;\n"                                                                          \
    "\tadd.s64 %rd7, %rd4, %rd5;\n"                                                                          \
    "\tld.global.u32 %r6, [%rd6];\n" body "\tst.global.u32 [%rd7], %r7;\n"                                   \
    "DONE:\n"                                                                                                \
    "\tret;\n"                                                                                               \
    "}\n"

static const char *const whole[] = {HEAD ENTRY(PJ_PROFILE_KERNEL, "\tmad.lo.s32 %r7, %r6, 3, 1;\n")};

static const char *const linked[] = {HEAD
                                     ".extern .func (.param .b32 result) triple(.param .b32 value);\n" ENTRY(
                                         PJ_PROFILE_KERNEL, "\t{\n"
                                                            "\t.param .b32 value;\n"
                                                            "\t.param .b32 result;\n"
                                                            "\tst.param.b32 [value], %r6;\n"
                                                            "\tcall.uni (result), triple, (value);\n"
                                                            "\tld.param.b32 %r8, [result];\n"
                                                            "\t}\n"
                                                            "\tadd.s32 %r7, %r8, 1;\n"),
                                     HEAD ".visible .func (.param .b32 result) triple(.param .b32 value)\n"
                                          "{\n"
                                          "\t.reg .b32 %r<3>;\n"
                                          "\tld.param.u32 %r1, [value];\n"
                                          "\tmul.lo.s32 %r2, %r1, 3;\n"
                                          "\tst.param.b32 [result], %r2;\n"
                                          "\tret;\n"
                                          "}\n"};

static const char *const other[] = {HEAD ENTRY("other", "\tadd.s32 %r7, %r6, 7;\n")};

int32_t pj_profile_expected(uint32_t i)
{
    return (int32_t)i * 3 + 1;
}

struct pj_trial_load pj_profile_other_load(void)
{
    return (struct pj_trial_load){.texts = other, .text_count = 1};
}

static const struct {
    const char *title;
    enum pj_packing packing;
} packings[PJ_PROFILE_FATBINS] = {
    {"stored fatbin", PJ_PACKING_NONE},
    {"LZ4 fatbin", PJ_PACKING_LZ4},
    {"zstd fatbin", PJ_PACKING_ZSTD},
};

static int read_key_image(const struct pj_buffer *image, struct pj_buffer *ret_key_image,
                          struct pj_error **err)
{
    struct pj_fatbin fatbin;
    struct pj_fatbin_entry entry;
    int r = pj_fatbin_start(image->data, image->size, &fatbin, err);
    if (r == 0)
        r = pj_fatbin_next(&fatbin, &entry, err);
    return r > 0 ? pj_fatbin_key_image(&fatbin, &entry, ret_key_image, err) : r;
}

/* Ends each text in as many line feeds as it takes to have another size, so that every case has a key of its
 * own, and the stored one more NULs behind it than any rule but the right one would put there [3]. */
static int make_fatbin(struct pj_profile_fatbins *fatbins, size_t index, struct pj_error **err)
{
    struct pj_buffer *text = &fatbins->bytes[index], *image = &fatbins->images[index];
    pj_buffer_puts(text, whole[0]);
    while (!text->failed && text->size % 8 != index)
        pj_buffer_putc(text, '\n');
    fatbins->texts[index] = pj_buffer_text(text);
    const struct pj_fatbin_ptx ptx = {.text = fatbins->texts[index],
                                      .size = text->size,
                                      .arch = 75,
                                      .version = {6, 4},
                                      .packing = packings[index].packing};
    int r = pj_buffer_check(text, err);
    if (r == 0)
        r = pj_fatbin_write(&ptx, image, err);
    return r == 0 ? read_key_image(image, &fatbins->key_images[index], err) : r;
}

int pj_profile_fatbins_make(struct pj_profile_fatbins *fatbins, struct pj_error **err)
{
    int r = 0;
    for (size_t i = 0; i < PJ_PROFILE_FATBINS && r == 0; i++)
        r = make_fatbin(fatbins, i, err);
    return r;
}

void pj_profile_fatbins_free(struct pj_profile_fatbins *fatbins)
{
    for (size_t i = 0; i < PJ_PROFILE_FATBINS; i++) {
        pj_buffer_free(&fatbins->bytes[i]);
        pj_buffer_free(&fatbins->images[i]);
        pj_buffer_free(&fatbins->key_images[i]);
    }
}

struct option {
    enum pj_jit_option option;
    uint32_t value;
};

enum { OPTIONS_MAX = 4 };
static const struct {
    const char *title;
    struct option options[OPTIONS_MAX];
    size_t count;
    bool link; /* for a linker's inputs, too */
} option_sets[] = {
    {"max_registers=64", {{PJ_JIT_MAX_REGISTERS, 64}}, 1, true},
    {"optimization_level=4", {{PJ_JIT_OPTIMIZATION_LEVEL, 4}}, 1, false},
    {"optimization_level=0", {{PJ_JIT_OPTIMIZATION_LEVEL, 0}}, 1, false},
    {"generate_line_info", {{PJ_JIT_GENERATE_LINE_INFO, 1}}, 1, false},
    {"cache_mode=cg", {{PJ_JIT_CACHE_MODE, PJ_JIT_CACHE_CG}}, 1, false},
    {"three options",
     {{PJ_JIT_OPTIMIZATION_LEVEL, 3}, {PJ_JIT_MAX_REGISTERS, 64}, {PJ_JIT_GENERATE_LINE_INFO, 1}},
     3,
     true},
    {"two options", {{PJ_JIT_OPTIMIZATION_LEVEL, 2}, {PJ_JIT_CACHE_MODE, PJ_JIT_CACHE_CA}}, 2, false},
};

static struct pj_jit_options options_of(size_t set)
{
    struct pj_jit_options options = {0};
    for (size_t i = 0; i < option_sets[set].count; i++) {
        options.given |= UINT32_C(1) << option_sets[set].options[i].option;
        options.values[option_sets[set].options[i].option] = option_sets[set].options[i].value;
    }
    return options;
}

/* Cases in the making. A title that there was no memory for is noticed at the end. */
struct list {
    struct pj_arena *arena;
    struct pj_profile_case *cases;
    size_t count;
    bool failed;
};

static struct pj_profile_case *add(struct list *list, const char *title, enum pj_profile_kind kind,
                                   struct pj_trial_load load)
{
    struct pj_profile_case *added = &list->cases[list->count++];
    *added = (struct pj_profile_case){.title = title, .kind = kind, .load = load};
    list->failed |= !title;
    return added;
}

static void add_plain(struct list *list, struct pj_trial_load load)
{
    (void)add(list, "plain", PJ_PROFILE_PLAIN, load);
    for (size_t i = 0; i < PJ_COUNT(option_sets); i++) {
        bool one = option_sets[i].count == 1;
        load.options = options_of(i);
        (void)add(list, option_sets[i].title, one ? PJ_PROFILE_ONE_OPTION : PJ_PROFILE_OPTIONS, load);
    }
}

static void add_links(struct list *list, struct pj_trial_load load)
{
    (void)add(list, "link", PJ_PROFILE_LINK, load);
    for (size_t i = 0; i < PJ_COUNT(option_sets); i++) {
        if (!option_sets[i].link)
            continue;
        load.options = options_of(i);
        (void)add(list, pj_arena_printf(list->arena, "link, %s", option_sets[i].title), PJ_PROFILE_LINK,
                  load);
    }
}

static void add_fatbins(struct list *list, const struct pj_profile_fatbins *fatbins)
{
    for (size_t i = 0; i < PJ_PROFILE_FATBINS; i++) {
        const struct pj_trial_load load = {
            .texts = &fatbins->texts[i], .text_count = 1, .image = &fatbins->images[i]};
        add(list, packings[i].title, PJ_PROFILE_FATBIN, load)->key_image = &fatbins->key_images[i];
    }
}

static void add_foreign(struct list *list, uint16_t own, struct pj_trial_load load)
{
    size_t count;
    const uint16_t *archs = pj_arch_all(&count);
    for (size_t i = 0; i < count; i++) {
        if (archs[i] == own)
            continue;
        load.target = archs[i];
        (void)add(list, pj_arena_printf(list->arena, "sm_%u", archs[i]), PJ_PROFILE_FOREIGN, load);
    }
}

int pj_profile_cases(uint16_t own, const struct pj_profile_fatbins *fatbins, struct pj_arena *arena,
                     struct pj_profile_case **ret_cases, size_t *ret_count, struct pj_error **err)
{
    const struct pj_trial_load plain = {.texts = whole, .text_count = PJ_COUNT(whole)};
    const struct pj_trial_load link = {.texts = linked, .text_count = PJ_COUNT(linked), .link = true};
    size_t arch_count;
    (void)pj_arch_all(&arch_count);
    size_t most = 2 + 2 * PJ_COUNT(option_sets) + PJ_PROFILE_FATBINS + arch_count;
    struct list list = {.arena = arena, .cases = pj_arena_calloc(arena, most, sizeof *list.cases)};
    if (!list.cases)
        return pj_error_no_memory(err);
    add_plain(&list, plain);
    add_links(&list, link);
    add_fatbins(&list, fatbins);
    add_foreign(&list, own, plain);
    if (list.failed)
        return pj_error_no_memory(err);
    *ret_cases = list.cases;
    *ret_count = list.count;
    return 0;
}
