/* SPDX-License-Identifier: Apache-2.0 */
/* Faults of source and link modules: their files, headers and options, each with its exact message. */
#include "folder.h"

#define HEADERS                                                                                              \
    "; allowed is a mapping of at least one include name to a path, at most 199, for example `headers: "     \
    "{config.h: kernels/config.h}`"
#define ARCHITECTURE                                                                                         \
    "; allowed is an architecture of the form `compute_90` or `sm_90`, for example "                         \
    "`--gpu-architecture=compute_90`"
#define SAME_PTX " and changes nothing in the PTX: remove it"
#define TILDE                                                                                                \
    "; `~` stands for no folder here: write the path out, from `/` or relative to the manifest (`./~` for "  \
    "a file whose name starts with `~`)"

/* Keys of a module `a` that has nothing else: line 4, from column 3. */
static const struct {
    const char *text;
    const char *message;
} modules[] = {
    {"source: 'k/*.cu'", "f:4:11: `source`: read `k/*.cu`; patterns are expanded under `ptx` alone: write "
                         "one module for each file"},
    {"source: a.cu\n  headers: {a.h: 'k/?.h', b.h: 'k/[b].h'}",
     "f:5:18: `headers`: read `k/?.h`; patterns are expanded under `ptx` alone: write out each header with "
     "its "
     "name\n"
     "f:5:32: `headers`: read `k/[b].h`; patterns are expanded under `ptx` alone: write out each header with "
     "its name"},
    {"source: a.cu\n  headers: [a.h]", "f:5:12: `headers`: read a list" HEADERS},
    {"source: a.cu\n  headers: {}", "f:5:12: `headers`: read an empty mapping" HEADERS},
    {"source: a.cu\n  headers: a.h", "f:5:12: `headers`: read `a.h`" HEADERS},
    {"source: a.cu\n  headers: {'': a.h}",
     "f:5:13: `headers`: read an empty value" HEADERS "; the name is what `#include` has between its quotes"},
    {"source: a.cu\n  headers: {\"a\\nb\": a.h}",
     "f:5:13: `headers`: read `a\\x0ab`" HEADERS "; the name is what `#include` has between its quotes"},
    {"source: a.cu\n  headers: {a.h: ''}", "f:5:18: `headers`: read an empty value" HEADERS},
    {"source: a.cu\n  headers: {a.h: ~/a.h}", "f:5:18: `headers`: read `~/a.h`" TILDE},
    {"source: a.cu\n  program_name: ''",
     "f:5:17: `program_name`: read an empty value; allowed is text without control characters, for example "
     "`program_name: physics.cu`"},
    {"source: a.cu\n  program_name: \"a\\tb\"",
     "f:5:17: `program_name`: read `a\\x09b`; allowed is text without control characters, for example "
     "`program_name: physics.cu`"},
    {"source: a.cu\n  name_expressions: k<1>",
     "f:5:21: `name_expressions`: read `k<1>`; allowed is a list of at least one text, for example "
     "`name_expressions: ['step<float>', 'step<double>']`; a single one stands between `[` and `]` too"},
    {"ptx: a.ptx\n  headers: {a.h: a.h}",
     "f:5:3: `headers` goes with `source`, and this module has `ptx`: remove it"},
    {"link: [a.ptx]\n  name_expressions: [k]",
     "f:5:3: `name_expressions` goes with `source`, and this module has `link`: remove it"},
    {"link: [a.ptx]\n  program_name: k",
     "f:5:3: `program_name` goes with `source`, and this module has `link`: remove it"},
    {"source: a.cu\n  takes: sass",
     "f:5:10: `takes`: read `sass`; allowed is `ptx` or `cubin`, for example `takes: ptx`"},
    {"source: a.cu\n  nvrtc: [-G, -arch, compute_90]\n  takes: cubin",
     "f:6:10: `takes`: read `cubin`; with `compute_90`, a virtual architecture, NVRTC has PTX alone: write "
     "`takes: ptx`, or under `nvrtc` the real architecture that the program names"},
    {"source: a.cu\n  nvrtc: [-dlto, -arch=sm_90]\n  takes: ptx",
     "f:6:3: `takes`: with -dlto NVRTC has LTO-IR, and neither PTX nor a cubin: remove it"},
    {"ptx: a.ptx\n  takes: ptx", "f:5:3: `takes` goes with `source`, and this module has `ptx`: remove it"},
    {"ptx: a.ptx\n  nvjitlink: [-lto]",
     "f:5:3: `nvjitlink` goes with `link`, and this module has `ptx`: remove it"},
    {"link: [a.ltoir]\n  linker: driver\n  nvjitlink: [-lto, -ptx]",
     "f:6:3: `nvjitlink` has options of nvJitLink, and `linker: driver` (line 5) says that the driver links: "
     "remove one of the two"},
    {"link: [a.ptx, 'k/*.ptx']",
     "f:4:17: `link`: read `k/*.ptx`; patterns are expanded under `ptx` alone: write out each file, in the "
     "order of linking"},
    {"link: [a.ptx, b.ptx, a.ptx]",
     "f:4:24: `link`: linked twice: `a.ptx` is number 1 of the list already: remove one of the two"},
    {"link: [k/a.ptx, b.ptx, .//b.ptx, k/./a.ptx]",
     "f:4:26: `link`: linked twice: `.//b.ptx` is number 2 of the list already: remove one of the two\n"
     "f:4:36: `link`: linked twice: `k/./a.ptx` is number 1 of the list already: remove one of the two"},
};

