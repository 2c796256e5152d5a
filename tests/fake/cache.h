/* SPDX-License-Identifier: Apache-2.0 */
/* The compute cache: look up, store. Every failure is silent, as in the real driver. */
#ifndef FAKE_CACHE_H
#define FAKE_CACHE_H

#include "base.h"
#include "driver.h"

/* True, and the payload, where an entry with this very key is there and sound. */
bool fake_cache_look_up(const struct fake_settings *settings, const struct fake_buffer *key,
                        struct fake_buffer *ret_payload);

/* What became of a store, for the event log. */
const char *fake_cache_store(const struct fake_settings *settings, const struct fake_buffer *key,
                             const struct fake_buffer *payload);

#endif
