/* SPDX-License-Identifier: Apache-2.0 */
/* The record of prepared PTX: everything comes back, and what was not written so is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "report/prepared.h"

static struct pj_receipt_file compiler_files[] = {
    {"/opt/libnvrtc.so.13.0.88", 66306, UINT64_MAX, 91001, 1767225600},
    {"/odd\n\"\\\xff\xc3\xa9\x01/libnvrtc-builtins.so", 0, 0, 0, INT64_MIN},
};
static struct pj_receipt_input inputs[] = {
    {{"/k/saxpy.cu", 66306, 42, 1234, 1767225600}, 11, {{0xab, 0xcd}}, true, false},
    {{"/k/saxpy.h", 0, 0, 0, INT64_MAX}, 11, {{0}}, false, true},
};

static struct pj_prepared full(void)
{
    return (struct pj_prepared){
        .request = "directory /k\noption -I\"x\"\n",
        .compiler_search = "/opt/libnvrtc.so.13\nlibnvrtc.so.13",
        .compiler_files = compiler_files,
        .compiler_file_count = PJ_COUNT(compiler_files),
        .compiler = {.path = "/opt/libnvrtc.so.13.0.88", .version = "13.0", .build = "13.0.88"},
        .inputs = inputs,
        .input_count = PJ_COUNT(inputs),
        .ptx_bytes = UINT64_MAX,
        .ptx_sha256 = {{1, 2, 3}},
        .log = "a.cu(1): warning: \x7f\t\n",
        .ms = 63.125,
        .header_note = "a.h came from /opt",
    };
}

#define ZERO_DIGEST "0000000000000000000000000000000000000000000000000000000000000000"
static const char small_text[] =
    "{\"schema\":\"prejit-prepared/"
    "3\",\"request\":\"r\",\"compiler_search\":\"s\",\"compiler_files\":[{\"path\":\"p\","
    "\"device\":1,\"inode\":2,\"size_bytes\":3,\"mtime_seconds\":-4}],\"compiler\":{\"path\":null,"
    "\"version\":"
    "null,"
    "\"build\":null},\"inputs\":[],\"ptx_bytes\":5,\"ptx_sha256\":\"" ZERO_DIGEST
    "\",\"log\":null,\"ms\":0.000,"
    "\"header_note\":null}\n";

static struct pj_prepared small(struct pj_receipt_file *file)
{
    *file = (struct pj_receipt_file){"p", 1, 2, 3, -4};
    return (struct pj_prepared){.request = "r",
                                .compiler_search = "s",
                                .compiler_files = file,
                                .compiler_file_count = 1,
                                .ptx_bytes = 5};
}

static void write_record(const struct pj_prepared *prepared, struct pj_buffer *ret_text)
{
    assert_int_equal(pj_prepared_write(prepared, ret_text, NULL), 0);
}

static void assert_file(const struct pj_receipt_file *found, const struct pj_receipt_file *expected)
{
    assert_string_equal(found->path, expected->path);
    assert_true(found->device == expected->device && found->inode == expected->inode);
    assert_true(found->size_bytes == expected->size_bytes && found->mtime_seconds == expected->mtime_seconds);
}

static void everything_comes_back(void **state)
{
    (void)state;
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    const struct pj_prepared prepared = full();
    struct pj_prepared found = {0};
    write_record(&prepared, &text);
    assert_int_equal(pj_prepared_read(text.data, text.size, &arena, &found, NULL), 0);
    assert_string_equal(found.request, prepared.request);
    assert_string_equal(found.compiler_search, prepared.compiler_search);
    assert_int_equal(found.compiler_file_count, PJ_COUNT(compiler_files));
    for (size_t i = 0; i < PJ_COUNT(compiler_files); i++)
        assert_file(&found.compiler_files[i], &compiler_files[i]);
    assert_string_equal(found.compiler.path, prepared.compiler.path);
    assert_string_equal(found.compiler.version, "13.0");
    assert_string_equal(found.compiler.build, "13.0.88");
    assert_int_equal(found.input_count, PJ_COUNT(inputs));
    for (size_t i = 0; i < PJ_COUNT(inputs); i++) {
        assert_file(&found.inputs[i].file, &inputs[i].file);
        assert_memory_equal(&found.inputs[i].sha256, &inputs[i].sha256, PJ_SHA256_BYTES);
        assert_true(found.inputs[i].ctime_ns == inputs[i].ctime_ns);
        assert_int_equal(found.inputs[i].named, inputs[i].named);
        assert_int_equal(found.inputs[i].absent, inputs[i].absent);
    }
    assert_true(found.ptx_bytes == UINT64_MAX);
    assert_memory_equal(&found.ptx_sha256, &prepared.ptx_sha256, PJ_SHA256_BYTES);
    assert_string_equal(found.log, prepared.log);
    assert_true(found.ms == prepared.ms);
    assert_string_equal(found.header_note, prepared.header_note);
}

static void a_small_record_is_written_to_the_byte(void **state)
{
    (void)state;
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    struct pj_receipt_file file;
    const struct pj_prepared prepared = small(&file);
    struct pj_prepared found = {0};
    write_record(&prepared, &text);
    assert_string_equal(pj_buffer_text(&text), small_text);
    assert_int_equal(pj_prepared_read(text.data, text.size, &arena, &found, NULL), 0);
    assert_null(found.compiler.path);
    assert_null(found.compiler.build);
    assert_null(found.inputs);
    assert_int_equal(found.input_count, 0);
    assert_null(found.log);
}

static void a_missing_request_is_not_written(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    PJ_CLEANUP_ERROR struct pj_error *error = NULL;
    struct pj_prepared prepared = full();
    prepared.request = NULL;
    assert_int_equal(pj_prepared_write(&prepared, &text, &error), PJ_ERROR_INTERNAL);
    assert_string_equal(pj_error_message(error),
                        "writing the receipt, member \"request\": expected a string");
}

static int read_text(const char *text, size_t size)
{
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    struct pj_prepared found, before;
    memset(&found, 0x55, sizeof found);
    before = found;
    int result = pj_prepared_read(text, size, &arena, &found, NULL);
    if (result != 0)
        assert_memory_equal(&found, &before, sizeof found);
    return result;
}

static void every_cut_is_refused(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    const struct pj_prepared prepared = full();
    write_record(&prepared, &text);
    for (size_t size = 0; size < text.size; size++) {
        /* A copy of just that size, so that a read beyond it is seen. */
        PJ_CLEANUP_FREE char *copy = malloc(size + 1);
        assert_non_null(copy);
        memcpy(copy, text.data, size);
        assert_int_equal(read_text(copy, size), PJ_ERROR_FORMAT);
    }
    pj_buffer_putc(&text, '\n');
    assert_int_equal(read_text(text.data, text.size), PJ_ERROR_FORMAT);
}

