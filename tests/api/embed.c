/* SPDX-License-Identifier: Apache-2.0 */
/* Warms a manifest through libprejit, from a program that knows its public headers alone. Prints TAP. */
#include <prejit/prejit.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures, number;

static void check(bool holds, const char *what)
{
    printf("%sok %d - %s\n", holds ? "" : "not ", ++number, what);
    failures += !holds;
}

static void on_finished(void *context, size_t job, const char *id, uint64_t weight_bytes, const char *outcome,
                        bool attention)
{
    (void)job, (void)id, (void)weight_bytes, (void)outcome, (void)attention;
    ++*(unsigned *)context;
}

typedef int call(const struct pj_options *options, struct pj_result **ret_result, struct pj_error **err);

static char *answer_of(call *run, const struct pj_options *options)
{
    struct pj_result *result = NULL;
    struct pj_error *error = NULL;
    char *answer = NULL;
    if (run(options, &result, &error) < 0 || pj_result_answer(result, false, &answer, &error) < 0)
        printf("# %s\n", pj_error_message(error));
    else
        check(pj_result_exit_code(result) == 0 && !pj_result_interrupted(result), "exit code 0");
    pj_error_free(error);
    pj_result_free(result);
    return answer ? answer : strdup("");
}

static void check_refused(int code, struct pj_error *error, const char *message, const char *what)
{
    bool good = code == PJ_ERROR_USAGE && error && strcmp(pj_error_message(error), message) == 0;
    if (!good)
        printf("# %d: %s\n", code, error ? pj_error_message(error) : "no error");
    check(good, what);
    pj_error_free(error);
}

/* Every call refuses it before it does anything: a worker starts in other folders than the caller's. */
static void check_worker_program(const char *program, const char *message)
{
    static const struct {
        call *call;
        const char *what;
    } calls[] = {{pj_warm, "warm: worker_program"},
                 {pj_verify, "verify: worker_program"},
                 {pj_plan, "plan: worker_program"}};
    const struct pj_options options = {
        .worker_program = program, .manifest = "/nonexistent.yaml", .interrupt_fd = -1};
    const struct pj_build_options build = {
        .worker_program = program, .manifest = "/nonexistent.yaml", .check = true, .interrupt_fd = -1};
    const struct pj_profile_options profile = {
        .worker_program = program, .driver = "/nonexistent.so", .interrupt_fd = -1};
    const struct pj_doctor_options doctor = {.worker_program = program, .interrupt_fd = -1};
    struct pj_result *none = NULL;
    char *text = NULL, *other = NULL;
    int status;
    bool interrupted;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        struct pj_error *error = NULL;
        int code = calls[i].call(&options, &none, &error);
        check_refused(code, error, message, calls[i].what);
    }
    struct pj_error *error = NULL;
    int code = pj_build(&build, &text, &other, &status, &interrupted, &error);
    check_refused(code, error, message, "build: worker_program");
    error = NULL;
    code = pj_profile_make(&profile, &text, &other, &status, &error);
    check_refused(code, error, message, "profile: worker_program");
    if (!program) /* then it starts no driver */
        return;
    error = NULL;
    code = pj_doctor(&doctor, &text, &status, &error);
    check_refused(code, error, message, "doctor: worker_program");
}

int main(int count, char **arguments)
{
    unsigned finished = 0;
    if (count != 6)
        return 2;
    struct pj_options options = {
        .worker_program = arguments[1],
        .driver = arguments[2],
        .manifest = arguments[3],
        .cache = arguments[4],
        .nvrtc = arguments[5],
        .no_receipt = true,
        .interrupt_fd = -1,
        .observer = {.finished = on_finished, .context = &finished},
    };
    char *warm = answer_of(pj_warm, &options);
    check(strncmp(warm, "10 jobs: 10 proven", 18) == 0, "ten jobs are proven");
    check(finished == 12, "the observer heard of each, and of two sources made");
    char *verify = answer_of(pj_verify, &options);
    check(strncmp(verify, "10 jobs: 10 proven (10 reused)", 30) == 0, "they are proven again");
    free(warm);
    free(verify);

    struct pj_result *none = NULL;
    struct pj_error *error = NULL;
    options.manifest = "/nonexistent.yaml";
    check(pj_plan(&options, &none, &error) == PJ_ERROR_MANIFEST && none == NULL,
          "a missing manifest is an error");
    check(pj_error_exit_code(error) == 2 && strstr(pj_error_message(error), "/nonexistent.yaml") != NULL,
          "that names the file");
    pj_error_free(error);
    error = NULL;
    const struct pj_build_options build = {
        .worker_program = arguments[1], .manifest = "/nonexistent.yaml", .check = true, .interrupt_fd = -1};
    char *text = NULL, *answer = NULL;
    int status;
    bool interrupted;
    check(pj_build(&build, &text, &answer, &status, &interrupted, &error) == PJ_ERROR_MANIFEST &&
              text == NULL && answer == NULL,
          "also for build");
    pj_error_free(error);
    error = NULL;
    const struct pj_profile_options profile = {
        .worker_program = arguments[1], .driver = "/nonexistent.so", .interrupt_fd = -1};
    check(pj_profile_make(&profile, &text, &answer, &status, &error) == PJ_ERROR_ENVIRONMENT && text == NULL,
          "profile needs a driver");
    printf("# %s\n", pj_error_message(error));
    pj_error_free(error);
    check_worker_program("prejit", "worker_program prejit: it must be an absolute path");
    check_worker_program("", "no worker_program: it is the absolute path of a prejit program");
    check_worker_program(NULL, "no worker_program: it is the absolute path of a prejit program");
    printf("1..%d\n", number);
    return failures ? 1 : 0;
}
