/* SPDX-License-Identifier: Apache-2.0 */
/* What one process holds of the emulated driver: settings of the environment, visible devices, contexts. */
#ifndef FAKE_DRIVER_H
#define FAKE_DRIVER_H

#include "cuda_types.h"
#include "scenario.h"

#include <stdbool.h>
#include <stdint.h>

/* The environment as it was at cuInit. */
struct fake_settings {
    char *cache_path; /* NULL: no cache */
    bool cache_disabled;
    uint64_t cache_limit;
    bool force_jit;
    bool disable_jit;
};

struct fake_device {
    const struct fake_device_plan *plan;
    CUdevice ordinal;
};

/* One device's primary context. */
struct fake_context {
    struct fake_device device;
    unsigned references;
};

enum { FAKE_DEVICES_MOST = 64 };

struct fake_driver {
    bool ready;
    CUresult failure; /* what cuInit said and will say again */
    int process;      /* a forked child is not initialised */
    struct fake_settings settings;
    bool refused_link_input; /* from then on undefined references are told and not minded [63] */
    struct fake_context contexts[FAKE_DEVICES_MOST];
    unsigned device_count;
};

/* CUDA_SUCCESS and the driver, or what any call answers before cuInit. */
CUresult fake_driver_get(struct fake_driver **ret_driver);

/* The calling thread's context, if it is alive; else NULL. */
struct fake_context *fake_driver_current(const struct fake_driver *driver);
void fake_driver_set_current(struct fake_context *context);

void fake_settings_read(struct fake_settings *ret_settings);

/* Fills `ret_visible` with the indexes of the plan's devices that CUDA_VISIBLE_DEVICES leaves; returns their
 * number. */
unsigned fake_devices_visible(const struct fake_scenario *scenario, size_t *ret_visible, unsigned most);

/* One lock for all loads of the process: the real JIT does not run in parallel inside one process either. */
void fake_driver_lock(void);
void fake_driver_unlock(void);

#endif
