/* SPDX-License-Identifier: Apache-2.0 */
/* Machine code for a key: looked up, compiled, stored, with a line in the event log for each. */
#include "obtain.h"

#include "cache.h"
#include "errors.h"

static void log_event(const struct fake_request *request, const char *word, const char *more)
{
    const struct fake_buffer *key = request->compilation.key;
    fake_scenario_log(word, "call=%s context=%s arch=sm_%u entry=%016llx %s", request->call,
                      request->context ? "yes" : "no", request->compilation.arch,
                      (unsigned long long)fake_fnv(key->data, key->length), more);
}

CUresult fake_obtain(struct fake_request *request, struct fake_buffer *ret_payload)
{
    const struct fake_settings *settings = &request->driver->settings;
    struct fake_compilation *compilation = &request->compilation;
    bool disabled = settings->disable_jit && !fake_scenario()->ignore_disable_jit;
    if (settings->disable_jit)
        fake_compile_prove_crash(compilation);
    if (!settings->force_jit && fake_cache_look_up(settings, compilation->key, ret_payload)) {
        log_event(request, "hit", "");
        return CUDA_SUCCESS;
    }
    if (disabled) {
        log_event(request, "disabled", "");
        return CUDA_ERROR_JIT_COMPILATION_DISABLED;
    }
    log_event(request, "compile", "");
    struct fake_buffer stored;
    double start = fake_now_ms();
    CUresult result = fake_compile(compilation, request->options, ret_payload, &stored);
    if (result != CUDA_SUCCESS) {
        log_event(request, "refused", fake_error_name(result));
        return result;
    }
    request->wall_time_ms = fake_now_ms() - start;
    log_event(request, "store", fake_cache_store(settings, compilation->key, &stored));
    fake_buffer_free(&stored);
    return CUDA_SUCCESS;
}
