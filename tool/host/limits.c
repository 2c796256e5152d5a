/* SPDX-License-Identifier: Apache-2.0 */
/* Reads affinity, /proc/meminfo and the cgroup this process is in (v2, or v1's controllers). */
#include "host/limits.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

/* Value behind "name " at a line's start; false where the text has no such line. */
static bool field_value(const char *text, const char *name, uint64_t *ret_value)
{
    size_t length = strlen(name);
    for (const char *line = text; line && *line;) {
        if (strncmp(line, name, length) == 0 && (line[length] == ' ' || line[length] == ':')) {
            const char *digits = line + length + strspn(line + length, ": \t");
            if (*digits >= '0' && *digits <= '9') {
                *ret_value = strtoull(digits, NULL, 10);
                return true;
            }
        }
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    return false;
}

static bool read_text(const struct pj_host_root *root, const char *path, struct pj_buffer *text)
{
    PJ_CLEANUP_ERROR struct pj_error *ignored = NULL;
    return pj_host_read(root, path, text, &ignored) == 0;
}

/* Is `name` one of the comma-separated `names`? "cpu" is not "cpuset". */
static bool lists_controller(const char *names, size_t size, const char *name)
{
    for (const char *end = names + size; names < end;) {
        const char *comma = memchr(names, ',', (size_t)(end - names));
        size_t length = (size_t)((comma ? comma : end) - names);
        if (length == strlen(name) && memcmp(names, name, length) == 0)
            return true;
        names += length + 1;
    }
    return false;
}

enum { GROUP_PATH_MAX = 1024 };

/* The process's group in a hierarchy, from "0::/path" for v2 (no controller) or "N:…,controller,…:/path" for
 * v1; "" = the top, also where it is not told. */
static void own_group(const struct pj_host_root *root, const char *controller, char ret_path[GROUP_PATH_MAX])
{
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    ret_path[0] = '\0';
    if (!read_text(root, "/proc/self/cgroup", &text))
        return;
    for (const char *line = pj_buffer_text(&text); *line;) {
        size_t length = strcspn(line, "\n");
        const char *names = memchr(line, ':', length);
        const char *path = names ? memchr(names + 1, ':', length - (size_t)(names + 1 - line)) : NULL;
        if (path) {
            size_t name_length = (size_t)(path - names - 1);
            bool match = controller ? lists_controller(names + 1, name_length, controller) : name_length == 0;
            size_t path_length = length - (size_t)(path + 1 - line);
            if (match && path_length > 1 && path_length < GROUP_PATH_MAX) {
                memcpy(ret_path, path + 1, path_length);
                ret_path[path_length] = '\0';
                return;
            }
        }
        line += length + (line[length] == '\n');
    }
}

/* From a group to the one around it; false at the top. In a container the path that /proc/self/cgroup names
 * may not be visible: then only the top is found, which is the container's own group. */
static bool to_parent(char *path)
{
    char *slash = strrchr(path, '/');
    if (!slash)
        return false;
    *slash = '\0';
    return true;
}

static bool read_group(const struct pj_host_root *root, const char *controller, const char *group,
                       const char *file, struct pj_buffer *text)
{
    PJ_CLEANUP_BUFFER struct pj_buffer path = {0};
    pj_buffer_reset(text);
    pj_buffer_printf(&path, "/sys/fs/cgroup%s%s%s/%s", controller ? "/" : "", controller ? controller : "",
                     group, file);
    return !path.failed && read_text(root, path.data, text);
}

/* Whole cores that one group's CPU quota allows; SIZE_MAX where it has none. */
static size_t group_cores(const struct pj_host_root *root, const char *controller, const char *group)
{
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    PJ_CLEANUP_BUFFER struct pj_buffer period_text = {0};
    long quota = -1, period = 0;
    if (!controller) {
        if (!read_group(root, NULL, group, "cpu.max", &text))
            return SIZE_MAX;
        char *rest;
        quota = strtol(pj_buffer_text(&text), &rest, 10); /* 0 for "max": no quota */
        period = strtol(rest, NULL, 10);
    } else {
        if (!read_group(root, controller, group, "cpu.cfs_quota_us", &text) ||
            !read_group(root, controller, group, "cpu.cfs_period_us", &period_text))
            return SIZE_MAX;
        quota = strtol(pj_buffer_text(&text), NULL, 10);
        period = strtol(pj_buffer_text(&period_text), NULL, 10);
    }
    if (quota <= 0 || period <= 0)
        return SIZE_MAX;
    return (size_t)(quota / period) + (quota % period != 0);
}

/* The tightest quota of the process's group and of all groups around it: each of them counts. */
static size_t quota_cores(const struct pj_host_root *root)
{
    static const char *const controllers[] = {NULL, "cpu"};
    size_t least = SIZE_MAX;
    for (size_t i = 0; i < PJ_COUNT(controllers); i++) {
        char group[GROUP_PATH_MAX];
        own_group(root, controllers[i], group);
        do {
            size_t cores = group_cores(root, controllers[i], group);
            least = cores < least ? cores : least;
        } while (to_parent(group));
    }
    return least;
}

size_t pj_host_cores(const struct pj_host_root *root)
{
    size_t cores = 1;
    enum { MAX_CORES = 4096 };
    cpu_set_t *mask = CPU_ALLOC(MAX_CORES);
    if (mask) {
        size_t bytes = CPU_ALLOC_SIZE(MAX_CORES);
        CPU_ZERO_S(bytes, mask);
        if (sched_getaffinity(0, bytes, mask) == 0 && CPU_COUNT_S(bytes, mask) > 0)
            cores = (size_t)CPU_COUNT_S(bytes, mask);
        CPU_FREE(mask);
    }
    size_t quota = quota_cores(root);
    return quota < cores ? (quota ? quota : 1) : cores;
}

/* The files of one cgroup version. */
struct memory_files {
    const char *controller, *limit, *usage;
    const char *reclaimable; /* in memory.stat: pages of files that the kernel gives up for the asking */
};

static const struct memory_files memory_versions[] = {
    {NULL, "memory.max", "memory.current", "inactive_file"},
    {"memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"},
};

/* What one group's limit leaves, at least 1; UINT64_MAX where it has none. */
static uint64_t group_memory(const struct pj_host_root *root, const struct memory_files *files,
                             const char *group)
{
    const uint64_t no_limit = UINT64_C(1) << 60; /* v1 writes a number near 2^63 for none */
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    if (!read_group(root, files->controller, group, files->limit, &text))
        return UINT64_MAX;
    const char *digits = pj_buffer_text(&text);
    uint64_t limit = strtoull(digits, NULL, 10);
    if (digits[0] < '0' || digits[0] > '9' || limit >= no_limit) /* "max" */
        return UINT64_MAX;
    if (!read_group(root, files->controller, group, files->usage, &text))
        return UINT64_MAX;
    uint64_t used = strtoull(pj_buffer_text(&text), NULL, 10), reclaimable = 0;
    if (read_group(root, files->controller, group, "memory.stat", &text) &&
        field_value(pj_buffer_text(&text), files->reclaimable, &reclaimable))
        used -= reclaimable < used ? reclaimable : used;
    return limit > used ? limit - used : 1;
}

uint64_t pj_host_memory_available(const struct pj_host_root *root)
{
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    uint64_t kib = 0, least = UINT64_MAX;
    if (read_text(root, "/proc/meminfo", &text) && field_value(pj_buffer_text(&text), "MemAvailable", &kib))
        least = kib * 1024;
    for (size_t i = 0; i < PJ_COUNT(memory_versions); i++) {
        char group[GROUP_PATH_MAX];
        own_group(root, memory_versions[i].controller, group);
        do {
            uint64_t left = group_memory(root, &memory_versions[i], group);
            least = left < least ? left : least;
        } while (to_parent(group));
    }
    return least == UINT64_MAX ? 0 : least;
}

/* The counter of the nearest group that has one. */
static bool oom_kills(const struct pj_host_root *root, const char *controller, const char *file,
                      uint64_t *ret_count)
{
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    char group[GROUP_PATH_MAX];
    own_group(root, controller, group);
    do {
        if (read_group(root, controller, group, file, &text) &&
            field_value(pj_buffer_text(&text), "oom_kill", ret_count))
            return true;
    } while (to_parent(group));
    return false;
}

bool pj_host_oom_kills(const struct pj_host_root *root, uint64_t *ret_count)
{
    return oom_kills(root, NULL, "memory.events", ret_count) ||
           oom_kills(root, "memory", "memory.oom_control", ret_count);
}
