/* SPDX-License-Identifier: Apache-2.0 */
/* Option arrays. Numbers in brackets are lines of docs/cache-model.md. */
#include "job/worker_call.h"

#include <string.h>

static unsigned add_option(struct pj_worker_call *call, CUjit_option name, void *value)
{
    call->names[call->count] = name;
    call->values[call->count] = value;
    return call->count++;
}

void pj_call_own_options(struct pj_worker_call *call, const struct pj_wire_load *load)
{
    call->count = 0;
    for (uint32_t i = 0; i < load->option_count; i++)
        (void)add_option(call, (CUjit_option)load->options[i].option,
                         (void *)(uintptr_t)load->options[i].value);
    if (load->target)
        (void)add_option(call, CU_JIT_TARGET, (void *)(uintptr_t)load->target);
}

void pj_call_observe(struct pj_worker_call *call)
{
    call->error_log[0] = call->info_log[0] = '\0';
    call->wall_time = add_option(call, CU_JIT_WALL_TIME, NULL);
    (void)add_option(call, CU_JIT_ERROR_LOG_BUFFER, call->error_log);
    (void)add_option(call, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, (void *)(uintptr_t)sizeof call->error_log);
    (void)add_option(call, CU_JIT_INFO_LOG_BUFFER, call->info_log);
    (void)add_option(call, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, (void *)(uintptr_t)sizeof call->info_log);
}

double pj_call_wall_ms(const struct pj_worker_call *call)
{
    float ms; /* the driver writes a float over the value slot */
    memcpy(&ms, &call->values[call->wall_time], sizeof ms);
    return (double)ms;
}

int pj_call_take_log(const struct pj_worker_call *call, struct pj_arena *arena, const char **ret_log,
                     struct pj_error **err)
{
    size_t errors = strnlen(call->error_log, sizeof call->error_log);
    size_t infos = strnlen(call->info_log, sizeof call->info_log);
    const char *log = pj_arena_printf(arena, "%.*s%s%.*s", (int)errors, call->error_log,
                                      errors && infos ? "\n" : "", (int)infos, call->info_log);
    if (!log)
        return pj_error_no_memory(err);
    *ret_log = log;
    return 0;
}
