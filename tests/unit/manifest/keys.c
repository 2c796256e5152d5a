/* SPDX-License-Identifier: Apache-2.0 */
/* Faults of the manifest as a whole and of its keys: unknown, missing, misplaced, of the wrong type. */
#include "support.h"
#include "version.h"

#define ROOT_KEYS "`version`, `cache`, `targets`, `verify` and `modules`"
#define OPTION_KEYS                                                                                          \
    "`optimization_level`, `max_registers`, `generate_debug_info`, `fast_compile`, `generate_line_info`, "   \
    "`cache_mode`, `position_independent_code`, `min_cta_per_sm`, `max_threads_per_block`, "                 \
    "`override_directive_values` and `split_compile`"
#define OTHER_VERSION                                                                                        \
    "; this prejit (" PREJIT_VERSION                                                                         \
    ") reads manifests of version 1: write `version: 1`, or get a prejit that reads "                        \
    "the "                                                                                                   \
    "other version"
#define NEEDS_MODULES                                                                                        \
    "`modules` is missing: the manifest needs it, for example `modules: [{name: saxpy, ptx: saxpy.ptx}]`"
#define ADDS_NOTHING                                                                                         \
    " adds nothing to the cache key: a program that passes it finds the same entry; leave it out"
#define NOT_KNOWN                                                                                            \
    " is not known to prejit: what it adds to the cache key was never measured, so no hit could be "         \
    "promised; "                                                                                             \
    "leave it out, here and in the program"
#define LINKS " is for linking LTO-IR and not for loading PTX; leave it out"

static const struct {
    const char *text;
    const char *message;
} whole[] = {
    {"", "f:1:1: the manifest is empty; it needs at least `version: 1` and `modules:`"},
    {"# nothing\n", "f:1:1: the manifest is empty; it needs at least `version: 1` and `modules:`"},
    {"- a\n", "f:1:1: read a list; the manifest is a mapping: write keys such as `version: 1`"},
    {"saxpy.ptx\n", "f:1:1: read `saxpy.ptx`; the manifest is a mapping: write keys such as `version: 1`"},
    {"---\n", "f:2:1: read an empty value; the manifest is a mapping: write keys such as `version: 1`"},
    {"a: [\n",
     "f:2:1: not YAML: did not find expected node content while parsing a flow node; a value is missing "
     "here, or text needs quotes"},
    {"version: 2\nwhatever: 1\n", "f:1:10: `version`: read `2`" OTHER_VERSION},
    {"version: 1.0\n", "f:1:10: `version`: read `1.0`" OTHER_VERSION},
    {"version: [1]\n", "f:1:10: `version`: read a list" OTHER_VERSION},
    {"version:\n", "f:1:9: `version`: read an empty value" OTHER_VERSION},
    {"modules: [{name: a, ptx: a.ptx}]\n",
     "f:1:1: `version` is missing: the manifest needs it, for example `version: 1`"},
    {"version: 1\n", "f:1:1: " NEEDS_MODULES},
    {"{}\n",
     "f:1:1: `version` is missing: the manifest needs it, for example `version: 1`\nf:1:1: " NEEDS_MODULES},
    {"version: 1\nmodules: []\n",
     "f:2:10: `modules`: read an empty list; allowed is a list of at least one module, "
     "for example `modules: [{name: saxpy, ptx: saxpy.ptx}]`"},
    {"version: 1\nmodules:\n",
     "f:2:9: `modules`: read an empty value; allowed is a list of at least one module, for "
     "example `modules: [{name: saxpy, ptx: saxpy.ptx}]`"},
    {"version: 1\nmodules: a.ptx\n",
     "f:2:10: `modules`: read `a.ptx`; allowed is a list of at least one module, for "
     "example `modules: [{name: saxpy, ptx: saxpy.ptx}]`; a single one stands between "
     "`[` and `]` too"},
    {"version: 1\nmodules: {name: a}\n",
     "f:2:10: `modules`: read a mapping; allowed is a list of at least one module, "
     "for example `modules: [{name: saxpy, ptx: saxpy.ptx}]`"},
    {WHOLE "module: []\n", "f:3:1: `module` is no key of the manifest; did you mean `modules`?"},
    {WHOLE "Targets: []\n", "f:3:1: `Targets` is no key of the manifest; did you mean `targets`?"},
    {WHOLE "name: b\n", "f:3:1: `name` is no key of the manifest but of a module: move it there"},
    {WHOLE "samples: 3\n", "f:3:1: `samples` is no key of the manifest but of `verify`: move it there"},
    {WHOLE "max_registers: 3\n",
     "f:3:1: `max_registers` is no key of the manifest but of `options`: move it there"},
    {WHOLE "frobnicate: 3\n", "f:3:1: `frobnicate` is no key of the manifest; its keys are " ROOT_KEYS},
    {WHOLE "'': 3\n", "f:3:1: an empty value is no key of the manifest; its keys are " ROOT_KEYS},
    {WHOLE "\"a\\e[31m\": 3\n", "f:3:1: `a\\x1b[31m` is no key of the manifest; its keys are " ROOT_KEYS},
    {WHOLE "cache: nv\n",
     "f:3:8: `cache`: read `nv`; allowed is a mapping, for example `cache: {path: nv, max_size: 2GiB}`"},
    {WHOLE "cache:\n", "f:3:7: `cache`: read an empty value; allowed is a mapping, for example `cache: "
                       "{path: nv, max_size: 2GiB}`"},
    {WHOLE "cache: {paht: nv}\n", "f:3:9: `paht` is no key of `cache`; did you mean `path`?"},
    {WHOLE "verify: [3]\n", "f:3:9: `verify`: read a list; allowed is a mapping, for example `verify: "
                            "{samples: 5, max_warm_ms: 50}`"},
    {WHOLE "verify: {max_cold_ms: 3}\n",
     "f:3:10: `max_cold_ms` is no key of `verify`; its keys are `samples`, "
     "`max_warm_ms` and `min_speedup`"},
    {HEAD "- a.ptx\n", "f:3:3: read `a.ptx`; a module is a mapping: write keys such as `name: saxpy`"},
    {HEAD "- {name: a, ptx: a.ptx, kernel: [k]}\n",
     "f:3:25: `kernel` is no key of a module; did you mean `kernels`?"},
    {HEAD "- {name: a, ptx: a.ptx, max_size: 1}\n",
     "f:3:25: `max_size` is no key of a module but of `cache`: move it there"},
    {HEAD "- {name: a, ptx: a.ptx, include: b}\n",
     "f:3:25: `include` is no key of a module; its keys are `name`, `ptx`, `source`, `link`, `binary`, "
     "`targets`, "
     "`options`, `kernels`, `sha256`, `required`, `nvrtc`, `program_name`, `headers`, `name_expressions`, "
     "`takes`, `linker` and `nvjitlink`"},
    {HEAD "- ptx: a.ptx\n", "f:3:3: `name` is missing: a module needs it, for example `name: saxpy`"},
};

