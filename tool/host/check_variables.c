/* SPDX-License-Identifier: Apache-2.0 */
/* The environment: each variable that matters, what the driver makes of its value, and misspelt names. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/setting.h"
#include "base/text.h"
#include "host/check.h"

struct look {
    const struct pj_program *program;
    struct pj_finding_list *findings;
    const char *name, *value;
    struct pj_error **err;
};

static int disable(const struct look *look)
{
    if (strtol(look->value, NULL, 10) == 1)
        return pj_finding_add(look->findings, PJ_FINDING_CACHE_DISABLED, look->name, NULL, look->err,
                              "it is \"%s\", so the driver neither reads nor writes any cache", look->value);
    if (*look->value == '\0' || strcmp(look->value, "0") == 0)
        return 0;
    return pj_finding_add(look->findings, PJ_FINDING_CACHE_DISABLE_ODD, look->name, NULL, look->err,
                          "it is \"%s\", which the driver does not take for 1: the cache stays on",
                          look->value);
}

static int cache_path(const struct look *look)
{
    if (*look->value == '\0')
        return pj_finding_add(look->findings, PJ_FINDING_CACHE_PATH_EMPTY, look->name, NULL, look->err,
                              "it is set but empty, so the driver keeps no cache at all");
    const char *directory = look->program->directory ? look->program->directory : "the working directory";
    if (pj_setting_is_literal(look->value)) {
        PJ_CLEANUP_FREE char *meant =
            pj_setting_written_out(look->value, pj_program_variable(look->program, "HOME"));
        return pj_finding_add(look->findings, PJ_FINDING_CACHE_PATH_LITERAL, look->name,
                              meant ? meant : "/var/cache/nv", look->err,
                              "it is \"%s\", which nobody expands: the driver makes a directory of that name"
                              "%s%s",
                              look->value, look->value[0] == '/' ? "" : " in ",
                              look->value[0] == '/' ? "" : directory);
    }
    if (look->value[0] == '/' && look->value[strspn(look->value, "/")] == '\0')
        return pj_finding_add(look->findings, PJ_FINDING_CACHE_PATH_ROOT, look->name, NULL, look->err,
                              "it is \"%s\", so the cache's folders would lie among the system's",
                              look->value);
    if (look->value[0] == '/')
        return 0;
    PJ_CLEANUP_BUFFER struct pj_buffer full = {0};
    pj_buffer_printf(&full, "%s/%s", look->program->directory ? look->program->directory : "/var/cache",
                     look->value);
    if (full.failed)
        return pj_error_no_memory(look->err);
    return pj_finding_add(look->findings, PJ_FINDING_CACHE_PATH_RELATIVE, look->name, full.data, look->err,
                          "it is \"%s\", which starts at %s", look->value, directory);
}

static int cache_size(const struct look *look)
{
    char meant[24];
    struct pj_size_setting size = pj_setting_size(look->value);
    (void)snprintf(meant, sizeof meant, "%" PRIu64, size.meant_bytes);
    switch (size.reading) {
    case PJ_SIZE_NOTHING:
        return pj_finding_add(look->findings, PJ_FINDING_CACHE_SIZE_NOTHING, look->name, meant, look->err,
                              "it is \"%s\", which the driver reads as %" PRIu64 " byte%s, so nothing fits",
                              look->value, size.read_bytes, size.read_bytes == 1 ? "" : "s");
    case PJ_SIZE_NO_LIMIT:
        return pj_finding_add(look->findings, PJ_FINDING_CACHE_SIZE_ODD, look->name, meant, look->err,
                              "it is \"%s\", which the driver reads as no limit", look->value);
    case PJ_SIZE_ODD:
        return pj_finding_add(look->findings, PJ_FINDING_CACHE_SIZE_ODD, look->name, meant, look->err,
                              "it is \"%s\", which the driver reads as %" PRIu64 " bytes", look->value,
                              size.read_bytes);
    case PJ_SIZE_PLAIN:
        break;
    }
    return 0;
}

static bool is_on(const char *value)
{
    return strtol(value, NULL, 10) != 0;
}

static int force(const struct look *look)
{
    return is_on(look->value)
               ? pj_finding_add(look->findings, PJ_FINDING_JIT_FORCED, look->name, NULL, look->err,
                                "it is \"%s\", so every load is compiled again, whatever the cache holds",
                                look->value)
               : 0;
}

static int disable_jit(const struct look *look)
{
    return is_on(look->value)
               ? pj_finding_add(look->findings, PJ_FINDING_JIT_DISABLED, look->name, NULL, look->err,
                                "it is \"%s\", so a load that is not in the cache fails", look->value)
               : 0;
}

static int loading(const struct look *look)
{
    if (strcmp(look->value, "EAGER") == 0)
        return pj_finding_add(look->findings, PJ_FINDING_LOADING_EAGER, look->name, NULL, look->err,
                              "it is EAGER: all is loaded before the first call returns");
    if (strcmp(look->value, "LAZY") == 0 || strcmp(look->value, "DEFAULT") == 0)
        return 0;
    return pj_finding_add(look->findings, PJ_FINDING_LOADING_ODD, look->name, NULL, look->err, "it is \"%s\"",
                          look->value);
}

static int visible_devices(const struct look *look)
{
    const char *first = look->value + strspn(look->value, " \t");
    bool index = isdigit((unsigned char)first[0]);
    bool uuid = strncasecmp(first, "GPU-", 4) == 0 || strncasecmp(first, "MIG-", 4) == 0;
    if (index || uuid)
        return 0;
    return pj_finding_add(look->findings, PJ_FINDING_NO_DEVICE_VISIBLE, look->name, NULL, look->err,
                          "it is \"%s\", %s", look->value,
                          *first ? "whose first word names no GPU" : "which names no GPU");
}

static int container_devices(const struct look *look)
{
    if (*look->value && strcmp(look->value, "none") != 0 && strcmp(look->value, "void") != 0)
        return 0;
    return pj_finding_add(look->findings, PJ_FINDING_CONTAINER_DEVICES, look->name, NULL, look->err,
                          "it is \"%s\"", look->value);
}

static int container_capabilities(const struct look *look)
{
    for (const char *word = look->value; *word;) {
        size_t length = strcspn(word, ",");
        if ((length == 3 && strncmp(word, "all", 3) == 0) ||
            (length == 7 && strncmp(word, "compute", 7) == 0))
            return 0;
        word += length + (word[length] == ',');
    }
    return pj_finding_add(look->findings, PJ_FINDING_CONTAINER_CAPABILITIES, look->name, NULL, look->err,
                          "it is \"%s\", without compute", look->value);
}

/* Workers get a listed environment (job/child.c), which has none of these. */
static int not_passed_on(const struct look *look)
{
    return look->program->own
               ? pj_finding_add(look->findings, PJ_FINDING_NOT_PASSED_ON, look->name, NULL, look->err,
                                "it is \"%s\"; prejit's workers run without it", look->value)
               : 0;
}

