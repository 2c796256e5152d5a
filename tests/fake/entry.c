/* SPDX-License-Identifier: Apache-2.0 */
/* Entry files: where they lie below the cache directory, and what is in them. */
#include "entry.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEADER = 28, ALTERNATE_HEADER = 32 };

void fake_entry_make_folders(const char *path)
{
    struct fake_buffer part = {0};
    for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        part.length = 0;
        fake_buffer_add(&part, path, (size_t)(slash - path));
        mkdir((char *)part.data, 0700);
    }
    mkdir(path, 0700);
    fake_buffer_free(&part);
}

void fake_entry_path(const struct fake_scenario *scenario, const char *cache_path, uint64_t hash,
                     bool make_folders, struct fake_buffer *ret_path)
{
    struct fake_buffer path = {0}, digits = {0};
    fake_buffer_printf(&digits, "%016llx", (unsigned long long)hash);
    fake_buffer_add_text(&path, cache_path);
    size_t folders = scenario->extra_dirs ? 3 : 2;
    for (size_t i = 0; i < folders; i++) {
        fake_buffer_printf(&path, "/%c", digits.data[i]);
        if (make_folders)
            mkdir((char *)path.data, 0700);
    }
    fake_buffer_printf(&path, "/%s", (char *)digits.data + folders);
    fake_buffer_free(&digits);
    *ret_path = path;
}

struct header {
    uint32_t format;
    uint64_t key_bytes;
    uint64_t payload_bytes;
    uint64_t checksum;
};

static struct header get_header(const unsigned char *bytes, bool alternate)
{
    if (alternate)
        return (struct header){.checksum = fake_get64(bytes),
                               .payload_bytes = fake_get64(bytes + 8),
                               .key_bytes = fake_get64(bytes + 16),
                               .format = fake_get32(bytes + 24)};
    return (struct header){.format = fake_get32(bytes),
                           .key_bytes = fake_get64(bytes + 4),
                           .payload_bytes = fake_get64(bytes + 12),
                           .checksum = fake_get64(bytes + 20)};
}

static void put_header(unsigned char *bytes, const struct header *header, bool alternate)
{
    fake_put32(bytes + (alternate ? 24 : 0), header->format);
    fake_put64(bytes + (alternate ? 16 : 4), header->key_bytes);
    fake_put64(bytes + (alternate ? 8 : 12), header->payload_bytes);
    fake_put64(bytes + (alternate ? 0 : 20), header->checksum);
}

static bool is_sound(const struct fake_scenario *scenario, const struct fake_buffer *file,
                     size_t header_bytes, const struct fake_buffer *key)
{
    if (file->length < header_bytes + key->length)
        return false;
    struct header header = get_header(file->data, scenario->alternate_layout);
    const unsigned char *payload = file->data + header_bytes + key->length;
    size_t payload_bytes = file->length - header_bytes - key->length;
    return header.format == scenario->format && header.key_bytes == key->length &&
           memcmp(file->data + header_bytes, key->data, key->length) == 0 && payload_bytes > 0 &&
           header.payload_bytes == payload_bytes && header.checksum == fake_fnv(payload, payload_bytes);
}

bool fake_entry_read(const struct fake_scenario *scenario, const char *path, const struct fake_buffer *key,
                     struct fake_buffer *ret_payload)
{
    struct fake_buffer file;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return false;
    bool read = fake_read_all(descriptor, &file);
    close(descriptor);
    if (!read)
        return false;
    size_t header_bytes = scenario->alternate_layout ? ALTERNATE_HEADER : HEADER;
    bool sound = is_sound(scenario, &file, header_bytes, key);
    if (sound) {
        *ret_payload = (struct fake_buffer){0};
        fake_buffer_add(ret_payload, file.data + header_bytes + key->length,
                        file.length - header_bytes - key->length);
    }
    fake_buffer_free(&file);
    return sound;
}

bool fake_entry_write(const struct fake_scenario *scenario, const char *path, const struct fake_buffer *key,
                      const struct fake_buffer *payload)
{
    unsigned char bytes[ALTERNATE_HEADER] = {0};
    size_t header_bytes = scenario->alternate_layout ? ALTERNATE_HEADER : HEADER;
    struct header header = {.format = scenario->format,
                            .key_bytes = key->length,
                            .payload_bytes = payload->length,
                            .checksum = fake_fnv(payload->data, payload->length)};
    put_header(bytes, &header, scenario->alternate_layout);
    int descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor < 0)
        return false;
    bool written =
        fake_write_all(descriptor, bytes, header_bytes, 0) &&
        fake_write_all(descriptor, key->data, key->length, (int64_t)header_bytes) &&
        fake_write_all(descriptor, payload->data, payload->length, (int64_t)(header_bytes + key->length));
    written = close(descriptor) == 0 && written;
    if (!written)
        unlink(path);
    return written;
}

static void delete_files(const char *folder, unsigned depth)
{
    static const char digits[] = "0123456789abcdef";
    DIR *directory = opendir(folder);
    if (!directory)
        return;
    for (struct dirent *item; (item = readdir(directory)) != NULL;) {
        struct fake_buffer path = {0};
        struct stat status;
        bool is_hash_folder = strlen(item->d_name) == 1 && strchr(digits, item->d_name[0]);
        fake_buffer_printf(&path, "%s/%s", folder, item->d_name);
        if (lstat((char *)path.data, &status) == 0) {
            if (S_ISDIR(status.st_mode) && is_hash_folder && depth < 3)
                delete_files((char *)path.data, depth + 1);
            else if (!S_ISDIR(status.st_mode) && depth > 0)
                unlink((char *)path.data);
        }
        fake_buffer_free(&path);
    }
    closedir(directory);
}

void fake_entry_delete_all(const char *cache_path)
{
    delete_files(cache_path, 0);
}