/* The one option of a source module `a`: line 5, column 11. */
static const struct {
    const char *options;
    const char *message;
} options[] = {
    {"''",
     "f:5:11: `nvrtc`: read an empty value; allowed is a list of at least one text, for example `nvrtc: "
     "[--std=c++17, -Iinclude]`"},
    {"' '", "f:5:11: `nvrtc`: read ` `; an option of blanks alone is refused by NVRTC: remove it"},
    {"--no-cache", "f:5:11: `nvrtc`: read `--no-cache`; prejit adds it by itself: remove it"},
    {"-no-cache", "f:5:11: `nvrtc`: read `-no-cache`; prejit adds it by itself: remove it"},
    {"--pch",
     "f:5:11: `nvrtc`: read `--pch`; it is about precompiled headers, files that NVRTC writes," SAME_PTX},
    {"--pch-dir=/tmp", "f:5:11: `nvrtc`: read `--pch-dir=/tmp`; it is about precompiled headers, files that "
                       "NVRTC writes," SAME_PTX},
    {"--time=t.csv", "f:5:11: `nvrtc`: read `--time=t.csv`; it makes NVRTC write a file" SAME_PTX},
    {"-fdevice-time-trace=t",
     "f:5:11: `nvrtc`: read `-fdevice-time-trace=t`; it makes NVRTC write a file" SAME_PTX},
    {"-enable-cache-trace", "f:5:11: `nvrtc`: read `-enable-cache-trace`; it makes NVRTC print" SAME_PTX},
    {"--optix-ir",
     "f:5:11: `nvrtc`: read `--optix-ir`; it makes OptiX IR and no PTX, which the driver's cache "
     "does not keep: leave the module out"},
    {"-fdevice-syntax-only",
     "f:5:11: `nvrtc`: read `-fdevice-syntax-only`; it makes PTX without any code: remove it"},
    {"-arch", "f:5:11: `nvrtc`: read `-arch`; its value is missing: write it as the next item of the list"},
    {"-I", "f:5:11: `nvrtc`: read `-I`; its value is missing: write it as the next item of the list"},
    {"-arch compute_90",
     "f:5:11: `nvrtc`: read `-arch compute_90`; NVRTC takes this for one option: make it two "
     "items of the list"},
    {"-arch=turbo", "f:5:11: `nvrtc`: read `-arch=turbo`" ARCHITECTURE},
    {"-arch=", "f:5:11: `nvrtc`: read `-arch=`" ARCHITECTURE},
    {"-arch=90", "f:5:11: `nvrtc`: read `-arch=90`" ARCHITECTURE "; did you mean `compute_90`?"},
    {"-arch=9.0a", "f:5:11: `nvrtc`: read `-arch=9.0a`" ARCHITECTURE "; did you mean `compute_90a`?"},
    {"--gpu-architecture=compute_9", "f:5:11: `nvrtc`: read `--gpu-architecture=compute_9`" ARCHITECTURE
                                     "; \"sm_9\": there is no sm_9; the architectures of CUDA 13 are 75, 80, "
                                     "86, 87, 89, 90, 100, 103, 110, 120 "
                                     "and 121"},
    {"-arch=sm_90f", "f:5:11: `nvrtc`: read `-arch=sm_90f`" ARCHITECTURE
                     "; \"sm_90f\": there is no sm_90f; sm_90 takes the letter a alone"},
    {"-arch, compute_9x",
     "f:5:18: `nvrtc`: read `compute_9x`" ARCHITECTURE
     "; \"sm_9x\": there is no sm_9x; the architectures of CUDA 13 are 75, 80, 86, 87, 89, 90, "
     "100, 103, 110, 120 and 121"},
    {"-arch=compute_80, -G, --gpu-architecture, compute_90",
     "f:5:53: `nvrtc`: read `compute_90` beside `-arch=compute_80` (line 5); a program is compiled for one "
     "architecture: keep the one that counts, which for NVRTC is the last"},
    {"-Iinclude, -I, 'a b', -D, '-DX', -G, '-DY=a b', -arch=turbo",
     "f:5:59: `nvrtc`: read `-arch=turbo`" ARCHITECTURE},
};

