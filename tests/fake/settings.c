/* SPDX-License-Identifier: Apache-2.0 */
/* The environment variables of the driver: where the cache is, what it may hold, which devices are seen. */
#include "base.h"
#include "driver.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value && strtol(value, NULL, 10) != 0;
}

static char *cache_path(void)
{
    const char *path = getenv("CUDA_CACHE_PATH");
    if (path)
        return *path ? fake_copy_text(path, strlen(path)) : NULL; /* set but empty: no cache at all */
    const char *home = getenv("HOME");
    if (!home || !*home)
        return NULL;
    struct fake_buffer text = {0};
    fake_buffer_printf(&text, "%s/.nv/ComputeCache", home);
    return (char *)text.data;
}

/* Read as strtol reads: no number is 0, so that nothing can be stored; a negative or too large one is no
 * limit [39]. */
static uint64_t cache_limit(void)
{
    const char *value = getenv("CUDA_CACHE_MAXSIZE");
    if (!value)
        return (uint64_t)1 << 30;
    long limit = strtol(value, NULL, 10);
    return limit < 0 || limit == LONG_MAX ? UINT64_MAX : (uint64_t)limit;
}

/* Only what reads as 1 disables [39]. */
static bool is_one(const char *name)
{
    const char *value = getenv(name);
    return value && strtol(value, NULL, 10) == 1;
}

void fake_settings_read(struct fake_settings *ret_settings)
{
    *ret_settings = (struct fake_settings){
        .cache_path = cache_path(),
        .cache_disabled = is_one("CUDA_CACHE_DISABLE"),
        .cache_limit = cache_limit(),
        .force_jit = is_set("CUDA_FORCE_PTX_JIT") || is_set("CUDA_FORCE_JIT"),
        .disable_jit = is_set("CUDA_DISABLE_PTX_JIT"),
    };
}

static void uuid_text(const CUuuid *uuid, struct fake_buffer *text)
{
    fake_buffer_add_text(text, "GPU-");
    for (int i = 0; i < 16; i++)
        fake_buffer_printf(text, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                           (unsigned)(unsigned char)uuid->bytes[i]);
}

/* The one device whose UUID starts like this; the number of devices where there is none or several. */
static size_t find_uuid(const struct fake_scenario *scenario, const char *word, size_t length)
{
    size_t found = scenario->device_count;
    for (size_t i = 0; i < scenario->device_count; i++) {
        struct fake_buffer text = {0};
        uuid_text(&scenario->devices[i].uuid, &text);
        bool same = length > 4 && length <= text.length && strncasecmp(word, (char *)text.data, length) == 0;
        fake_buffer_free(&text);
        if (same && found != scenario->device_count)
            return scenario->device_count;
        if (same)
            found = i;
    }
    return found;
}

static size_t find_device(const struct fake_scenario *scenario, const char *word, size_t length)
{
    if (length >= 4 && strncmp(word, "GPU-", 4) == 0)
        return find_uuid(scenario, word, length);
    size_t index = 0;
    for (size_t i = 0; i < length; i++) {
        if (!isdigit((unsigned char)word[i]) || index > scenario->device_count)
            return scenario->device_count;
        index = index * 10 + (size_t)(word[i] - '0');
    }
    return length ? index : scenario->device_count;
}

unsigned fake_devices_visible(const struct fake_scenario *scenario, size_t *ret_visible, unsigned most)
{
    unsigned count = 0;
    const char *list = getenv("CUDA_VISIBLE_DEVICES");
    if (!list) {
        for (size_t i = 0; i < scenario->device_count && count < most; i++)
            ret_visible[count++] = i;
        return count;
    }
    while (count < most) {
        list += strspn(list, " \t");
        size_t length = strcspn(list, ",");
        size_t word = length;
        while (word && isspace((unsigned char)list[word - 1]))
            word--;
        size_t index = find_device(scenario, list, word);
        if (index >= scenario->device_count)
            break; /* the first invalid word hides itself and all behind it */
        for (unsigned i = 0; i < count; i++)
            if (ret_visible[i] == index)
                return count;
        ret_visible[count++] = index;
        if (!list[length])
            break;
        list += length + 1;
    }
    return count;
}
