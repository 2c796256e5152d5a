/* SPDX-License-Identifier: Apache-2.0 */
/* Payloads against their keys: everything that the real driver stored is right, and code under another
 * module's key is wrong. */
#include "unit.h"

#include <dirent.h>
#include <fcntl.h>

#include "base/file.h"
#include "base/memory.h"
#include "cache/entry.h"
#include "session/run/outcome.h"

#define HEADER ".version 8.0\n.target sm_80\n.address_size 64\n"
#define AXPB   ".visible .entry axpb() { ret; }\n"
#define OTHER  ".entry other() { ret; }\n"

static size_t check_cache(const char *name)
{
    PJ_CLEANUP_FREE char *path = pj_path_join(GOLDEN, name);
    struct pj_snapshot snapshot = {0};
    assert_int_equal(pj_snapshot_take(path, &snapshot, NULL), 0);
    PJ_CLEANUP_CLOSE int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    size_t count = snapshot.count;
    for (size_t i = 0; i < count; i++) {
        PJ_CLEANUP_ENTRY struct pj_entry_contents entry = {.fd = -1};
        assert_int_equal(pj_entry_load(fd, snapshot.entries[i].hash, pj_check_payload, &entry, NULL), 0);
        if (entry.state != PJ_ENTRY_SOUND)
            fail_msg("%s: %s", name, entry.message);
    }
    pj_snapshot_free(&snapshot);
    return count;
}

static void test_of_the_driver(void **state)
{
    (void)state;
    size_t count = 0;
    DIR *directory = opendir(GOLDEN);
    assert_non_null(directory);
    const struct dirent *item;
    while ((item = readdir(directory))) {
        PJ_CLEANUP_FREE char *path = pj_path_join(GOLDEN, item->d_name);
        struct stat status;
        if (item->d_name[0] != '.' && stat(path, &status) == 0 && S_ISDIR(status.st_mode))
            count += check_cache(item->d_name);
    }
    (void)closedir(directory);
    assert_true(count > 40);
}

static void test_of_another(void **state)
{
    enum { FRONT = 28 };
    static const struct {
        const char *image;
        size_t size;
        uint16_t arch;
        const char *message; /* NULL = accepted */
    } cases[] = {
#define TEXT(text) text, sizeof(text)
        {TEXT(HEADER AXPB), 90, NULL},
        {TEXT(HEADER AXPB), 80, "it holds code for sm_90 under the key of sm_80"},
        {TEXT(HEADER OTHER), 90, "it lacks the kernel 'other' of its PTX: it is the code of another module"},
        {TEXT(HEADER AXPB OTHER), 90,
         "it lacks the kernel 'other' of its PTX: it is the code of another module"},
        {TEXT(HEADER ".visible .func f() { ret; }\n"), 90,
         "it has the kernel 'axpb', which its PTX does not: it is the code of another module"},
        /* Declared, and not defined. */
        {TEXT(HEADER AXPB ".extern .entry other();\n"), 90, NULL},
        /* What cannot be read tells nothing: LLVM bitcode, text behind a NUL, a header that nobody knows. */
        {TEXT("BC\xc0\xde"), 90, NULL},
        {TEXT(HEADER OTHER "\0" AXPB), 90, NULL},
        {TEXT(".version x\n" OTHER), 90, NULL},
    };
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer entry = {0};
    struct pj_entry_header header;
    struct pj_cache_key key;
    assert_int_equal(pj_file_read(AT_FDCWD, GOLDEN "/plain/c/a/920786966c763d", 1 << 20, &entry, NULL), 0);
    pj_entry_header_read((const unsigned char *)entry.data, &header);
    assert_int_equal(pj_cache_key_read(entry.data + FRONT, header.key_bytes, &key, NULL), 0);
    const char *payload = entry.data + FRONT + header.key_bytes;
    size_t size = (size_t)header.payload_bytes;
    for (size_t i = 0; i < PJ_COUNT(cases); i++) {
        struct pj_error *err = NULL;
        key.image = cases[i].image;
        key.image_size = cases[i].size;
        key.arch_number = cases[i].arch;
        if (cases[i].message)
            expect_error(pj_check_payload(payload, size, &key, &err), &err, PJ_ERROR_FORMAT,
                         cases[i].message);
        else
            expect_success(pj_check_payload(payload, size, &key, &err), &err);
    }
    assert_int_equal(pj_check_payload(payload, size - 1, &key, NULL), PJ_ERROR_FORMAT);
    assert_int_equal(pj_check_payload("", 0, &key, NULL), PJ_ERROR_FORMAT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_of_the_driver),
                                       cmocka_unit_test(test_of_another)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
