/* SPDX-License-Identifier: Apache-2.0 */
/* Scenario directives: each does what it says, and a misspelt one stops the test that wrote it. */
#include "check.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

struct facts {
    int count, version, major[3], minor[3];
    char name[3][64];
    CUuuid uuid[3];
};

static void ask_devices(void *argument)
{
    struct facts facts = {0};
    CUresult (*init)(unsigned);
    CUresult (*get_count)(int *);
    CUresult (*get_name)(char *, int, CUdevice);
    CUresult (*get_attribute)(int *, CUdevice_attribute, CUdevice);
    CUresult (*get_uuid)(CUuuid *, CUdevice);
    CUresult (*get_version)(int *);
    CHECK_SYMBOL(init, "cuInit");
    CHECK_SYMBOL(get_count, "cuDeviceGetCount");
    CHECK_SYMBOL(get_name, "cuDeviceGetName");
    CHECK_SYMBOL(get_attribute, "cuDeviceGetAttribute");
    CHECK_SYMBOL(get_uuid, "cuDeviceGetUuid_v2");
    CHECK_SYMBOL(get_version, "cuDriverGetVersion");
    EXPECT(init(0) == CUDA_SUCCESS && get_count(&facts.count) == CUDA_SUCCESS);
    EXPECT(get_version(&facts.version) == CUDA_SUCCESS);
    for (int i = 0; i < facts.count && i < 3; i++) {
        EXPECT(get_name(facts.name[i], 64, i) == CUDA_SUCCESS && get_uuid(&facts.uuid[i], i) == CUDA_SUCCESS);
        EXPECT(get_attribute(&facts.major[i], CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, i) ==
               CUDA_SUCCESS);
        EXPECT(get_attribute(&facts.minor[i], CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, i) ==
               CUDA_SUCCESS);
    }
    check_write(argument, &facts, sizeof facts);
}

static struct facts devices(void)
{
    static char path[] = "facts";
    struct facts facts;
    EXPECT(check_process(ask_devices, path) == 0);
    struct fake_buffer file = check_read(path);
    EXPECT(file.length == sizeof facts);
    memcpy(&facts, file.data, sizeof facts);
    fake_buffer_free(&file);
    return facts;
}

static void uuid_variable(const CUuuid *uuid, const char *before, const char *behind)
{
    struct fake_buffer text = {0};
    fake_buffer_printf(&text, "%sGPU-", before);
    for (int i = 0; i < 16; i++)
        fake_buffer_printf(&text, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                           (unsigned)(unsigned char)uuid->bytes[i]);
    fake_buffer_add_text(&text, behind);
    setenv("CUDA_VISIBLE_DEVICES", (char *)text.data, 1);
    fake_buffer_free(&text);
}

static void default_machine(void)
{
    struct facts facts = devices();
    EXPECT(facts.count == 2 && facts.version == 13000);
    EXPECT(strcmp(facts.name[0], "emulated sm_90") == 0 && strcmp(facts.name[1], "emulated sm_80") == 0);
    EXPECT(facts.major[0] == 9 && facts.minor[0] == 0 && facts.major[1] == 8 && facts.minor[1] == 0);
    EXPECT(memcmp(&facts.uuid[0], &facts.uuid[1], sizeof(CUuuid)) != 0);
    struct check_request second = {.call = CALL_EX, .image = check_ptx("k", ""), .device = 1};
    EXPECT(check_load(&second).wall_time_ms > 0);
    check_expect_miss(second.image);
    EXPECT(check_entries("cache") == 2, "one entry per architecture");
}

