/* SPDX-License-Identifier: Apache-2.0 */
/* What link inputs hold: real ones of every kind, and what is none. */
#include "data.h"

#include "image/contents.h"

#define LTO_OPTIONS "-ftz=0 -prec_div=1 -prec_sqrt=1 -fmad=1 "
#define RDC_OPTIONS "--compile-only  "

enum { HAS_PTX = 1, HAS_CUBIN = 2, HAS_LTOIR = 4, HAS_LINKABLE = 8, NOTHING = 16 };

static const struct {
    const char *file;
    enum pj_input_kind kind;
    unsigned flags;
    size_t count;
    struct pj_content items[3];
} files[] = {
    {"../cache/inputs/axpb.ptx",
     PJ_INPUT_PTX,
     HAS_PTX | HAS_LINKABLE,
     1,
     {{.kind = PJ_CODE_PTX, .arch = {80, 0}, .has_letter = true, .major = 9, .size = 822}}},
    {"../cache/inputs/axpb_90a.ptx",
     PJ_INPUT_PTX,
     HAS_PTX | HAS_LINKABLE,
     1,
     {{.kind = PJ_CODE_PTX, .arch = {90, 'a'}, .has_letter = true, .major = 9, .size = 823}}},
    {"ptxas_sm_90a.cubin",
     PJ_INPUT_CUBIN,
     HAS_CUBIN | HAS_LINKABLE,
     1,
     {{.kind = PJ_CODE_CUBIN, .arch = {90, 0}, .has_relocatable = true, .size = 3832}}},
    {"ptxas_sm_100_relocatable.cubin",
     PJ_INPUT_CUBIN,
     HAS_CUBIN | HAS_LINKABLE,
     1,
     {{.kind = PJ_CODE_CUBIN, .arch = {100, 0}, .has_relocatable = true, .relocatable = true, .size = 5424}}},
    {"link/sm_90.ltoir",
     PJ_INPUT_LTOIR,
     HAS_LTOIR | HAS_LINKABLE,
     1,
     {{.kind = PJ_CODE_LTOIR, .arch = {90, 0}, .major = 1, .minor = 65, .packed = true, .size = 2020}}},
    {"link/stored.fatbin",
     PJ_INPUT_FATBIN,
     HAS_PTX | HAS_CUBIN | HAS_LINKABLE,
     2,
     {{.kind = PJ_CODE_CUBIN,
       .arch = {90, 0},
       .has_letter = true,
       .major = 1,
       .minor = 8,
       .has_relocatable = true,
       .relocatable = true,
       .options = "",
       .offset = 80,
       .size = 3352},
      {.kind = PJ_CODE_PTX,
       .arch = {90, 0},
       .has_letter = true,
       .major = 9,
       .options = RDC_OPTIONS,
       .offset = 3528,
       .size = 304}}},
    {"link/letters.fatbin",
     PJ_INPUT_FATBIN,
     HAS_PTX | HAS_CUBIN | HAS_LINKABLE,
     3,
     {{.kind = PJ_CODE_PTX,
       .arch = {80, 0},
       .has_letter = true,
       .major = 9,
       .packed = true,
       .options = "",
       .offset = 96,
       .size = 195},
      {.kind = PJ_CODE_CUBIN,
       .arch = {90, 'a'},
       .has_letter = true,
       .major = 1,
       .minor = 8,
       .packed = true,
       .options = "",
       .offset = 360,
       .size = 867},
      {.kind = PJ_CODE_PTX,
       .arch = {100, 'f'},
       .has_letter = true,
       .major = 9,
       .packed = true,
       .options = "",
       .offset = 1312,
       .size = 204}}},
    {"link/dlto.o",
     PJ_INPUT_OBJECT,
     HAS_PTX | HAS_LTOIR | HAS_LINKABLE,
     2,
     {{.kind = PJ_CODE_PTX,
       .arch = {90, 0},
       .has_letter = true,
       .major = 9,
       .packed = true,
       .options = RDC_OPTIONS,
       .offset = 1016,
       .size = 203},
      {.kind = PJ_CODE_LTOIR,
       .arch = {90, 0},
       .has_letter = true,
       .major = 1,
       .minor = 65,
       .packed = true,
       .options = LTO_OPTIONS,
       .offset = 1344,
       .size = 1626}}},
    {"link/whole.o",
     PJ_INPUT_OBJECT,
     HAS_PTX,
     1,
     {{.kind = PJ_CODE_PTX,
       .arch = {90, 0},
       .has_letter = true,
       .major = 9,
       .whole_program = true,
       .packed = true,
       .options = "",
       .offset = 1024,
       .size = 203}}},
    {"link/host.o", PJ_INPUT_OBJECT, NOTHING, 0, {{0}}},
    {"link/host_and_rdc.a",
     PJ_INPUT_ARCHIVE,
     HAS_PTX | HAS_CUBIN | HAS_LINKABLE,
     2,
     {{.kind = PJ_CODE_CUBIN,
       .arch = {90, 0},
       .has_letter = true,
       .major = 1,
       .minor = 8,
       .packed = true,
       .options = "",
       .member = "rdc.o",
       .offset = 2372,
       .size = 928},
      {.kind = PJ_CODE_PTX,
       .arch = {90, 0},
       .has_letter = true,
       .major = 9,
       .packed = true,
       .options = RDC_OPTIONS,
       .member = "rdc.o",
       .offset = 3396,
       .size = 203}}},
};

