/* SPDX-License-Identifier: Apache-2.0 */
/* Links files with cuLink as a program does, loads what comes out, runs its kernels and compares. */
#include "common.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INPUTS_MAX = 8, LOG_BYTES = 4096, LINK_OPTIONS_MAX = JIT_OPTIONS_MAX + 2 };

struct input {
    const char *path;
    CUjitInputType type;
};

struct request {
    struct jit_options options;
    struct formulas formulas;
    struct input inputs[INPUTS_MAX];
    int input_count;
};

static void usage(void)
{
    fprintf(
        stderr,
        "usage: link_app [max_registers=N | optimization_level=N | generate_line_info=N]…\n"
        "                kernel=NAME:FACTOR:OFFSET… (ptx|fatbin|object|library|cubin):FILE…\n"
        "Prints for each input what adding it said, then `hit` or `miss`, then what each kernel computed.\n");
    exit(EXIT_USAGE);
}

static bool add_input(struct request *request, const char *argument)
{
    static const struct {
        const char *prefix;
        CUjitInputType type;
    } known[] = {{"ptx:", CU_JIT_INPUT_PTX},
                 {"fatbin:", CU_JIT_INPUT_FATBINARY},
                 {"object:", CU_JIT_INPUT_OBJECT},
                 {"library:", CU_JIT_INPUT_LIBRARY},
                 {"cubin:", CU_JIT_INPUT_CUBIN}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const char *path = after(argument, known[i].prefix);
        if (!path || request->input_count == INPUTS_MAX)
            continue;
        request->inputs[request->input_count++] = (struct input){path, known[i].type};
        return true;
    }
    return false;
}

/* A link under way. The driver writes sizes back into the values, and text into the log, until it is
 * destroyed. */
struct link {
    CUlinkState state;
    CUjit_option names[LINK_OPTIONS_MAX];
    void *values[LINK_OPTIONS_MAX];
    char log[LOG_BYTES];
};

/* With the program's options, and a buffer for the log, which is no part of the key. */
static void begin(struct link *link, const struct request *request)
{
    unsigned count = request->options.count;
    memset(link, 0, sizeof *link);
    memcpy(link->names, request->options.names, sizeof request->options.names);
    memcpy(link->values, request->options.values, sizeof request->options.values);
    link->names[count] = CU_JIT_ERROR_LOG_BUFFER;
    link->values[count++] = link->log;
    link->names[count] = CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES;
    link->values[count++] = (void *)(uintptr_t)LOG_BYTES;
    must(cuLinkCreate(count, link->names, link->values, &link->state), "cuLinkCreate");
}

static CUresult add(CUlinkState state, const struct input *input)
{
    size_t size;
    char *bytes = read_bytes(input->path, &size);
    const char *slash = strrchr(input->path, '/');
    /* The NUL behind PTX belongs to it. */
    if (input->type == CU_JIT_INPUT_PTX)
        size++;
    CUresult result =
        cuLinkAddData(state, input->type, bytes, size, slash ? slash + 1 : input->path, 0, NULL, NULL);
    free(bytes);
    return result;
}

/* Each input in a link of its own: one that misses would hide what becomes of the others. */
static void try_alone(const struct request *request)
{
    for (int i = 0; i < request->input_count; i++) {
        struct link link;
        begin(&link, request);
        printf("%s alone: %s\n", request->inputs[i].path, result_name(add(link.state, &request->inputs[i])));
        must(cuLinkDestroy(link.state), "cuLinkDestroy");
    }
}

static int refuse(const char *what, CUresult result, const char *log)
{
    printf("%s: %s\n", what, result_name(result));
    if (*log)
        printf("log: %s\n", log);
    puts(result == CUDA_ERROR_JIT_COMPILATION_DISABLED ? "miss" : "failed");
    return EXIT_CUDA;
}

static int finish(const struct request *request, struct link *link)
{
    void *cubin;
    size_t bytes;
    CUmodule module;
    for (int i = 0; i < request->input_count; i++) {
        CUresult added = add(link->state, &request->inputs[i]);
        if (added != CUDA_SUCCESS)
            return refuse(request->inputs[i].path, added, link->log);
    }
    CUresult result = cuLinkComplete(link->state, &cubin, &bytes);
    if (result != CUDA_SUCCESS)
        return refuse("cuLinkComplete", result, link->log);
    /* The cubin is the link's, and must be loaded before that goes. */
    result = cuModuleLoadData(&module, cubin);
    if (result != CUDA_SUCCESS)
        return refuse("cuModuleLoadData", result, link->log);
    puts("hit");
    bool right = computes_all(module, &request->formulas);
    must(cuModuleUnload(module), "cuModuleUnload");
    return right ? EXIT_SUCCESS : EXIT_WRONG;
}

static int link_all(const struct request *request)
{
    struct link link;
    begin(&link, request);
    int status = finish(request, &link);
    must(cuLinkDestroy(link.state), "cuLinkDestroy");
    return status;
}

int main(int argc, char **argv)
{
    struct request request = {.input_count = 0};
    for (int i = 1; i < argc; i++) {
        if (!add_jit_option(&request.options, argv[i]) && !add_formula(&request.formulas, argv[i]) &&
            !add_input(&request, argv[i]))
            usage();
    }
    if (request.input_count == 0)
        usage();
    make_context();
    try_alone(&request);
    return link_all(&request);
}
