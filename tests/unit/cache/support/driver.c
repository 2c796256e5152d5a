/* SPDX-License-Identifier: Apache-2.0 */
/* A model of the driver: polled POSIX locks, eviction in the order of storing, and the deletions that an
 * index in a bad state brings about. */
#include "driver.h"

#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { TRIES = 20, MAX_RECORDS = 4096 };

struct header {
    uint32_t format, count;
    uint64_t total;
};

struct record {
    uint64_t hash, size;
};

static bool lock(FILE *file, short type)
{
    static const struct timespec pause = {.tv_nsec = 10 * 1000 * 1000};
    struct flock request = {.l_type = type, .l_whence = SEEK_SET};
    for (int i = 0; i < TRIES; i++) {
        if (fcntl(fileno(file), F_SETLK, &request) == 0)
            return true;
        (void)nanosleep(&pause, NULL);
    }
    return false;
}

static void entry_name(const char *cache, uint64_t hash, char *ret_path, size_t size)
{
    (void)snprintf(ret_path, size, "%s/%x/%x/%014" PRIx64, cache, (unsigned)(hash >> 60),
                   (unsigned)(hash >> 56 & 15), hash & UINT64_C(0xffffffffffffff));
}

static int delete_file(const char *path, const struct stat *status, int type, struct FTW *where)
{
    (void)status;
    /* Files in the hash directories: two levels down, under names of one digit. */
    if (type == FTW_F && where->level == 3 && path[where->base - 2] != '.' && path[where->base - 3] == '/')
        (void)unlink(path);
    return 0;
}

static void delete_everything(const char *cache)
{
    (void)nftw(cache, delete_file, 16, FTW_PHYS);
}

static FILE *open_index(const char *cache)
{
    char path[512];
    (void)snprintf(path, sizeof path, "%s/index", cache);
    FILE *file = fopen(path, "rb+");
    return file ? file : fopen(path, "wb+");
}

/* Reads header and records; false where the state makes the driver start anew. */
static bool read_index(FILE *file, struct header *header, struct record *records)
{
    (void)fseek(file, 0, SEEK_SET);
    if (fread(header, 16, 1, file) != 1 || header->format != 65 || header->count > MAX_RECORDS)
        return false;
    return fread(records, 16, header->count, file) == header->count;
}

static bool is_short(FILE *file)
{
    struct header header;
    struct stat status;
    if (fstat(fileno(file), &status) != 0 || status.st_size == 0)
        return false;
    (void)fseek(file, 0, SEEK_SET);
    if (fread(&header, 16, 1, file) != 1)
        return true;
    return header.format == 65 && status.st_size < 16 + 16 * (int64_t)header.count;
}

bool driver_read(const char *cache, uint64_t hash)
{
    char path[512];
    unsigned char header[28];
    FILE *file = open_index(cache);
    if (!file)
        return false;
    bool found = false;
    if (lock(file, F_RDLCK)) {
        if (is_short(file))
            delete_everything(cache);
        entry_name(cache, hash, path, sizeof path);
        FILE *entry = fopen(path, "rb");
        struct stat status;
        uint64_t key = 0, payload = 0;
        if (entry) {
            found = fread(header, 28, 1, entry) == 1 && fstat(fileno(entry), &status) == 0;
            memcpy(&key, header + 4, 8);
            memcpy(&payload, header + 12, 8);
            found = found && (uint64_t)status.st_size == 28 + key + payload;
            (void)fclose(entry);
        }
    }
    (void)fclose(file); /* and the lock with it */
    return found;
}

static void write_entry_file(const char *cache, uint64_t hash, const void *bytes, size_t size)
{
    char path[512];
    entry_name(cache, hash, path, sizeof path);
    char *name = strrchr(path, '/');
    *name = '\0';
    name[-2] = '\0';
    (void)mkdir(path, 0700);
    name[-2] = '/';
    (void)mkdir(path, 0700);
    *name = '/';
    FILE *entry = fopen(path, "wb");
    if (entry) {
        (void)fwrite(bytes, size, 1, entry);
        (void)fclose(entry);
    }
}

bool driver_store(const char *cache, uint64_t hash, const void *bytes, size_t size, uint64_t limit)
{
    static struct record records[MAX_RECORDS + 1];
    struct header header;
    FILE *file = open_index(cache);
    if (!file || !lock(file, F_WRLCK)) {
        if (file)
            (void)fclose(file);
        return false;
    }
    if (!read_index(file, &header, records)) {
        delete_everything(cache);
        header = (struct header){.format = 65};
    }
    uint64_t added = size - 28;
    size_t first = 0;
    while (first < header.count && header.total + added > limit) {
        char path[512];
        entry_name(cache, records[first].hash, path, sizeof path);
        (void)unlink(path);
        header.total -= records[first++].size;
    }
    if (header.total + added <= limit) {
        memmove(records, records + first, (header.count - first) * sizeof *records);
        header.count -= (uint32_t)first;
        write_entry_file(cache, hash, bytes, size);
        records[header.count++] = (struct record){.hash = hash, .size = added};
        header.total += added;
    }
    (void)fseek(file, 0, SEEK_SET);
    (void)fwrite(&header, 16, 1, file);
    (void)fwrite(records, 16, header.count, file);
    (void)fclose(file);
    return true;
}
