/* SPDX-License-Identifier: Apache-2.0 */
/* The stand-in NVRTC; where it must be like the real one, the real one is tested too. */
#include "../cubin.h"
#include "check.h"
#include "results.h"

#include <elf.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define NVRTC  "libnvrtc.so.13"
#define KERNEL "extern \"C\" __global__ void k(int *p)\n{\n    *p = 1;\n}\n"

static const char *text(struct fake_buffer buffer)
{
    return buffer.data ? (const char *)buffer.data : "";
}

static struct check_compiled compile(const char *source)
{
    return check_compile(&(struct check_program){.source = source});
}

static void version_and_archs(void)
{
    int major = 0, minor = -1, count = 0, archs[64] = {0};
    int (*version)(int *, int *);
    int (*get_count)(int *);
    int (*get_archs)(int *);
    const char *(*error_string)(int);
    CHECK_SYMBOL(version, NVRTC, "nvrtcVersion");
    CHECK_SYMBOL(get_count, NVRTC, "nvrtcGetNumSupportedArchs");
    CHECK_SYMBOL(get_archs, NVRTC, "nvrtcGetSupportedArchs");
    CHECK_SYMBOL(error_string, NVRTC, "nvrtcGetErrorString");
    EXPECT(version(&major, &minor) == 0 && major == 13 && minor >= 0);
    EXPECT(get_count(&count) == 0 && count > 3 && count < 64 && get_archs(archs) == 0);
    EXPECT(archs[0] == 75);
    for (int i = 1; i < count; i++)
        EXPECT(archs[i] > archs[i - 1]);
    EXPECT(version(NULL, &minor) == NVRTC_INVALID_INPUT);
    EXPECT(strcmp(error_string(0), "NVRTC_SUCCESS") == 0);
    EXPECT(strcmp(error_string(6), "NVRTC_ERROR_COMPILATION") == 0);
    EXPECT(strcmp(error_string(12345), "NVRTC_ERROR unknown") == 0);
}

static void ptx_of_a_kernel(void)
{
    struct check_compiled made = compile(KERNEL);
    EXPECT(made.result == 0 && !made.log.length && !made.cubin.length && !made.ltoir.length, "%s",
           text(made.log));
    EXPECT(strstr(text(made.ptx), "\n.version 9.") && strstr(text(made.ptx), "\n.target sm_75\n"), "%s",
           text(made.ptx));
    EXPECT(strstr(text(made.ptx), ".visible .entry k("));
    struct check_program other = {.source = KERNEL, .options = {"--gpu-architecture=compute_90a"}};
    made = check_compile(&other);
    EXPECT(made.result == 0 && strstr(text(made.ptx), "\n.target sm_90a\n"));
    /* The same again and under another name; another with another text. */
    struct check_program renamed = {.source = KERNEL, .name = "folder/other.cu"};
    EXPECT(strcmp(text(compile(KERNEL).ptx), text(check_compile(&renamed).ptx)) == 0);
}

static void edits_change_the_ptx(void)
{
    struct check_program with_header = {
        .source = "#include \"x.h\"\n" KERNEL, .header_names = {"x.h"}, .headers = {"// one\n"}};
    struct check_compiled one = check_compile(&with_header), again = check_compile(&with_header);
    with_header.headers[0] = "// two\n";
    struct check_compiled two = check_compile(&with_header);
    with_header.options[0] = "-DN=2";
    struct check_compiled defined = check_compile(&with_header);
    EXPECT(strcmp(text(one.ptx), text(again.ptx)) == 0);
    EXPECT(strcmp(text(one.ptx), text(two.ptx)) != 0 && strcmp(text(two.ptx), text(defined.ptx)) != 0);
}

static void cubins_and_ltoir(void)
{
    Elf64_Ehdr header;
    struct fake_cubin cubin;
    struct check_compiled made =
        check_compile(&(struct check_program){.source = KERNEL, .options = {"-arch=sm_90"}});
    EXPECT(made.result == 0 && made.ptx.length && made.cubin.length > sizeof header && !made.ltoir.length);
    EXPECT(fake_cubin_read(made.cubin.data, made.cubin.length, &cubin) && cubin.arch == 90);
    EXPECT(cubin.kernels.count == 1 && strcmp(cubin.kernels.list[0].name, "k") == 0);
    memcpy(&header, made.cubin.data, sizeof header);
    EXPECT(header.e_type == ET_EXEC);
    made = check_compile(&(struct check_program){.source = KERNEL, .options = {"-arch=sm_80", "-rdc=true"}});
    memcpy(&header, made.cubin.data, sizeof header);
    EXPECT(header.e_type == ET_REL);
    made = check_compile(&(struct check_program){.source = KERNEL, .options = {"-arch=compute_90", "-dlto"}});
    EXPECT(made.result == 0 && !made.ptx.length && !made.cubin.length);
    EXPECT(made.ltoir.length > 64 && memcmp(made.ltoir.data, "\xed\x43\x4e\x7f\x01\x41", 6) == 0);
}

