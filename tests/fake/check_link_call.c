/* SPDX-License-Identifier: Apache-2.0 */
/* A link in a process of its own, from cuLinkCreate to the kernel of the linked cubin. */
#include "check.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

struct exchange {
    const struct check_link_request *request;
    struct check_link_answer *answer;
};

struct option_arrays {
    CUjit_option options[CHECK_OPTIONS_MOST + 3];
    void *values[CHECK_OPTIONS_MOST + 3];
    unsigned count;
};

static void add_option(struct option_arrays *arrays, CUjit_option option, void *value)
{
    arrays->options[arrays->count] = option;
    arrays->values[arrays->count++] = value;
}

static CUresult add_input(CUlinkState state, const struct check_input *input)
{
    CUresult (*add_data)(CUlinkState, CUjitInputType, void *, size_t, const char *, unsigned, CUjit_option *,
                         void **);
    CUresult (*add_file)(CUlinkState, CUjitInputType, const char *, unsigned, CUjit_option *, void **);
    CHECK_SYMBOL(add_data, "cuLinkAddData_v2");
    CHECK_SYMBOL(add_file, "cuLinkAddFile_v2");
    if (input->is_file)
        return add_file(state, input->type, input->name, 0, NULL, NULL);
    size_t length = input->length ? input->length : strlen(input->bytes) + 1;
    return add_data(state, input->type, (void *)(uintptr_t)input->bytes, length, input->name, 0, NULL, NULL);
}

static void load_cubin(const struct check_link_request *request, struct check_link_answer *answer,
                       const void *cubin)
{
    CUmodule module = NULL;
    CUfunction function = NULL;
    CUresult (*load)(CUmodule *, const void *);
    CUresult (*get_function)(CUfunction *, CUmodule, const char *);
    CHECK_SYMBOL(load, "cuModuleLoadData");
    CHECK_SYMBOL(get_function, "cuModuleGetFunction");
    answer->load = load(&module, cubin);
    if (answer->load == CUDA_SUCCESS && request->kernel)
        answer->function = get_function(&function, module, request->kernel);
}

static bool enter_context(const struct check_link_request *request, struct check_link_answer *answer)
{
    CUresult (*init)(unsigned);
    CUresult (*retain)(CUcontext *, CUdevice);
    CUresult (*set_current)(CUcontext);
    CUcontext context = NULL;
    CHECK_SYMBOL(init, "cuInit");
    CHECK_SYMBOL(retain, "cuDevicePrimaryCtxRetain");
    CHECK_SYMBOL(set_current, "cuCtxSetCurrent");
    answer->init = init(0);
    if (answer->init != CUDA_SUCCESS)
        return false;
    return request->no_context || (retain(&context, (CUdevice)request->device) == CUDA_SUCCESS &&
                                   set_current(context) == CUDA_SUCCESS);
}

static void link_once(const struct check_link_request *request, struct check_link_answer *answer)
{
    CUresult (*create)(unsigned, CUjit_option *, void **, CUlinkState *);
    CUresult (*complete)(CUlinkState, void **, size_t *);
    CUresult (*destroy)(CUlinkState);
    struct option_arrays arrays = {.count = 0};
    CUlinkState state = NULL;
    void *cubin = NULL;
    CHECK_SYMBOL(create, "cuLinkCreate_v2");
    CHECK_SYMBOL(complete, "cuLinkComplete");
    CHECK_SYMBOL(destroy, "cuLinkDestroy");
    add_option(&arrays, CU_JIT_WALL_TIME, NULL);
    add_option(&arrays, CU_JIT_ERROR_LOG_BUFFER, answer->error_log);
    add_option(&arrays, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, (void *)sizeof answer->error_log);
    for (unsigned i = 0; i < request->option_count; i++)
        add_option(&arrays, request->options[i].option, (void *)(uintptr_t)request->options[i].value);
    answer->create = create(arrays.count, arrays.options, arrays.values, &state);
    if (answer->create != CUDA_SUCCESS)
        return;
    for (unsigned i = 0; i < request->input_count; i++) {
        answer->add[i] = add_input(state, &request->inputs[i]);
        memcpy(&answer->add_ms[i], &arrays.values[0], sizeof answer->add_ms[i]);
    }
    answer->complete = complete(state, &cubin, &answer->cubin_bytes);
    memcpy(&answer->wall_time_ms, &arrays.values[0], sizeof answer->wall_time_ms);
    if (answer->complete == CUDA_SUCCESS) {
        memcpy(answer->cubin_head, cubin, sizeof answer->cubin_head);
        load_cubin(request, answer, cubin);
    }
    EXPECT(destroy(state) == CUDA_SUCCESS);
}

static void link_here(void *argument)
{
    const struct exchange *exchange = argument;
    const struct check_link_request *request = exchange->request;
    struct check_link_answer before;
    if (!enter_context(request, exchange->answer))
        return;
    if (request->before)
        link_once(request->before, &before);
    link_once(request, exchange->answer);
}

struct check_link_answer check_link(const struct check_link_request *request)
{
    struct check_link_answer *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        fake_die("no shared memory");
    /* What was not reached is no success. */
    *shared = (struct check_link_answer){.init = CUDA_ERROR_UNKNOWN,
                                         .create = CUDA_ERROR_UNKNOWN,
                                         .complete = CUDA_ERROR_UNKNOWN,
                                         .load = CUDA_ERROR_UNKNOWN,
                                         .function = CUDA_ERROR_UNKNOWN};
    for (unsigned i = 0; i < CHECK_INPUTS_MOST; i++)
        shared->add[i] = CUDA_ERROR_UNKNOWN;
    struct exchange exchange = {request, shared};
    int status = check_process(link_here, &exchange);
    struct check_link_answer answer = *shared;
    munmap(shared, sizeof *shared);
    EXPECT(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
    answer.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return answer;
}