static const struct {
    const char *option;
    const char *message;
} options[] = {
    {"threads_per_block",
     "`threads_per_block` adds to the cache key what depends on the kernel, so no key can be "
     "known in advance; use `max_registers` or `max_threads_per_block`, here and in the program"},
    {"CU_JIT_THREADS_PER_BLOCK", "`threads_per_block` adds to the cache key what depends on the kernel, so "
                                 "no key can be known in advance; use "
                                 "`max_registers` or `max_threads_per_block`, here and in the program"},
    {"target", "`target` is not an option here: name the architectures under `targets`"},
    {"target_from_cucontext", "`target_from_cucontext` is what `targets: [native]` says: leave it out"},
    {"wall_time", "`wall_time`" ADDS_NOTHING},
    {"info_log_buffer", "`info_log_buffer`" ADDS_NOTHING},
    {"info_log_buffer_size_bytes", "`info_log_buffer_size_bytes`" ADDS_NOTHING},
    {"error_log_buffer", "`error_log_buffer`" ADDS_NOTHING},
    {"error_log_buffer_size_bytes", "`error_log_buffer_size_bytes`" ADDS_NOTHING},
    {"log_verbose", "`log_verbose`" ADDS_NOTHING},
    {"fallback_strategy", "`fallback_strategy`" ADDS_NOTHING},
    {"ftz", "`ftz`" ADDS_NOTHING},
    {"prec_div", "`prec_div`" ADDS_NOTHING},
    {"prec_sqrt", "`prec_sqrt`" ADDS_NOTHING},
    {"fma", "`fma`" ADDS_NOTHING},
    {"lto", "`lto`" LINKS},
    {"referenced_kernel_names", "`referenced_kernel_names`" LINKS},
    {"optimize_unused_device_variables", "`optimize_unused_device_variables`" LINKS},
    {"global_symbol_names", "`global_symbol_names`" NOT_KNOWN},
    {"new_sm3x_opt", "`new_sm3x_opt`" NOT_KNOWN},
    {"CU_JIT_MAX_REGISTERS", "`CU_JIT_MAX_REGISTERS` is no key of `options`; did you mean `max_registers`?"},
    {"max_register", "`max_register` is no key of `options`; did you mean `max_registers`?"},
    {"MAX_REGISTERS", "`MAX_REGISTERS` is no key of `options`; did you mean `max_registers`?"},
    {"maxrregcount", "`maxrregcount` is no key of `options`; its keys are " OPTION_KEYS},
    {"CU_JIT_", "`CU_JIT_` is no key of `options`; its keys are " OPTION_KEYS},
};