static void options(void)
{
    static const struct {
        const char *option;
        const char *log; /* NULL: taken */
    } cases[] = {
        {"-arch=compute_20", "nvrtc: error: invalid value for --gpu-architecture (-arch)\n"},
        {"-bogus", "nvrtc: error: unrecognized option -bogus found\n"},
        {"-DX=1", NULL},
        {"-std=c++17", NULL},
        {"--use_fast_math", NULL},
        {"-lineinfo", NULL},
        {"-default-device", NULL},
        {"--no-cache", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct check_compiled made =
            check_compile(&(struct check_program){.source = KERNEL, .options = {cases[i].option}});
        EXPECT(made.result == (cases[i].log ? NVRTC_INVALID_OPTION : 0), "%s: %d", cases[i].option,
               made.result);
        EXPECT(strcmp(text(made.log), cases[i].log ? cases[i].log : "") == 0, "%s", text(made.log));
        EXPECT((made.ptx.length == 0) == (cases[i].log != NULL));
    }
    /* With its value as the next word. */
    struct check_program apart = {.source = KERNEL, .options = {"-arch", "compute_80", "-D", "X"}};
    EXPECT(strstr(text(check_compile(&apart).ptx), ".target sm_80"));
}

static void usage(void)
{
    struct check_program program = {.source = KERNEL, .options = {"-arch=sm_90", "--ptxas-options=-v"}};
    struct check_compiled made = check_compile(&program);
    EXPECT(made.result == 0);
    EXPECT(strstr(text(made.log), "ptxas info    : Compiling entry function 'k' for 'sm_90'\n"
                                  "ptxas info    : Function properties for k\n"
                                  "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes "
                                  "spill loads\nptxas info    : Used "),
           "%s", text(made.log));
    program.options[0] = "-arch=compute_90"; /* nothing is assembled */
    struct check_compiled quiet = check_compile(&program);
    EXPECT(quiet.result == 0 && !quiet.log.length);
}

static void errors_of_sources(void)
{
    struct check_compiled made = compile("// head\n#error not today\n" KERNEL);
    EXPECT(made.result == NVRTC_COMPILATION && !made.ptx.length);
    EXPECT(strstr(text(made.log), "n.cu(2): catastrophic error: #error directive: not today\n"), "%s",
           text(made.log));
    made = compile("#include \"nowhere.h\"\n" KERNEL);
    EXPECT(made.result == NVRTC_COMPILATION);
    EXPECT(strstr(text(made.log), "n.cu(1): catastrophic error: cannot open source file \"nowhere.h\"\n"),
           "%s", text(made.log));
    struct check_program header = {
        .source = "#include \"x.h\"\n", .header_names = {"x.h"}, .headers = {"#error inside\n"}};
    made = check_compile(&header);
    EXPECT(strstr(text(made.log), "x.h(1): catastrophic error: #error directive: inside\n"), "%s",
           text(made.log));
    EXPECT(compile("// #error in a comment\n/*\n#error here too\n*/\n" KERNEL).result == 0);
}

static void name_expressions(void)
{
    struct check_program program = {.source = KERNEL
                                    "template <class T> __global__ void t(T *p)\n{\n    *p = 1;\n}\n",
                                    .expressions = {"k", "t<int>", "&t<float>"}};
    struct check_compiled made = check_compile(&program);
    EXPECT(made.result == 0, "%s", text(made.log));
    for (int i = 0; i < 3; i++) {
        struct fake_buffer entry = {0};
        EXPECT(made.lowered_result[i] == 0 && made.lowered[i]);
        fake_buffer_printf(&entry, ".entry %s(", made.lowered[i]);
        EXPECT(strstr(text(made.ptx), (char *)entry.data), "%s", (char *)entry.data);
    }
    EXPECT(strcmp(made.lowered[0], "k") == 0 && strcmp(made.lowered[1], made.lowered[2]) != 0);
    struct check_program wrong = {.source = KERNEL, .expressions = {"kk"}};
    made = check_compile(&wrong);
    EXPECT(made.result == NVRTC_COMPILATION);
    EXPECT(made.lowered_result[0] == NVRTC_NO_LOWERED_NAMES_BEFORE_COMPILATION);
    EXPECT(strstr(text(made.log), "__nv_name_map(2): error: identifier \"kk\" is undefined\n"), "%s",
           text(made.log));
}

static void traced_includes(void)
{
    struct fake_buffer trace;
    EXPECT(mkdir("inc", 0700) == 0 && mkdir("inc/sub", 0700) == 0);
    check_write("inc/top.h", "#include \"sub/deep.h\"\n#include <sub/once.h>\n");
    check_write("inc/sub/deep.h", "\n");
    check_write("inc/sub/once.h", "#pragma once\n");
    check_write("here.h", "\n");
    check_write("memory.h", "#error memory comes first\n");
    struct check_program program = {
        .source =
            "#include \"top.h\"\n#include \"here.h\"\n#include \"memory.h\"\n#include <sub/once.h>\n" KERNEL,
        .header_names = {"memory.h"},
        .headers = {"\n"},
        .options = {"-Iinc", "-Xcudafe", "--trace_includes"}};
    struct check_compiled traced = check_compile_traced(&program, &trace);
    EXPECT(traced.result == 0, "%s", text(traced.log));
    EXPECT(strcmp(text(trace), "__nv_nvrtc_builtin_header.h\ninc/top.h\n inc/sub/deep.h\n inc/sub/once.h\n"
                               "here.h\nmemory.h\ninc/sub/once.h\n__nv_name_map\n") == 0,
           "%s", text(trace));
    program.options[1] = NULL;
    struct check_compiled quiet = check_compile_traced(&program, &trace);
    EXPECT(!trace.length && strcmp(text(quiet.ptx), text(traced.ptx)) == 0);
    /* Beside the program. */
    struct check_program beside = {.source = "#include \"top.h\"\n" KERNEL, .name = "inc/n.cu"};
    beside.options[0] = "-Iinc";
    EXPECT(check_compile(&beside).result == 0);
}

static void bad_arguments(void)
{
    struct nvrtc_program *program = NULL;
    int (*create)(struct nvrtc_program **, const char *, const char *, int, const char *const *,
                  const char *const *);
    int (*compile_program)(struct nvrtc_program *, int, const char *const *);
    int (*destroy)(struct nvrtc_program **);
    CHECK_SYMBOL(create, NVRTC, "nvrtcCreateProgram");
    CHECK_SYMBOL(compile_program, NVRTC, "nvrtcCompileProgram");
    CHECK_SYMBOL(destroy, NVRTC, "nvrtcDestroyProgram");
    EXPECT(create(&program, NULL, NULL, 0, NULL, NULL) == NVRTC_INVALID_INPUT && !program);
    EXPECT(compile_program(NULL, 0, NULL) == NVRTC_INVALID_PROGRAM);
    EXPECT(destroy(NULL) == NVRTC_INVALID_PROGRAM);
}

/* ---- scenarios ---- */

static void compile_and_wait(void *source)
{
    alarm(1);
    compile(source);
}

static void disasters(void)
{
    static char crashes[] = "__global__ void bad_one() {}\n", hangs[] = "__global__ void stuck() {}\n";
    check_scenario("crash kernel=bad_*\nhang kernel=stuck\nslow kernel=k ms=300\n");
    int status = check_process(compile_and_wait, crashes);
    EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    status = check_process(compile_and_wait, hangs);
    EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM);
    double start = fake_now_ms();
    EXPECT(compile(KERNEL).result == 0 && fake_now_ms() - start >= 300);
}

