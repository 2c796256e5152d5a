/* SPDX-License-Identifier: Apache-2.0 */
/* The emulated JIT: takes its time, does what the scenario wants, makes a cubin or refuses. */
#include "compile.h"

#include "cubin.h"
#include "disaster.h"
#include "scenario.h"

#include <stdlib.h>
#include <string.h>

void fake_compile_prove_crash(const struct fake_compilation *compilation)
{
    if (!fake_scenario_has(FAKE_ACT_CRASH_PROVE) && !fake_scenario_has(FAKE_ACT_HANG_PROVE))
        return;
    struct fake_ptx ptx;
    fake_ptx_read(compilation->text, compilation->bytes, fake_scenario()->newest_isa, &ptx);
    if (fake_scenario_rule(FAKE_ACT_CRASH_PROVE, &ptx, compilation->arch))
        fake_disaster_crash();
    if (fake_scenario_rule(FAKE_ACT_HANG_PROVE, &ptx, compilation->arch))
        fake_disaster_hang();
    fake_ptx_free(&ptx);
}

static CUresult refuse(struct fake_options *options, CUresult result, const char *text)
{
    fake_buffer_add_text(&options->error_log, text);
    fake_buffer_add_text(&options->error_log, "\n");
    return result;
}

static CUresult refuse_undefined(const struct fake_ptx *ptx, struct fake_options *options)
{
    struct fake_buffer text = {0};
    fake_buffer_printf(&text,
                       "ptxas fatal   : Unresolved extern function '%s'\n"
                       "ptxas fatal   : Ptx assembly aborted due to errors",
                       ptx->undefined_functions.names[0]);
    CUresult result = refuse(options, CUDA_ERROR_INVALID_PTX, (char *)text.data);
    fake_buffer_free(&text);
    return result;
}

/* What the compiler itself has against this text for this architecture. */
static CUresult object(const struct fake_compilation *compilation, const struct fake_ptx *ptx,
                       struct fake_options *options)
{
    unsigned arch = compilation->arch;
    if (ptx->refusal != CUDA_SUCCESS)
        return refuse(options, ptx->refusal, ptx->refusal_text);
    if (ptx->undefined_functions.count && !compilation->relocatable)
        return refuse_undefined(ptx, options);
    const char *objection = fake_arch_objection(ptx->target, arch);
    if (!objection)
        return CUDA_SUCCESS;
    struct fake_buffer text = {0};
    const char *mark = strstr(objection, "%s");
    fake_buffer_add_text(&text, "ptxas fatal   : ");
    fake_buffer_add(&text, objection, mark ? (size_t)(mark - objection) : strlen(objection));
    if (mark)
        fake_buffer_printf(&text, "%s%s", ptx->target_text, mark + 2);
    CUresult result = refuse(options, CUDA_ERROR_INVALID_PTX, (char *)text.data);
    fake_buffer_free(&text);
    return result;
}

static void report(const struct fake_ptx *ptx, unsigned arch, struct fake_options *options)
{
    unsigned wanted = 0;
    if (fake_options_value(options, CU_JIT_GENERATE_DEBUG_INFO, &wanted) && wanted && !ptx->has_debug_info)
        fake_buffer_add_text(&options->info_log, "ptxas warning :  .debug_info section not found\n");
    if (!fake_options_value(options, CU_JIT_LOG_VERBOSE, &wanted) || !wanted)
        return;
    fake_buffer_add_text(&options->info_log, "ptxas info    : 0 bytes gmem\n");
    for (size_t i = 0; i < ptx->kernel_count; i++)
        fake_buffer_printf(&options->info_log, "ptxas info    : Compiling entry function '%s' for 'sm_%u'\n",
                           ptx->kernels[i].name, arch);
}

static void take_time(const struct fake_compilation *compilation, const struct fake_ptx *ptx)
{
    const struct fake_scenario *scenario = fake_scenario();
    const struct fake_rule *memory = fake_scenario_rule(FAKE_ACT_MEMORY, ptx, compilation->arch);
    const struct fake_rule *slow = fake_scenario_rule(FAKE_ACT_SLOW, ptx, compilation->arch);
    size_t held_bytes = memory ? (size_t)memory->number << 20 : 0;
    unsigned char *held = fake_allocate(held_bytes);
    memset(held, 1, held_bytes); /* so that it is resident */
    double ms = scenario->compile_base_ms + scenario->compile_us_per_kb * (double)compilation->bytes / 1e6 +
                (slow ? slow->number : 0);
    fake_pass(ms, scenario->burn);
    free(held);
}