/* What a manifest says enough of to make cubins, and not enough to warm: keys of a module `a`. */
static void what_is_taken_from_nvrtc_is_not_guessed(void **state)
{
    static const struct {
        const char *text, *place; /* place NULL: it is said, or only one thing can be meant */
        bool prepared;
    } rows[] = {
        {"source: a.cu\n  nvrtc: [-arch=sm_90]", "f:5:11: `nvrtc`: read `-arch=sm_90`", true},
        {"source: a.cu\n  nvrtc: [-G, --gpu-architecture, sm_90a]", "f:5:35: `nvrtc`: read `sm_90a`", true},
        {"source: a.cu\n  nvrtc: [-arch=sm_90]\n  takes: ptx", NULL, true},
        {"source: a.cu\n  nvrtc: [-arch=sm_90]\n  takes: cubin", NULL, false},
        {"source: a.cu\n  nvrtc: [-arch=compute_90]", NULL, true},
        {"source: a.cu\n  nvrtc: [-arch=compute_90]\n  takes: ptx", NULL, true},
        {"source: a.cu", NULL, true},
        {"source: a.cu\n  takes: cubin", NULL, false},
        {"source: a.cu\n  nvrtc: [-arch=sm_90, -dlto]", NULL, false},
        {"link: [a.ltoir]\n  linker: nvjitlink", NULL, false},
        {"link: [a.ltoir]\n  linker: nvjitlink\n  nvjitlink: [-lto, -arch=sm_90]", NULL, false},
        {"link: [a.ltoir]\n  linker: nvjitlink\n  nvjitlink: [-lto, -ptx]", NULL, true},
        {"link: [a.ltoir]\n  nvjitlink: [-lto, -ptx]", NULL, true},
        {"link: [a.ptx]", NULL, false},
    };
    (void)state;
    for (size_t i = 0; i < PJ_COUNT(rows); i++) {
        PJ_CLEANUP_BUFFER struct pj_buffer text = {0}, expected = {0};
        PJ_CLEANUP_MANIFEST struct pj_manifest *manifest = NULL;
        PJ_CLEANUP_ERROR struct pj_error *err = NULL;
        pj_buffer_printf(&text, HEAD "- name: a\n  %s\n", rows[i].text);
        expect_success(pj_manifest_parse(pj_buffer_text(&text), text.size, "f", ".", false, &manifest, &err),
                       &err);
        assert_int_equal(pj_module_is_prepared(&manifest->modules[0]), rows[i].prepared);
        int r = pj_manifest_check_decided(manifest, &err);
        assert_int_equal(r, rows[i].place ? PJ_ERROR_MANIFEST : 0);
        if (!rows[i].place)
            continue;
        pj_buffer_printf(
            &expected,
            "%s; for a real architecture NVRTC has PTX as well as a cubin, and `takes` is missing: add "
            "`takes: "
            "ptx` if the program calls nvrtcGetPTX (the driver compiles that PTX, so it is warmed), or "
            "`takes: "
            "cubin` if it calls nvrtcGetCUBIN (NVRTC itself compiles at each start, so nothing is warmed)",
            rows[i].place);
        assert_string_equal(pj_error_message(err), pj_buffer_text(&expected));
    }
}

