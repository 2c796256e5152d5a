/* SPDX-License-Identifier: Apache-2.0 */
/* Caches that driver 580.159.04 wrote on an H200: read, and written again to the same bytes. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/memory.h"
#include "fixture.h"
#include "index_bytes.h"

static void read_data(const char *name, struct pj_buffer *ret_bytes)
{
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    PJ_CLEANUP_FREE char *path = pj_path_join(CACHE_DATA, name);
    if (pj_file_read(AT_FDCWD, path, 1 << 20, ret_bytes, &err) < 0)
        fail_msg("%s", pj_error_message(err));
}

/* How each was made, and the entry that the driver gave it. */
static const struct {
    const char *folder, *input;
    uint16_t arch;
    const char *options;
    uint64_t hash;
} made[] = {
    {"plain", "axpb.ptx", 90, "", 0xca920786966c763d},
    {"library", "axpb.ptx", 90, "", 0xca920786966c763d},
    {"nul", "axpb_nul.ptx", 90, "", 0xca920786966c763d},
    {"crlf", "axpb_crlf.ptx", 90, "", 0xb6dacea9b89b8ed3},
    {"nonl", "axpb_nonl.ptx", 90, "", 0xf05566ffb89dd9c5},
    {"sm90a", "axpb_90a.ptx", 90, "", 0x856a6990ab206bc5},
    {"foreign_80", "axpb.ptx", 80, "", 0x0f936157d6e3da30},
    {"foreign_100", "axpb.ptx", 100, "", 0x52c24fd8231b4c35},
    {"opt_all", "axpb.ptx", 90,
     "-O2 --maxrregcount 40 -lineinfo -dlcm=ca --position-independent-code=true "
     "--override-directive-values",
     0xa1b779f33f8f12eb},
    {"opt_bounds", "axpb.ptx", 90, "--minnctapersm=2 --maxntid=128", 0x22c262e32aa6aba4},
    {"opt_debug", "axpb.ptx", 90, "-O0 -g", 0x3b5fee838ec8f74d},
    {"opt_gmax", "axpb.ptx", 90, "--maxrregcount 32 -g", 0x5bba7cb55ac9a925},
    {"opt_split", "axpb.ptx", 90, "--split-compile=2", 0x5ae71dff23f168b6},
    {"link", "link_a.ptx", 90, "-c", 0xc59d1065687ca934},
    {"link", "link_b.ptx", 90, "-c", 0x1ff8fd50a4b60b42},
    {"link_opt", "axpb.ptx", 90, "-c -O1 --maxrregcount 64", 0x925a46772409d181},
};

static int check_elf(const void *payload, size_t size, const struct pj_cache_key *key, struct pj_error **err)
{
    (void)key;
    return size > 4 && memcmp(payload, "\177ELF", 4) == 0 ? 0 : pj_error_set(err, PJ_ERROR_FORMAT, "no ELF");
}

static void test_key_hashes(void **state)
{
    (void)state;
    for (size_t i = 0; i < PJ_COUNT(made); i++) {
        char name[128];
        PJ_CLEANUP_BUFFER struct pj_buffer image = {.data = NULL};
        (void)snprintf(name, sizeof name, "inputs/%s", made[i].input);
        read_data(name, &image);
        uint64_t hash = pj_cache_key_hash(STAMP, made[i].arch, image.data, image.size, made[i].options);
        if (hash != made[i].hash)
            fail_msg("%s: %016lx", made[i].folder, (unsigned long)hash);
    }
}

