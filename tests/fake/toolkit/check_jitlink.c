/* SPDX-License-Identifier: Apache-2.0 */
/* The stand-in nvJitLink; where it must be like the real one, the real one is tested too. */
#include "../cubin.h"
#include "check.h"
#include "results.h"

#include <elf.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define JITLINK      "libnvJitLink.so.13"
#define HEAD         ".version 8.0\n.target sm_80\n.address_size 64\n"
#define KERNEL(name) HEAD ".visible .entry " name "()\n{\n    ret;\n}\n"
#define CALLER       HEAD ".extern .func twice;\n.visible .entry k()\n{\n    call.uni twice;\n    ret;\n}\n"
#define CALLEE       HEAD ".visible .func twice()\n{\n    ret;\n}\n"

struct jitlink;

struct input {
    int type;
    const void *bytes;
    size_t length; /* 0: a text, its NUL included */
    const char *name;
};

struct request {
    const char *options[CHECK_MOST];
    struct input inputs[CHECK_MOST];
};

struct linked {
    int create, add[CHECK_MOST], complete;
    struct fake_buffer cubin;
    struct fake_buffer log, info; /* without their NUL */
};

static struct fake_buffer get_log(struct jitlink *link, const char *size_name, const char *name)
{
    int (*get_size)(struct jitlink *, size_t *);
    int (*get_text)(struct jitlink *, char *);
    struct fake_buffer log = {0};
    size_t size = 77;
    CHECK_SYMBOL(get_size, JITLINK, size_name);
    CHECK_SYMBOL(get_text, JITLINK, name);
    EXPECT(get_size(link, &size) == 0);
    if (!size)
        return log;
    fake_buffer_fill(&log, 0x77, size + 1);
    EXPECT(get_text(link, (char *)log.data) == 0);
    EXPECT(!log.data[size - 1] && log.data[size] == 0x77 && strlen((char *)log.data) == size - 1);
    log.length = size - 1;
    return log;
}

static struct fake_buffer get_cubin(struct jitlink *link)
{
    int (*get_size)(struct jitlink *, size_t *);
    int (*get_bytes)(struct jitlink *, void *);
    struct fake_buffer cubin = {0};
    size_t size = 0;
    CHECK_SYMBOL(get_size, JITLINK, "nvJitLinkGetLinkedCubinSize");
    CHECK_SYMBOL(get_bytes, JITLINK, "nvJitLinkGetLinkedCubin");
    EXPECT(get_size(link, &size) == 0 && size > sizeof(Elf64_Ehdr));
    fake_buffer_fill(&cubin, 0, size);
    EXPECT(get_bytes(link, cubin.data) == 0);
    return cubin;
}

static struct linked link_all(const struct request *request)
{
    struct linked linked = {0};
    struct jitlink *link = NULL;
    uint32_t option_count = 0;
    int (*create)(struct jitlink **, uint32_t, const char *const *);
    int (*add)(struct jitlink *, int, const void *, size_t, const char *);
    int (*complete)(struct jitlink *);
    int (*destroy)(struct jitlink **);
    CHECK_SYMBOL(create, JITLINK, "nvJitLinkCreate");
    CHECK_SYMBOL(add, JITLINK, "nvJitLinkAddData");
    CHECK_SYMBOL(complete, JITLINK, "nvJitLinkComplete");
    CHECK_SYMBOL(destroy, JITLINK, "nvJitLinkDestroy");
    while (option_count < CHECK_MOST && request->options[option_count])
        option_count++;
    linked.create = create(&link, option_count, request->options);
    /* The real one dies of whatever is done with a link whose options it refused, but for reading the log. */
    for (int i = 0; i < CHECK_MOST && request->inputs[i].type && linked.create == 0; i++) {
        const struct input *input = &request->inputs[i];
        linked.add[i] = add(link, input->type, input->bytes,
                            input->length ? input->length : strlen(input->bytes) + 1, input->name);
    }
    linked.complete = linked.create == 0 ? complete(link) : -1;
    linked.log = get_log(link, "nvJitLinkGetErrorLogSize", "nvJitLinkGetErrorLog");
    linked.info = get_log(link, "nvJitLinkGetInfoLogSize", "nvJitLinkGetInfoLog");
    if (linked.complete == 0)
        linked.cubin = get_cubin(link);
    EXPECT(destroy(&link) == 0);
    return linked;
}

