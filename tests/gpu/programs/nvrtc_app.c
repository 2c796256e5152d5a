/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles CUDA C++ with NVRTC as a program does, loads the PTX, runs its kernels and compares. */
#include "common.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIST_MAX = 16 };

/* NVRTC's own interface: a program that opens it at run time needs no toolkit to be built. */
struct nvrtc {
    int (*create)(void **, const char *, const char *, int, const char *const *, const char *const *);
    int (*add_expression)(void *, const char *);
    int (*compile)(void *, int, const char *const *);
    int (*lowered_name)(void *, const char *, const char **);
    int (*ptx_size)(void *, size_t *);
    int (*ptx)(void *, char *);
    int (*log_size)(void *, size_t *);
    int (*log)(void *, char *);
    int (*destroy)(void **);
    const char *(*error)(int);
};

struct request {
    const char *library, *source, *ptx_path;
    const char *options[LIST_MAX], *header_names[LIST_MAX];
    char *header_texts[LIST_MAX];
    int option_count, header_count;
    struct formulas expressions, formulas;
};

static void usage(void)
{
    fprintf(
        stderr,
        "usage: nvrtc_app library=PATH [option=TEXT | header=NAME=FILE | expression=NAME:FACTOR:OFFSET |\n"
        "                 kernel=NAME:FACTOR:OFFSET | ptx=FILE]… SOURCE\n"
        "Compiles for the first GPU and loads with cuModuleLoadData; writes the PTX to the ptx= file.\n"
        "Prints `hit`, where JIT is not disabled `loaded`, or `miss`, and what each kernel computed.\n");
    exit(EXIT_USAGE);
}

static void *find(void *library, const char *name)
{
    void *symbol = dlsym(library, name);
    if (!symbol) {
        printf("%s\n", dlerror());
        exit(EXIT_USAGE);
    }
    return symbol;
}

static struct nvrtc open_nvrtc(const char *path)
{
    struct nvrtc nvrtc;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        printf("%s\n", dlerror());
        exit(EXIT_USAGE);
    }
    const struct {
        const char *name;
        void *target;
    } symbols[] = {
        {"nvrtcCreateProgram", &nvrtc.create},       {"nvrtcAddNameExpression", &nvrtc.add_expression},
        {"nvrtcCompileProgram", &nvrtc.compile},     {"nvrtcGetLoweredName", &nvrtc.lowered_name},
        {"nvrtcGetPTXSize", &nvrtc.ptx_size},        {"nvrtcGetPTX", &nvrtc.ptx},
        {"nvrtcGetProgramLogSize", &nvrtc.log_size}, {"nvrtcGetProgramLog", &nvrtc.log},
        {"nvrtcDestroyProgram", &nvrtc.destroy},     {"nvrtcGetErrorString", &nvrtc.error}};
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *symbol = find(library, symbols[i].name);
        /* ISO C has no cast from an object pointer to a function pointer; POSIX gives both the same form. */
        memcpy(symbols[i].target, &symbol, sizeof symbol);
    }
    return nvrtc;
}

static void nvrtc_must(const struct nvrtc *nvrtc, int result, const char *what)
{
    if (result == 0)
        return;
    printf("%s: %s\n", what, nvrtc->error(result));
    exit(EXIT_USAGE);
}

static void show_log(const struct nvrtc *nvrtc, void *program)
{
    size_t size = 0;
    char *log = nvrtc->log_size(program, &size) == 0 ? calloc(1, size + 1) : NULL;
    if (log && nvrtc->log(program, log) == 0)
        printf("%s\n", log);
    free(log);
}

/* The compiled program, which the caller destroys last: lowered names take the place of the expressions, and
 * are its. */
static void *compile(const struct nvrtc *nvrtc, struct request *request)
{
    void *program = NULL;
    char *source = read_file(request->source);
    const char *slash = strrchr(request->source, '/');
    nvrtc_must(nvrtc,
               nvrtc->create(&program, source, slash ? slash + 1 : request->source, request->header_count,
                             (const char *const *)request->header_texts, request->header_names),
               "nvrtcCreateProgram");
    free(source);
    for (int i = 0; i < request->expressions.count; i++)
        nvrtc_must(nvrtc, nvrtc->add_expression(program, request->expressions.items[i].name),
                   "nvrtcAddNameExpression");
    int result = nvrtc->compile(program, request->option_count, request->options);
    if (result != 0)
        show_log(nvrtc, program);
    nvrtc_must(nvrtc, result, "nvrtcCompileProgram");
    for (int i = 0; i < request->expressions.count; i++) {
        const char *name;
        nvrtc_must(nvrtc, nvrtc->lowered_name(program, request->expressions.items[i].name, &name),
                   "nvrtcGetLoweredName");
        request->expressions.items[i].name = name;
    }
    return program;
}

