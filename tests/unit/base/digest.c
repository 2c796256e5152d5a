/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 against published test vectors; its text form; random bytes. */
#include "unit.h"

#include "base/digest.h"
#include "base/memory.h"

static void test_vectors(void **state)
{
    static const struct {
        const char *text, *hex;
    } vectors[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    };
    (void)state;
    for (size_t i = 0; i < PJ_COUNT(vectors); i++) {
        struct pj_sha256 digest, again;
        char hex[PJ_SHA256_HEX];
        pj_sha256_of(vectors[i].text, strlen(vectors[i].text), &digest);
        pj_sha256_hex(&digest, hex);
        assert_string_equal(hex, vectors[i].hex);
        assert_int_equal(pj_sha256_parse(hex, &again, NULL), 0);
        assert_memory_equal(&again, &digest, sizeof digest);
    }
}

static void test_parse(void **state)
{
    (void)state;
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    struct pj_sha256 digest;
    memset(&digest, 0x5a, sizeof digest);
    const struct pj_sha256 before = digest;
    expect_error(pj_sha256_parse("9f86", &digest, &err), &err, PJ_ERROR_FORMAT,
                 "a SHA-256 digest has 64 hex digits, '9f86' has 4 characters");
    expect_error(
        pj_sha256_parse("E3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B85g", &digest, &err),
        &err, PJ_ERROR_FORMAT,
        "'E3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B85g' is no SHA-256 digest: only hex "
        "digits are allowed");
    assert_memory_equal(&digest, &before, sizeof digest);
    assert_int_equal(
        pj_sha256_parse("E3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855", &digest, &err),
        0);
    assert_int_equal(digest.bytes[0], 0xe3);
    assert_int_equal(digest.bytes[31], 0x55);
}

static void test_random(void **state)
{
    (void)state;
    unsigned char first[1024] = {0}, second[1024] = {0};
    const unsigned char zero[16] = {0};
    assert_int_equal(pj_random_bytes(first, sizeof first, NULL), 0);
    assert_int_equal(pj_random_bytes(second, sizeof second, NULL), 0);
    assert_memory_not_equal(first, second, sizeof first);
    assert_memory_not_equal(first + sizeof first - sizeof zero, zero, sizeof zero); /* filled to the end */
    assert_int_equal(pj_random_bytes(first, 0, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_parse),
        cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
