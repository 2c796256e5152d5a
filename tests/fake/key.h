/* SPDX-License-Identifier: Apache-2.0 */
/* Cache keys: what makes two compilations the same one. */
#ifndef FAKE_KEY_H
#define FAKE_KEY_H

#include "base.h"
#include "scenario.h"

/* stamp, HOST64, sm_NN, PTX, NUL, space, option text; in another order where the scenario says so. */
void fake_key_make(const struct fake_scenario *scenario, unsigned arch, const char *ptx, size_t ptx_bytes,
                   const char *option_text, struct fake_buffer *ret_key);

#endif
