/* SPDX-License-Identifier: Apache-2.0 */
/* What NVRTC is told of a source, what it says it read, and how two of its results are told apart. */
#include "runs.h"

#include "session/prepare/header_places.h"
#include "session/prepare/headers.h"
#include "session/prepare/private.h"
#include "session/prepare/source.h"

static const char *const nvrtc_options[] = {"-DX=1", "-Iown"};
static const char *const real_options[] = {"--std=c++17", "-arch=sm_90a"};
static const char *const expressions[] = {"k<int>", "k<float>"};
static struct pj_header headers[] = {{"own.h", "/k/own.h"}, {"sub/deep.h", "/k/deep.h"}};

/* A module of everything, without files. */
struct subject {
    struct pj_module module;
    struct pj_plan_image images[3];
    const struct pj_plan_image *pointers[3];
    struct pj_source source;
    struct pj_arena arena;
};

static void make_subject(struct subject *subject)
{
    *subject = (struct subject){
        .module = {.kind = PJ_MODULE_SOURCE,
                   .name = "physics",
                   .path = "/k/p.cu",
                   .program_name = "p.cu",
                   .nvrtc = (const char **)(uintptr_t)nvrtc_options,
                   .nvrtc_count = 2,
                   .headers = headers,
                   .header_count = 2,
                   .name_expressions = (const char **)(uintptr_t)expressions,
                   .name_expression_count = 2},
        .images = {{.path = "/k/p.cu", .size_bytes = 10},
                   {.path = "/k/own.h", .size_bytes = 20},
                   {.path = "/k/deep.h"}},
    };
    for (size_t i = 0; i < 3; i++) {
        subject->images[i].form = PJ_FORM_SOURCE;
        subject->images[i].sha256.bytes[0] = (unsigned char)(i + 1);
        subject->pointers[i] = &subject->images[i];
    }
    subject->source = (struct pj_source){
        .module = &subject->module, .images = subject->pointers, .arch = {.number = 90, .letter = 'a'}};
}

static void free_subject(struct subject *subject)
{
    pj_arena_free(&subject->arena);
}
#define CLEANUP_SUBJECT __attribute__((cleanup(free_subject)))

static void expect_arguments(struct subject *subject, int version, const char *include, bool trace,
                             const char *expected)
{
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    const struct pj_compiler nvrtc = {.version = version};
    struct pj_making making;
    expect_success(pj_source_order(&subject->source, &nvrtc, include, PJ_OUTPUT_PTX, trace, &subject->arena,
                                   &making, &err),
                   &err);
    for (size_t i = 0; i < making.argument_count; i++)
        pj_buffer_printf(&text, "%s%s", i ? " | " : "", making.arguments[i]);
    assert_string_equal(pj_buffer_text(&text), expected);
}

static void test_arguments(void **state)
{
    static const char *const extra[] = {"--ptxas-options=-v"};
    (void)state;
    CLEANUP_SUBJECT struct subject subject;
    make_subject(&subject);
    expect_arguments(&subject, 13000, NULL, false,
                     "-DX=1 | -Iown | --gpu-architecture=compute_90a | --no-cache");
    expect_arguments(&subject, 12080, "/inc", false,
                     "-DX=1 | -Iown | --gpu-architecture=compute_90a | -I/inc");
    expect_arguments(
        &subject, 13000, "/inc", true,
        "-DX=1 | -Iown | --gpu-architecture=compute_90a | -I/inc | --no-cache | -Xcudafe | --trace_includes");
    subject.source.real = true;
    subject.source.arch.letter = 0;
    subject.source.extra = extra;
    subject.source.extra_count = 1;
    expect_arguments(&subject, 13010, "/inc", true,
                     "-DX=1 | -Iown | --gpu-architecture=sm_90 | -I/inc | --no-cache | --ptxas-options=-v | "
                     "-Xcudafe | --trace_includes");
    subject.module.nvrtc = (const char **)(uintptr_t)real_options; /* names an architecture itself */
    expect_arguments(&subject, 13000, NULL, false,
                     "--std=c++17 | -arch=sm_90a | --no-cache | --ptxas-options=-v");
    subject.module.nvrtc_count = 0;
    subject.source.extra_count = 0;
    expect_arguments(&subject, 11020, NULL, false, "--gpu-architecture=sm_90");
}