static void keys_are_refused_with_their_message(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        expect_refused(whole[i].text, whole[i].message);
}

static void options_are_refused_with_their_reason(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        PJ_CLEANUP_BUFFER struct pj_buffer text = {0}, message = {0};
        pj_buffer_printf(&text, HEAD "- name: a\n  ptx: a.ptx\n  options: {%s: 1}\n", options[i].option);
        pj_buffer_printf(&message, "f:5:13: %s", options[i].message);
        expect_refused(pj_buffer_text(&text), pj_buffer_text(&message));
    }
}

static void all_errors_come_at_once_in_order_of_position(void **state)
{
    (void)state;
    expect_refused(
        "version: 1\n"
        "modules:\n"
        "- {ptx: '', nam: b}\n"
        "- {name: c, ptx: c.ptx, required: yes}\n"
        "targets: [sm_90, []]\n"
        "cache: {size: 1, path: ~}\n",
        "f:3:3: `name` is missing: a module needs it, for example `name: saxpy`\n"
        "f:3:9: `ptx`: read an empty value; allowed is a path, or a glob with `*`, `?` or `[`, for example "
        "`ptx: kernels/saxpy.ptx`\n"
        "f:3:13: `nam` is no key of a module; did you mean `name`?\n"
        "f:4:35: `required`: read `yes`; allowed is true or false, for example `required: false`; did you "
        "mean `true`?\n"
        "f:5:18: `targets`: read an empty list within the list; allowed is a list of at least one target, "
        "for example `targets: [native, sm_80..sm_90]`\n"
        "f:6:9: `size` is no key of `cache`; its keys are `path` and `max_size`\n"
        "f:6:24: `path`: read `~`; `~` stands for no folder here: write the path out, from `/` or relative "
        "to the manifest (`./~` for a file whose name starts with `~`)");
}

static void errors_beyond_a_thousand_are_counted(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0}, message = {0};
    pj_buffer_puts(&text, HEAD);
    for (unsigned i = 0; i < 1002; i++)
        pj_buffer_printf(&text, "- {name: m%u, ptx: a.ptx, required: maybe}\n", i);
    for (unsigned i = 0; i < 1000; i++)
        pj_buffer_printf(
            &message,
            "f:%u:%d: `required`: read `maybe`; allowed is true or false, for example `required: "
            "false`\n",
            i + 3,
            i < 10    ? 36
            : i < 100 ? 37
                      : 38);
    pj_buffer_puts(&message, "f: 2 more errors are not shown");
    expect_refused(pj_buffer_text(&text), pj_buffer_text(&message));
}

static void standard_input_has_a_name(void **state)
{
    (void)state;
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    struct pj_manifest *manifest = NULL;
    assert_int_equal(pj_manifest_parse("version: 3", 10, "-", ".", false, &manifest, &err),
                     PJ_ERROR_MANIFEST);
    assert_string_equal(err->message, "<stdin>:1:10: `version`: read `3`" OTHER_VERSION);
    assert_int_equal(pj_manifest_parse("version: 3", 10, "-", ".", false, &manifest, NULL),
                     PJ_ERROR_MANIFEST);
    assert_int_equal(pj_manifest_parse("a: [", 4, "-", ".", false, &manifest, NULL), PJ_ERROR_MANIFEST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_refused_with_their_message),
        cmocka_unit_test(options_are_refused_with_their_reason),
        cmocka_unit_test(all_errors_come_at_once_in_order_of_position),
        cmocka_unit_test(errors_beyond_a_thousand_are_counted),
        cmocka_unit_test(standard_input_has_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