/* Text that the caller frees. */
static char *get_ptx(const struct nvrtc *nvrtc, void *program)
{
    size_t size = 0;
    nvrtc_must(nvrtc, nvrtc->ptx_size(program, &size), "nvrtcGetPTXSize");
    char *ptx = calloc(1, size + 1);
    if (!ptx)
        exit(EXIT_USAGE);
    nvrtc_must(nvrtc, nvrtc->ptx(program, ptx), "nvrtcGetPTX");
    printf("%zu bytes of PTX\n", size);
    return ptx;
}

static void write_ptx(const char *path, const char *ptx)
{
    FILE *file = fopen(path, "wbe");
    if (!file || fputs(ptx, file) < 0 || fclose(file) != 0) {
        fprintf(stderr, "%s cannot be written\n", path);
        exit(EXIT_USAGE);
    }
}

static void add_to_list(const char **list, int *count, const char *item)
{
    if (*count == LIST_MAX)
        usage();
    list[(*count)++] = item;
}

static void add_header(struct request *request, char *argument)
{
    char *path = strchr(argument, '=');
    if (!path)
        usage();
    *path++ = '\0';
    int same = request->header_count;
    add_to_list(request->header_names, &request->header_count, argument);
    request->header_texts[same] = read_file(path);
}

static void parse(struct request *request, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        char *argument = argv[i];
        const char *text;
        if ((text = after(argument, "library=")))
            request->library = text;
        else if ((text = after(argument, "ptx=")))
            request->ptx_path = text;
        else if ((text = after(argument, "option=")))
            add_to_list(request->options, &request->option_count, text);
        else if ((text = after(argument, "header=")))
            add_header(request, argument + (text - argument));
        else if ((text = after(argument, "expression=")) && request->expressions.count < FORMULAS_MAX)
            request->expressions.items[request->expressions.count++] =
                parse_formula(argument + (text - argument));
        else if (!add_formula(&request->formulas, argument))
            request->source = argument;
    }
    if (!request->library || !request->source)
        usage();
}

/* "--gpu-architecture=compute_NN" of the first GPU. */
static const char *architecture(char *buffer, size_t size)
{
    CUdevice device;
    int major, minor;
    must(cuDeviceGet(&device, 0), "cuDeviceGet");
    must(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device),
         "cuDeviceGetAttribute");
    must(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device),
         "cuDeviceGetAttribute");
    snprintf(buffer, size, "--gpu-architecture=compute_%d%d", major, minor);
    return buffer;
}

/* `hit` or `loaded`, and what the kernels computed; or why not. */
static int load_and_run(const struct request *request, const char *ptx)
{
    CUmodule module;
    CUresult result = cuModuleLoadData(&module, ptx);
    if (result != CUDA_SUCCESS) {
        printf("cuModuleLoadData: %s\n", result_name(result));
        puts(result == CUDA_ERROR_JIT_COMPILATION_DISABLED ? "miss" : "failed");
        return EXIT_CUDA;
    }
    const char *disabled = getenv("CUDA_DISABLE_PTX_JIT");
    puts(disabled && strcmp(disabled, "1") == 0 ? "hit" : "loaded");
    bool right = computes_all(module, &request->formulas);
    right = computes_all(module, &request->expressions) && right;
    must(cuModuleUnload(module), "cuModuleUnload");
    return right ? EXIT_SUCCESS : EXIT_WRONG;
}

int main(int argc, char **argv)
{
    struct request request = {0};
    char text[64];
    parse(&request, argc, argv);
    make_context();
    struct nvrtc nvrtc = open_nvrtc(request.library);
    add_to_list(request.options, &request.option_count, architecture(text, sizeof text));
    void *program = compile(&nvrtc, &request);
    char *ptx = get_ptx(&nvrtc, program);
    if (request.ptx_path)
        write_ptx(request.ptx_path, ptx);
    int status = load_and_run(&request, ptx);
    free(ptx);
    nvrtc_must(&nvrtc, nvrtc.destroy(&program), "nvrtcDestroyProgram");
    for (int i = 0; i < request.header_count; i++)
        free(request.header_texts[i]);
    return status;
}