/* PTX out of a fat binary has more NULs behind it in its key, and becomes the same code. */
static uint64_t seed_of(const struct fake_buffer *key)
{
    struct fake_buffer bytes = {0};
    for (size_t i = 0; i < key->length; i++) {
        if (i == 0 || key->data[i] || key->data[i - 1])
            fake_buffer_add(&bytes, &key->data[i], 1);
    }
    uint64_t seed = fake_fnv(bytes.data, bytes.length);
    fake_buffer_free(&bytes);
    return seed;
}

static void spoil(const struct fake_rule *rule, const struct fake_ptx *ptx,
                  const struct fake_compilation *compilation, const struct fake_buffer *good,
                  struct fake_buffer *stored)
{
    uint64_t seed = seed_of(compilation->key);
    switch (rule->payload) {
    case FAKE_PAYLOAD_ARCH:
        fake_cubin_write(ptx, rule->payload_arch, compilation->relocatable, seed, 0, stored);
        break;
    case FAKE_PAYLOAD_CUT:
        fake_buffer_add(stored, good->data, good->length - 100);
        break;
    case FAKE_PAYLOAD_RANDOM:
        for (size_t i = 0; i < good->length; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            unsigned char byte = (unsigned char)(seed >> 56);
            fake_buffer_add(stored, &byte, 1);
        }
        break;
    }
}

static CUresult compile_read(const struct fake_compilation *compilation, const struct fake_ptx *ptx,
                             struct fake_options *options, struct fake_buffer *ret_payload,
                             struct fake_buffer *ret_stored)
{
    unsigned arch = compilation->arch;
    fake_disaster_strike(ptx, arch);
    const struct fake_rule *rule = fake_scenario_rule(FAKE_ACT_REFUSE, ptx, arch);
    if (rule)
        return refuse(options, rule->result, rule->text);
    CUresult result = object(compilation, ptx, options);
    if (result != CUDA_SUCCESS)
        return result;
    take_time(compilation, ptx);
    report(ptx, arch, options);
    rule = fake_scenario_rule(FAKE_ACT_PAYLOAD, ptx, arch);
    uint64_t seed = seed_of(compilation->key);
    fake_cubin_write(ptx, arch, compilation->relocatable, seed, rule ? (size_t)rule->number : 0, ret_payload);
    *ret_stored = (struct fake_buffer){0};
    rule = fake_scenario_rule(FAKE_ACT_BAD_PAYLOAD, ptx, arch);
    if (rule)
        spoil(rule, ptx, compilation, ret_payload, ret_stored);
    else
        fake_buffer_add(ret_stored, ret_payload->data, ret_payload->length);
    return CUDA_SUCCESS;
}

CUresult fake_compile(const struct fake_compilation *compilation, struct fake_options *options,
                      struct fake_buffer *ret_payload, struct fake_buffer *ret_stored)
{
    struct fake_ptx ptx;
    if (!fake_arch_is_output(compilation->arch) || fake_scenario_is_disabled(compilation->arch)) {
        struct fake_buffer text = {0};
        fake_buffer_printf(&text, "ptxas fatal   : Value 'sm_%u' is not defined for option 'gpu-name'",
                           compilation->arch);
        CUresult result = refuse(options, CUDA_ERROR_INVALID_PTX, (char *)text.data);
        fake_buffer_free(&text);
        return result;
    }
    fake_ptx_read(compilation->text, compilation->bytes, fake_scenario()->newest_isa, &ptx);
    if (ptx.kernel_count > 0 && fake_scenario_rule(FAKE_ACT_UNLOADABLE, &ptx, compilation->arch))
        ptx.kernels[0].unloadable = true;
    CUresult result = compile_read(compilation, &ptx, options, ret_payload, ret_stored);
    fake_ptx_free(&ptx);
    return result;
}
