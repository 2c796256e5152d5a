/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of a driver that does not start: its own word, what is known of the cause, and the cure. */
#include "session/run/driver_start.h"

#include <string.h>

#include "session/run/session.h"

const char *pj_driver_file_version(const char *path)
{
    const char *mark = strstr(path, "libcuda.so.");
    const char *version = mark ? mark + strlen("libcuda.so.") : NULL;
    bool is_one = version && strchr(version, '.') && strspn(version, "0123456789.") == strlen(version);
    return is_one ? version : NULL;
}

/* After an upgrade of the driver the old kernel module stays loaded until the next boot. That versions differ
 * is no fault by itself (forward-compatibility libraries differ and work), so it counts only where the driver
 * does not start. */
static bool is_reboot_pending(const char *kernel_version, const struct pj_wire_started *started,
                              const char **ret_version)
{
    const char *version = started->file_count > 0 ? pj_driver_file_version(started->files[0].path) : NULL;
    if (!kernel_version || !version || strcmp(kernel_version, version) == 0)
        return false;
    *ret_version = version;
    return true;
}

enum {
    NO_DEVICE = 100,
    SYSTEM_NOT_READY = 802,
    SYSTEM_DRIVER_MISMATCH = 803,
    COMPAT_NOT_SUPPORTED = 804,
    UNKNOWN = 999,
};

static const char *hint_for(int32_t result)
{
    switch (result) {
    case NO_DEVICE:
        return ": no GPU is visible to this process (CUDA_VISIBLE_DEVICES, device nodes)";
    case SYSTEM_DRIVER_MISMATCH:
        return ": the loaded kernel driver is of another version; reboot, then run again";
    case COMPAT_NOT_SUPPORTED:
        return ": forward-compatibility libraries do not work on this GPU; leave them out";
    default:
        return "";
    }
}

bool pj_driver_context_passes(int32_t result)
{
    enum { OUT_OF_MEMORY = 2, DEVICE_UNAVAILABLE = 46, MPS_FIRST = 805, MPS_LAST = 809 };
    return result == OUT_OF_MEMORY || result == DEVICE_UNAVAILABLE ||
           (result >= MPS_FIRST && result <= MPS_LAST);
}

static int no_context(const struct pj_wire_started *started, struct pj_error **err)
{
    bool passes = pj_driver_context_passes(started->result);
    return pj_error_set(err, passes ? PJ_ERROR_BUSY : PJ_ERROR_ENVIRONMENT, "no context on the GPU: %s; %s",
                        started->result_name, passes ? "run again when it is free" : "see: prejit doctor");
}

int pj_driver_start_error(const char *kernel_version, const char *instead,
                          const struct pj_wire_started *started, struct pj_error **err)
{
    const char *version = NULL;
    int32_t result = started->result;
    if (strcmp(started->failed_step, "open") == 0)
        return pj_error_set(err, PJ_ERROR_ENVIRONMENT,
                            "%s; install NVIDIA's driver, start the container with its GPUs, or name the "
                            "library with --driver PATH%s; see: prejit doctor",
                            started->message, instead);
    if (strcmp(started->failed_step, "context") == 0)
        return no_context(started, err);
    bool can_be_reboot =
        result == SYSTEM_DRIVER_MISMATCH || result == COMPAT_NOT_SUPPORTED || result == UNKNOWN;
    if (can_be_reboot && is_reboot_pending(kernel_version, started, &version))
        return pj_error_set(err, PJ_ERROR_BUSY,
                            "the CUDA driver does not start: %s says %s: a reboot is pending, the loaded "
                            "kernel module is %s and the driver's libraries are %s; reboot, then run again",
                            started->failed_step, started->result_name, kernel_version, version);
    bool passes = result == SYSTEM_NOT_READY || result == SYSTEM_DRIVER_MISMATCH;
    const char *hint = hint_for(result);
    return pj_error_set(err, passes ? PJ_ERROR_BUSY : PJ_ERROR_ENVIRONMENT,
                        "the CUDA driver does not start: %s says %s%s", started->failed_step,
                        started->result_name, *hint ? hint : "; see: prejit doctor");
}

int pj_driver_start_death(const struct pj_death *death, struct pj_error **err)
{
    if (death->cause == PJ_DEATH_TIMED_OUT)
        return pj_error_set(err, PJ_ERROR_ENVIRONMENT,
                            "the CUDA driver does not start: %s; " PJ_GIVE_LONGER "; see: prejit doctor",
                            death->text);
    return pj_error_set(err, PJ_ERROR_ENVIRONMENT,
                        "the CUDA driver does not start; its worker process: %s; see: prejit doctor",
                        death->text);
}
