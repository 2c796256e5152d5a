/* SPDX-License-Identifier: Apache-2.0 */
/* The emulation against caches that the real driver wrote: the same names, keys, headers and indexes. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct golden {
    const char *folder;
    const char *input;
    struct check_request request;
};

#define TARGET(number) .options = {{CU_JIT_TARGET, number}}, .option_count = 1

static const struct golden cases[] = {
    {"plain", "axpb.ptx", {.call = CALL_LOAD}},
    {"library", "axpb.ptx", {.call = CALL_LIBRARY, .no_context = true}},
    {"sm90a", "axpb_90a.ptx", {.call = CALL_LOAD}},
    {"crlf", "axpb_crlf.ptx", {.call = CALL_LOAD}},
    {"nonl", "axpb_nonl.ptx", {.call = CALL_LOAD}},
    {"nul", "axpb_nul.ptx", {.call = CALL_LOAD}},
    {"foreign_80", "axpb.ptx", {.call = CALL_LIBRARY, .no_context = true, TARGET(80)}},
    {"foreign_86", "axpb.ptx", {.call = CALL_LIBRARY, .no_context = true, TARGET(86)}},
    {"foreign_89", "axpb.ptx", {.call = CALL_LIBRARY, .no_context = true, TARGET(89)}},
    {"foreign_100", "axpb.ptx", {.call = CALL_LIBRARY, .no_context = true, TARGET(100)}},
    {"foreign_103", "axpb.ptx", {.call = CALL_LIBRARY, .no_context = true, TARGET(103)}},
    {"foreign_110", "axpb.ptx", {.call = CALL_LIBRARY, .no_context = true, TARGET(110)}},
    {"foreign_120", "axpb.ptx", {.call = CALL_LIBRARY, .no_context = true, TARGET(120)}},
    {"foreign_121", "axpb.ptx", {.call = CALL_LIBRARY, .no_context = true, TARGET(121)}},
    {"opt_all",
     "axpb.ptx",
     {.call = CALL_EX, .options = {{0, 40}, {7, 2}, {13, 1}, {14, 2}, {30, 1}, {33, 1}}, .option_count = 6}},
    {"opt_bounds", "axpb.ptx", {.call = CALL_EX, .options = {{31, 2}, {32, 128}}, .option_count = 2}},
    {"opt_debug", "axpb.ptx", {.call = CALL_EX, .options = {{7, 0}, {11, 1}}, .option_count = 2}},
    {"opt_fast", "axpb.ptx", {.call = CALL_EX, .options = {{16, 1}}, .option_count = 1}},
    {"opt_split", "axpb.ptx", {.call = CALL_EX, .options = {{34, 2}}, .option_count = 1}},
    {"opt_gmax", "axpb.ptx", {.call = CALL_EX, .options = {{11, 1}, {0, 32}}, .option_count = 2}},
    {"fat_none", "axpb.none.fatbin", {.call = CALL_LOAD}},
    {"fat_speed", "axpb.speed.fatbin", {.call = CALL_LOAD}},
    {"fat_size", "axpb.size.fatbin", {.call = CALL_LOAD}},
    {"fat_balance", "axpb.balance.fatbin", {.call = CALL_LOAD}},
    {"fat_two_ptx", "axpb.two_ptx.fatbin", {.call = CALL_LOAD}},
    {"fat_ptx_and_sm86", "axpb.ptx_and_sm86.fatbin", {.call = CALL_LOAD}},
    {"fat_none_86", "axpb.none.fatbin", {.call = CALL_LIBRARY, .no_context = true, TARGET(86)}},
    {"fat_speed_86", "axpb.speed.fatbin", {.call = CALL_LIBRARY, .no_context = true, TARGET(86)}},
    {"fat_size_86", "axpb.size.fatbin", {.call = CALL_LIBRARY, .no_context = true, TARGET(86)}},
    {"fat_balance_86", "axpb.balance.fatbin", {.call = CALL_LIBRARY, .no_context = true, TARGET(86)}},
    {"fat_two_ptx_86", "axpb.two_ptx.fatbin", {.call = CALL_LIBRARY, .no_context = true, TARGET(86)}},
};

struct golden_link {
    const char *folder;
    const char *inputs[2];
    struct check_link_request request;
};

static const struct golden_link links[] = {
    {"link", {"link_a.ptx", "link_b.ptx"}, {.kernel = "lk"}},
    {"link_opt", {"axpb.ptx"}, {.options = {{7, 1}, {0, 64}}, .option_count = 2, .kernel = "axpb"}},
    {"link_80", {"axpb.ptx"}, {TARGET(80)}},
};

/* Rows of made.tsv that the emulation has no part in. */
static const char *const other_rows[] = {"fat_ptx_and_sm86_86", "nvjitlink", "evict_"};