static const char *text(struct fake_buffer buffer)
{
    return buffer.data ? (const char *)buffer.data : "";
}

static bool has_kernel(const struct fake_buffer *bytes, unsigned arch, const char *name)
{
    struct fake_cubin cubin;
    Elf64_Ehdr header;
    memcpy(&header, bytes->data, sizeof header);
    EXPECT(header.e_type == ET_EXEC && fake_cubin_read(bytes->data, bytes->length, &cubin));
    EXPECT(cubin.arch == arch, "%u", cubin.arch);
    for (size_t i = 0; i < cubin.kernels.count; i++)
        if (strcmp(cubin.kernels.list[i].name, name) == 0)
            return true;
    return false;
}

static void version(void)
{
    unsigned major = 0, minor = 99;
    int (*get)(unsigned *, unsigned *);
    CHECK_SYMBOL(get, JITLINK, "nvJitLinkVersion");
    EXPECT(get(&major, &minor) == 0 && major == 13 && minor < 99);
    EXPECT(check_symbol(JITLINK, "__nvJitLinkCreate_13_0") != NULL);
}

static void ptx_inputs(void)
{
    struct request request = {
        .options = {"-arch=sm_90"},
        .inputs = {{JITLINK_INPUT_PTX, CALLER, 0, "a.ptx"}, {JITLINK_INPUT_ANY, CALLEE, 0, NULL}}};
    struct linked linked = link_all(&request);
    EXPECT(linked.create == 0 && linked.complete == 0 && !linked.log.length, "%s", text(linked.log));
    EXPECT(has_kernel(&linked.cubin, 90, "k") && !has_kernel(&linked.cubin, 90, "twice"));
}

static void unresolved(void)
{
    struct request request = {.options = {"-arch=sm_90"},
                              .inputs = {{JITLINK_INPUT_PTX, CALLER, 0, "a.ptx"}}};
    struct linked linked = link_all(&request);
    EXPECT(linked.add[0] == 0 && linked.complete == JITLINK_INTERNAL, "%d", linked.complete);
    EXPECT(strstr(text(linked.log), "error   : Undefined reference to 'twice' in 'a.ptx'\n"), "%s",
           text(linked.log));
}

static void usage(void)
{
    struct request request = {.options = {"-arch=sm_90", "-verbose"},
                              .inputs = {{JITLINK_INPUT_PTX, KERNEL("k"), 0, "a.ptx"}}};
    struct linked linked = link_all(&request);
    EXPECT(linked.complete == 0 && !linked.log.length);
    EXPECT(strstr(text(linked.info), "ptxas info    : Function properties for k\n"
                                     "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes "
                                     "spill loads\nptxas info    : Used "),
           "%s", text(linked.info));
    request.options[1] = NULL;
    EXPECT(!link_all(&request).info.length);
}

/* Surprising, and so: a name defined twice is no error of this library. */
static void defined_twice(void)
{
    struct request request = {.options = {"-arch=sm_90"},
                              .inputs = {{JITLINK_INPUT_PTX, CALLER, 0, "a.ptx"},
                                         {JITLINK_INPUT_PTX, CALLEE, 0, "b.ptx"},
                                         {JITLINK_INPUT_PTX, CALLEE, 0, "c.ptx"}}};
    struct linked linked = link_all(&request);
    EXPECT(linked.complete == 0 && has_kernel(&linked.cubin, 90, "k") && !linked.log.length);
}