static void check_text(const char *text, const char *expected)
{
    assert_int_equal(text != NULL, expected != NULL);
    if (expected)
        assert_string_equal(text, expected);
}

static void check_item(const struct pj_content *item, const struct pj_content *expected)
{
    assert_int_equal(item->kind, expected->kind);
    assert_int_equal(pj_arch_compare(item->arch, expected->arch), 0);
    assert_int_equal(item->has_letter, expected->has_letter);
    assert_int_equal(item->major, expected->major);
    assert_int_equal(item->minor, expected->minor);
    assert_int_equal(item->has_relocatable, expected->has_relocatable);
    assert_int_equal(item->relocatable, expected->relocatable);
    assert_int_equal(item->whole_program, expected->whole_program);
    assert_int_equal(item->packed, expected->packed);
    assert_int_equal(item->bad_shape, expected->bad_shape);
    check_text(item->options, expected->options);
    check_text(item->member, expected->member);
    assert_int_equal(item->offset, expected->offset);
    assert_int_equal(item->size, expected->size);
}

static void check_flags(const struct pj_contents *contents, unsigned flags)
{
    assert_int_equal(contents->has_ptx, (flags & HAS_PTX) != 0);
    assert_int_equal(contents->has_cubin, (flags & HAS_CUBIN) != 0);
    assert_int_equal(contents->has_ltoir, (flags & HAS_LTOIR) != 0);
    assert_int_equal(contents->has_linkable, (flags & HAS_LINKABLE) != 0);
    assert_int_equal(contents->nothing, (flags & NOTHING) != 0);
}

static void test_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < PJ_COUNT(files); i++) {
        PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
        PJ_CLEANUP_ARENA struct pj_arena arena = {0};
        PJ_CLEANUP_ERROR struct pj_error *error = NULL;
        struct pj_contents contents = {0};
        data_read(files[i].file, &bytes);
        char *memory = data_odd_copy(bytes.data, bytes.size);
        if (pj_contents_read(memory + 1, bytes.size, &arena, &contents, &error) != 0)
            fail_msg("%s: %s", files[i].file, pj_error_message(error));
        free(memory); /* nothing of it is kept */
        assert_int_equal(contents.kind, files[i].kind);
        assert_int_equal(contents.count, files[i].count);
        check_flags(&contents, files[i].flags);
        for (size_t k = 0; k < contents.count; k++)
            check_item(&contents.items[k], &files[i].items[k]);
        assert_int_equal(contents.ltoir.container.major, contents.kind == PJ_INPUT_LTOIR ? 1 : 0);
        assert_int_equal(contents.ltoir.ir.minor, contents.kind == PJ_INPUT_LTOIR ? 98 : 0);
    }
}