static char *data_path(const char *folder, const char *name)
{
    struct fake_buffer text = {0};
    fake_buffer_printf(&text, "golden/%s/%s", folder, name);
    char *path = check_data_path((char *)text.data);
    fake_buffer_free(&text);
    return path;
}

/* The third column of the row of made.tsv: names of entries, a blank behind each. */
static char *made_entries(const char *folder)
{
    struct fake_buffer table = check_read(check_data_path("golden/made.tsv"));
    for (const char *line = (char *)table.data; *line;) {
        size_t length = strcspn(line, "\n"), name = strcspn(line, "\t");
        if (name == strlen(folder) && memcmp(line, folder, name) == 0) {
            const char *how = line + name + 1;
            const char *entry = how + strcspn(how, "\t") + 1;
            return fake_copy_text(entry, strcspn(entry, "\t\n"));
        }
        line += length + (line[length] == '\n');
    }
    EXPECT(false, "made.tsv has no row %s", folder);
    return NULL;
}

static char *made_entry(const char *folder)
{
    char *entries = made_entries(folder);
    entries[strcspn(entries, " ")] = 0;
    return entries;
}

struct entry {
    struct fake_buffer file;
    uint32_t format;
    uint64_t key_bytes, payload_bytes, checksum;
    const unsigned char *key;
    const unsigned char *payload;
};

static struct entry read_entry(const char *path)
{
    struct entry entry = {.file = check_read(path)};
    EXPECT(entry.file.length > 28, "%s", path);
    memcpy(&entry.format, entry.file.data, 4);
    memcpy(&entry.key_bytes, entry.file.data + 4, 8);
    memcpy(&entry.payload_bytes, entry.file.data + 12, 8);
    memcpy(&entry.checksum, entry.file.data + 20, 8);
    EXPECT(28 + entry.key_bytes + entry.payload_bytes == entry.file.length, "%s", path);
    entry.key = entry.file.data + 28;
    entry.payload = entry.key + entry.key_bytes;
    EXPECT(entry.checksum == fake_fnv(entry.payload, entry.payload_bytes), "%s", path);
    return entry;
}

static void expect_same_entry(const char *golden_path, const char *made_path)
{
    struct entry golden = read_entry(golden_path), made = read_entry(made_path);
    EXPECT(made.format == golden.format && made.format == 65);
    EXPECT(made.key_bytes == golden.key_bytes, "%llu bytes of key, not %llu",
           (unsigned long long)made.key_bytes, (unsigned long long)golden.key_bytes);
    EXPECT(memcmp(made.key, golden.key, made.key_bytes) == 0, "another key");
    EXPECT(memcmp(made.payload, "\177ELF\2\1\1\101\10", 9) == 0 &&
           memcmp(golden.payload, made.payload, 9) == 0);
    EXPECT(memcmp(golden.payload + 16, made.payload + 16, 8) == 0, "type, machine and version");
    EXPECT(memcmp(golden.payload + 48, made.payload + 48, 3) == 0, "e_flags: architecture");
    fake_buffer_free(&golden.file);
    fake_buffer_free(&made.file);
}

static void run_case(const struct golden *golden)
{
    struct fake_buffer image = check_read(data_path("inputs", golden->input));
    struct check_request request = golden->request;
    request.image = image.data;
    struct check_answer answer = check_load(&request);
    EXPECT(answer.load == CUDA_SUCCESS, "%s: %d %s", golden->folder, answer.load, answer.error_log);
    char *made = check_only_entry("cache"), *expected = made_entry(golden->folder);
    EXPECT(strcmp(made, expected) == 0, "%s: %s, not %s", golden->folder, made, expected);

    struct fake_buffer made_path = {0};
    fake_buffer_printf(&made_path, "cache/%s", made);
    expect_same_entry(data_path(golden->folder, expected), (char *)made_path.data);

    struct entry entry = read_entry((char *)made_path.data);
    struct check_index index = check_index("cache");
    uint64_t hash = fake_fnv(entry.key, entry.key_bytes), bytes = entry.key_bytes + entry.payload_bytes;
    char name[20];
    snprintf(name, sizeof name, "%016llx", (unsigned long long)hash);
    EXPECT(name[0] == made[0] && name[1] == made[2] && strcmp(name + 2, made + 4) == 0);
    EXPECT(index.format == 65 && index.count == 1 && index.length == 32);
    EXPECT(index.hash[0] == hash && index.bytes[0] == bytes && index.total == bytes);
    EXPECT(check_mode((char *)made_path.data) == 0644 && check_mode("cache/index") == 0644);
    /* A second process finds it. */
    if (request.call == CALL_LIBRARY) {
        EXPECT(answer.wall_time_ms > 0);
        answer = check_load(&request);
        EXPECT(answer.load == CUDA_SUCCESS && answer.wall_time_ms <= 0);
    }
}

