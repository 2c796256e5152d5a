/* SPDX-License-Identifier: Apache-2.0 */
/* Loads in processes of their own, and expectations about what they answered. */
#include "check.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

void check_expect(bool condition, const char *text, const char *file, int line, const char *format, ...)
{
    if (condition)
        return;
    const char *name = strrchr(file, '/');
    fprintf(stderr, "# %s:%d: not so: %s", name ? name + 1 : file, line, text);
    if (format[1]) { /* behind the blank that keeps it from being empty */
        va_list arguments;
        va_start(arguments, format);
        fputc(':', stderr);
        vfprintf(stderr, format, arguments);
        va_end(arguments);
    }
    fputc('\n', stderr);
    _exit(1);
}

_Noreturn void check_skip(const char *why)
{
    printf("# skipped: %s\n", why);
    fflush(stdout);
    _exit(CHECK_SKIPPED);
}

bool check_is_real_driver(void)
{
    return getenv("FAKE_TEST_DRIVER") != NULL;
}

const char *check_driver_path(void)
{
    const char *named = getenv("FAKE_TEST_DRIVER");
    return named ? named : FAKE_DRIVER_PATH;
}

char *check_data_path(const char *name)
{
    const char *folder = getenv("FAKE_TEST_DATA");
    struct fake_buffer path = {0};
    fake_buffer_printf(&path, "%s/%s", folder ? folder : FAKE_DATA_PATH, name);
    return (char *)path.data;
}

void *check_symbol(const char *name)
{
    static void *driver;
    if (!driver)
        driver = dlopen(check_driver_path(), RTLD_NOW | RTLD_LOCAL);
    if (!driver) {
        fprintf(stderr, "# %s\n", dlerror());
        _exit(99);
    }
    return dlsym(driver, name);
}

int check_process(void (*body)(void *), void *argument)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        body(argument);
        _exit(0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child)
        fake_die("fork: no child");
    if (WIFEXITED(status) && WEXITSTATUS(status) == 99)
        _exit(99);
    return status;
}

struct exchange {
    const struct check_request *request;
    struct check_answer *answer;
};

static void add_option(CUjit_option *options, void **values, unsigned *count, CUjit_option option,
                       void *value)
{
    options[*count] = option;
    values[(*count)++] = value;
}

static CUresult call_load(const struct check_request *request, struct check_answer *answer, CUmodule *module)
{
    CUresult (*load)(CUmodule *, const void *);
    CUresult (*load_ex)(CUmodule *, const void *, unsigned, CUjit_option *, void **);
    CUresult (*load_file)(CUmodule *, const char *);
    CUresult (*load_library)(CUlibrary *, const void *, CUjit_option *, void **, unsigned, CUlibraryOption *,
                             void **, unsigned);
    CUresult (*library_module)(CUmodule *, CUlibrary);
    CUjit_option options[CHECK_OPTIONS_MOST + 5];
    void *values[CHECK_OPTIONS_MOST + 5];
    unsigned count = 0;
    CHECK_SYMBOL(load, "cuModuleLoadData");
    CHECK_SYMBOL(load_ex, "cuModuleLoadDataEx");
    CHECK_SYMBOL(load_file, "cuModuleLoad");
    CHECK_SYMBOL(load_library, "cuLibraryLoadData");
    CHECK_SYMBOL(library_module, "cuLibraryGetModule");
    if (request->call == CALL_LOAD)
        return load(module, request->image);
    if (request->call == CALL_FILE)
        return load_file(module, request->file);
    add_option(options, values, &count, CU_JIT_WALL_TIME, NULL);
    add_option(options, values, &count, CU_JIT_ERROR_LOG_BUFFER, answer->error_log);
    add_option(options, values, &count, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, (void *)sizeof answer->error_log);
    add_option(options, values, &count, CU_JIT_INFO_LOG_BUFFER, answer->info_log);
    add_option(options, values, &count, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, (void *)sizeof answer->info_log);
    for (unsigned i = 0; i < request->option_count; i++)
        add_option(options, values, &count, request->options[i].option,
                   (void *)(uintptr_t)request->options[i].value);
    CUlibrary library = NULL;
    CUresult result;
    if (request->call == CALL_EX)
        result = load_ex(module, request->image, count, options, values);
    else
        result = load_library(&library, request->image, options, values, count, NULL, NULL, 0);
    memcpy(&answer->wall_time_ms, &values[0], sizeof answer->wall_time_ms);
    if (library && !request->no_context)
        result = library_module(module, library);
    return result;
}

static void load_here(void *argument)
{
    const struct exchange *exchange = argument;
    const struct check_request *request = exchange->request;
    struct check_answer *answer = exchange->answer;
    CUresult (*init)(unsigned);
    CUresult (*retain)(CUcontext *, CUdevice);
    CUresult (*set_current)(CUcontext);
    CUresult (*get_function)(CUfunction *, CUmodule, const char *);
    CHECK_SYMBOL(init, "cuInit");
    CHECK_SYMBOL(retain, "cuDevicePrimaryCtxRetain");
    CHECK_SYMBOL(set_current, "cuCtxSetCurrent");
    CHECK_SYMBOL(get_function, "cuModuleGetFunction");
    answer->init = init(0);
    if (answer->init != CUDA_SUCCESS)
        return;
    if (!request->no_context) {
        CUcontext context = NULL;
        answer->context = retain(&context, (CUdevice)request->device);
        if (answer->context == CUDA_SUCCESS)
            answer->context = set_current(context);
        if (answer->context != CUDA_SUCCESS)
            return;
    }
    CUmodule module = NULL;
    double start = fake_now_ms();
    answer->load = call_load(request, answer, &module);
    answer->ms = fake_now_ms() - start;
    CUfunction function;
    if (answer->load == CUDA_SUCCESS && request->kernel && module)
        answer->function = get_function(&function, module, request->kernel);
}

struct check_answer check_load(const struct check_request *request)
{
    struct check_answer *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        fake_die("no shared memory");
    /* What was not reached is no success. */
    *shared = (struct check_answer){.init = CUDA_ERROR_UNKNOWN,
                                    .context = CUDA_ERROR_UNKNOWN,
                                    .load = CUDA_ERROR_UNKNOWN,
                                    .function = CUDA_ERROR_UNKNOWN};
    struct exchange exchange = {request, shared};
    int status = check_process(load_here, &exchange);
    struct check_answer answer = *shared;
    munmap(shared, sizeof *shared);
    answer.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    answer.aborted = answer.signal == SIGABRT;
    return answer;
}

struct check_answer check_load_text(const char *text)
{
    return check_load(&(struct check_request){.call = CALL_EX, .image = text});
}

void check_expect_miss(const char *text)
{
    struct check_answer answer = check_load_text(text);
    EXPECT(answer.load == CUDA_SUCCESS, "%d", answer.load);
    EXPECT(answer.wall_time_ms > 0, "a miss was expected");
}

void check_expect_hit(const char *text)
{
    struct check_answer answer = check_load_text(text);
    EXPECT(answer.load == CUDA_SUCCESS, "%d", answer.load);
    EXPECT(answer.wall_time_ms <= 0, "a hit was expected, it took %f ms", (double)answer.wall_time_ms);
}

char *check_ptx(const char *kernel, const char *comment)
{
    struct fake_buffer text = {0};
    fake_buffer_printf(
        &text,
        ".version 8.0\n.target sm_80\n.address_size 64\n\n.visible .entry %s()\n{\n    ret;\n}\n// %s\n",
        kernel, comment);
    return (char *)text.data;
}
