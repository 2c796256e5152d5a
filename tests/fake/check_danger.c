/* SPDX-License-Identifier: Apache-2.0 */
/* Indexes and entries in a bad state: what is survived, and what costs everything. Numbers are lines of
 * facts. */
#include "check.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *text_a, *text_b, *text_new;

/* Two stored modules, a third not yet; a file and a folder outside the hash directories. */
static struct check_index prepare(void)
{
    text_a = check_ptx("a", "");
    text_b = check_ptx("b", "");
    text_new = check_ptx("new", "");
    check_expect_miss(text_a);
    check_expect_miss(text_b);
    check_write_text("cache/README", "kept");
    EXPECT(mkdir("cache/.prejit", 0700) == 0);
    check_write_text("cache/.prejit/file", "kept");
    return check_index("cache");
}

static void expect_others_survive(void)
{
    EXPECT(check_exists("cache/README") && check_exists("cache/.prejit/file"));
}

/* Hits go on, until a store deletes all entries and begins anew with its own. */
static void expect_next_store_deletes(void)
{
    check_expect_hit(text_a);
    check_expect_hit(text_b);
    EXPECT(check_entries("cache") == 2);
    check_expect_miss(text_new);
    EXPECT(check_entries("cache") == 1, "%u entries", check_entries("cache"));
    struct check_index index = check_index("cache");
    EXPECT(index.format == 65 && index.count == 1 && index.total == index.bytes[0]);
    expect_others_survive();
    check_expect_hit(text_new);
    check_expect_miss(text_a);
}

/* Already the next open, though it only reads, deletes all entries. */
static void expect_next_open_deletes(void)
{
    setenv("CUDA_DISABLE_PTX_JIT", "1", 1);
    EXPECT(check_load_text(text_a).load == CUDA_ERROR_JIT_COMPILATION_DISABLED);
    EXPECT(check_entries("cache") == 0, "%u entries", check_entries("cache"));
    unsetenv("CUDA_DISABLE_PTX_JIT");
    expect_others_survive();
    check_expect_miss(text_b);
    check_expect_hit(text_b);
    EXPECT(check_index("cache").count == 1);
}

/* Nothing is lost: old ones hit before and after a store, and the new one too. */
static void expect_store_leaves_alone(void)
{
    check_expect_hit(text_a);
    check_expect_miss(text_new);
    check_expect_hit(text_a);
    check_expect_hit(text_b);
    check_expect_hit(text_new);
    EXPECT(check_entries("cache") == 3);
}

static void index_missing(void)
{
    prepare();
    EXPECT(unlink("cache/index") == 0);
    expect_next_store_deletes();
}

static void index_empty(void)
{
    prepare();
    check_write("cache/index", "", 0);
    expect_next_store_deletes();
}

static void index_random(void)
{
    static const unsigned char bytes[48] = {0x5b, 0x19, 0xc4, 0x07, 0xee, 0x81, 0x33, 0xd2, 0x40, 0x6f};
    prepare();
    check_write("cache/index", bytes, sizeof bytes);
    expect_next_store_deletes();
}

static void index_of_other_format(void)
{
    struct check_index index = prepare();
    uint64_t records[4] = {index.hash[0], index.bytes[0], index.hash[1], index.bytes[1]};
    check_write_index("cache", 64, 2, index.total, records, 2);
    expect_next_store_deletes();
}

static void index_shorter_than_its_count(void)
{
    struct check_index index = prepare();
    uint64_t records[4] = {index.hash[0], index.bytes[0], index.hash[1], index.bytes[1]};
    check_write_index("cache", 65, 3, index.total, records, 2);
    expect_next_open_deletes();
}

static void index_cut_in_a_record(void)
{
    prepare();
    EXPECT(truncate("cache/index", 16 + 16 + 8) == 0);
    expect_next_open_deletes();
}

static void index_cut_in_the_header(void)
{
    prepare();
    EXPECT(truncate("cache/index", 12) == 0);
    expect_next_open_deletes();
}