/* Header, key and payload put together again give the driver's file. */
static void test_entries(void **state)
{
    (void)state;
    for (size_t i = 0; i < PJ_COUNT(made); i++) {
        char name[128], path[PJ_ENTRY_PATH_TEXT];
        PJ_CLEANUP_BUFFER struct pj_buffer entry = {.data = NULL}, again = {.data = NULL};
        (void)snprintf(name, sizeof name, "%s/%s", made[i].folder, pj_entry_path(made[i].hash, path));
        read_data(name, &entry);
        const unsigned char *bytes = (const unsigned char *)entry.data;
        struct pj_entry_header header;
        struct pj_cache_key key;
        unsigned char front[PJ_ENTRY_HEADER_BYTES];
        pj_entry_header_read(bytes, &header);
        assert_int_equal(pj_cache_key_read(bytes + 28, header.key_bytes, &key, NULL), 0);
        assert_string_equal(key.stamp, STAMP);
        assert_int_equal(key.arch_number, made[i].arch);
        assert_int_equal(key.options_size, strlen(made[i].options));
        assert_memory_equal(key.options, made[i].options, key.options_size);
        assert_true(pj_cache_key_of_driver(&key));
        pj_entry_header_write(&header, front);
        pj_buffer_append(&again, front, sizeof front);
        pj_buffer_printf(&again, "%sHOST64sm_%u", key.stamp, (unsigned)key.arch_number);
        pj_buffer_append(&again, key.image, key.image_size);
        pj_buffer_printf(&again, " %s", made[i].options);
        const unsigned char *payload = bytes + 28 + header.key_bytes;
        assert_int_equal(pj_fnv1a(PJ_FNV_START, payload, header.payload_bytes), header.payload_checksum);
        pj_buffer_append(&again, payload, header.payload_bytes);
        assert_int_equal(again.size, entry.size);
        assert_memory_equal(again.data, entry.data, entry.size);
        assert_int_equal(
            pj_cache_key_hash_exact(key.stamp, key.arch_number, key.image, key.image_size, made[i].options),
            made[i].hash);
    }
}

static void test_whole_caches(void **state)
{
    static const struct {
        const char *folder;
        size_t entries;
    } caches[] = {
        {"plain", 1},       {"library", 1},        {"nul", 1},         {"crlf", 1},      {"nonl", 1},
        {"sm90a", 1},       {"foreign_80", 1},     {"foreign_100", 1}, {"opt_all", 1},   {"opt_debug", 1},
        {"link", 2},        {"link_opt", 1},       {"fat_none", 1},    {"nvjitlink", 1}, {"evict_before", 5},
        {"evict_after", 3}, {"fat_two_ptx_86", 1},
    };
    (void)state;
    for (size_t i = 0; i < PJ_COUNT(caches); i++) {
        char name[128];
        struct pj_snapshot snapshot;
        PJ_CLEANUP_BUFFER struct pj_buffer index = {.data = NULL}, again = {.data = NULL};
        PJ_CLEANUP_FREE char *path = pj_path_join(CACHE_DATA, caches[i].folder);
        assert_int_equal(pj_snapshot_take(path, &snapshot, NULL), 0);
        assert_int_equal(snapshot.index_state, PJ_INDEX_VALID);
        assert_int_equal(snapshot.count, caches[i].entries);
        assert_int_equal(snapshot.index.count, caches[i].entries);
        PJ_CLEANUP_CLOSE int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        for (size_t k = 0; k < snapshot.count; k++) {
            enum pj_entry_state entry;
            char stamp[PJ_STAMP_MAX + 1];
            PJ_CLEANUP_FREE char *message = NULL;
            assert_int_equal(
                pj_entry_check(fd, snapshot.entries[k].hash, check_elf, &entry, stamp, &message, NULL), 0);
            if (entry != PJ_ENTRY_SOUND)
                fail_msg("%s: %s", caches[i].folder, message);
            assert_int_not_equal(snapshot.entries[k].index_position, PJ_NOT_LISTED);
        }
        /* The writer gives the driver's bytes; the driver may leave others behind them. */
        (void)snprintf(name, sizeof name, "%s/index", caches[i].folder);
        read_data(name, &index);
        index_bytes(&snapshot.index, &again);
        assert_int_equal(again.size, 16 + 16 * caches[i].entries);
        assert_true(again.size <= index.size);
        assert_memory_equal(again.data, index.data, again.size);
        pj_snapshot_free(&snapshot);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_key_hashes),
        cmocka_unit_test(test_entries),
        cmocka_unit_test(test_whole_caches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