static int read_bytes(const void *bytes, size_t size, struct pj_arena *arena, struct pj_contents *ret,
                      struct pj_error **err)
{
    char *memory = data_odd_copy(bytes, size);
    int status = pj_contents_read(memory + 1, size, arena, ret, err);
    free(memory);
    return status;
}

#define BYTES(text)      text, sizeof(text) - 1
#define TAKEN(what)      "this is " what ", which no linker takes: "
#define OF_ANOTHER(what) TAKEN(what) "check that this is the file you mean"

static void test_no_inputs(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
        const char *message;
    } rows[] = {
        {BYTES(""), TAKEN("an empty file") "check what should have written it"},
        {BYTES(" \n\0"), TAKEN("a file of nothing but white space") "check what should have written it"},
        {BYTES("\xef\xbb\xbf.version 8.0"),
         TAKEN("text that starts with a UTF-8 byte-order mark") "save it as "
                                                                "plain ASCII without a byte-order mark"},
        {BYTES("\x1f\x8b\x08"), TAKEN("a file compressed with gzip") "decompress it first"},
        {BYTES("__global__ void k() {}"),
         TAKEN("source text (CUDA C++)") "if the program compiles it with NVRTC, make it a `source:` module "
                                         "with the program's options, run `prejit "
                                         "build --out-dir DIR`, and name the PTX that this leaves, "
                                         "DIR/MODULE.sm_NN.ptx: NVRTC's bytes, which "
                                         "nvcc's are not; else name what the program links, such as an "
                                         "object of `nvcc -dc`"},
        {BYTES("hello"),
         TAKEN("text without a PTX header") "PTX starts with .version: check that this is the "
                                            "file you mean"},
        {BYTES("\x01\x02\x03"), OF_ANOTHER("a file of no kind that prejit knows")},
        {BYTES("BC\xc0\xde"), TAKEN("LLVM bitcode") "linkers take LTO-IR, which has NVIDIA's header before "
                                                    "it: compile it with nvcc -dlto"},
        {BYTES("!<thin>\n"), "a thin ar archive holds the names of its members and not their bytes: make a "
                             "whole one (ar rcs, without T)"},
        {BYTES("\x50\xed\x55\xba"), "cut fatbin: the container at byte 0 has 4 bytes of its header of 16"},
        {BYTES("\x7f"
               "ELF"),
         "cut ELF file: 4 bytes do not hold its header of 64"},
        {BYTES("\xed\x43\x4e\x7f"), "cut LTO-IR: 4 bytes do not hold its header of 24"},
    };
    for (size_t i = 0; i < PJ_COUNT(rows); i++) {
        PJ_CLEANUP_ARENA struct pj_arena arena = {0};
        PJ_CLEANUP_ERROR struct pj_error *error = NULL;
        struct pj_contents contents = {.count = 7};
        assert_int_equal(read_bytes(rows[i].bytes, rows[i].size, &arena, &contents, &error), PJ_ERROR_FORMAT);
        assert_string_equal(pj_error_message(error), rows[i].message);
        assert_int_equal(contents.count, 7);
    }
}

