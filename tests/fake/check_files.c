/* SPDX-License-Identifier: Apache-2.0 */
/* Files and indexes as the tests look at them and plant them. Written apart from the emulation's own readers.
 */
#include "check.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct fake_buffer check_read(const char *path)
{
    struct fake_buffer file = {0};
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    EXPECT(descriptor >= 0, "%s", path);
    EXPECT(fake_read_all(descriptor, &file), "%s", path);
    close(descriptor);
    return file;
}

void check_write(const char *path, const void *bytes, size_t length)
{
    int descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    EXPECT(descriptor >= 0, "%s", path);
    EXPECT(fake_write_all(descriptor, bytes, length, 0), "%s", path);
    close(descriptor);
}

void check_write_text(const char *path, const char *text)
{
    check_write(path, text, strlen(text));
}

bool check_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

unsigned check_mode(const char *path)
{
    struct stat status;
    EXPECT(stat(path, &status) == 0, "%s", path);
    return status.st_mode & 07777u;
}

unsigned check_count_lines(const char *path, const char *start)
{
    struct fake_buffer file = check_read(path);
    unsigned count = 0;
    for (const char *line = (char *)file.data; *line;) {
        size_t length = strcspn(line, "\n");
        count += strncmp(line, start, strlen(start)) == 0;
        line += length + (line[length] == '\n');
    }
    fake_buffer_free(&file);
    return count;
}

void check_play(const char *scenario)
{
    char path[4096];
    EXPECT(getcwd(path, sizeof path - 10) != NULL);
    size_t length = strlen(path);
    memcpy(path + length, "/scenario", 10);
    check_write_text(path, scenario);
    setenv("NVIDIA_FAKE_SCENARIO", path, 1);
}

/* Counts files two folders down; `ret_last`, if any, gets the path of the last one relative to the cache. */
static unsigned walk(const char *cache, const char *below, unsigned depth, char **ret_last)
{
    unsigned count = 0;
    struct fake_buffer folder = {0};
    fake_buffer_printf(&folder, "%s%s", cache, below);
    DIR *directory = opendir((char *)folder.data);
    fake_buffer_free(&folder);
    for (struct dirent *item; directory && (item = readdir(directory)) != NULL;) {
        struct fake_buffer path = {0};
        bool is_hash_folder = strlen(item->d_name) == 1 && item->d_name[0] != '.';
        fake_buffer_printf(&path, "%s/%s", below, item->d_name);
        if (depth < 2 && is_hash_folder) {
            count += walk(cache, (char *)path.data, depth + 1, ret_last);
        } else if (depth == 2 && item->d_name[0] != '.') {
            count++;
            if (ret_last)
                *ret_last = fake_copy_text((char *)path.data + 1, path.length - 1);
        }
        fake_buffer_free(&path);
    }
    if (directory)
        closedir(directory);
    return count;
}

unsigned check_entries(const char *cache)
{
    return walk(cache, "", 0, NULL);
}

char *check_only_entry(const char *cache)
{
    char *entry = NULL;
    unsigned count = walk(cache, "", 0, &entry);
    EXPECT(count == 1, "%s has %u entries", cache, count);
    return entry;
}

void check_copy_tree(const char *from, const char *to)
{
    DIR *directory = opendir(from);
    EXPECT(directory != NULL, "%s", from);
    mkdir(to, 0700);
    for (struct dirent *item; (item = readdir(directory)) != NULL;) {
        struct fake_buffer source = {0}, target = {0};
        struct stat status;
        if (item->d_name[0] == '.')
            continue;
        fake_buffer_printf(&source, "%s/%s", from, item->d_name);
        fake_buffer_printf(&target, "%s/%s", to, item->d_name);
        EXPECT(stat((char *)source.data, &status) == 0);
        if (S_ISDIR(status.st_mode)) {
            check_copy_tree((char *)source.data, (char *)target.data);
        } else {
            struct fake_buffer file = check_read((char *)source.data);
            check_write((char *)target.data, file.data, file.length);
            fake_buffer_free(&file);
        }
        fake_buffer_free(&source);
        fake_buffer_free(&target);
    }
    closedir(directory);
}

struct check_index check_index(const char *cache)
{
    struct fake_buffer path = {0};
    struct check_index index = {0};
    fake_buffer_printf(&path, "%s/index", cache);
    struct fake_buffer file = check_read((char *)path.data);
    EXPECT(file.length >= 16, "the index has %zu bytes", file.length);
    memcpy(&index.format, file.data, 4);
    memcpy(&index.count, file.data + 4, 4);
    memcpy(&index.total, file.data + 8, 8);
    index.length = file.length;
    EXPECT(index.count <= 64 && 16 + (size_t)index.count * 16 <= file.length);
    for (uint32_t i = 0; i < index.count; i++) {
        memcpy(&index.hash[i], file.data + 16 + i * 16, 8);
        memcpy(&index.bytes[i], file.data + 24 + i * 16, 8);
    }
    fake_buffer_free(&file);
    fake_buffer_free(&path);
    return index;
}

void check_write_index(const char *cache, uint32_t format, uint32_t count, uint64_t total,
                       const uint64_t *records, size_t record_count)
{
    struct fake_buffer path = {0}, file = {0};
    fake_buffer_printf(&path, "%s/index", cache);
    fake_buffer_add(&file, &format, 4);
    fake_buffer_add(&file, &count, 4);
    fake_buffer_add(&file, &total, 8);
    fake_buffer_add(&file, records, record_count * 16);
    check_write((char *)path.data, file.data, file.length);
    fake_buffer_free(&file);
    fake_buffer_free(&path);
}
