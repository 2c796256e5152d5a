/* SPDX-License-Identifier: Apache-2.0 */
/* Sends steps. */
#include "job/worker_step.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

#include "job/wire.h"

void pj_worker_step(int socket, const char *format, ...)
{
    char doing[PATH_MAX + 64];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(doing, sizeof doing, format, arguments);
    va_end(arguments);
    const struct pj_wire_message message = {.type = PJ_WIRE_STEP, .step = {.doing = doing}};
    PJ_CLEANUP_ERROR struct pj_error *ignored = NULL;
    (void)pj_wire_send(socket, &message, NULL, &ignored);
}
