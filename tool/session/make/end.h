/* SPDX-License-Identifier: Apache-2.0 */
/* What an order's end is called. */
#ifndef PREJIT_SESSION_MAKE_END_H
#define PREJIT_SESSION_MAKE_END_H

#include "session/make/maker.h"

/** Was ptxas, which is a program, ended by a signal? Its result's name is then "killed by signal 11". */
bool pj_making_was_killed(const struct pj_making *making);

/** Appends what became of the order, and who did it: "compiled to PTX by NVRTC 13.0.88 in 90 ms",
 * "refused by ptxas 13.0.88: …", else its reason. `name`: how people call the library. */
void pj_making_put_end(const struct pj_making *making, enum pj_wire_library library, const char *name,
                       const struct pj_report_library *which, struct pj_buffer *text);

#endif
