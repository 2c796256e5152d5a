/* SPDX-License-Identifier: Apache-2.0 */
/* Warms a manifest from a program of one's own: warm PREJIT MANIFEST [CACHE]. PREJIT is the installed
 * program, which the library starts as its worker. */
#include <stdio.h>
#include <stdlib.h>

#include <prejit/prejit.h>

static void on_finished(void *context, size_t job, const char *name, uint64_t weight_bytes,
                        const char *outcome, bool attention)
{
    (void)context, (void)job, (void)weight_bytes, (void)attention;
    printf("%s: %s\n", name, outcome);
}

int main(int count, char **arguments)
{
    if (count < 3) {
        fprintf(stderr, "usage: %s PREJIT MANIFEST [CACHE]\n", arguments[0]);
        return 2;
    }
    const struct pj_options options = {
        .worker_program = arguments[1],
        .manifest = arguments[2],
        .cache = count > 3 ? arguments[3] : NULL, /* else the manifest's, else the driver's own rule */
        .driver = getenv("PREJIT_DRIVER"),
        .interrupt_fd = -1,
        .observer = {.finished = on_finished},
    };
    struct pj_result *result = NULL;
    struct pj_error *error = NULL;
    char *answer = NULL;
    int status;
    if (pj_warm(&options, &result, &error) < 0 || pj_result_answer(result, false, &answer, &error) < 0) {
        fprintf(stderr, "%s\n", pj_error_message(error));
        status = pj_error_exit_code(error);
    } else {
        puts(answer);
        status = pj_result_exit_code(result);
    }
    free(answer);
    pj_result_free(result);
    pj_error_free(error);
    return status;
}