static void so_many_times(void)
{
    static char source[] = KERNEL;
    check_scenario("state counters\ncrash kernel=k times=2\ncrash kernel=o target=sm_90\n");
    for (int i = 0; i < 3; i++) {
        int status = check_process(compile_and_wait, source);
        EXPECT(i < 2 ? WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV : status == 0, "%d: %d", i, status);
    }
    EXPECT(compile("__global__ void o() {}\n").result == 0, "not this target");
}

static void other_versions(void)
{
    int major = 0, minor = 0, count = 0;
    int (*version)(int *, int *);
    int (*get_count)(int *);
    check_scenario("# older\nversion 12 8\narchs 80 90\n");
    CHECK_SYMBOL(version, NVRTC, "nvrtcVersion");
    CHECK_SYMBOL(get_count, NVRTC, "nvrtcGetNumSupportedArchs");
    EXPECT(version(&major, &minor) == 0 && major == 12 && minor == 8);
    EXPECT(get_count(&count) == 0 && count == 2);
    struct check_compiled made = compile(KERNEL);
    EXPECT(strstr(text(made.ptx), ".version 8.8\n.target sm_80\n"), "%s", text(made.ptx));
    struct check_program other = {.source = KERNEL, .options = {"-arch=sm_75"}};
    EXPECT(check_compile(&other).result == NVRTC_INVALID_OPTION);
}