static void refused_ptx(void)
{
    struct request request = {.options = {"-arch=sm_75"},
                              .inputs = {{JITLINK_INPUT_PTX, CALLEE, 0, "b.ptx"},
                                         {JITLINK_INPUT_PTX, ".version 99.9\n.target sm_75\n", 0, "c.ptx"}}};
    struct linked linked = link_all(&request);
    EXPECT(linked.add[0] == JITLINK_PTX_COMPILE && linked.add[1] == JITLINK_PTX_COMPILE);
    EXPECT(strstr(text(linked.log), "ptxas fatal   : SM version specified by .target is higher than default "
                                    "SM version assumed\nERROR NVJITLINK_ERROR_PTX_COMPILE: JIT the PTX "
                                    "(b.ptx)\n"),
           "%s", text(linked.log));
    EXPECT(strstr(text(linked.log), "Unsupported .version 99.9; current version is '9."), "%s",
           text(linked.log));
}

static void options(void)
{
    struct request request = {.inputs = {{JITLINK_INPUT_PTX, CALLEE, 0, "b.ptx"}}};
    struct linked linked = link_all(&request);
    EXPECT(linked.create == JITLINK_MISSING_ARCH && !linked.log.length, "%d", linked.create);
    request.options[0] = "-arch=sm_20";
    linked = link_all(&request);
    EXPECT(linked.create == JITLINK_UNSUPPORTED_ARCH);
    EXPECT(strstr(text(linked.log),
                  "ERROR NVJITLINK_ERROR_UNSUPPORTED_ARCH: unsupported architecture (compute_20)\n"),
           "%s", text(linked.log));
    request.options[0] = "-arch=compute_90";
    EXPECT(link_all(&request).create == JITLINK_INCOMPATIBLE_OPTIONS);
    request.options[0] = "-bogus";
    request.options[1] = "-arch=sm_90";
    linked = link_all(&request);
    EXPECT(linked.create == JITLINK_UNRECOGNIZED_OPTION);
    EXPECT(strstr(text(linked.log), "unrecognized option: -bogus\n"), "%s", text(linked.log));
    struct request good = {
        .options = {"-arch=sm_90a", "-O3", "-lineinfo", "-maxrregcount=64", "-no-cache", "-split-compile=2"},
        .inputs = {{JITLINK_INPUT_PTX, CALLEE, 0, "b.ptx"}}};
    linked = link_all(&good);
    EXPECT(linked.create == 0 && linked.complete == 0, "%s", text(linked.log));
}

static void types_of_inputs(void)
{
    struct request request = {.options = {"-arch=sm_90"},
                              .inputs = {{JITLINK_INPUT_PTX, "no text of that kind", 0, "a"},
                                         {JITLINK_INPUT_CUBIN, CALLEE, 0, "b"},
                                         {JITLINK_INPUT_FATBIN, "zzzzzzzzzzzz", 0, "c"},
                                         {JITLINK_INPUT_ANY, "\1\2\3\4\5\6\7", 0, "d"}}};
    struct linked linked = link_all(&request);
    EXPECT(linked.add[0] == JITLINK_INCORRECT_INPUT_TYPE && linked.add[1] == JITLINK_INCORRECT_INPUT_TYPE);
    EXPECT(linked.add[2] == JITLINK_INCORRECT_INPUT_TYPE && linked.add[3] == JITLINK_UNRECOGNIZED_INPUT);
    EXPECT(strstr(text(linked.log), "ERROR 1: bad input: does not match type NVJITLINK_INPUT_PTXa\n"), "%s",
           text(linked.log));
    EXPECT(strstr(text(linked.log), "unrecognized input type: d\n"), "%s", text(linked.log));
}

/* By NVRTC of the same family, real or not. */
static void cubins(void)
{
    struct check_program program = {.source = "extern \"C\" __global__ void k() {}\n",
                                    .options = {"-arch=sm_90", "-rdc=true"}};
    struct check_compiled fitting = check_compile(&program);
    program.options[0] = "-arch=sm_100";
    struct check_compiled other = check_compile(&program);
    struct request request = {
        .options = {"-arch=sm_90"},
        .inputs = {{JITLINK_INPUT_CUBIN, fitting.cubin.data, fitting.cubin.length, "fitting"},
                   {JITLINK_INPUT_CUBIN, other.cubin.data, other.cubin.length, "other"}}};
    struct linked linked = link_all(&request);
    EXPECT(linked.add[0] == 0 && linked.add[1] == JITLINK_INVALID_INPUT, "%d %d", linked.add[0],
           linked.add[1]);
    EXPECT(linked.complete == 0 && has_kernel(&linked.cubin, 90, "k"));
}

