/* SPDX-License-Identifier: Apache-2.0 */
/* What right manifests say: every key, defaults, and the many ways to write a value. */
#include <unistd.h>

#include "support.h"
#include "version.h"

static void every_key_is_read(void **state)
{
    (void)state;
    static const char text[] =
        "version: 1\n"
        "cache: {path: nv, max_size: 1.5GiB}\n"
        "targets: [native, sm_80..sm_90, 12.0, all]\n"
        "verify: {samples: 16, max_warm_ms: 12.5, min_speedup: 3}\n"
        "modules:\n"
        "  - name: saxpy\n"
        "    ptx: k/saxpy.ptx\n"
        "    options: {max_registers: 64, cache_mode: cg, generate_line_info: true, "
        "fast_compile: false}\n"
        "    kernels: [saxpy, 90, true]\n"
        "    sha256: 9F86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\n"
        "    required: false\n"
        "    targets: [9.0a]\n"
        "  - {name: \"90\", ptx: /abs/k.ptx}\n";
    PJ_CLEANUP_MANIFEST struct pj_manifest *manifest = parse_in(text, "/m", false);
    assert_string_equal(manifest->name, "f");
    assert_string_equal(manifest->directory, "/m");
    struct pj_sha256 digest;
    pj_sha256_of(text, sizeof text - 1, &digest);
    assert_memory_equal(&manifest->digest, &digest, sizeof digest);
    assert_string_equal(manifest->cache_path, "/m/nv");
    assert_int_equal(manifest->cache_max_size_bytes, UINT64_C(3) << 29);
    assert_int_equal(manifest->verify_samples, 16);
    assert_true(manifest->has_max_warm_ms && manifest->max_warm_ms == 12.5);
    assert_true(manifest->has_min_speedup && manifest->min_speedup == 3.0);
    assert_int_equal(manifest->module_count, 2);

    const struct pj_module *module = &manifest->modules[0];
    assert_int_equal(module->kind, PJ_MODULE_PTX);
    assert_string_equal(module->name, "saxpy");
    assert_string_equal(module->path, "/m/k/saxpy.ptx");
    assert_int_equal(module->line, 6);
    assert_int_equal(module->options.given, 1U << PJ_JIT_MAX_REGISTERS | 1U << PJ_JIT_CACHE_MODE |
                                                1U << PJ_JIT_GENERATE_LINE_INFO | 1U << PJ_JIT_FAST_COMPILE);
    PJ_CLEANUP_BUFFER struct pj_buffer options = {0};
    pj_jit_options_key_text(&module->options, &options);
    assert_string_equal(pj_buffer_text(&options), "--maxrregcount 64 -lineinfo -dlcm=cg");
    assert_int_equal(module->kernel_count, 3);
    assert_string_equal(module->kernels[0], "saxpy");
    assert_string_equal(module->kernels[1], "90");
    assert_string_equal(module->kernels[2], "true");
    char hex[PJ_SHA256_HEX];
    assert_true(module->has_sha256);
    pj_sha256_hex(&module->sha256, hex);
    assert_string_equal(hex, "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08");
    assert_false(module->required);
    assert_int_equal(module->target_count, 1);
    assert_int_equal(module->targets[0].form, PJ_TARGET_ONE);
    assert_int_equal(module->targets[0].first.number, 90);
    assert_int_equal(module->targets[0].first.letter, 'a');

    module = &manifest->modules[1];
    assert_string_equal(module->name, "90");
    assert_string_equal(module->path, "/abs/k.ptx");
    assert_int_equal(module->line, 13);
    assert_int_equal(module->options.given, 0);
    assert_int_equal(module->kernel_count, 0);
    assert_false(module->has_sha256);
    assert_true(module->required);
    assert_int_equal(module->target_count, 4);
    assert_int_equal(module->targets[0].form, PJ_TARGET_NATIVE);
    assert_int_equal(module->targets[1].form, PJ_TARGET_RANGE);
    assert_int_equal(module->targets[1].first.number, 80);
    assert_int_equal(module->targets[1].last.number, 90);
    assert_int_equal(module->targets[2].form, PJ_TARGET_ONE);
    assert_int_equal(module->targets[2].first.number, 120);
    assert_int_equal(module->targets[3].form, PJ_TARGET_ALL);
}

static void defaults_are_filled_in(void **state)
{
    (void)state;
    PJ_CLEANUP_MANIFEST struct pj_manifest *manifest =
        parse_in("modules:\n- ptx: a.ptx\n  name: a\ncache: {}\nverify: {}\nversion: '1'\n", ".", false);
    assert_null(manifest->cache_path);
    assert_int_equal(manifest->cache_max_size_bytes, 0);
    assert_int_equal(manifest->verify_samples, 3);
    assert_false(manifest->has_max_warm_ms);
    assert_false(manifest->has_min_speedup);
    assert_int_equal(manifest->module_count, 1);
    assert_string_equal(manifest->modules[0].path, "a.ptx");
    assert_true(manifest->modules[0].required);
    assert_int_equal(manifest->modules[0].target_count, 1);
    assert_int_equal(manifest->modules[0].targets[0].form, PJ_TARGET_NATIVE);
}