/* One test for all: a list of single tests would say nothing more. */
static void golden_entries(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fake_buffer cache = {0};
        fake_buffer_printf(&cache, "%s.cache", cases[i].folder);
        run_case(&cases[i]);
        EXPECT(rename("cache", (char *)cache.data) == 0);
        fake_buffer_free(&cache);
    }
}

/* Loaded natively, refused for another architecture; a second process finds every entry. */
static void run_link(const struct golden_link *golden)
{
    struct check_link_request request = golden->request;
    for (unsigned i = 0; i < 2 && golden->inputs[i]; i++) {
        struct fake_buffer text = check_read(data_path("inputs", golden->inputs[i]));
        request.inputs[request.input_count++] =
            (struct check_input){.type = CU_JIT_INPUT_PTX, .bytes = text.data, .name = golden->inputs[i]};
    }
    for (int i = 0; i < 2; i++) {
        struct check_link_answer answer = check_link(&request);
        EXPECT(answer.complete == CUDA_SUCCESS, "%s: %d %s", golden->folder, answer.complete,
               answer.error_log);
        EXPECT(answer.load == (request.kernel ? CUDA_SUCCESS : CUDA_ERROR_NO_BINARY_FOR_GPU), "%s: %d",
               golden->folder, answer.load);
        EXPECT(!request.kernel || answer.function == CUDA_SUCCESS);
        setenv("CUDA_DISABLE_PTX_JIT", "1", 1);
    }
    unsetenv("CUDA_DISABLE_PTX_JIT");
    EXPECT(check_entries("cache") == request.input_count);
    unsigned seen = 0;
    for (char *entry = made_entries(golden->folder); *entry; entry += strlen(entry) + 1, seen++) {
        struct fake_buffer made = {0};
        entry[strcspn(entry, " ")] = 0;
        fake_buffer_printf(&made, "cache/%s", entry);
        expect_same_entry(data_path(golden->folder, entry), (char *)made.data);
    }
    EXPECT(seen == request.input_count);
}

static void golden_links(void)
{
    for (size_t i = 0; i < sizeof links / sizeof links[0]; i++) {
        struct fake_buffer cache = {0};
        fake_buffer_printf(&cache, "%s.cache", links[i].folder);
        run_link(&links[i]);
        EXPECT(rename("cache", (char *)cache.data) == 0);
        /* And the entries that the real driver wrote link here. */
        check_copy_tree(data_path(links[i].folder, ""), "cache");
        run_link(&links[i]);
        fake_buffer_add_text(&cache, ".real");
        EXPECT(rename("cache", (char *)cache.data) == 0);
        fake_buffer_free(&cache);
    }
}

static bool is_covered(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (strlen(cases[i].folder) == length && memcmp(cases[i].folder, name, length) == 0)
            return true;
    for (size_t i = 0; i < sizeof links / sizeof links[0]; i++)
        if (strlen(links[i].folder) == length && memcmp(links[i].folder, name, length) == 0)
            return true;
    for (size_t i = 0; i < sizeof other_rows / sizeof other_rows[0]; i++)
        if (strncmp(name, other_rows[i], strlen(other_rows[i])) == 0)
            return true;
    return false;
}

static void golden_rows_are_all_covered(void)
{
    struct fake_buffer table = check_read(check_data_path("golden/made.tsv"));
    unsigned rows = 0;
    for (const char *line = (char *)table.data; *line;) {
        size_t length = strcspn(line, "\n"), name = strcspn(line, "\t");
        EXPECT(is_covered(line, name), "%.*s", (int)name, line);
        line += length + (line[length] == '\n');
        rows++;
    }
    EXPECT(rows > sizeof cases / sizeof cases[0]);
}

/* The text between `sm_NN` and the key's first NUL. */
static char *ptx_of_key(const char *path)
{
    struct entry entry = read_entry(path);
    const char *key = (const char *)entry.key, *start = strstr(key, "HOST64sm_");
    EXPECT(start != NULL);
    start += strlen("HOST64sm_90");
    return fake_copy_text(start, strlen(start));
}

