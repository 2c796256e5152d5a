/* SPDX-License-Identifier: Apache-2.0 */
/* What a library prints to standard error, caught while it works. */
#ifndef PREJIT_JOB_WORKER_CAPTURE_H
#define PREJIT_JOB_WORKER_CAPTURE_H

/** Standard error while it goes elsewhere. Zero-initialise with `saved` = -1. */
struct pj_capture {
    int saved;
};

/** From here on standard error is the file `fd` (-1: stays what it is). */
void pj_capture_begin(struct pj_capture *capture, int fd);

/** Standard error is what it was. */
void pj_capture_end(struct pj_capture *capture);

#endif