static void total_too_high(void)
{
    struct check_index index = prepare();
    uint64_t records[4] = {index.hash[0], index.bytes[0], index.hash[1], index.bytes[1]};
    check_write_index("cache", 65, 2, (uint64_t)3 << 30, records, 2);
    check_expect_hit(text_a);
    check_expect_miss(text_new);
    EXPECT(check_entries("cache") == 0, "it evicts everything, itself too");
    EXPECT(check_index("cache").total > (uint64_t)2 << 30 && check_index("cache").count == 0);
    check_expect_miss(text_a);
    check_expect_miss(text_a);
    EXPECT(check_entries("cache") == 0, "nothing is ever kept again");
}

static void total_too_low(void)
{
    struct check_index index = prepare();
    uint64_t records[4] = {index.hash[0], index.bytes[0], index.hash[1], index.bytes[1]};
    check_write_index("cache", 65, 2, 5, records, 2);
    expect_store_leaves_alone();
    EXPECT(check_index("cache").total == 5 + check_index("cache").bytes[2]);
}

static void unlisted(void)
{
    prepare();
    check_write_index("cache", 65, 0, 0, NULL, 0);
    expect_store_leaves_alone();
    EXPECT(check_index("cache").count == 1);
}

static void odd_records(void)
{
    struct check_index index = prepare();
    uint64_t records[8] = {
        0, 0, index.hash[0], index.bytes[0], index.hash[0], index.bytes[0], index.hash[1], index.bytes[1]};
    check_write_index("cache", 65, 4, index.total + index.bytes[0], records, 4);
    expect_store_leaves_alone();
    EXPECT(check_index("cache").count == 5);
}

static void bytes_behind_the_records(void)
{
    struct check_index index = prepare();
    uint64_t records[6] = {index.hash[0], index.bytes[0], index.hash[1], index.bytes[1], 77, 77};
    check_write_index("cache", 65, 2, index.total, records, 3);
    expect_store_leaves_alone();
    EXPECT(check_index("cache").count == 3 && check_index("cache").hash[2] != 77);
}

/* ---- entries ---- */

static struct fake_buffer entry_path;

static struct fake_buffer prepare_entry(void)
{
    text_a = check_ptx("a", "");
    check_expect_miss(text_a);
    fake_buffer_printf(&entry_path, "cache/%s", check_only_entry("cache"));
    return check_read((char *)entry_path.data);
}

static void plant(const struct fake_buffer *entry)
{
    check_write((char *)entry_path.data, entry->data, entry->length);
}

static void expect_rewritten(const struct fake_buffer *good)
{
    check_expect_miss(text_a);
    struct fake_buffer now = check_read((char *)entry_path.data);
    EXPECT(now.length == good->length && memcmp(now.data, good->data, now.length) == 0);
    check_expect_hit(text_a);
}

static void damaged_entries(void)
{
    struct fake_buffer good = prepare_entry(), bad = {0};
    fake_buffer_add(&bad, good.data, good.length);
    bad.data[bad.length - 1] ^= 1; /* payload */
    plant(&bad);
    expect_rewritten(&good);
    bad.data[bad.length - 1] ^= 1;
    bad.data[40] ^= 1; /* key */
    plant(&bad);
    expect_rewritten(&good);
    bad.data[40] ^= 1;
    bad.data[20] ^= 1; /* checksum */
    plant(&bad);
    expect_rewritten(&good);
    bad.data[20] ^= 1;
    bad.length -= 10;
    plant(&bad);
    expect_rewritten(&good);
    bad.length = 0;
    plant(&bad);
    expect_rewritten(&good);
    EXPECT(check_index("cache").count == 1);
}

/* Another payload under the right key, with the right checksum. */
static void plant_payload(const struct fake_buffer *good, const void *payload, size_t length)
{
    struct fake_buffer entry = {0};
    uint64_t key_bytes, bytes = length, checksum = fake_fnv(payload, length);
    memcpy(&key_bytes, good->data + 4, 8);
    fake_buffer_add(&entry, good->data, 12);
    fake_buffer_add(&entry, &bytes, 8);
    fake_buffer_add(&entry, &checksum, 8);
    fake_buffer_add(&entry, good->data + 28, key_bytes);
    fake_buffer_add(&entry, payload, length);
    plant(&entry);
    fake_buffer_free(&entry);
}

