/* SPDX-License-Identifier: Apache-2.0 */
/* Initialisation and the state of the process. */
#include "driver.h"

#include "base.h"
#include "errors.h"

#include <pthread.h>
#include <unistd.h>

static struct fake_driver the_driver;
static pthread_mutex_t load_lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local struct fake_context *current;

void fake_driver_lock(void)
{
    pthread_mutex_lock(&load_lock);
}

void fake_driver_unlock(void)
{
    pthread_mutex_unlock(&load_lock);
}

CUresult fake_driver_get(struct fake_driver **ret_driver)
{
    if (!the_driver.ready || the_driver.process != getpid())
        return CUDA_ERROR_NOT_INITIALIZED;
    *ret_driver = &the_driver;
    return CUDA_SUCCESS;
}

struct fake_context *fake_driver_current(const struct fake_driver *driver)
{
    (void)driver;
    return current && current->references ? current : NULL;
}

void fake_driver_set_current(struct fake_context *context)
{
    current = context;
}

static CUresult initialise(struct fake_driver *driver)
{
    const struct fake_scenario *scenario = fake_scenario();
    size_t visible[FAKE_DEVICES_MOST];
    fake_settings_read(&driver->settings);
    driver->device_count = fake_devices_visible(scenario, visible, FAKE_DEVICES_MOST);
    for (unsigned i = 0; i < driver->device_count; i++)
        driver->contexts[i].device =
            (struct fake_device){.plan = &scenario->devices[visible[i]], .ordinal = (CUdevice)i};
    /* Every visible device adds as much again. */
    fake_pass(scenario->init_ms * (driver->device_count ? driver->device_count : 1), scenario->burn);
    CUresult result = scenario->init_fail;
    if (result != CUDA_SUCCESS && scenario->init_fail_after >= 0 &&
        fake_scenario_count(scenario->init_fail_line) < (unsigned long)scenario->init_fail_after)
        result = CUDA_SUCCESS;
    if (result == CUDA_SUCCESS && !driver->device_count)
        result = CUDA_ERROR_NO_DEVICE;
    fake_scenario_log("init", "devices=%u result=%s", driver->device_count, fake_error_name(result));
    return result;
}

CUresult CUDAAPI cuInit(unsigned int Flags)
{
    if (Flags)
        return CUDA_ERROR_INVALID_VALUE;
    fake_driver_lock();
    struct fake_driver *driver = &the_driver;
    CUresult result = driver->failure;
    if (driver->process && driver->process != getpid()) {
        result = CUDA_ERROR_NOT_INITIALIZED; /* a fork of an initialised process */
    } else if (!driver->ready && result == CUDA_SUCCESS) {
        result = driver->failure = initialise(driver);
        driver->process = getpid();
        driver->ready = result == CUDA_SUCCESS;
    }
    fake_driver_unlock();
    return result;
}

CUresult CUDAAPI cuDriverGetVersion(int *driverVersion)
{
    if (!driverVersion)
        return CUDA_ERROR_INVALID_VALUE;
    *driverVersion = fake_scenario()->driver_version;
    return CUDA_SUCCESS;
}