/* A program without device code is no input; one with it is, as nvJitLink takes it. */
static void test_program(void **state)
{
    (void)state;
    static const char *const names[] = {"link/host.o", "link/rdc.o"};
    for (size_t i = 0; i < 2; i++) {
        PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
        PJ_CLEANUP_ARENA struct pj_arena arena = {0};
        PJ_CLEANUP_ERROR struct pj_error *error = NULL;
        struct pj_contents contents = {0};
        data_read(names[i], &bytes);
        data_set(&bytes, 16, 2, 3); /* ET_DYN */
        int status = read_bytes(bytes.data, bytes.size, &arena, &contents, &error);
        assert_int_equal(status, i == 0 ? PJ_ERROR_FORMAT : 0);
        if (i == 0)
            assert_string_equal(pj_error_message(error),
                                "this is an ELF file for a CPU (a program, library or object) without device "
                                "code, which no linker takes: name the objects that it was made from, "
                                "compiled with nvcc -dc");
        else
            assert_int_equal(contents.kind, PJ_INPUT_OBJECT);
    }
}

static void put_member(struct pj_buffer *archive, const char *name, const char *file)
{
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    data_read(file, &bytes);
    pj_buffer_printf(archive, "%-16s%-12d%-6d%-6d%-8s%-10zu`\n", name, 0, 0, 0, "644", bytes.size);
    pj_buffer_append(archive, bytes.data, bytes.size);
    if (bytes.size % 2 != 0)
        pj_buffer_putc(archive, '\n');
}

/* nvJitLink looks into objects alone: bare PTX, cubins and fatbins in an archive resolve nothing. */
static void test_archive(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer archive = {0};
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    struct pj_contents contents = {0};
    pj_buffer_puts(&archive, "!<arch>\n");
    put_member(&archive, "a.ptx/", "../cache/inputs/axpb.ptx");
    put_member(&archive, "a.cubin/", "ptxas_sm_90a.cubin");
    put_member(&archive, "a.fatbin/", "link/rdc.fatbin");
    put_member(&archive, "host.o/", "link/host.o");
    assert_int_equal(read_bytes(archive.data, archive.size, &arena, &contents, NULL), 0);
    assert_int_equal(contents.kind, PJ_INPUT_ARCHIVE);
    assert_int_equal(contents.count, 0);
    check_flags(&contents, NOTHING);

    put_member(&archive, "whole.o/", "link/whole.o");
    put_member(&archive, "r\x1b.o/", "link/rdc.o");
    assert_int_equal(read_bytes(archive.data, archive.size, &arena, &contents, NULL), 0);
    assert_int_equal(contents.count, 3);
    check_flags(&contents, HAS_PTX | HAS_CUBIN | HAS_LINKABLE);
    assert_string_equal(contents.items[0].member, "whole.o");
    assert_true(contents.items[0].whole_program);
    assert_string_equal(contents.items[1].member, "r\\x1b.o");
    assert_false(contents.items[1].whole_program);
}

/* Damage inside is told with the way to it. */
static void test_damage(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        size_t at, size;
        uint64_t value;
        const char *message;
    } rows[] = {
        {"link/rdc.o", 0x388, 4, 0, "section __nv_relfatbin: no fatbin: it does not start with 50 ed 55 ba"},
        {"link/rdc.o", 0x388 + 8, 8, 920,
         "section __nv_relfatbin: damaged fatbin: the entry at byte 16 has 928 bytes, and its container 856"},
        {"link/host_and_rdc.a", 2292 + 4, 2, 2,
         "member rdc.o: section __nv_relfatbin: fatbin layout not known: the container at byte 0 has version "
         "2 "
         "and a header of 16 bytes, not 1 and 16"},
        {"link/stored.fatbin", 80 + 18, 2, 62,
         "in a fatbin, at byte 80: no cubin: an ELF file for machine 62, not for CUDA (190)"},
    };
    for (size_t i = 0; i < PJ_COUNT(rows); i++) {
        PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
        PJ_CLEANUP_ARENA struct pj_arena arena = {0};
        PJ_CLEANUP_ERROR struct pj_error *error = NULL;
        struct pj_contents contents = {.count = 7};
        data_read(rows[i].file, &bytes);
        data_set(&bytes, rows[i].at, rows[i].size, rows[i].value);
        assert_int_equal(read_bytes(bytes.data, bytes.size, &arena, &contents, &error), PJ_ERROR_FORMAT);
        assert_string_equal(pj_error_message(error), rows[i].message);
        assert_int_equal(contents.count, 7);
    }
}