static void test_order(void **state)
{
    (void)state;
    CLEANUP_SUBJECT struct subject subject;
    make_subject(&subject);
    const struct pj_compiler nvrtc = {.version = 13000};
    struct pj_making making;
    assert_int_equal(pj_source_order(&subject.source, &nvrtc, NULL, PJ_OUTPUT_PTX | PJ_OUTPUT_LOG, false,
                                     &subject.arena, &making, NULL),
                     0);
    assert_string_equal(making.title, "physics sm_90a");
    assert_string_equal(making.name, "p.cu");
    assert_int_equal(making.outputs, PJ_OUTPUT_PTX | PJ_OUTPUT_LOG);
    assert_int_equal(making.weight_bytes, 10);
    assert_int_equal(making.expression_count, 2);
    assert_string_equal(making.expressions[1], "k<float>");
    assert_int_equal(making.part_count, 3);
    static const char *const names[] = {"p.cu", "own.h", "sub/deep.h"};
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(making.parts[i].name, names[i]);
        assert_string_equal(making.parts[i].path, subject.images[i].path);
        assert_int_equal(making.parts[i].type, 0);
        assert_int_equal(making.parts[i].size_bytes, subject.images[i].size_bytes);
        assert_int_equal(making.parts[i].sha256.bytes[0], i + 1);
        assert_null(making.parts[i].bytes);
    }
}

static void test_request(void **state)
{
    (void)state;
    CLEANUP_SUBJECT struct subject subject;
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    make_subject(&subject);
    assert_int_equal(pj_source_request(&subject.source, "/k", &text, NULL), 0);
    assert_string_equal(
        pj_buffer_text(&text),
        "directory /k\nsource /k/p.cu\nprogram p.cu\nvirtual sm_90a\noption -DX=1\noption -Iown\n"
        "header own.h\nfrom /k/own.h\nheader sub/deep.h\nfrom /k/deep.h\nname k<int>\nname k<float>\n");
    PJ_CLEANUP_BUFFER struct pj_buffer real = {0};
    subject.source.real = true;
    subject.module.nvrtc_count = subject.module.header_count = subject.module.name_expression_count = 0;
    assert_int_equal(pj_source_request(&subject.source, "/", &real, NULL), 0);
    assert_string_equal(pj_buffer_text(&real), "directory /\nsource /k/p.cu\nprogram p.cu\nreal sm_90a\n");
}

static void test_knows(void **state)
{
    (void)state;
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    uint16_t archs[] = {75, 80, 90};
    const struct pj_compiler nvrtc = {.archs = archs,
                                      .arch_count = 3,
                                      .library = {.path = "/l", .version = "13.0"}},
                             silent = {.version = 1};
    assert_true(pj_source_knows(&nvrtc, 75) && pj_source_knows(&nvrtc, 90));
    assert_false(pj_source_knows(&nvrtc, 86) || pj_source_knows(&nvrtc, 100));
    assert_true(pj_source_knows(&silent, 100)); /* it does not tell */
    assert_string_equal(pj_source_why_not(&nvrtc, 70, &arena),
                        "NVRTC 13.0 (/l) compiles for sm_75 and later, not for sm_70: use an older one "
                        "(--nvrtc PATH), or leave this target out");
    assert_string_equal(
        pj_source_why_not(&nvrtc, 100, &arena),
        "NVRTC 13.0 (/l) does not know sm_100, the newest that it knows is sm_90: use a newer one "
        "(--nvrtc PATH), or, if the program does so, write nvrtc: [--gpu-architecture=compute_90], "
        "whose PTX the driver compiles for sm_100");
    assert_string_equal(
        pj_source_why_not(&nvrtc, 86, &arena),
        "NVRTC 13.0 (/l) does not know sm_86, the newest that it knows is sm_90: use a newer one "
        "(--nvrtc PATH), or, if the program does so, write nvrtc: [--gpu-architecture=compute_80], "
        "whose PTX the driver compiles for sm_86");
}

