/* SPDX-License-Identifier: Apache-2.0 */
/* Scenario directives act on the inputs of a link as on loads. */
#include "check.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"

static struct check_link_request link_of(const char *text)
{
    return (struct check_link_request){.inputs = {{.type = CU_JIT_INPUT_PTX, .bytes = text, .name = "a.ptx"}},
                                       .input_count = 1};
}

static struct check_link_answer link_text(const char *text)
{
    struct check_link_request request = link_of(text);
    return check_link(&request);
}

static void link_and_wait(void *argument)
{
    alarm(1);
    link_text(argument);
}

static void disasters(void)
{
    check_play("crash kernel=crashes\nhang kernel=hangs\nkill kernel=killed events=memory.events\n"
               "crash kernel=helper_*\n");
    EXPECT(link_text(check_ptx("crashes", "")).signal == SIGSEGV);
    EXPECT(link_text(check_ptx("killed", "")).signal == SIGKILL);
    EXPECT(check_exists("memory.events"));
    int status = check_process(link_and_wait, check_ptx("hangs", ""));
    EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM);
    /* An input without a kernel is known by its functions. */
    EXPECT(link_text(HEAD ".visible .func helper_one()\n{\n    ret;\n}\n").signal == SIGSEGV);
    EXPECT(link_text(check_ptx("good", "")).complete == CUDA_SUCCESS);
}

static void refusals(void)
{
    check_play("refuse kernel=k CUDA_ERROR_JIT_COMPILER_NOT_FOUND the helper library is not there\n"
               "disabled_architectures sm_100\n");
    struct check_link_request request = link_of(check_ptx("k", ""));
    struct check_link_answer answer = check_link(&request);
    EXPECT(answer.add[0] == CUDA_ERROR_JIT_COMPILER_NOT_FOUND);
    EXPECT(strstr(answer.error_log, "the helper library is not there"), "%s", answer.error_log);
    request = link_of(check_ptx("other", ""));
    request.options[0] = (struct check_option){CU_JIT_TARGET, 100};
    request.option_count = 1;
    answer = check_link(&request);
    EXPECT(answer.add[0] == CUDA_ERROR_INVALID_PTX && strstr(answer.error_log, "sm_100"));
    EXPECT(check_entries("cache") == 0);
}

static void times_and_stores(void)
{
    check_play("state counters\nslow kernel=slow ms=300\nlose_store every=2\n");
    struct check_link_answer answer = link_text(check_ptx("slow", ""));
    EXPECT(answer.add_ms[0] >= 300 && answer.wall_time_ms > answer.add_ms[0]);
    EXPECT(check_entries("cache") == 1);
    answer = link_text(check_ptx("k", ""));
    EXPECT(answer.complete == CUDA_SUCCESS && check_entries("cache") == 1, "the second store is lost");
}

static void bad_payloads(void)
{
    check_play("bad_payload kernel=arch arch=sm_80\nbad_payload kernel=random arch=random\n"
               "bad_payload kernel=cut arch=cut\n");
    for (int i = 0; i < 3; i++) {
        static const char *const names[] = {"arch", "random", "cut"};
        char *text = check_ptx(names[i], "");
        EXPECT(link_text(text).complete == CUDA_SUCCESS);
        struct check_link_answer answer = link_text(text);
        EXPECT(answer.add[0] == (i ? CUDA_ERROR_INVALID_IMAGE : CUDA_ERROR_INVALID_SOURCE), "%s: %d",
               names[i], answer.add[0]);
    }
}

static void proofs(void)
{
    check_play("crash_prove kernel=k\n");
    EXPECT(link_text(check_ptx("k", "")).complete == CUDA_SUCCESS);
    setenv("CUDA_DISABLE_PTX_JIT", "1", 1);
    EXPECT(link_text(check_ptx("k", "")).signal == SIGSEGV);
    check_play("ignore_disable_jit yes\n");
    EXPECT(link_text(check_ptx("unseen", "")).complete == CUDA_SUCCESS);
}

static void log_of_events(void)
{
    check_play("log events\n");
    char *text = check_ptx("k", "");
    link_text(text);
    link_text(text);
    setenv("CUDA_DISABLE_PTX_JIT", "1", 1);
    link_text(check_ptx("other", ""));
    EXPECT(check_count_lines("events", "compile pid=") == 1 && check_count_lines("events", "hit pid=") == 1);
    EXPECT(check_count_lines("events", "disabled pid=") == 1);
    EXPECT(strstr((char *)check_read("events").data, " call=link context=yes arch=sm_90 entry="));
    EXPECT(strstr((char *)check_read("events").data, " kept\n"));
}

const struct check check_link_scenario_tests[] = {
    {"scenario: a link's input crashes, hangs, is killed", disasters},
    {"scenario: a link's input is refused", refusals},
    {"scenario: slow and lose_store in a link", times_and_stores},
    {"scenario: bad_payload in a link", bad_payloads},
    {"scenario: crash_prove and ignore_disable_jit in a link", proofs},
    {"scenario: log of a link", log_of_events},
    {NULL, NULL},
};
