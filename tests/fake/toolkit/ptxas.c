/* SPDX-License-Identifier: Apache-2.0 */
/* The stand-in ptxas: a program that makes the cubins which the emulated driver would make itself. */
#include "../cubin.h"
#include "../words.h"
#include "stage.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { REFUSED = 255 };

struct order {
    struct fake_arch arch;
    bool relocatable;
    const char *input, *output;
    struct fake_buffer option_text; /* as the key has it */
};

/* `detail` stands where `text` has its %s. */
static int refuse(const char *text, const char *detail)
{
    const char *mark = strstr(text, "%s");
    int before = mark ? (int)(mark - text) : (int)strlen(text);
    fprintf(stderr, "ptxas fatal   : %.*s%s%s\nptxas fatal   : Ptx assembly aborted due to errors\n", before,
            text, mark ? detail : "", mark ? mark + 2 : "");
    return REFUSED;
}

static int tell_version(const struct toolkit_stage *stage)
{
    printf("ptxas: NVIDIA (R) Ptx optimizing assembler\n"
           "Cuda compilation tools, release %d.%d, V%d.%d.%u\n",
           stage->major, stage->minor, stage->major, stage->minor, stage->build);
    if (strcmp(stage->label, "none") != 0)
        printf("Build %s\n", stage->label);
    return 0;
}

/* Those that change the code; one that ends in `=` takes a value. */
static bool is_known(const char *option)
{
    static const char *const known[] = {"-c",
                                        "-O0",
                                        "-O1",
                                        "-O2",
                                        "-O3",
                                        "-O4",
                                        "-g",
                                        "-lineinfo",
                                        "--fast-compile",
                                        "-dlcm=",
                                        "--position-independent-code=",
                                        "--minnctapersm=",
                                        "--maxntid=",
                                        "--override-directive-values",
                                        "--split-compile="};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        size_t length = strlen(known[i]);
        if (known[i][length - 1] == '=' ? strncmp(option, known[i], length) == 0
                                        : strcmp(option, known[i]) == 0)
            return true;
    }
    return false;
}

static void add_option(struct order *order, const char *word)
{
    fake_buffer_printf(&order->option_text, "%s%s", order->option_text.length ? " " : "", word);
}

static int read_arch(const struct toolkit_stage *stage, struct order *order, const char *value)
{
    if (!fake_arch_parse(value, false, &order->arch) || !toolkit_stage_has_arch(stage, order->arch.number))
        return refuse("Value '%s' is not defined for option 'gpu-name'", value);
    return 0;
}

static int read_order(const struct toolkit_stage *stage, int count, char **words, struct order *order)
{
    int refused = 0;
    for (int i = 1; i < count && !refused; i++) {
        const char *word = words[i], *next = i + 1 < count ? words[i + 1] : NULL;
        if (strncmp(word, "-arch=", 6) == 0) {
            refused = read_arch(stage, order, word + 6);
        } else if (strcmp(word, "-o") == 0 && next) {
            order->output = words[++i];
        } else if (strcmp(word, "--maxrregcount") == 0 && next) {
            add_option(order, word);
            add_option(order, words[++i]);
        } else if (word[0] != '-') {
            order->input = word;
        } else if (is_known(word)) {
            add_option(order, word);
            order->relocatable |= strcmp(word, "-c") == 0;
        } else {
            refused = refuse("Unknown option '%s'", word);
        }
    }
    if (!refused && (!order->input || !order->output || !order->arch.number))
        refused = refuse("No input, output or architecture is given", "");
    return refused;
}

/* What it has against this text. Letters count here: the driver's device has them all. */
static int object(const struct fake_ptx *ptx, const struct order *order)
{
    char text[32];
    if (ptx->refusal != CUDA_SUCCESS) {
        fprintf(stderr, "%s\n", ptx->refusal_text);
        return REFUSED;
    }
    if (ptx->undefined_functions.count && !order->relocatable)
        return refuse("Unresolved extern function '%s'", ptx->undefined_functions.names[0]);
    const char *objection = fake_arch_objection(ptx->target, order->arch.number);
    if (objection)
        return refuse(objection, ptx->target_text);
    if (ptx->target.letter != 'a' || order->arch.letter == 'a')
        return 0;
    (void)snprintf(text, sizeof text, "sm_%u", order->arch.number);
    return refuse("Program with .target with a letter is not for %s", text);
}

