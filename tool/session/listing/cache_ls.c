/* SPDX-License-Identifier: Apache-2.0 */
/* Lists what lies in a cache: which driver, architecture and options each entry is for. Opens no
 * driver. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "report/column.h"
#include "report/envelope.h"
#include "session/listing/drivers.h"
#include "session/run/outcome.h"
#include "session/run/unreadable.h"

enum { KEY_MAX_BYTES = 1 << 30 };

struct listed_entry {
    char path[PJ_ENTRY_PATH_TEXT];
    uint64_t bytes;
    bool in_index, readable, checked;
    enum pj_entry_state state; /* where checked */
    struct pj_cache_key key;   /* stamp and arch_number alone outlive the reading */
    char *options;
    const char *driver_version; /* NULL = not known, whose stamp is */
};

static bool get_path(const void *row, struct pj_cell *cell)
{
    const struct listed_entry *entry = row;
    pj_buffer_puts(&cell->text, entry->path);
    return true;
}

static bool get_bytes(const void *row, struct pj_cell *cell)
{
    const struct listed_entry *entry = row;
    cell->count = entry->bytes;
    return true;
}

static bool get_target(const void *row, struct pj_cell *cell)
{
    const struct listed_entry *entry = row;
    if (entry->readable)
        pj_buffer_printf(&cell->text, "sm_%u", entry->key.arch_number);
    return entry->readable;
}

static bool get_options(const void *row, struct pj_cell *cell)
{
    const struct listed_entry *entry = row;
    if (entry->options)
        pj_buffer_puts(&cell->text, entry->options);
    return entry->options && *entry->options;
}

static bool get_stamp(const void *row, struct pj_cell *cell)
{
    const struct listed_entry *entry = row;
    if (entry->readable)
        pj_buffer_puts(&cell->text, entry->key.stamp);
    return entry->readable;
}

static bool get_driver_version(const void *row, struct pj_cell *cell)
{
    const struct listed_entry *entry = row;
    if (entry->driver_version)
        pj_buffer_puts(&cell->text, entry->driver_version);
    return entry->driver_version != NULL;
}

static bool get_driver(const void *row, struct pj_cell *cell)
{
    return get_driver_version(row, cell) || get_stamp(row, cell);
}

static bool get_listed(const void *row, struct pj_cell *cell)
{
    const struct listed_entry *entry = row;
    cell->flag = entry->in_index;
    return true;
}

static bool get_state(const void *row, struct pj_cell *cell)
{
    const struct listed_entry *entry = row;
    if (entry->checked)
        pj_buffer_puts(&cell->text, pj_entry_state_text(entry->state));
    return entry->checked;
}

static const struct pj_column columns[] = {
    {"ENTRY", "name", PJ_COLUMN_TEXT, false, get_path},
    {"TARGET", "target", PJ_COLUMN_TEXT, false, get_target},
    {"SIZE", "bytes", PJ_COLUMN_BYTES, false, get_bytes},
    {"DRIVER", NULL, PJ_COLUMN_TEXT, false, get_driver},
    {NULL, "stamp", PJ_COLUMN_TEXT, false, get_stamp},
    {NULL, "driver_version", PJ_COLUMN_TEXT, false, get_driver_version},
    {"LISTED", "listed", PJ_COLUMN_FLAG, false, get_listed},
    {"STATE", "state", PJ_COLUMN_TEXT, false, get_state},
    {"OPTIONS", "option_text", PJ_COLUMN_TEXT, false, get_options},
};

/* The cache itself, for JSON. */
struct listed_cache {
    const struct pj_cache_location *location;
    const struct pj_snapshot *snapshot;
};

static bool get_cache_path(const void *row, struct pj_cell *cell)
{
    const struct listed_cache *cache = row;
    pj_buffer_puts(&cell->text, cache->location->path);
    return true;
}

static bool get_cache_exists(const void *row, struct pj_cell *cell)
{
    const struct listed_cache *cache = row;
    cell->flag = cache->snapshot->exists;
    return true;
}

static bool get_cache_bytes(const void *row, struct pj_cell *cell)
{
    const struct listed_cache *cache = row;
    cell->count = cache->snapshot->bytes;
    return true;
}