static void visible_devices(void)
{
    struct facts all = devices();
    setenv("CUDA_DEVICE_ORDER", "FASTEST_FIRST", 1);
    setenv("CUDA_VISIBLE_DEVICES", "1,0", 1);
    struct facts facts = devices();
    EXPECT(facts.count == 2 && facts.major[0] == 8 && facts.major[1] == 9);
    setenv("CUDA_VISIBLE_DEVICES", "1", 1);
    EXPECT(devices().count == 1 && devices().major[0] == 8);
    setenv("CUDA_VISIBLE_DEVICES", "1,7,0", 1);
    EXPECT(devices().count == 1, "all behind an invalid index is hidden");
    uuid_variable(&all.uuid[1], "", "");
    EXPECT(devices().count == 1 && devices().major[0] == 8);
    uuid_variable(&all.uuid[1], "0,", "");
    EXPECT(devices().count == 2 && devices().major[1] == 8);
    setenv("CUDA_VISIBLE_DEVICES", "GPU-e3170050", 1);
    EXPECT(devices().count == 1 && devices().major[0] == 8, "a prefix that is unique");
    setenv("CUDA_VISIBLE_DEVICES", "0,GPU-e317", 1);
    EXPECT(devices().count == 1, "a prefix of two devices is invalid");
}

static void other_machine(void)
{
    check_play("# a machine\n"
               "device sm_121 GB10 in a box GPU-00112233-4455-6677-8899-aabbccddeeff\n"
               "device sm_75 T4\n"
               "driver_version 13010\n");
    struct facts facts = devices();
    EXPECT(facts.count == 2 && facts.version == 13010);
    EXPECT(strcmp(facts.name[0], "GB10 in a box") == 0 && strcmp(facts.name[1], "T4") == 0);
    EXPECT(facts.major[0] == 12 && facts.minor[0] == 1 && facts.major[1] == 7 && facts.minor[1] == 5);
    EXPECT((unsigned char)facts.uuid[0].bytes[1] == 0x11);
}

/* A first load under the scenario as set ends by abort() and says `message`. */
static void expect_abort(const char *message)
{
    int saved = fcntl(2, F_DUPFD_CLOEXEC, 3),
        file = open("stderr", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    EXPECT(saved >= 0 && file >= 0 && dup2(file, 2) == 2);
    struct check_answer answer = check_load_text(check_ptx("k", ""));
    EXPECT(dup2(saved, 2) == 2);
    struct fake_buffer said = check_read("stderr");
    EXPECT(answer.aborted, "%s", message);
    EXPECT(strstr((char *)said.data, message), "%s is not in %s", message, (char *)said.data);
    close(saved);
    close(file);
}

static void expect_stopped(const char *text, const char *message)
{
    check_play(text);
    expect_abort(message);
}

static void misspelt(void)
{
    expect_stopped("burn yes\ncrush kernel=k\n", "/scenario:2: no directive `crush`");
    expect_stopped("crash kernal=k\n", "/scenario:1: `kernal=k` is not understood");
    expect_stopped("crash\n", "/scenario:1: `crash` wants kernel=GLOB");
    expect_stopped("refuse kernel=k CUDA_ERROR_INVALID_PTZ no\n",
                   "/scenario:1: `CUDA_ERROR_INVALID_PTZ` is no error");
    expect_stopped("refuse kernel=k\n", "/scenario:1: `refuse` wants an error and a log text");
    expect_stopped("init_ms soon\n", "/scenario:1: `soon` is not a number");
    expect_stopped("init_ms 1 2\n", "/scenario:1: `2` is too much");
    expect_stopped("device compute_90 x\n", "/scenario:1: `device` wants an architecture");
    expect_stopped("bad_payload kernel=k arch=bad\n", "/scenario:1: `bad` is none of");
    expect_stopped("lose_store every=2\n", "need a `state FILE` line");
    expect_stopped("layout other\n", "/scenario:1: only `alternate` can stand here");
    setenv("NVIDIA_FAKE_SCENARIO", "/nowhere", 1);
    expect_abort("scenario /nowhere: cannot be opened");
}

static void crash(void)
{
    check_play("state counters\ncrash kernel=bad_* times=2\n");
    char *bad = check_ptx("bad_one", ""), *good = check_ptx("good", "");
    EXPECT(check_load_text(good).load == CUDA_SUCCESS);
    EXPECT(check_load_text(bad).signal == SIGSEGV);
    EXPECT(check_load_text(bad).signal == SIGSEGV);
    EXPECT(check_load_text(bad).load == CUDA_SUCCESS, "twice, across processes");
}

static void crash_of_one_target(void)
{
    check_play("crash kernel=k target=sm_80\n");
    struct check_request request = {.call = CALL_LIBRARY, .no_context = true, .image = check_ptx("k", "")};
    EXPECT(check_load(&request).load == CUDA_SUCCESS);
    request.options[0] = (struct check_option){CU_JIT_TARGET, 80};
    request.option_count = 1;
    EXPECT(check_load(&request).signal == SIGSEGV);
}

static void crash_prove(void)
{
    check_play("crash_prove kernel=k\n");
    char *text = check_ptx("k", "");
    check_expect_miss(text);
    setenv("CUDA_DISABLE_PTX_JIT", "1", 1);
    EXPECT(check_load_text(text).signal == SIGSEGV);
    EXPECT(check_load_text(check_ptx("other", "")).load == CUDA_ERROR_JIT_COMPILATION_DISABLED);
}

static void load_and_wait(void *argument)
{
    alarm(1);
    check_load_text(argument);
}

static void hang(void)
{
    check_play("hang kernel=k\n");
    int status = check_process(load_and_wait, check_ptx("k", ""));
    EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM);
    EXPECT(check_load_text(check_ptx("other", "")).load == CUDA_SUCCESS);
    check_play("hang_prove kernel=other\n");
    EXPECT(check_load_text(check_ptx("other", "")).load == CUDA_SUCCESS);
    setenv("CUDA_DISABLE_PTX_JIT", "1", 1);
    status = check_process(load_and_wait, check_ptx("other", ""));
    EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM);
}