static const struct {
    const char *name;
    int (*check)(const struct look *look);
} settings[] = {
    {"CUDA_CACHE_DISABLE", disable},
    {"CUDA_CACHE_PATH", cache_path},
    {"CUDA_CACHE_MAXSIZE", cache_size},
    {"CUDA_FORCE_PTX_JIT", force},
    {"CUDA_FORCE_JIT", force},
    {"CUDA_DISABLE_PTX_JIT", disable_jit},
    {"CUDA_DISABLE_JIT", disable_jit},
    {"CUDA_MODULE_LOADING", loading},
    {"CUDA_MODULE_DATA_LOADING", loading},
    {"CUDA_VISIBLE_DEVICES", visible_devices},
    {"NVIDIA_VISIBLE_DEVICES", container_devices},
    {"NVIDIA_DRIVER_CAPABILITIES", container_capabilities},
    {"CUDA_BINARY_LOADER_THREAD_COUNT", not_passed_on},
    {"CUDA_FORCE_PRELOAD_LIBRARIES", not_passed_on},
    {"CUDA_INJECTION64_PATH", not_passed_on},
};

/* Close to a setting and no slip of the pen. */
static const char *const known[] = {
    "CUDA_DEVICE_ORDER", "CUDA_HOME",     "CUDA_PATH",         "CUDA_ROOT",
    "CUDA_VERSION",      "CUDA_INC_PATH", "CUDA_CACHE_CONFIG", "NVIDIA_REQUIRE_CUDA",
};