static void modules_are_refused_with_their_message(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++) {
        PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
        pj_buffer_printf(&text, HEAD "- name: a\n  %s\n", modules[i].text);
        expect_refused(pj_buffer_text(&text), modules[i].message);
    }
}

static void options_are_refused_with_their_message(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
        pj_buffer_printf(&text, HEAD "- name: a\n  source: a.cu\n  nvrtc: [%s]\n", options[i].options);
        expect_refused(pj_buffer_text(&text), options[i].message);
    }
}

static void other_options_are_nvrtcs_business(void **state)
{
    (void)state;
    PJ_CLEANUP_MANIFEST struct pj_manifest *manifest =
        parse_in(HEAD "- name: a\n  source: a.cu\n"
                      "  nvrtc: [-arch, sm_90a, -Xcudafe, --trace_includes, -dlto, -rdc=true, --frobnicate, "
                      "'-I a', -lineinfo]\n",
                 ".", false);
    assert_int_equal(manifest->modules[0].nvrtc_count, 9);
    assert_string_equal(manifest->modules[0].nvrtc[7], "-I a");
}

/* A name with a pattern's characters is a file's name where there is such a file. */
static void a_file_of_that_name_is_no_pattern(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    folder_write(&folder, "a[1].cu", "");
    folder_write(&folder, "b?.ptx", "");
    PJ_CLEANUP_MANIFEST struct pj_manifest *manifest =
        parse_in(HEAD "- {name: a, source: 'a[1].cu'}\n- {name: b, link: ['b?.ptx']}\n", folder.path, false);
    assert_string_equal(manifest->modules[0].program_name, "a[1].cu");
    assert_int_equal(manifest->modules[1].input_count, 1);
}

static void put_links(struct pj_buffer *text, unsigned count)
{
    pj_buffer_puts(text, HEAD "- name: a\n  link: [");
    for (unsigned i = 0; i < count; i++)
        pj_buffer_printf(text, "%sp%u", i == 0 ? "" : ", ", i);
    pj_buffer_puts(text, "]\n");
}

static void put_headers(struct pj_buffer *text, unsigned count)
{
    pj_buffer_puts(text, HEAD "- name: a\n  source: a.cu\n  headers: {");
    for (unsigned i = 0; i < count; i++)
        pj_buffer_printf(text, "%sh%u: p", i == 0 ? "" : ", ", i);
    pj_buffer_puts(text, "}\n");
}

static void files_are_at_most_199(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    put_links(&text, 199);
    PJ_CLEANUP_MANIFEST struct pj_manifest *links = parse_in(pj_buffer_text(&text), ".", false);
    assert_int_equal(links->modules[0].input_count, PJ_MODULE_FILES_MAX);
    pj_buffer_reset(&text);
    put_links(&text, 200);
    expect_refused(pj_buffer_text(&text),
                   "f:4:9: `link`: read 200 items; allowed is a list of at least one path, at most 199");
    pj_buffer_reset(&text);
    put_headers(&text, 199);
    PJ_CLEANUP_MANIFEST struct pj_manifest *headers = parse_in(pj_buffer_text(&text), ".", false);
    assert_int_equal(headers->modules[0].header_count, PJ_MODULE_FILES_MAX);
    pj_buffer_reset(&text);
    put_headers(&text, 200);
    expect_refused(pj_buffer_text(&text),
                   "f:5:12: `headers`: read 200 items; allowed is a mapping of at least "
                   "one include name to a path, at most 199");
}

static void header_names_are_unique(void **state)
{
    (void)state;
    expect_refused(HEAD "- {name: a, source: a.cu, headers: {a.h: 1.h, b.h: 1.h, a.h: 2.h}}\n",
                   "f:3:57: the key `a.h` is given twice, first at line 3, column 37: remove one of them");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(modules_are_refused_with_their_message),
        cmocka_unit_test(what_is_taken_from_nvrtc_is_not_guessed),
        cmocka_unit_test(options_are_refused_with_their_message),
        cmocka_unit_test(other_options_are_nvrtcs_business),
        cmocka_unit_test(a_file_of_that_name_is_no_pattern),
        cmocka_unit_test(files_are_at_most_199),
        cmocka_unit_test(header_names_are_unique),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