static void kill_for_memory(void)
{
    check_write_text("memory.events", "low 0\nhigh 3\noom 1\noom_kill 4\n");
    check_play("kill kernel=k events=memory.events\n");
    EXPECT(check_load_text(check_ptx("k", "")).signal == SIGKILL);
    struct fake_buffer events = check_read("memory.events");
    EXPECT(strcmp((char *)events.data, "low 0\nhigh 3\noom 1\noom_kill 5\n") == 0, "%s", (char *)events.data);
}

static void refuse(void)
{
    check_play("refuse kernel=k CUDA_ERROR_JIT_COMPILER_NOT_FOUND the helper library is not there\n"
               "out_of_memory_jit kernel=big\n");
    struct check_answer answer = check_load_text(check_ptx("k", ""));
    EXPECT(answer.load == CUDA_ERROR_JIT_COMPILER_NOT_FOUND);
    EXPECT(strstr(answer.error_log, "the helper library is not there"), "%s", answer.error_log);
    answer = check_load_text(check_ptx("big", ""));
    EXPECT(answer.load == CUDA_ERROR_OUT_OF_MEMORY && answer.error_log[0]);
    answer = check_load(
        &(struct check_request){.call = CALL_LIBRARY, .no_context = true, .image = check_ptx("k", "")});
    EXPECT(answer.load == CUDA_SUCCESS && answer.error_log[0]);
    EXPECT(check_entries("cache") == 0);
}