/* It is never compiled again: every load fails until the entry is deleted. */
static void expect_believed(CUresult result)
{
    for (int i = 0; i < 2; i++) {
        struct check_answer answer = check_load_text(text_a);
        EXPECT(answer.load == result, "%d, not %d", answer.load, result);
        EXPECT(answer.wall_time_ms <= 0);
    }
}

static void bad_payload_is_believed(void)
{
    struct fake_buffer good = prepare_entry();
    uint64_t key_bytes;
    memcpy(&key_bytes, good.data + 4, 8);
    unsigned char *payload = good.data + 28 + key_bytes;
    size_t length = good.length - 28 - key_bytes;
    plant_payload(&good, "these bytes are no cubin at all, whatever their checksum", 57);
    expect_believed(CUDA_ERROR_INVALID_IMAGE);
    plant_payload(&good, payload, length - 1);
    expect_believed(CUDA_ERROR_INVALID_IMAGE);
    plant_payload(&good, payload, 100);
    expect_believed(CUDA_ERROR_INVALID_IMAGE);
    EXPECT(payload[49] == 90);
    payload[49] = 80; /* the architecture's byte of e_flags */
    plant_payload(&good, payload, length);
    expect_believed(CUDA_ERROR_INVALID_SOURCE);
    payload[49] = 90;
    plant_payload(&good, payload, length);
    check_expect_hit(text_a);
    plant_payload(&good, "", 0);
    check_expect_miss(text_a);
    check_expect_hit(text_a);
}

/* The code of another kernel under this key loads, and is what the program gets. */
static void checksum_is_no_signature(void)
{
    struct fake_buffer good = prepare_entry();
    setenv("CUDA_CACHE_PATH", "private", 1);
    check_expect_miss(check_ptx("other", ""));
    struct fake_buffer path = {0};
    fake_buffer_printf(&path, "private/%s", check_only_entry("private"));
    struct fake_buffer other = check_read((char *)path.data);
    uint64_t key_bytes;
    memcpy(&key_bytes, other.data + 4, 8);
    plant_payload(&good, other.data + 28 + key_bytes, other.length - 28 - key_bytes);
    setenv("CUDA_CACHE_PATH", "cache", 1);
    struct check_request request = {.call = CALL_EX, .image = text_a, .kernel = "other"};
    struct check_answer answer = check_load(&request);
    EXPECT(answer.load == CUDA_SUCCESS && answer.wall_time_ms <= 0 && answer.function == CUDA_SUCCESS);
    request.kernel = "a";
    EXPECT(check_load(&request).function == CUDA_ERROR_NOT_FOUND);
}

const struct check check_danger_tests[] = {
    {"[20] unlisted entries hit and are left alone", unlisted},
    {"[20] a zero and a doubled record are left alone", odd_records},
    {"[20] bytes behind the last record do no harm", bytes_behind_the_records},
    {"[20] no index: the next store deletes everything", index_missing},
    {"[20] an empty index: the next store deletes everything", index_empty},
    {"[20] a random index: the next store deletes everything", index_random},
    {"[20] an index of another format: the next store deletes everything", index_of_other_format},
    {"[20] an index shorter than its count: the next open deletes everything", index_shorter_than_its_count},
    {"[20] an index cut in a record: the next open deletes everything", index_cut_in_a_record},
    {"[20] an index cut in its header: the next open deletes everything", index_cut_in_the_header},
    {"[20] a total too high: nothing is ever kept again", total_too_high},
    {"[20] a total too low: kept, but counted wrongly", total_too_low},
    {"[21] damaged entries are compiled and written again", damaged_entries},
    {"[22] a bad payload under a right checksum is believed", bad_payload_is_believed},
    {"[35] an entry with another kernel's code loads", checksum_is_no_signature},
    {NULL, NULL},
};