/* The key's bytes are the seed, as in the emulated driver, so that both make the same code. */
static uint64_t seed_of(const struct toolkit_stage *stage, const struct order *order,
                        const struct fake_buffer *text)
{
    struct fake_buffer key = {0};
    fake_buffer_printf(&key, "%sHOST64sm_%u", stage->stamp, order->arch.number);
    fake_buffer_add(&key, text->data, text->length);
    fake_buffer_add(&key, "\0 ", 2);
    fake_buffer_add_text(&key, fake_buffer_text(&order->option_text));
    uint64_t seed = fake_fnv(key.data, key.length);
    fake_buffer_free(&key);
    return stage->other_code ? seed + 1 : seed;
}

static void spoil(const struct toolkit_stage *stage, const struct order *order, const struct fake_ptx *ptx,
                  uint64_t seed, struct fake_buffer *cubin)
{
    const struct toolkit_rule *rule = toolkit_stage_spoils(stage, ptx, order->arch.number);
    struct fake_ptx lacking = *ptx;
    if (!rule)
        return;
    switch (rule->spoiled) {
    case TOOLKIT_SPOILED_ARCH:
        fake_buffer_free(cubin);
        fake_cubin_write(ptx, order->arch.number == 80 ? 90 : 80, order->relocatable, seed, 0, cubin);
        break;
    case TOOLKIT_SPOILED_LINKABLE:
        fake_buffer_free(cubin);
        fake_cubin_write(ptx, order->arch.number, !order->relocatable, seed, 0, cubin);
        break;
    case TOOLKIT_SPOILED_KERNELS:
        lacking.kernel_count = 0;
        fake_buffer_free(cubin);
        fake_cubin_write(&lacking, order->arch.number, order->relocatable, seed, 0, cubin);
        break;
    case TOOLKIT_SPOILED_CUT:
        cubin->length -= 100;
        break;
    case TOOLKIT_SPOILED_RANDOM:
        for (size_t i = 0; i < cubin->length; i++)
            cubin->data[i] = (unsigned char)((i * 2654435761u) >> 13);
        break;
    }
}

static int compile(const struct toolkit_stage *stage, const struct order *order,
                   const struct fake_buffer *text, const struct fake_ptx *ptx)
{
    struct fake_buffer cubin = {0};
    toolkit_stage_strike(stage, ptx, order->arch.number);
    int refused = object(ptx, order);
    if (refused)
        return refused;
    uint64_t seed = seed_of(stage, order, text);
    fake_cubin_write(ptx, order->arch.number, order->relocatable, seed, 0, &cubin);
    spoil(stage, order, ptx, seed, &cubin);
    int descriptor = open(order->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor < 0 || !fake_write_all(descriptor, cubin.data, cubin.length, 0))
        return refuse("Could not write output file '%s'", order->output);
    close(descriptor);
    fake_buffer_free(&cubin);
    return 0;
}

int main(int count, char **words)
{
    const struct toolkit_stage *stage = toolkit_stage();
    struct order order = {.input = NULL};
    struct fake_buffer text = {0};
    struct fake_ptx ptx;
    if (count == 2 && strcmp(words[1], "--version") == 0)
        return tell_version(stage);
    int result = read_order(stage, count, words, &order);
    if (result == 0) {
        int descriptor = open(order.input, O_RDONLY | O_CLOEXEC);
        if (descriptor < 0 || !fake_read_all(descriptor, &text))
            return refuse("Could not open input file '%s'", order.input);
        close(descriptor);
        toolkit_stage_log(stage, "ptxas pid=%ld arch=sm_%u%c options=%s", (long)getpid(), order.arch.number,
                          order.arch.letter ? order.arch.letter : ' ', fake_buffer_text(&order.option_text));
        fake_ptx_read((const char *)text.data, text.length, toolkit_stage_isa(stage), &ptx);
        result = compile(stage, &order, &text, &ptx);
        fake_ptx_free(&ptx);
    }
    fake_buffer_free(&text);
    fake_buffer_free(&order.option_text);
    return result;
}