static void init_and_context_fail(void)
{
    char *text = check_ptx("k", "");
    check_play("init_fail CUDA_ERROR_SYSTEM_DRIVER_MISMATCH\n");
    EXPECT(check_load_text(text).init == CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
    check_play("state starts\ninit_fail CUDA_ERROR_UNKNOWN after 1\n");
    EXPECT(check_load_text(text).init == CUDA_SUCCESS);
    EXPECT(check_load_text(text).init == CUDA_ERROR_UNKNOWN);
    check_play("state counters\ncontext_fail CUDA_ERROR_OUT_OF_MEMORY times 1\n");
    EXPECT(check_load_text(text).context == CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT(check_load_text(text).context == CUDA_SUCCESS);
    check_play("context_fail CUDA_ERROR_DEVICE_UNAVAILABLE\n");
    EXPECT(check_load_text(text).context == CUDA_ERROR_DEVICE_UNAVAILABLE);
    EXPECT(
        check_load(&(struct check_request){.call = CALL_LIBRARY, .no_context = true, .image = text}).load ==
        CUDA_SUCCESS);
}

static double children_cpu_ms(void)
{
    struct rusage usage;
    EXPECT(getrusage(RUSAGE_CHILDREN, &usage) == 0);
    return (double)usage.ru_utime.tv_sec * 1e3 + (double)usage.ru_utime.tv_usec / 1e3 +
           (double)usage.ru_stime.tv_sec * 1e3 + (double)usage.ru_stime.tv_usec / 1e3;
}

static void times(void)
{
    check_play(
        "compile_base_ms 50\ncompile_us_per_kb 0\nslow kernel=slow ms=1500\ninit_ms 0\ncontext_ms 0\n");
    double before = children_cpu_ms();
    struct check_answer answer = check_load_text(check_ptx("k", ""));
    EXPECT(answer.wall_time_ms >= 50 && answer.wall_time_ms < 1500, "%f", (double)answer.wall_time_ms);
    EXPECT(children_cpu_ms() - before < 40, "it sleeps");
    answer = check_load_text(check_ptx("slow", ""));
    EXPECT(answer.wall_time_ms >= 1550, "%f", (double)answer.wall_time_ms);
    check_play("compile_base_ms 50\nburn yes\ninit_ms 0\ncontext_ms 0\n");
    before = children_cpu_ms();
    answer = check_load_text(check_ptx("k", "burnt"));
    EXPECT(answer.wall_time_ms >= 50 && children_cpu_ms() - before >= 40, "it burns");
    check_play("compile_base_ms 0\ncompile_us_per_kb 1000000\ninit_ms 0\ncontext_ms 0\n");
    answer = check_load_text(check_ptx("k", "by size"));
    EXPECT(answer.wall_time_ms >= 80, "about a hundred bytes at 1 ms each, not %f ms",
           (double)answer.wall_time_ms);
}

static void lose_store(void)
{
    check_play("state counters\nlose_store every=3\nlog events\n");
    for (int i = 0; i < 6; i++) {
        char comment[2] = {(char)('0' + i), 0};
        check_expect_miss(check_ptx("k", comment));
    }
    EXPECT(check_entries("cache") == 4, "%u", check_entries("cache"));
    check_expect_hit(check_ptx("k", "1"));
    check_expect_miss(check_ptx("k", "2"));
}

static void unloadable(void)
{
    char *text = check_ptx("k", ""), *other = check_ptx("other", "");
    check_play("unloadable kernel=k\n");
    EXPECT(check_load_text(text).load == CUDA_ERROR_INVALID_IMAGE);
    EXPECT(check_entries("cache") == 1, "it is stored all the same");
    EXPECT(check_load_text(text).load == CUDA_ERROR_INVALID_IMAGE);
    EXPECT(check_load_text(other).load == CUDA_SUCCESS);
}

static void bad_payload(void)
{
    static const struct {
        const char *kind;
        CUresult result;
    } kinds[] = {{"sm_80", CUDA_ERROR_INVALID_SOURCE},
                 {"random", CUDA_ERROR_INVALID_IMAGE},
                 {"cut", CUDA_ERROR_INVALID_IMAGE}};
    for (size_t i = 0; i < 3; i++) {
        char scenario[80];
        snprintf(scenario, sizeof scenario, "bad_payload kernel=k arch=%s\n", kinds[i].kind);
        check_play(scenario);
        char *text = check_ptx("k", kinds[i].kind);
        check_expect_miss(text);
        EXPECT(check_load_text(text).load == kinds[i].result, "%s", kinds[i].kind);
        EXPECT(check_load_text(text).load == kinds[i].result, "%s: not compiled again", kinds[i].kind);
    }
}

/* Another driver: nothing of the known layout, and yet it works with itself. */
static void other_drivers(void)
{
    static const char *const scenarios[] = {"format 66\n", "layout alternate\n", "key_order alternate\n",
                                            "stamp May  1 202609:00:00\n", "entry_in_extra_dirs yes\n"};
    char *text = check_ptx("k", "");
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) {
        char cache[] = "cache-0";
        cache[6] = (char)('0' + i);
        setenv("CUDA_CACHE_PATH", cache, 1);
        check_play(scenarios[i]);
        check_expect_miss(text);
        check_expect_hit(text);
        setenv("CUDA_DISABLE_PTX_JIT", "1", 1);
        check_expect_hit(text);
        check_play("");
        EXPECT(check_load_text(text).load == CUDA_ERROR_JIT_COMPILATION_DISABLED, "%s", scenarios[i]);
        unsetenv("CUDA_DISABLE_PTX_JIT");
    }
    EXPECT(check_index("cache-0").format == 66);
    EXPECT(check_index("cache-2").format == 65);
}

static void ignores_disable_jit(void)
{
    check_play("ignore_disable_jit yes\n");
    setenv("CUDA_DISABLE_PTX_JIT", "1", 1);
    EXPECT(check_load_text(check_ptx("k", "")).load == CUDA_SUCCESS);
}

static void header_only_index(void)
{
    char *text = check_ptx("k", "");
    check_expect_miss(text);
    check_write_index("cache", 65, 0, 0, NULL, 0);
    check_expect_hit(text);
    check_play("header_only_index deletes\n");
    check_expect_miss(text);
    EXPECT(check_entries("cache") == 1);
}

static void payload_and_architectures(void)
{
    check_play("payload kernel=k bytes=1000000\nmemory kernel=k mb=8\ndisabled_architectures sm_100 "
               "sm_103\nptx_version 8.8\n");
    check_expect_miss(check_ptx("k", ""));
    EXPECT(check_index("cache").bytes[0] > 1000000);
    struct check_answer answer = check_load(&(struct check_request){
        .call = CALL_EX, .image = check_ptx("k", ""), .options = {{CU_JIT_TARGET, 103}}, .option_count = 1});
    EXPECT(answer.load == CUDA_ERROR_INVALID_PTX && strstr(answer.error_log, "sm_103"));
    answer = check_load_text(".version 9.0\n.target sm_80\n.visible .entry k() { ret; }\n");
    EXPECT(answer.load == CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
    EXPECT(strstr(answer.error_log, "Unsupported .version 9.0; current version is '8.8'"), "%s",
           answer.error_log);
}

static void log_of_events(void)
{
    check_play("log events\n");
    char *text = check_ptx("k", "");
    check_expect_miss(text);
    check_expect_hit(text);
    setenv("CUDA_DISABLE_PTX_JIT", "1", 1);
    check_load_text(check_ptx("other", ""));
    EXPECT(check_count_lines("events", "init pid=") == 3 && check_count_lines("events", "context pid=") == 3);
    EXPECT(check_count_lines("events", "compile pid=") == 1 &&
           check_count_lines("events", "store pid=") == 1);
    EXPECT(check_count_lines("events", "hit pid=") == 1 && check_count_lines("events", "disabled pid=") == 1);
    EXPECT(strstr((char *)check_read("events").data, " kept\n"));
}

struct lookup {
    const char *path;
    bool found;
};

static void look_up_library_call(void *argument)
{
    const struct lookup *lookup = argument;
    CUresult (*get_address)(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);
    void *address = NULL;
    CUdriverProcAddressQueryResult status;
    setenv("FAKE_TEST_DRIVER", lookup->path, 1);
    CHECK_SYMBOL(get_address, "cuGetProcAddress_v2");
    EXPECT(get_address("cuMemAlloc", &address, 13000, 0, &status) == CUDA_SUCCESS && address);
    EXPECT(address == check_symbol("cuMemAlloc_v2"));
    CUresult result = get_address("cuLibraryLoadData", &address, 13000, 0, &status);
    EXPECT((result == CUDA_SUCCESS) == lookup->found, "%d", result);
    EXPECT(lookup->found || (status == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND && !address));
    if (strcmp(lookup->path, FAKE_DRIVER_PATH) != 0)
        EXPECT(check_symbol("cuLibraryLoadData") == NULL && check_symbol("cuModuleLoadData") != NULL);
}

static void no_library_load(void)
{
    struct lookup with = {FAKE_DRIVER_PATH, true}, without = {FAKE_DRIVER_PATH, false};
    struct lookup built_without = {FAKE_NO_LIBRARY_PATH, false};
    EXPECT(check_process(look_up_library_call, &with) == 0);
    EXPECT(check_process(look_up_library_call, &built_without) == 0);
    check_play("no_library_load yes\n");
    EXPECT(check_process(look_up_library_call, &without) == 0);
}

static void not_emulated(void)
{
    static const char wrapper[24] = "\xb1\x43\x62\x46\1";
    struct check_answer answer = check_load_text(wrapper);
    EXPECT(answer.load == CUDA_ERROR_NOT_SUPPORTED && strstr(answer.error_log, "not emulated"), "%s",
           answer.error_log);
}

/* Many processes at once: every one gets its module, and the index stays whole. */
static void crowd(void)
{
    pid_t children[12];
    check_play("compile_base_ms 1\ninit_ms 0\ncontext_ms 0\n");
    for (int i = 0; i < 12; i++) {
        children[i] = fork();
        EXPECT(children[i] >= 0);
        if (children[i] == 0) {
            for (int j = 0; j < 4; j++) {
                char comment[32];
                snprintf(comment, sizeof comment, "%d.%d", i, j);
                if (check_load_text(check_ptx("k", comment)).load != CUDA_SUCCESS)
                    _exit(1);
            }
            _exit(0);
        }
    }
    for (int i = 0; i < 12; i++) {
        int status;
        EXPECT(waitpid(children[i], &status, 0) == children[i] && status == 0);
    }
    struct check_index index = check_index("cache");
    uint64_t total = 0;
    for (uint32_t i = 0; i < index.count; i++)
        total += index.bytes[i];
    EXPECT(index.total == total && index.count == check_entries("cache"));
    EXPECT(index.count >= 12, "%u of 48 kept", index.count);
}

const struct check check_scenario_tests[] = {
    {"default machine: two devices, one entry per architecture", default_machine},
    {"CUDA_VISIBLE_DEVICES: indexes, UUIDs, prefixes, the first invalid one", visible_devices},
    {"scenario: devices and driver version", other_machine},
    {"scenario: what is misspelt stops the process", misspelt},
    {"scenario: crash, so many times across processes", crash},
    {"scenario: a rule for one target", crash_of_one_target},
    {"scenario: crash_prove", crash_prove},
    {"scenario: hang", hang},
    {"scenario: kill counts an oom_kill", kill_for_memory},
    {"scenario: refuse and out_of_memory_jit", refuse},
    {"scenario: init_fail, context_fail", init_and_context_fail},
    {"scenario: times", times},
    {"scenario: lose_store", lose_store},
    {"scenario: bad_payload", bad_payload},
    {"scenario: unloadable", unloadable},
    {"scenario: other formats, layouts, keys, stamps, folders", other_drivers},
    {"scenario: ignore_disable_jit", ignores_disable_jit},
    {"scenario: header_only_index", header_only_index},
    {"scenario: payload, memory, disabled_architectures, ptx_version", payload_and_architectures},
    {"scenario: log", log_of_events},
    {"scenario: no_library_load, and the library without these symbols", no_library_load},
    {"the wrapper of a fat binary is not emulated and says so", not_emulated},
    {"[23] twelve processes store at once", crowd},
    {NULL, NULL},
};