/* `doubt` starts below the folder; NULL = none. */
static void expect_files(const struct subject *subject, const struct folder *folder, const char *list,
                         const char *expected, const char *doubt)
{
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    struct pj_plan_file *files = NULL;
    const char *found = NULL;
    size_t count = 0, prefix = strlen(folder->path);
    expect_success(
        pj_headers_files(&subject->source, list, folder->path, NULL, &arena, &files, &count, &found, &err),
        &err);
    if (doubt) {
        char *text_of_it = pj_arena_printf(&arena, "NVRTC read the header %s%s", folder->path, doubt);
        assert_string_equal(found, text_of_it);
    } else {
        assert_null(found);
    }
    for (size_t i = 0; i < count; i++) {
        bool below = strncmp(files[i].path, folder->path, prefix) == 0;
        pj_buffer_printf(&text, "%s%s%s\n", files[i].named ? "named " : "", below ? "." : "",
                         files[i].path + (below ? prefix : 0));
    }
    assert_string_equal(pj_buffer_text(&text), expected);
    for (size_t i = 3; i < count; i++) {
        PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
        struct pj_sha256 digest;
        assert_int_equal(pj_file_read(AT_FDCWD, files[i].path, 1 << 20, &bytes, NULL), 0);
        pj_sha256_of(pj_buffer_text(&bytes), bytes.size, &digest);
        assert_memory_equal(&digest, &files[i].sha256, sizeof digest);
        assert_int_equal(files[i].status.st_size, bytes.size);
    }
}

#define NAMED "named /k/p.cu\nnamed /k/own.h\nnamed /k/deep.h\n"

/* Each file once; what is in memory or built in is none; a name starts from the manifest's folder. */
static void test_headers(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    CLEANUP_SUBJECT struct subject subject;
    char list[4096];
    folder_make(&folder);
    folder_write(&folder, "inc/a.h", "int a;\n");
    folder_write(&folder, "b.h", "");
    folder_write(&folder, "own.h", "int other;\n"); /* on disk as well, and not read */
    folder_write(&folder, "with blank.h", "int c;\n");
    make_subject(&subject);
    expect_files(&subject, &folder, "", NAMED, NULL);
    expect_files(&subject, &folder, "b.h\n", NAMED "./b.h\n", NULL);
    expect_files(&subject, &folder, "b.h", NAMED "./b.h\n", NULL); /* its last line is cut */
    expect_files(&subject, &folder, "__nv_nvrtc_builtin_header.h\n__nv_name_map\n", NAMED, NULL);
    expect_files(
        &subject, &folder,
        "__nv_nvrtc_builtin_header.h\ninc/a.h\n own.h\n  sub/deep.h\n   inc/a.h\nb.h\n\n  \n__nv_name_map\n"
        "inc\ngone.h\nwith blank.h\ninc/a.h\n",
        NAMED "./b.h\n./inc/a.h\n./with blank.h\n", "/gone.h, which cannot be read");
    expect_files(&subject, &folder, "inc\n", NAMED, "/inc, which cannot be read");
    (void)snprintf(list, sizeof list, "%s/inc/a.h\n %s/b.h\n/k/own.h\n/k/p.cu\n", folder.path, folder.path);
    expect_files(&subject, &folder, list, NAMED "./b.h\n./inc/a.h\n", NULL);
}

static void expect_places(const struct folder *folder, const char *list, const char *expected)
{
    static const char *const arguments[] = {"-Iinc1",   "--include-path=inc2/", "-I",
                                            "inc2/sub", "-I/absolute",          "-I/toolkit/include"};
    const struct pj_making making = {.name = "src/p.cu",
                                     .arguments = (const char **)(uintptr_t)arguments,
                                     .argument_count = PJ_COUNT(arguments)};
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    struct pj_plan_file first = {.path = "/k/p.cu", .named = true}, *files = &first;
    size_t count = 1, prefix = strlen(folder->path);
    expect_success(pj_header_places_add(&making, list, folder->path, &arena, &files, &count, &err), &err);
    assert_string_equal(files[0].path, "/k/p.cu");
    assert_true(files[0].named && !files[0].absent);
    for (size_t i = 1; i < count; i++) {
        assert_true(files[i].absent && !files[i].named);
        bool below = strncmp(files[i].path, folder->path, prefix) == 0;
        pj_buffer_printf(&text, "%s%s\n", below ? "." : "", files[i].path + (below ? prefix : 0));
    }
    assert_string_equal(pj_buffer_text(&text), expected);
}

