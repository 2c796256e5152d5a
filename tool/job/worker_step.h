/* SPDX-License-Identifier: Apache-2.0 */
/* Tells the parent what a worker is about to do that may never end, or be the worker's end. */
#ifndef PREJIT_JOB_WORKER_STEP_H
#define PREJIT_JOB_WORKER_STEP_H

/** "calling cuInit": what people read as "gave up … while calling cuInit". Only on the way to `started`. A
 * parent that does not take it shows elsewhere. */
void pj_worker_step(int socket, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