static void ltoir(void)
{
    struct check_program program = {.source = "extern \"C\" __global__ void k() {}\n",
                                    .options = {"-arch=compute_80", "-dlto"}};
    struct check_compiled made = check_compile(&program);
    struct request request = {
        .options = {"-arch=sm_90"},
        .inputs = {{JITLINK_INPUT_LTOIR, made.ltoir.data, made.ltoir.length, "k.ltoir"}}};
    struct linked linked = link_all(&request);
    EXPECT(linked.add[0] == JITLINK_LTO_NOT_ENABLED, "%d", linked.add[0]);
    EXPECT(strstr(text(linked.log), "LTO-IR input cannot be used without LTO enabled (-lto)\n"), "%s",
           text(linked.log));
    request.options[1] = "-lto";
    linked = link_all(&request);
    EXPECT(linked.complete == 0 && has_kernel(&linked.cubin, 90, "k"), "%s", text(linked.log));
    made.ltoir.data[4]++; /* of a version that it does not know */
    linked = link_all(&request);
    EXPECT(linked.add[0] == JITLINK_OUTDATED_LIBRARY, "%d", linked.add[0]);
    EXPECT(strstr(text(linked.log), "may need newer version of nvJitLink library\n"), "%s", text(linked.log));
}

/* nvcc's own files: stored, with a cubin for sm_90 and PTX for it; LTO-IR alone; a host object without any.
 */
static void files_of_nvcc(void)
{
    struct fake_buffer stored = check_read(TOOLKIT_DATA_PATH "/stored.fatbin");
    struct fake_buffer lto = check_read(TOOLKIT_DATA_PATH "/lto_stored.fatbin");
    struct fake_buffer host = check_read(TOOLKIT_DATA_PATH "/host.o");
    struct request request = {.options = {"-arch=sm_90"},
                              .inputs = {{JITLINK_INPUT_FATBIN, stored.data, stored.length, "stored"},
                                         {JITLINK_INPUT_FATBIN, lto.data, lto.length, "lto"},
                                         {JITLINK_INPUT_OBJECT, host.data, host.length, "host"}}};
    struct linked linked = link_all(&request);
    EXPECT(linked.add[0] == 0 && linked.add[1] == JITLINK_LTO_NOT_ENABLED && linked.add[2] == 0, "%d %d %d",
           linked.add[0], linked.add[1], linked.add[2]);
    EXPECT(linked.complete == 0 && linked.cubin.length > sizeof(Elf64_Ehdr), "%s", text(linked.log));
    request.options[0] = "-arch=sm_80"; /* nothing for it */
    linked = link_all(&request);
    EXPECT(linked.add[0] == JITLINK_INVALID_INPUT, "%d", linked.add[0]);
    EXPECT(strstr(text(linked.log), "bad input: stored\n"), "%s", text(linked.log));
    request.options[0] = "-arch=sm_100"; /* the PTX */
    request.inputs[1].type = 0;
    linked = link_all(&request);
    EXPECT(linked.add[0] == 0 && linked.complete == 0, "%s", text(linked.log));
}

/* ---- scenarios ---- */

static void link_kernel(void *ptx)
{
    struct request request = {.options = {"-arch=sm_90"}, .inputs = {{JITLINK_INPUT_PTX, ptx, 0, "a"}}};
    alarm(1);
    EXPECT(link_all(&request).complete == 0);
}