static bool get_cache_limit(const void *row, struct pj_cell *cell)
{
    const struct listed_cache *cache = row;
    cell->count = cache->location->limit_bytes <= INT64_MAX ? cache->location->limit_bytes : INT64_MAX;
    return true;
}

/* An empty directory needs none. */
static bool is_index_spoiled(const struct pj_snapshot *snapshot)
{
    return snapshot->index_state != PJ_INDEX_VALID && snapshot->count > 0;
}

static bool get_cache_index(const void *row, struct pj_cell *cell)
{
    const struct listed_cache *cache = row;
    if (is_index_spoiled(cache->snapshot))
        pj_buffer_printf(&cell->text, "it %s", pj_index_state_text(cache->snapshot->index_state));
    return is_index_spoiled(cache->snapshot);
}

static const struct pj_column cache_columns[] = {
    {NULL, "path", PJ_COLUMN_TEXT, false, get_cache_path},
    {NULL, "exists", PJ_COLUMN_FLAG, false, get_cache_exists},
    {NULL, "bytes", PJ_COLUMN_COUNT, false, get_cache_bytes},
    {NULL, "limit_bytes", PJ_COLUMN_COUNT, false, get_cache_limit},
    {NULL, "index_problem", PJ_COLUMN_TEXT, false, get_cache_index},
};

/* What the driver would make of the file; not known where it cannot be read. */
static int check(int cache_fd, uint64_t hash, struct listed_entry *entry, struct pj_error **err)
{
    char stamp[PJ_STAMP_MAX + 1];
    PJ_CLEANUP_ERROR struct pj_error *unreadable = NULL;
    int r = pj_entry_check(cache_fd, hash, pj_check_payload, &entry->state, stamp, NULL, &unreadable);
    entry->checked = r == 0 && entry->state != PJ_ENTRY_ABSENT;
    return r == PJ_ERROR_NO_MEMORY ? pj_error_no_memory(err) : 0;
}

/* Header and key; the payload is of no interest here. What cannot be read leaves the entry's fields unknown.
 */
static int read_key(int cache_fd, struct listed_entry *entry, struct pj_error **err)
{
    unsigned char bytes[PJ_ENTRY_HEADER_BYTES];
    struct pj_entry_header header;
    PJ_CLEANUP_ERROR struct pj_error *ignored = NULL;
    PJ_CLEANUP_CLOSE int fd = openat(cache_fd, entry->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 || pj_file_pread(fd, entry->path, bytes, sizeof bytes, 0, &ignored) < 0)
        return 0;
    pj_entry_header_read(bytes, &header);
    if (header.format != PJ_CACHE_FORMAT || header.key_bytes > KEY_MAX_BYTES ||
        header.key_bytes > entry->bytes)
        return 0;
    PJ_CLEANUP_FREE char *key = malloc((size_t)header.key_bytes + 1);
    if (!key)
        return pj_error_no_memory(err);
    if (pj_file_pread(fd, entry->path, key, (size_t)header.key_bytes, sizeof bytes, &ignored) < 0 ||
        pj_cache_key_read(key, (size_t)header.key_bytes, &entry->key, &ignored) < 0)
        return 0;
    entry->readable = true;
    entry->options = strndup(entry->key.options, entry->key.options_size);
    return entry->options ? 0 : pj_error_no_memory(err);
}

/* Gives each entry the driver's version; *ret_all: where its stamp is known at all. */
static void name_drivers(const struct pj_known_drivers *drivers, struct listed_entry *entries, size_t count,
                         bool *ret_all)
{
    *ret_all = true;
    for (size_t i = 0; i < count; i++) {
        if (!entries[i].readable)
            continue;
        entries[i].driver_version = pj_known_drivers_find(drivers, entries[i].key.stamp);
        *ret_all &= entries[i].driver_version != NULL;
    }
}

/* The receipts are read where the profiles do not know a stamp. */
static int find_drivers(const char *cache_path, struct listed_entry *entries, size_t count,
                        struct pj_known_drivers *drivers, struct pj_error **err)
{
    bool all = true;
    int r = pj_known_drivers_built_in(drivers, err);
    if (r == 0)
        name_drivers(drivers, entries, count, &all);
    if (r == 0 && !all)
        r = pj_known_drivers_of_cache(drivers, cache_path, err);
    if (r == 0 && !all)
        name_drivers(drivers, entries, count, &all);
    return r;
}

