/* SPDX-License-Identifier: Apache-2.0 */
/* What a person sees while a run goes on: the progress on standard error. */
#ifndef PREJIT_CLI_WATCH_H
#define PREJIT_CLI_WATCH_H

#include <prejit/prejit.h>

#include "base/buffer.h"
#include "report/progress.h"

struct pj_cli_watch {
    struct pj_progress progress;
    struct pj_buffer buffer;
    bool quiet;
};

/** Sets up the watch for standard error as it is and gives the observer that feeds it. */
struct pj_observer pj_cli_watch_begin(struct pj_cli_watch *watch, bool quiet);

/** Takes the progress off the screen. */
void pj_cli_watch_end(struct pj_cli_watch *watch);

#endif