static void disasters(void)
{
    static char crashes[] = KERNEL("bad_one"), hangs[] = KERNEL("stuck"), good[] = KERNEL("good");
    check_scenario("crash kernel=bad_*\nhang kernel=stuck\n");
    int status = check_process(link_kernel, crashes);
    EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    status = check_process(link_kernel, hangs);
    EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM);
    EXPECT(check_process(link_kernel, good) == 0);
}

/* Used all the same after its options were refused. */
static void use_refused(void *argument)
{
    struct jitlink *link = NULL;
    int (*create)(struct jitlink **, uint32_t, const char *const *);
    int (*complete)(struct jitlink *);
    (void)argument;
    CHECK_SYMBOL(create, JITLINK, "nvJitLinkCreate");
    CHECK_SYMBOL(complete, JITLINK, "nvJitLinkComplete");
    EXPECT(create(&link, 0, NULL) == JITLINK_MISSING_ARCH);
    complete(link);
}

static void refused_link_is_deadly(void)
{
    int status = check_process(use_refused, NULL);
    EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "%d", status);
}

static void log_and_version(void)
{
    struct fake_buffer expected = {0};
    struct request request = {.options = {"-arch=sm_90", "-lto"},
                              .inputs = {{JITLINK_INPUT_PTX, CALLEE, 0, "b"}}};
    unsigned major = 0, minor = 0;
    int (*get)(unsigned *, unsigned *);
    check_scenario("version 12 8\nlog events\nlto_version 0\n");
    CHECK_SYMBOL(get, JITLINK, "nvJitLinkVersion");
    EXPECT(get(&major, &minor) == 0 && major == 12 && minor == 8);
    EXPECT(link_all(&request).complete == 0);
    fake_buffer_printf(&expected, "link pid=%ld args=-arch=sm_90 -lto\n", (long)getpid());
    struct fake_buffer events = check_read("lib/events");
    EXPECT(strcmp(text(events), text(expected)) == 0, "%s", text(events));
    request.inputs[0] = (struct input){JITLINK_INPUT_LTOIR, "\xed\x43\x4e\x7f\1A\0\0", 8, "new"};
    EXPECT(link_all(&request).add[0] == JITLINK_OUTDATED_LIBRARY);
}

static void variants(void)
{
    static const char old[] = "old/libnvJitLink.so.12", broken[] = "broken/libnvJitLink.so.13";
    EXPECT(check_symbol(old, "__nvJitLinkCreate_12_0") && check_symbol(old, "__nvJitLinkComplete_12_0"));
    EXPECT(!check_symbol(old, "nvJitLinkCreate") && !check_symbol(old, "__nvJitLinkCreate_13_0"));
    EXPECT(check_symbol(broken, "nvJitLinkCreate") && !check_symbol(broken, "nvJitLinkComplete"));
    EXPECT(!check_symbol(broken, "__nvJitLinkComplete_13_0"));
    EXPECT(!check_symbol(JITLINK, "fake_allocate"), "nothing but the API is exported");
}

const struct check check_jitlink_tests[] = {
    {"nvJitLink: version, and names with one", version, true},
    {"nvJitLink: PTX that calls other PTX", ptx_inputs, true},
    {"nvJitLink: an undefined function", unresolved, true},
    {"nvJitLink: what kernels need", usage, true},
    {"nvJitLink: a function defined twice is no error", defined_twice, true},
    {"nvJitLink: PTX that is refused", refused_ptx, true},
    {"nvJitLink: options", options, true},
    {"nvJitLink: inputs of another type than they are said to be", types_of_inputs, true},
    {"nvJitLink: cubins", cubins, true},
    {"nvJitLink: LTO-IR", ltoir, true},
    {"nvJitLink: files of nvcc", files_of_nvcc, true},
    {"nvJitLink: a link whose options were refused must not be used", refused_link_is_deadly, false},
    {"nvJitLink scenario: crash, hang", disasters, false},
    {"nvJitLink scenario: log, version, lto_version", log_and_version, false},
    {"nvJitLink: an old library, one that misses a function, and what is exported", variants, false},
    {NULL, NULL, false},
};
