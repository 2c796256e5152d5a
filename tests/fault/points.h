/* SPDX-License-Identifier: Apache-2.0 */
/* The points of a commit at which a run can be killed, in the order in which a run comes by them. The tests
 * of the whole program hold this list against the sources. */
#ifndef PREJIT_FAULT_POINTS_H
#define PREJIT_FAULT_POINTS_H

static const char *const points[] = {
    "S0.run-folder-made",  "S0.index-staged",
    "S0.index-created",    "S0.index-made-valid",
    "S0.harvested",        "S0.run-removed",
    "S1.folder-made",      "S2.folders-made",
    "S2.staged",           "S3.index-grown",
    "S3.index-copied",     "S3.index-taken-over",
    "S3.locked",           "S3.evicted",
    "S3.removed",          "S3.renamed",
    "S3.header-shortened", "S3.records-written",
    "S3.header-written",   "S3.unlocked",
    "S4.flushed",          "S8.run-folder-removed",
};

#endif