/* Does a record that was accepted come back from what is written of it? */
static void expect_stable(const struct pj_prepared *found)
{
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    PJ_CLEANUP_BUFFER struct pj_buffer first = {0};
    PJ_CLEANUP_BUFFER struct pj_buffer second = {0};
    struct pj_prepared again;
    write_record(found, &first);
    assert_int_equal(pj_prepared_read(first.data, first.size, &arena, &again, NULL), 0);
    write_record(&again, &second);
    assert_int_equal(first.size, second.size);
    assert_memory_equal(first.data, second.data, first.size);
}

/* A byte that is another one is refused, or makes another text or number: never anything that is none. */
static void no_damage_is_guessed_at(void **state)
{
    static const char others[] = {'\0', '\n', ' ', '"', ',', '[', ']', '{',    '}',    ':',
                                  '\\', '-',  '0', '9', 'a', 'u', 'x', '\x7f', '\xc3', '\xff'};
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    const struct pj_prepared prepared = full();
    size_t accepted = 0, refused = 0;
    write_record(&prepared, &text);
    for (size_t at = 0; at < text.size; at++) {
        const char right = text.data[at];
        for (size_t i = 0; i < sizeof others; i++) {
            PJ_CLEANUP_ARENA struct pj_arena arena = {0};
            struct pj_prepared found;
            if (right == others[i])
                continue;
            text.data[at] = others[i];
            int result = pj_prepared_read(text.data, text.size, &arena, &found, NULL);
            assert_true(result == 0 || result == PJ_ERROR_FORMAT);
            if (result == 0)
                expect_stable(&found);
            accepted += result == 0;
            refused += result != 0;
        }
        text.data[at] = right;
    }
    assert_true(accepted > 0 && refused > accepted);
}

static void structure_cannot_be_damaged_unseen(void **state)
{
    static const char others[] = {'\0', '\n', ' ', '"', ',', '[', ']', '{', '}', ':', '\\', '-', '\xff'};
    (void)state;
    char text[sizeof small_text];
    for (size_t at = 0; at < sizeof small_text - 1; at++) {
        memcpy(text, small_text, sizeof text);
        if (at > 0 && text[at + 1] == '"' && text[at - 1] == '"' && text[at] >= 'a')
            continue; /* the letter of a path or a text may be any */
        for (size_t i = 0; i < sizeof others; i++) {
            text[at] = others[i];
            if (text[at] == small_text[at])
                continue;
            assert_int_equal(read_text(text, sizeof text - 1), PJ_ERROR_FORMAT);
        }
    }
}

static void what_it_cannot_be_is_said(void **state)
{
    (void)state;
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    PJ_CLEANUP_ERROR struct pj_error *error = NULL;
    PJ_CLEANUP_FREE char *large = calloc(1, PJ_PREPARED_MAX_BYTES + 1);
    struct pj_prepared found;
    assert_non_null(large);
    assert_int_equal(pj_prepared_read(large, PJ_PREPARED_MAX_BYTES + 1, &arena, &found, &error),
                     PJ_ERROR_FORMAT);
    assert_string_equal(pj_error_message(error),
                        "the record of a source has 16777217 bytes, at most 16777216 are allowed");
    pj_error_clear(&error);
    assert_int_equal(pj_prepared_read(large, PJ_PREPARED_MAX_BYTES, &arena, &found, &error), PJ_ERROR_FORMAT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_comes_back),
        cmocka_unit_test(a_small_record_is_written_to_the_byte),
        cmocka_unit_test(a_missing_request_is_not_written),
        cmocka_unit_test(every_cut_is_refused),
        cmocka_unit_test(no_damage_is_guessed_at),
        cmocka_unit_test(structure_cannot_be_damaged_unseen),
        cmocka_unit_test(what_it_cannot_be_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