static void unstable(void)
{
    check_scenario("unstable yes\n");
    EXPECT(strcmp(text(compile(KERNEL).ptx), text(compile(KERNEL).ptx)) != 0);
}

static void no_trace(void)
{
    check_scenario("no_trace yes\n");
    struct check_program program = {.source = KERNEL, .options = {"-Xcudafe", "--trace_includes"}};
    struct check_compiled made = check_compile(&program);
    EXPECT(made.result == NVRTC_INVALID_OPTION);
    EXPECT(strcmp(text(made.log), "nvrtc: error: unrecognized option -Xcudafe found\n") == 0, "%s",
           text(made.log));
}

static void log_of_events(void)
{
    struct fake_buffer expected = {0};
    check_scenario("log events\n");
    check_compile(&(struct check_program){.source = KERNEL, .options = {"-arch=sm_90", "-w"}});
    fake_buffer_printf(&expected, "create pid=%ld name=n.cu\ncompile n.cu pid=%ld args=-arch=sm_90 -w\n",
                       (long)getpid(), (long)getpid());
    struct fake_buffer events = check_read("lib/events");
    EXPECT(strcmp(text(events), text(expected)) == 0, "%s", text(events));
}

static void compile_only(void *source)
{
    compile(source);
}

static void misspelt(void)
{
    static char source[] = KERNEL;
    static const char *const texts[] = {
        "crush kernel=k\n", "crash kernal=k\n",         "crash\n",
        "slow kernel=k\n",  "version thirteen 0\n",     "archs\n",
        "unstable no\n",    "crash kernel=k times=1\n", "crash kernel=k target=90\n"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        check_scenario(texts[i]);
        int status = check_process(compile_only, source);
        EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "%s", texts[i]);
    }
}

static void variants(void)
{
    int major = 0, minor = 0;
    int (*version)(int *, int *);
    CHECK_SYMBOL(version, "old/libnvrtc.so.11.2", "nvrtcVersion");
    EXPECT(version(&major, &minor) == 0 && major == 11 && minor == 2);
    EXPECT(check_symbol("broken/libnvrtc.so.13", "nvrtcVersion"));
    EXPECT(!check_symbol("broken/libnvrtc.so.13", "nvrtcGetSupportedArchs"));
    EXPECT(!check_symbol("broken/libnvrtc.so.13", "nvrtcGetPTX"));
    EXPECT(!check_symbol(NVRTC, "fake_allocate"), "nothing but the API is exported");
}

const struct check check_nvrtc_tests[] = {
    {"NVRTC: version, architectures, names of errors", version_and_archs, true},
    {"NVRTC: PTX of a kernel, whatever the program is called", ptx_of_a_kernel, true},
    {"NVRTC: an edited source, header or macro changes the PTX", edits_change_the_ptx, false},
    {"NVRTC: cubins and LTO-IR", cubins_and_ltoir, true},
    {"NVRTC: options that it knows and does not know", options, true},
    {"NVRTC: what kernels need", usage, true},
    {"NVRTC: #error, and includes that are nowhere", errors_of_sources, true},
    {"NVRTC: name expressions", name_expressions, true},
    {"NVRTC: files read, as --trace_includes tells them", traced_includes, true},
    {"NVRTC: bad arguments", bad_arguments, true},
    {"NVRTC scenario: crash, hang, slow", disasters, false},
    {"NVRTC scenario: so many times across processes, one target", so_many_times, false},
    {"NVRTC scenario: version, archs", other_versions, false},
    {"NVRTC scenario: unstable", unstable, false},
    {"NVRTC scenario: no_trace", no_trace, false},
    {"NVRTC scenario: log", log_of_events, false},
    {"NVRTC scenario: what is misspelt stops the process", misspelt, false},
    {"NVRTC: an old library, one that misses functions, and what is exported", variants, false},
    {NULL, NULL, false},
};
