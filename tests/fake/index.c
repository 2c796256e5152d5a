/* SPDX-License-Identifier: Apache-2.0 */
/* The file `index`: opened, locked, read and written the way the driver does it. */
#include "index.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HEADER = 16, RECORD = 16, LOCK_TRIES = 20, LOCK_PAUSE_MS = 10 };

int fake_index_open(const char *cache_path)
{
    struct fake_buffer path = {0};
    fake_buffer_printf(&path, "%s/index", cache_path);
    /* fopen "rb+", else "wb+": nothing is even read through a read-only index. */
    int descriptor = open((char *)path.data, O_RDWR | O_CLOEXEC);
    if (descriptor < 0)
        descriptor = open((char *)path.data, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    fake_buffer_free(&path);
    return descriptor;
}

bool fake_index_lock(int descriptor, bool exclusive)
{
    struct flock lock = {.l_type = (short)(exclusive ? F_WRLCK : F_RDLCK), .l_whence = SEEK_SET};
    for (int i = 0; i < LOCK_TRIES; i++) {
        if (fcntl(descriptor, F_SETLK, &lock) == 0)
            return true;
        if (errno != EAGAIN && errno != EACCES && errno != EINTR)
            return false;
        fake_pass(LOCK_PAUSE_MS, false);
    }
    return false;
}

struct header {
    uint32_t format;
    uint32_t count;
    uint64_t total;
};

static struct header get_header(const unsigned char *bytes, bool alternate)
{
    if (alternate)
        return (struct header){
            .total = fake_get64(bytes), .format = fake_get32(bytes + 8), .count = fake_get32(bytes + 12)};
    return (struct header){
        .format = fake_get32(bytes), .count = fake_get32(bytes + 4), .total = fake_get64(bytes + 8)};
}

bool fake_index_read(int descriptor, const struct fake_scenario *scenario, struct fake_index *ret_index)
{
    struct fake_buffer file;
    struct fake_index index = {.state = FAKE_INDEX_FOREIGN};
    if (!fake_read_all(descriptor, &file))
        return false;
    bool alternate = scenario->alternate_layout;
    if (file.length < HEADER) {
        /* A header that breaks off behind the right format number is a short file, not a foreign one. */
        if (file.length >= 4 && !alternate && fake_get32(file.data) == scenario->format)
            index.state = FAKE_INDEX_SHORT;
    } else {
        struct header header = get_header(file.data, alternate);
        uint64_t room = (file.length - HEADER) / RECORD;
        if (header.format == scenario->format)
            index.state = header.count > room || (scenario->header_only_index_deletes && room == 0)
                              ? FAKE_INDEX_SHORT
                              : FAKE_INDEX_GOOD;
        if (index.state == FAKE_INDEX_GOOD) {
            index.total = header.total;
            for (uint32_t i = 0; i < header.count; i++) {
                const unsigned char *record = file.data + HEADER + (size_t)i * RECORD;
                uint64_t first = fake_get64(record), second = fake_get64(record + 8);
                index.records = fake_reallocate(index.records, (index.count + 1) * sizeof *index.records);
                index.records[index.count++] =
                    (struct fake_record){alternate ? second : first, alternate ? first : second};
            }
        }
    }
    fake_buffer_free(&file);
    *ret_index = index;
    return true;
}

bool fake_index_write(int descriptor, const struct fake_scenario *scenario, const struct fake_index *index)
{
    bool alternate = scenario->alternate_layout;
    size_t length = HEADER + index->count * RECORD;
    unsigned char *bytes = fake_allocate(length);
    fake_put32(bytes + (alternate ? 8 : 0), scenario->format);
    fake_put32(bytes + (alternate ? 12 : 4), (uint32_t)index->count);
    fake_put64(bytes + (alternate ? 0 : 8), index->total);
    for (size_t i = 0; i < index->count; i++) {
        unsigned char *record = bytes + HEADER + i * RECORD;
        fake_put64(record + (alternate ? 8 : 0), index->records[i].hash);
        fake_put64(record + (alternate ? 0 : 8), index->records[i].bytes);
    }
    bool written = fake_write_all(descriptor, bytes, length, 0);
    free(bytes);
    return written;
}

void fake_index_add(struct fake_index *index, uint64_t hash, uint64_t bytes)
{
    index->records = fake_reallocate(index->records, (index->count + 1) * sizeof *index->records);
    index->records[index->count++] = (struct fake_record){hash, bytes};
    index->total += bytes;
}

void fake_index_remove(struct fake_index *index, size_t position)
{
    uint64_t bytes = index->records[position].bytes;
    index->total -= bytes < index->total ? bytes : index->total;
    memmove(index->records + position, index->records + position + 1,
            (index->count - position - 1) * sizeof *index->records);
    index->count--;
}

void fake_index_free(struct fake_index *index)
{
    free(index->records);
    *index = (struct fake_index){0};
}