/* Where a header would be found before the one that was: with who includes it, and in the folders before. */
static void test_places(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    folder_write(&folder, "inc1/there.h", "");
    expect_places(&folder, "", "");
    expect_places(&folder, "src/a.h\n", "");
    expect_places(&folder, "inc1/a.h\n", "./src/a.h\n");
    expect_places(&folder, "inc1/a.h\ninc1/a.h\n", "./src/a.h\n");
    expect_places(&folder, "inc2/a.h\n", "./inc1/a.h\n./src/a.h\n");
    expect_places(&folder, "inc2/there.h\n", "./src/there.h\n");
    expect_places(&folder, "/absolute/x/a.h\n",
                  "./inc1/x/a.h\n./inc2/sub/x/a.h\n./inc2/x/a.h\n./src/x/a.h\n");
    /* Two folders can have led to it. */
    expect_places(&folder, "inc2/sub/a.h\n",
                  "./inc1/a.h\n./inc1/sub/a.h\n./inc2/a.h\n./src/a.h\n./src/sub/a.h\n");
    /* The folder of who includes it. */
    expect_places(&folder, "inc1/x/y.h\n inc1/b.h\n  inc1/c.h\n", "./inc1/x/b.h\n./src/x/y.h\n");
    expect_places(&folder, "inc1/x/y.h\n inc1/x/z.h\ninc1/b.h\n", "./inc1/x/x/z.h\n./src/b.h\n./src/x/y.h\n");
    /* What is in memory or built in is in no folder; an absolute place is where it is. */
    expect_places(&folder, "own.h\n__nv_nvrtc_builtin_header.h\n/elsewhere/a.h\n", "");
    /* Of the toolkit only what others include. */
    expect_places(&folder, "/toolkit/include/cuda_fp16.h\n /toolkit/include/vector_types.h\n",
                  "/absolute/cuda_fp16.h\n./inc1/cuda_fp16.h\n./inc2/cuda_fp16.h\n./inc2/sub/cuda_fp16.h\n"
                  "./src/cuda_fp16.h\n");
}

/* Whatever the time of its bytes says, a header that was touched since NVRTC began may be another one. */
static void test_changed_meanwhile(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    CLEANUP_SUBJECT struct subject subject;
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    struct pj_plan_file *files = NULL;
    const char *doubt = NULL;
    size_t count = 0;
    struct stat status;
    folder_make(&folder);
    folder_write(&folder, "b.h", "");
    make_subject(&subject);
    char *path = pj_arena_printf(&arena, "%s/b.h", folder.path);
    const struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
    assert_int_equal(stat(path, &status), 0);
    const long offsets[] = {1, 0, -1}; /* of the begin from the change */
    for (size_t i = 0; i < PJ_COUNT(offsets); i++) {
        struct timespec begin = {.tv_sec = status.st_ctim.tv_sec + offsets[i],
                                 .tv_nsec = status.st_ctim.tv_nsec};
        expect_success(pj_headers_files(&subject.source, "b.h\n", folder.path, &begin, &arena, &files, &count,
                                        &doubt, &err),
                       &err);
        assert_int_equal(count, 4);
        if (offsets[i] > 0)
            assert_null(doubt);
        else
            assert_string_equal(
                doubt,
                pj_arena_printf(&arena, "NVRTC read the header %s, which was changed meanwhile", path));
    }
}