static int render(const struct pj_cache_location *location, const struct pj_snapshot *snapshot,
                  const struct pj_column_table *table, bool json, struct pj_buffer *text,
                  struct pj_error **err)
{
    char used[PJ_SIZE_TEXT], limit[PJ_SIZE_TEXT];
    if (json) {
        const struct listed_cache cache = {location, snapshot};
        const struct pj_envelope envelope = {.command = "cache"};
        pj_envelope_begin(&envelope, text);
        pj_buffer_puts(text, ",\n  \"cache\": ");
        int r = pj_column_json_object(cache_columns, PJ_COUNT(cache_columns), &cache, text, err);
        pj_buffer_puts(text, ",\n  \"entries\": ");
        if (r == 0)
            r = pj_column_json(table, text, err);
        return r == 0 ? pj_envelope_end(&envelope, text, err) : r;
    }
    int r = pj_column_text(table, false, text, err);
    pj_buffer_printf(text, "%s%zu entr%s; %s of %s in ", snapshot->count ? "\n" : "", snapshot->count,
                     snapshot->count == 1 ? "y" : "ies", pj_text_from_size(snapshot->bytes, used),
                     pj_text_from_limit(location->limit_bytes, limit));
    pj_text_escape(text, location->path, strlen(location->path));
    if (!snapshot->exists)
        pj_buffer_puts(text, " (there is no such directory yet)");
    else if (is_index_spoiled(snapshot))
        pj_buffer_printf(text, "\nits index %s", pj_index_state_text(snapshot->index_state));
    pj_buffer_putc(text, '\n');
    return r;
}

static int list(const struct pj_cache_location *location, const struct pj_snapshot *snapshot, bool json,
                struct pj_buffer *text, struct pj_error **err)
{
    PJ_CLEANUP_FREE struct listed_entry *entries = calloc(snapshot->count + 1, sizeof *entries);
    PJ_CLEANUP_FREE const void **rows = calloc(snapshot->count + 1, sizeof *rows);
    PJ_CLEANUP_KNOWN_DRIVERS struct pj_known_drivers drivers = {0};
    PJ_CLEANUP_CLOSE int cache_fd = -1;
    if (!entries || !rows)
        return pj_error_no_memory(err);
    int r = snapshot->exists ? pj_directory_open(AT_FDCWD, location->path, true, &cache_fd, err) : 0;
    for (size_t i = 0; i < snapshot->count && r == 0; i++) {
        struct listed_entry *entry = &entries[i];
        (void)pj_entry_path(snapshot->entries[i].hash, entry->path);
        entry->bytes = snapshot->entries[i].size;
        entry->in_index = snapshot->entries[i].index_position != PJ_NOT_LISTED;
        rows[i] = entry;
        r = check(cache_fd, snapshot->entries[i].hash, entry, err);
        if (r == 0)
            r = read_key(cache_fd, entry, err);
    }
    if (r == 0)
        r = find_drivers(location->path, entries, snapshot->count, &drivers, err);
    const struct pj_column_table table = {
        .columns = columns, .column_count = PJ_COUNT(columns), .rows = rows, .row_count = snapshot->count};
    if (r == 0)
        r = render(location, snapshot, &table, json, text, err);
    for (size_t i = 0; i < snapshot->count; i++)
        free(entries[i].options);
    return r;
}

int pj_cache_ls(const char *cache, bool json, char **ret_text, struct pj_error **err)
{
    const struct pj_cache_inputs inputs = {
        .option_path = cache,
        .cuda_cache_path = getenv("CUDA_CACHE_PATH"),
        .cuda_cache_maxsize = getenv("CUDA_CACHE_MAXSIZE"),
        .home = getenv("HOME"),
    };
    struct pj_cache_location location = {0};
    struct pj_snapshot snapshot = {0};
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    int r = pj_cache_locate(&inputs, &location, err);
    if (r == 0)
        r = pj_unreadable_refuse(location.path, pj_snapshot_take(location.path, &snapshot, err), err);
    if (r == 0)
        r = list(&location, &snapshot, json, &text, err);
    if (r == 0)
        r = pj_buffer_check(&text, err);
    if (r == 0)
        *ret_text = PJ_STEAL(text.data);
    pj_snapshot_free(&snapshot);
    pj_cache_location_free(&location);
    return r;
}