/* In a section nothing may stand behind the containers; in a file the rest is nobody's. */
static void test_tail(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer object = {0}, fatbin = {0};
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    PJ_CLEANUP_ERROR struct pj_error *error = NULL;
    struct pj_contents contents = {0};
    data_read("link/rdc.o", &object);
    data_set(&object, 0x388 + 8, 8, 64 + 928); /* the container ends behind the cubin */
    assert_int_equal(read_bytes(object.data, object.size, &arena, &contents, &error), PJ_ERROR_FORMAT);
    assert_string_equal(pj_error_message(error),
                        "section __nv_relfatbin: damaged fatbin: no container at byte 1008 of 1312");
    data_read("link/lz4.fatbin", &fatbin);
    pj_buffer_puts(&fatbin, "tail");
    assert_int_equal(read_bytes(fatbin.data, fatbin.size, &arena, &contents, NULL), 0);
    assert_int_equal(contents.count, 1);
}

/* A bad header is the PTX reader's to explain; here arch and version are not known. */
static void test_bad_ptx(void **state)
{
    (void)state;
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    struct pj_contents contents = {0};
    static const char text[] = ".version x\n.target sm_90\n";
    assert_int_equal(read_bytes(text, sizeof text, &arena, &contents, NULL), 0);
    assert_int_equal(contents.count, 1);
    check_item(&contents.items[0], &(struct pj_content){.kind = PJ_CODE_PTX, .size = sizeof text});
}

/* The shape that hangs the driver [14], LTO-IR scrambled and not, and an empty container. */
static void test_shapes(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    struct pj_contents contents = {0};
    data_read("link/lz4.fatbin", &bytes);
    data_set(&bytes, 16 + 8, 8, 237);
    data_set(&bytes, 16 + 16, 4, 237);
    memset(bytes.data + bytes.size - 3, 0, 3);
    assert_int_equal(read_bytes(bytes.data, bytes.size, &arena, &contents, NULL), 0);
    assert_int_equal(contents.count, 1);
    assert_true(contents.items[0].bad_shape);

    PJ_CLEANUP_BUFFER struct pj_buffer ltoir = {0};
    data_read("link/lto_stored.fatbin", &ltoir);
    assert_int_equal(read_bytes(ltoir.data, ltoir.size, &arena, &contents, NULL), 0);
    assert_false(contents.items[0].packed);
    data_set(&ltoir, 16 + 40, 8, 0x10011);
    assert_int_equal(read_bytes(ltoir.data, ltoir.size, &arena, &contents, NULL), 0);
    assert_true(contents.items[0].packed);

    data_set(&bytes, 8, 8, 0);
    assert_int_equal(read_bytes(bytes.data, 16, &arena, &contents, NULL), 0);
    assert_int_equal(contents.kind, PJ_INPUT_FATBIN);
    assert_null(contents.items);
    check_flags(&contents, NOTHING);
}

static void test_kinds(void **state)
{
    (void)state;
    static const char *const names[] = {"ptx", "cubin", "fatbin", "object", "library", "ltoir"};
    for (size_t i = 0; i < PJ_COUNT(names); i++)
        assert_string_equal(pj_input_kind_name((enum pj_input_kind)i), names[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files),   cmocka_unit_test(test_no_inputs), cmocka_unit_test(test_program),
        cmocka_unit_test(test_archive), cmocka_unit_test(test_damage),    cmocka_unit_test(test_tail),
        cmocka_unit_test(test_bad_ptx), cmocka_unit_test(test_shapes),    cmocka_unit_test(test_kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