/* Which headers came from folders that prejit adds: those behind the module's own two options. */
static void test_hidden_header(void **state)
{
#define TOLD(which, folder)                                                                                  \
    which " came from " folder                                                                               \
          ", which the module's options do not name: a program with just these options "                     \
          "fails, or takes another file; if the program has that folder, add -I" folder                      \
          " to the module's nvrtc"
    static const struct {
        const char *own, *list, *expected;
    } rows[] = {
        {"-Iinc", "", NULL},
        {"-Iinc", "inc/a.h\n b.h\n", NULL},
        {"-Iinc", "inc/a.h\n /t/include/cuda_fp16.h\n  /t/include/cuda_fp16.hpp\n",
         TOLD("cuda_fp16.h", "/t/include")},
        {"-Iinc", "/t/include/a.h\n /t/include/b.h\ninc/c.h\n /t/include/cccl/cuda/d.h\n/t/include/e.h\n",
         TOLD("a.h and 2 more", "/t/include")},
        {"-Iinc", "/t/include/cccl/cuda/std/array\n", TOLD("cuda/std/array", "/t/include/cccl")},
        {"-I/t/include", "/t/include/a.h\n", NULL},
        {"-I/t/include//", "/t/include/a.h\n", NULL},
        {"-I/t/include", "/t/include/cccl/cuda/std/array\n", TOLD("cuda/std/array", "/t/include/cccl")},
        {"-I/t/include/cccl", "/t/include/cccl/cuda/std/array\n", NULL},
        {"-I/t", "/t/include.h\n", NULL},
    };
    (void)state;
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    for (size_t i = 0; i < PJ_COUNT(rows); i++) {
        PJ_CLEANUP_ERROR struct pj_error *err = NULL;
        const char *arguments[] = {"-G", rows[i].own, "-I/t/include", "-I/t/include/cccl", "--no-cache"};
        const struct pj_making making = {.arguments = arguments, .argument_count = PJ_COUNT(arguments)};
        const char *note = "not set";
        expect_success(pj_prepare_hidden_header(&making, 2, rows[i].list, &arena, &note, &err), &err);
        if (rows[i].expected)
            assert_string_equal(note, rows[i].expected);
        else
            assert_null(note);
    }
}

static void test_difference(void **state)
{
    static const struct {
        const char *before, *after, *expected;
    } rows[] = {
        {"a", "b", "line 1 is `b`, and was `a`"},   {"a\nb\nc\n", "a\nB\nc\n", "line 2 is `B`, and was `b`"},
        {"a\n", "a", "line 1 is `a`, and was `a`"}, {"a\nb", "a\n", "line 2 is ``, and was `b`"},
        {"", "x\n", "line 1 is `x`, and was ``"},   {"a\nbc\n", "a\nb\n", "line 2 is `b`, and was `bc`"},
    };
    (void)state;
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    for (size_t i = 0; i < PJ_COUNT(rows); i++)
        assert_string_equal(pj_prepare_first_difference(rows[i].before, rows[i].after, &arena),
                            rows[i].expected);
    /* As PTX has the text of __TIME__: beyond what is shown of a line. */
    assert_string_equal(pj_prepare_first_difference(
                            "//\n.global .align 1 .b8 __unnamed_1[9] = {49, 55, 58, 50, 49, 58, 51, 54};\n",
                            "//\n.global .align 1 .b8 __unnamed_1[9] = {49, 55, 58, 50, 49, 58, 51, 57};\n",
                            &arena),
                        "line 2 is `...8, 50, 49, 58, 51, 57};`, and was `...8, 50, 49, 58, 51, 54};`");
    char wide[200];
    memset(wide, 'w', sizeof wide - 1);
    wide[sizeof wide - 1] = '\0';
    const char *cut = pj_prepare_first_difference("", wide, &arena);
    assert_true(strlen(cut) < 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arguments),         cmocka_unit_test(test_order),
        cmocka_unit_test(test_request),           cmocka_unit_test(test_knows),
        cmocka_unit_test(test_headers),           cmocka_unit_test(test_places),
        cmocka_unit_test(test_changed_meanwhile), cmocka_unit_test(test_difference),
        cmocka_unit_test(test_hidden_header),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