static void paths_start_from_the_folder(void **state)
{
    (void)state;
    static const struct {
        const char *directory, *written, *opened;
    } cases[] = {
        {".", "k/a.ptx", "k/a.ptx"},
        {"", "k/a.ptx", "k/a.ptx"},
        {"m", "a.ptx", "m/a.ptx"},
        {"m/", "a.ptx", "m/a.ptx"},
        {"/", "a.ptx", "/a.ptx"},
        {"..", "a.ptx", "../a.ptx"},
        {"m", "/a.ptx", "/a.ptx"},
        {"m", "../a.ptx", "m/../a.ptx"},
        {"m", "./~a.ptx", "m/./~a.ptx"},
        {"m~$[", "a b.ptx", "m~$[/a b.ptx"},
        {"m", "\"a ' #.ptx\"", "m/a ' #.ptx"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
        pj_buffer_printf(&text, HEAD "- name: a\n  ptx: %s\n", cases[i].written);
        PJ_CLEANUP_MANIFEST struct pj_manifest *manifest =
            parse_in(pj_buffer_text(&text), cases[i].directory, false);
        assert_string_equal(manifest->modules[0].path, cases[i].opened);
    }
}

static void the_cache_path_is_absolute(void **state)
{
    (void)state;
    PJ_CLEANUP_FREE char *here = getcwd(NULL, 0);
    PJ_CLEANUP_BUFFER struct pj_buffer expected = {0};
    pj_buffer_printf(&expected, "%s/m/nv", here);
    PJ_CLEANUP_MANIFEST struct pj_manifest *manifest = parse_in(WHOLE "cache: {path: ./nv}\n", "m", false);
    assert_string_equal(manifest->cache_path, pj_buffer_text(&expected));
    PJ_CLEANUP_MANIFEST struct pj_manifest *absolute =
        parse_in(WHOLE "cache: {path: /var//nv/}\n", "m", false);
    assert_string_equal(absolute->cache_path, "/var/nv");
}

static void sizes_have_units(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t bytes;
    } cases[] = {
        {"1", 1},
        {"500MB", 500000000},
        {"2GiB", UINT64_C(2) << 30},
        {"1073741824", 1 << 30},
        {"1.5 kB", 1500},
        {"8000000000", 8000000000},
        {"'64 MiB'", 64 << 20},
        {"9223372036854775807", INT64_MAX},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
        pj_buffer_printf(&text, WHOLE "cache: {max_size: %s}\n", cases[i].text);
        PJ_CLEANUP_MANIFEST struct pj_manifest *manifest = parse_in(pj_buffer_text(&text), ".", false);
        assert_int_equal(manifest->cache_max_size_bytes, cases[i].bytes);
    }
}

static void cache_modes_are_those_of_cuda(void **state)
{
    (void)state;
    static const struct {
        const char *word;
        uint32_t value;
    } cases[] = {{"none", PJ_JIT_CACHE_NONE}, {"cg", PJ_JIT_CACHE_CG}, {"ca", PJ_JIT_CACHE_CA}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
        pj_buffer_printf(&text, HEAD "- {name: a, ptx: a.ptx, options: {cache_mode: %s}}\n", cases[i].word);
        PJ_CLEANUP_MANIFEST struct pj_manifest *manifest = parse_in(pj_buffer_text(&text), ".", false);
        assert_int_equal(manifest->modules[0].options.given, 1U << PJ_JIT_CACHE_MODE);
        assert_int_equal(manifest->modules[0].options.values[PJ_JIT_CACHE_MODE], cases[i].value);
    }
}

static void sources_are_read(void **state)
{
    (void)state;
    PJ_CLEANUP_MANIFEST struct pj_manifest *manifest =
        parse_in(HEAD "- name: a\n"
                      "  source: k/a.cu\n"
                      "  nvrtc: [--std=c++17, -Iinclude, -DN=90]\n"
                      "  program_name: physics.cu\n"
                      "  headers: {a/b.h: h/b.h, c.h: /abs/c.h}\n"
                      "  name_expressions: ['step<float>', '&table']\n"
                      "  kernels: [step]\n"
                      "  options: {max_registers: 64}\n"
                      "- {name: b, source: k/b.cu}\n",
                 "m", false);
    assert_int_equal(manifest->module_count, 2);
    const struct pj_module *module = &manifest->modules[0];
    assert_int_equal(module->kind, PJ_MODULE_SOURCE);
    assert_string_equal(module->path, "m/k/a.cu");
    assert_int_equal(module->nvrtc_count, 3);
    assert_string_equal(module->nvrtc[0], "--std=c++17");
    assert_string_equal(module->nvrtc[1], "-Iinclude");
    assert_string_equal(module->nvrtc[2], "-DN=90");
    assert_string_equal(module->program_name, "physics.cu");
    assert_int_equal(module->header_count, 2);
    assert_string_equal(module->headers[0].name, "a/b.h");
    assert_string_equal(module->headers[0].path, "m/h/b.h");
    assert_string_equal(module->headers[1].name, "c.h");
    assert_string_equal(module->headers[1].path, "/abs/c.h");
    assert_int_equal(module->name_expression_count, 2);
    assert_string_equal(module->name_expressions[0], "step<float>");
    assert_string_equal(module->name_expressions[1], "&table");
    assert_int_equal(module->kernel_count, 1);
    assert_int_equal(module->options.given, 1U << PJ_JIT_MAX_REGISTERS);

    module = &manifest->modules[1];
    assert_string_equal(module->program_name, "b.cu");
    assert_int_equal(module->nvrtc_count + module->header_count + module->name_expression_count, 0);
    assert_int_equal(module->input_count, 0);
}