/* A module of 200 kB under options; and the real index's own order of the first records. */
static void golden_large_module(void)
{
    static const struct {
        const char *entry;
        struct check_request request;
    } entries[] = {
        {"9/5/05f03dec316e3c", {.call = CALL_EX}},
        {"0/e/6c5e1b05abe2db", {.call = CALL_EX, .options = {{CU_JIT_SPLIT_COMPILE, 0}}, .option_count = 1}},
        {"f/7/6222de0a2f7a21", {.call = CALL_EX, .options = {{CU_JIT_TARGET, 80}}, .option_count = 1}},
    };
    char *ptx = ptx_of_key(check_data_path("m0/9/5/05f03dec316e3c"));
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        struct check_request request = entries[i].request;
        struct fake_buffer golden = {0}, made = {0};
        request.image = ptx;
        struct check_answer answer = check_load(&request);
        EXPECT(answer.load == (i == 2 ? CUDA_ERROR_INVALID_SOURCE : CUDA_SUCCESS), "%d", answer.load);
        EXPECT(answer.wall_time_ms > 0);
        fake_buffer_printf(&golden, "m0/%s", entries[i].entry);
        fake_buffer_printf(&made, "cache/%s", entries[i].entry);
        expect_same_entry(check_data_path((char *)golden.data), (char *)made.data);
    }
    struct check_index index = check_index("cache"), real = check_index(check_data_path("m0"));
    EXPECT(index.count == 3 && real.count == 15);
    EXPECT(index.hash[0] == real.hash[1] && index.hash[1] == real.hash[6] && index.hash[2] == real.hash[14]);
}

/* 4 MB of initialised data: the name is the real one's, the payload is about as large. */
static void golden_four_megabytes(void)
{
    struct fake_buffer image = check_read(check_data_path("m0/small.ptx"));
    check_expect_miss((char *)image.data);
    struct check_index index = check_index("cache"), real = check_index(check_data_path("m0"));
    EXPECT(index.count == 1 && index.hash[0] == real.hash[0]);
    EXPECT(index.bytes[0] > 4194304 && index.bytes[0] < real.bytes[0] + 8192, "%llu bytes",
           (unsigned long long)index.bytes[0]);
    check_expect_hit((char *)image.data);
}

/* Entries of the real driver hit, and offer their kernel. */
static void golden_entry_is_hit(void)
{
    struct fake_buffer image = check_read(data_path("inputs", "axpb.ptx"));
    check_copy_tree(data_path("plain", ""), "cache");
    setenv("CUDA_DISABLE_PTX_JIT", "1", 1);
    struct check_answer answer =
        check_load(&(struct check_request){.call = CALL_EX, .image = image.data, .kernel = "axpb"});
    EXPECT(answer.load == CUDA_SUCCESS && answer.function == CUDA_SUCCESS, "%d %d", answer.load,
           answer.function);
    char *other = check_ptx("axpb", "not stored");
    EXPECT(check_load_text(other).load == CUDA_ERROR_JIT_COMPILATION_DISABLED);
}

/* A sixth store under a cap that leaves room for two old ones: the two stored last stay. */
static void golden_eviction(void)
{
    struct fake_buffer sixth = check_read(data_path("inputs", "axpb.ptx"));
    fake_buffer_add_text(&sixth, "// 6\n");
    /* How large the sixth is: the emulation's payloads are not the real ones. */
    check_expect_miss((char *)sixth.data);
    uint64_t bytes = check_index("cache").bytes[0];
    char cap[32];
    EXPECT(rename("cache", "measured") == 0);
    check_copy_tree(data_path("evict_before", ""), "cache");
    snprintf(cap, sizeof cap, "%llu", 2ull * 4691 + bytes);
    setenv("CUDA_CACHE_MAXSIZE", cap, 1);
    check_expect_miss((char *)sixth.data);

    struct check_index made = check_index("cache"), golden = check_index(data_path("evict_after", ""));
    EXPECT(made.count == golden.count && made.count == 3, "%u left", made.count);
    for (unsigned i = 0; i < 3; i++)
        EXPECT(made.hash[i] == golden.hash[i], "record %u", i);
    EXPECT(made.total == 2 * 4691 + bytes);
    /* The file keeps its length, and behind the last record what stood there before. */
    struct fake_buffer made_file = check_read("cache/index"),
                       golden_file = check_read(data_path("evict_after", "index"));
    EXPECT(made_file.length == golden_file.length);
    EXPECT(memcmp(made_file.data + 64, golden_file.data + 64, golden_file.length - 64) == 0);
    EXPECT(check_entries("cache") == check_entries(data_path("evict_after", "")));
    EXPECT(check_exists("cache/8/f"), "eviction leaves folders behind");
    EXPECT(!check_exists("cache/8/f/52fd89b98eab59"));
    check_expect_hit((char *)sixth.data);
}

const struct check check_golden_tests[] = {
    {"golden: entry names, keys, headers and indexes are the real driver's", golden_entries},
    {"golden: a link's entries are the real driver's, and the real driver's link", golden_links},
    {"golden: every row of made.tsv is tested or named as left out", golden_rows_are_all_covered},
    {"golden: a module of 200 kB, with options and for another architecture", golden_large_module},
    {"golden: 4 MB of initialised data make an entry of 4 MB", golden_four_megabytes},
    {"golden: an entry of the real driver is hit", golden_entry_is_hit},
    {"golden: [24] a store under a smaller cap evicts as the real one did", golden_eviction},
    {NULL, NULL},
};
