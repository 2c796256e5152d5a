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

/* Path of the process in a hierarchy: "0::/path" for v2, "N:…,controller,…:/path" for v1. */
static bool cgroup_path(const struct pj_host_root *root, const char *controller, char *ret_path, size_t size)
{
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    if (!read_text(root, "/proc/self/cgroup", &text))
        return false;
    for (const char *line = pj_buffer_text(&text); *line;) {
        size_t length = strcspn(line, "\n");
        const char *names = memchr(line, ':', length);
        const char *path = names ? memchr(names + 1, ':', length - (size_t)(names + 1 - line)) : NULL;
        if (path) {
            size_t name_length = (size_t)(path - names - 1);
            bool match = controller ? memmem(names + 1, name_length, controller, strlen(controller)) != NULL
                                    : name_length == 0;
            size_t path_length = length - (size_t)(path + 1 - line);
            if (match && path_length < size) {
                memcpy(ret_path, path + 1, path_length);
                ret_path[path_length] = '\0';
                return true;
            }
        }
        line += length + (line[length] == '\n');
    }
    return false;
}

/* Reads `file` of this process's cgroup. In a container the path named by /proc/self/cgroup may not be
 * visible: then the top. */
static bool read_cgroup(const struct pj_host_root *root, const char *controller, const char *file,
                        struct pj_buffer *text)
{
    char own[1024];
    PJ_CLEANUP_BUFFER struct pj_buffer path = {0};
    const char *base = "/sys/fs/cgroup";
    if (cgroup_path(root, controller, own, sizeof own)) {
        pj_buffer_printf(&path, "%s%s%s%s/%s", base, controller ? "/" : "", controller ? controller : "",
                         strcmp(own, "/") == 0 ? "" : own, file);
        if (!path.failed && read_text(root, path.data, text))
            return true;
        pj_buffer_reset(&path);
        pj_buffer_reset(text);
    }
    pj_buffer_printf(&path, "%s%s%s/%s", base, controller ? "/" : "", controller ? controller : "", file);
    return !path.failed && read_text(root, path.data, text);
}

/* Whole cores of the CPU quota; SIZE_MAX where there is none. */
static size_t quota_cores(const struct pj_host_root *root)
{
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    long quota = -1, period = 0;
    if (read_cgroup(root, NULL, "cpu.max", &text)) {
        if (sscanf(pj_buffer_text(&text), "%ld %ld", &quota, &period) != 2)
            return SIZE_MAX; /* "max": no quota */
    } else {
        PJ_CLEANUP_BUFFER struct pj_buffer period_text = {0};
        if (!read_cgroup(root, "cpu", "cpu.cfs_quota_us", &text) ||
            !read_cgroup(root, "cpu", "cpu.cfs_period_us", &period_text))
            return SIZE_MAX;
        quota = strtol(pj_buffer_text(&text), NULL, 10);
        period = strtol(pj_buffer_text(&period_text), NULL, 10);
    }
    if (quota <= 0 || period <= 0)
        return SIZE_MAX;
    return (size_t)((quota + period - 1) / period);
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

uint64_t pj_host_memory_available(const struct pj_host_root *root)
{
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    uint64_t kib = 0, available = 0;
    if (read_text(root, "/proc/meminfo", &text) && field_value(pj_buffer_text(&text), "MemAvailable", &kib))
        available = kib * 1024;
    static const struct {
        const char *controller, *limit, *usage;
    } versions[] = {
        {NULL, "memory.max", "memory.current"},
        {"memory", "memory.limit_in_bytes", "memory.usage_in_bytes"},
    };
    for (size_t i = 0; i < PJ_COUNT(versions); i++) {
        PJ_CLEANUP_BUFFER struct pj_buffer limit_text = {0};
        PJ_CLEANUP_BUFFER struct pj_buffer usage_text = {0};
        if (!read_cgroup(root, versions[i].controller, versions[i].limit, &limit_text) ||
            !read_cgroup(root, versions[i].controller, versions[i].usage, &usage_text))
            continue;
        uint64_t limit = strtoull(pj_buffer_text(&limit_text), NULL, 10);
        uint64_t usage = strtoull(pj_buffer_text(&usage_text), NULL, 10);
        if (limit == 0) /* "max" */
            continue;
        uint64_t left = limit > usage ? limit - usage : 1;
        if (available == 0 || left < available)
            available = left;
    }
    return available;
}

bool pj_host_oom_kills(const struct pj_host_root *root, uint64_t *ret_count)
{
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    if (read_cgroup(root, NULL, "memory.events", &text) &&
        field_value(pj_buffer_text(&text), "oom_kill", ret_count))
        return true;
    pj_buffer_reset(&text);
    return read_cgroup(root, "memory", "memory.oom_control", &text) &&
           field_value(pj_buffer_text(&text), "oom_kill", ret_count);
}