static void links_are_read(void **state)
{
    (void)state;
    PJ_CLEANUP_MANIFEST struct pj_manifest *manifest =
        parse_in(HEAD "- {name: a, link: [b.ptx, /abs/a.fatbin, c/b.ptx], options: {max_registers: 64}}\n"
                      "- {name: b, link: [a.o], linker: nvjitlink}\n"
                      "- {name: c, link: [a.o], linker: driver}\n"
                      "- {name: d, ptx: d.ptx}\n",
                 "m", false);
    assert_int_equal(manifest->module_count, 4);
    const struct pj_module *module = &manifest->modules[0];
    assert_int_equal(module->kind, PJ_MODULE_LINK);
    assert_null(module->path);
    assert_null(module->program_name);
    assert_int_equal(module->input_count, 3);
    assert_string_equal(module->inputs[0], "m/b.ptx");
    assert_string_equal(module->inputs[1], "/abs/a.fatbin");
    assert_string_equal(module->inputs[2], "m/c/b.ptx");
    assert_int_equal(module->linker, PJ_LINKER_DRIVER);
    assert_int_equal(manifest->modules[1].input_count, 1);
    assert_int_equal(manifest->modules[1].linker, PJ_LINKER_NVJITLINK);
    assert_int_equal(manifest->modules[2].linker, PJ_LINKER_DRIVER);
    assert_int_equal(manifest->modules[3].input_count, 0);
}

static const char later[] = HEAD "- {name: a, binary: bin/a}\n"
                                 "- {name: c, ptx: c.ptx}\n"
                                 "- {name: d, binary: bin/d}\n";

static void later_kinds_are_refused_by_version(void **state)
{
    (void)state;
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    struct pj_manifest *manifest = NULL;
    int r = pj_manifest_parse(later, sizeof later - 1, "m.yaml", ".", false, &manifest, &err);
    assert_int_equal(r, PJ_ERROR_UNSUPPORTED);
    assert_null(manifest);
    assert_int_equal(err->code, PJ_ERROR_UNSUPPORTED);
#define ADVICE                                                                                               \
    "`binary:` is not supported by this version of prejit (" PREJIT_VERSION                                  \
    "), which takes `ptx:`, `source:` and `link:`: code inside programs and libraries is not warmed, and "   \
    "PTX extracted from it has another key: leave the module out"
    assert_string_equal(err->message, "m.yaml:3:13: " ADVICE "\nm.yaml:5:13: " ADVICE);
    /* Where something is wrong as well, only that is said. */
    expect_refused(
        HEAD "- {name: a, binary: a}\n- {name: b}\n",
        "f:4:3: the module says nothing to compile; it has exactly one of `ptx`, `source`, `link` or "
        "`binary`, for example `ptx: kernels/saxpy.ptx`");
}

static void later_kinds_can_be_parsed(void **state)
{
    (void)state;
    PJ_CLEANUP_MANIFEST struct pj_manifest *manifest = parse_in(later, "m", true);
    assert_int_equal(manifest->module_count, 3);
    assert_int_equal(manifest->modules[0].kind, PJ_MODULE_BINARY);
    assert_string_equal(manifest->modules[0].path, "m/bin/a");
    assert_int_equal(manifest->modules[1].kind, PJ_MODULE_PTX);
    assert_string_equal(manifest->modules[2].path, "m/bin/d");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_is_read),
        cmocka_unit_test(defaults_are_filled_in),
        cmocka_unit_test(paths_start_from_the_folder),
        cmocka_unit_test(the_cache_path_is_absolute),
        cmocka_unit_test(sizes_have_units),
        cmocka_unit_test(cache_modes_are_those_of_cuda),
        cmocka_unit_test(sources_are_read),
        cmocka_unit_test(links_are_read),
        cmocka_unit_test(later_kinds_are_refused_by_version),
        cmocka_unit_test(later_kinds_can_be_parsed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