static bool is_known(const char *name)
{
    for (size_t i = 0; i < PJ_COUNT(settings); i++) {
        if (strcmp(settings[i].name, name) == 0)
            return true;
    }
    for (size_t i = 0; i < PJ_COUNT(known); i++) {
        if (strcmp(known[i], name) == 0)
            return true;
    }
    return false;
}

/* Names that others made up for the same thing. */
static const char *also_called(const char *name)
{
    static const struct {
        const char *name, *right;
    } others[] = {
        {"CUDA_CACHE_DIR", "CUDA_CACHE_PATH"},       {"CUDA_CACHE_DIRECTORY", "CUDA_CACHE_PATH"},
        {"CUDA_CACHE_HOME", "CUDA_CACHE_PATH"},      {"CUDA_CACHE_LOCATION", "CUDA_CACHE_PATH"},
        {"CUDA_COMPUTE_CACHE", "CUDA_CACHE_PATH"},   {"CUDA_CACHE_SIZE", "CUDA_CACHE_MAXSIZE"},
        {"CUDA_CACHE_LIMIT", "CUDA_CACHE_MAXSIZE"},  {"CUDA_CACHE_SIZE_MAX", "CUDA_CACHE_MAXSIZE"},
        {"CUDA_CACHE_ENABLE", "CUDA_CACHE_DISABLE"},
    };
    for (size_t i = 0; i < PJ_COUNT(others); i++) {
        if (strcasecmp(others[i].name, name) == 0)
            return others[i].right;
    }
    return NULL;
}

static int check_name(const struct look *look)
{
    const char *names[PJ_COUNT(settings)];
    if ((strncasecmp(look->name, "CUDA", 4) != 0 && strncasecmp(look->name, "NVIDIA", 6) != 0) ||
        is_known(look->name))
        return 0;
    for (size_t i = 0; i < PJ_COUNT(settings); i++)
        names[i] = settings[i].name;
    const char *right = also_called(look->name);
    if (!right)
        right = pj_text_suggest(look->name, names, PJ_COUNT(names));
    return right ? pj_finding_add(look->findings, PJ_FINDING_VARIABLE_MISSPELT, look->name, right, look->err,
                                  "the driver knows no such variable; it knows %s", right)
                 : 0;
}

static int check_home(const struct look *look)
{
    const char *home = look->value;
    if (pj_program_variable(look->program, "CUDA_CACHE_PATH"))
        return 0;
    if (!home || *home == '\0')
        return pj_finding_add(look->findings, PJ_FINDING_HOME_UNSET, "HOME", NULL, look->err,
                              "HOME is %s and CUDA_CACHE_PATH is not set, so the driver keeps no cache at "
                              "all",
                              home ? "empty" : "not set");
    return strcmp(home, "/") == 0
               ? pj_finding_add(look->findings, PJ_FINDING_HOME_IS_ROOT, "HOME", NULL, look->err,
                                "HOME is / and CUDA_CACHE_PATH is not set, so the cache is "
                                "/.nv/ComputeCache")
               : 0;
}

int pj_check_variables(const struct pj_program *program, struct pj_finding_list *findings,
                       struct pj_error **err)
{
    struct look look = {program, findings, "HOME", pj_program_variable(program, "HOME"), err};
    if (!program->environment_known)
        return 0;
    int r = check_home(&look);
    for (size_t i = 0; i < PJ_COUNT(settings) && r == 0; i++) {
        look.name = settings[i].name;
        look.value = pj_program_variable(program, look.name);
        if (look.value)
            r = settings[i].check(&look);
    }
    for (size_t i = 0; i < program->environment.count && r == 0; i++) {
        look.name = program->environment.items[i].name;
        look.value = program->environment.items[i].value;
        r = check_name(&look);
    }
    return r;
}
