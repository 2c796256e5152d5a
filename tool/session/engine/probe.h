/* SPDX-License-Identifier: Apache-2.0 */
/* The tiny modules that prejit itself has compiled: the one a stamp is learned from, and canaries that nobody
 * has compiled. */
#ifndef PREJIT_SESSION_ENGINE_PROBE_H
#define PREJIT_SESSION_ENGINE_PROBE_H

#include "base/digest.h"
#include "session/run/session.h"

/** An image in memory, behind a descriptor that workers can be given. */
struct pj_probe {
    int fd;
    char *text;
    size_t size;
    struct pj_sha256 sha256;
};

/** A tiny kernel for every architecture since Maxwell. With `unique`, a random comment makes it an image that
 * nobody has compiled before. */
int pj_probe_make(bool unique, struct pj_probe *ret_probe, struct pj_error **err);

void pj_probe_close(struct pj_probe *probe);

/** The probe as the one part of an order, to be loaded or linked. The descriptor stays the probe's. */
void pj_probe_part(const struct pj_probe *probe, struct pj_wire_part *ret_part,
                   struct pj_wire_descriptors *ret_descriptors);

/** Reads the entry that the driver made of `probe` for `arch_number` at `path` below `folder`. Format known:
 * sets the session's stamp and KNOWN; anything unexpected: OTHER. */
int pj_probe_learn(struct pj_session *session, const struct pj_probe *probe, const char *folder,
                   const char *path, uint16_t arch_number, struct pj_error **err);

#endif
