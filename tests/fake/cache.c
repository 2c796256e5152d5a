/* SPDX-License-Identifier: Apache-2.0 */
/* The compute cache: look up, store, evict. */
#include "cache.h"

#include "entry.h"
#include "index.h"

#include <unistd.h>

/* The index, locked and read. A short one is started anew, with all that implies, even where one only reads.
 */
static int open_locked(const struct fake_settings *settings, bool exclusive, struct fake_index *ret_index,
                       const char **ret_why)
{
    const struct fake_scenario *scenario = fake_scenario();
    fake_entry_make_folders(settings->cache_path);
    int descriptor = fake_index_open(settings->cache_path);
    *ret_why = "no-index";
    if (descriptor < 0)
        return -1;
    if (!fake_index_lock(descriptor, exclusive)) {
        *ret_why = "lock-given-up";
        close(descriptor);
        return -1;
    }
    if (!fake_index_read(descriptor, scenario, ret_index)) {
        close(descriptor);
        return -1;
    }
    if (ret_index->state == FAKE_INDEX_SHORT || (exclusive && ret_index->state == FAKE_INDEX_FOREIGN)) {
        fake_entry_delete_all(settings->cache_path);
        fake_scenario_log("wipe", "path=%s", settings->cache_path);
        ret_index->state = FAKE_INDEX_GOOD;
        if (ftruncate(descriptor, 0) != 0 || !fake_index_write(descriptor, scenario, ret_index)) {
            fake_index_free(ret_index);
            close(descriptor);
            return -1;
        }
    }
    return descriptor;
}

bool fake_cache_look_up(const struct fake_settings *settings, const struct fake_buffer *key,
                        struct fake_buffer *ret_payload)
{
    const struct fake_scenario *scenario = fake_scenario();
    struct fake_index index;
    const char *why;
    if (!settings->cache_path || settings->cache_disabled)
        return false;
    int descriptor = open_locked(settings, false, &index, &why);
    if (descriptor < 0)
        return false;
    fake_index_free(&index); /* unlisted entries hit as well */
    struct fake_buffer path;
    fake_entry_path(scenario, settings->cache_path, fake_fnv(key->data, key->length), false, &path);
    bool hit = fake_entry_read(scenario, (char *)path.data, key, ret_payload);
    close(descriptor);
    fake_buffer_free(&path);
    return hit;
}

/* Oldest stored first, until the rest fits; the entry just stored goes too where the total is wrong. */
static bool evict(const struct fake_settings *settings, struct fake_index *index, uint64_t newest)
{
    bool newest_stays = true;
    while (index->count && index->total > settings->cache_limit) {
        struct fake_buffer path;
        uint64_t hash = index->records[0].hash;
        fake_entry_path(fake_scenario(), settings->cache_path, hash, false, &path);
        unlink((char *)path.data);
        fake_buffer_free(&path);
        fake_index_remove(index, 0);
        newest_stays = newest_stays && hash != newest;
        fake_scenario_log("evict", "entry=%016llx", (unsigned long long)hash);
    }
    return newest_stays;
}

static const char *store_locked(const struct fake_settings *settings, int descriptor,
                                struct fake_index *index, const struct fake_buffer *key,
                                const struct fake_buffer *payload)
{
    const struct fake_scenario *scenario = fake_scenario();
    uint64_t bytes = key->length + payload->length, hash = fake_fnv(key->data, key->length);
    if (bytes > settings->cache_limit)
        return "too-large";
    struct fake_buffer path;
    fake_entry_path(scenario, settings->cache_path, hash, true, &path);
    bool written = fake_entry_write(scenario, (char *)path.data, key, payload);
    fake_buffer_free(&path);
    if (!written)
        return "unwritable";
    for (size_t i = index->count; i-- > 0;)
        if (index->records[i].hash == hash)
            fake_index_remove(index, i);
    fake_index_add(index, hash, bytes);
    bool kept = evict(settings, index, hash);
    if (!fake_index_write(descriptor, scenario, index))
        return "index-unwritable";
    return kept ? "kept" : "evicted";
}

const char *fake_cache_store(const struct fake_settings *settings, const struct fake_buffer *key,
                             const struct fake_buffer *payload)
{
    const struct fake_scenario *scenario = fake_scenario();
    struct fake_index index;
    const char *why;
    if (!settings->cache_path || settings->cache_disabled || !settings->cache_limit)
        return "off";
    if (scenario->lose_store_every &&
        fake_scenario_count(scenario->lose_store_line) % scenario->lose_store_every ==
            scenario->lose_store_every - 1)
        return "lost";
    int descriptor = open_locked(settings, true, &index, &why);
    if (descriptor < 0)
        return why;
    why = store_locked(settings, descriptor, &index, key, payload);
    fake_index_free(&index);
    close(descriptor);
    return why;
}
