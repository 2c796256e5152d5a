/* SPDX-License-Identifier: Apache-2.0 */
/* Faults of values, and of what takes two keys: each with its exact message. */
#include "arch/target.h"
#include "support.h"

#define SIZES                                                                                                \
    "; allowed is a number of bytes above 0, alone or with kB, MB, GB, TB (powers of 1000) or KiB, MiB, "    \
    "GiB, TiB "                                                                                              \
    "(powers of 1024), for example `max_size: 2GiB`"
#define BOOLEANS "; allowed is true or false, for example `required: false`"
#define SAMPLES  "; allowed is a whole number from 1 to 16, for example `samples: 5`"
#define WARM     "; allowed is a number above 0, for example `max_warm_ms: 50`"
#define NAMES                                                                                                \
    "; allowed is text of at most 200 bytes without control characters and `@`, for example `name: saxpy`"
#define PTX "; allowed is a path, or a glob with `*`, `?` or `[`, for example `ptx: kernels/saxpy.ptx`"
#define DIGEST                                                                                               \
    "; allowed is 64 hex digits, for example `sha256: "                                                      \
    "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08`"
#define MODULE_TARGETS "; allowed is a list of at least one target, for example `targets: [sm_80, sm_90]`"
#define KERNELS        "; allowed is a list of at least one text, for example `kernels: [saxpy]`"
#define TILDE                                                                                                \
    "; `~` stands for no folder here: write the path out, from `/` or relative to the manifest (`./~` for "  \
    "a file "                                                                                                \
    "whose name starts with `~`)"
#define DOLLAR                                                                                               \
    "; variables are not expanded here: write the path out, or have the script that makes the manifest "     \
    "fill it in"
#define CONTROL "; a path cannot hold control characters or line ends: write it on one line, behind its key"
#define LINKED  "; allowed is a list of at least one path, at most 199, for example `link: [a.ptx, b.ptx]`"
#define KINDS   "`ptx`, `source`, `link` or `binary`"

/* Behind a right manifest: line 3 is the text's first. */
static const struct {
    const char *text;
    const char *message;
} settings[] = {
    {"cache: {path: ''}", "f:3:15: `path`: read an empty value; allowed is a path, for example `path: nv`"},
    {"cache: {path: }", "f:3:15: `path`: read an empty value; allowed is a path, for example `path: nv`"},
    {"cache: {path: [nv]}", "f:3:15: `path`: read a list; allowed is a path, for example `path: nv`"},
    {"cache: {path: ~}", "f:3:15: `path`: read `~`" TILDE},
    {"cache: {path: ~/nv}", "f:3:15: `path`: read `~/nv`" TILDE},
    {"cache: {path: \"~root/nv\"}", "f:3:15: `path`: read `~root/nv`" TILDE},
    {"cache: {path: $HOME/nv}", "f:3:15: `path`: read `$HOME/nv`" DOLLAR},
    {"cache: {path: '${X}'}", "f:3:15: `path`: read `${X}`" DOLLAR},
    {"cache: {max_size: 2G}", "f:3:19: `max_size`: read `2G`" SIZES "; did you mean `2GiB`?"},
    {"cache: {max_size: 512 M}", "f:3:19: `max_size`: read `512 M`" SIZES "; did you mean `512 MiB`?"},
    {"cache: {max_size: -1}", "f:3:19: `max_size`: read `-1`" SIZES},
    {"cache: {max_size: 0}", "f:3:19: `max_size`: read `0`" SIZES},
    {"cache: {max_size: 1e9}", "f:3:19: `max_size`: read `1e9`" SIZES},
    {"cache: {max_size: 0x10}", "f:3:19: `max_size`: read `0x10`" SIZES},
    {"cache: {max_size: 9223372036854775808}", "f:3:19: `max_size`: read `9223372036854775808`" SIZES},
    {"cache: {max_size: lots}", "f:3:19: `max_size`: read `lots`" SIZES},
    {"cache: {max_size: ''}", "f:3:19: `max_size`: read an empty value" SIZES},
    {"verify: {samples: 0}", "f:3:19: `samples`: read `0`" SAMPLES},
    {"verify: {samples: 17}", "f:3:19: `samples`: read `17`" SAMPLES},
    {"verify: {samples: 3.0}", "f:3:19: `samples`: read `3.0`" SAMPLES},
    {"verify: {samples: three}", "f:3:19: `samples`: read `three`" SAMPLES},
    {"verify: {samples: +3}", "f:3:19: `samples`: read `+3`" SAMPLES},
    {"verify: {max_warm_ms: 0}", "f:3:23: `max_warm_ms`: read `0`" WARM},
    {"verify: {max_warm_ms: -5}", "f:3:23: `max_warm_ms`: read `-5`" WARM},
    {"verify: {max_warm_ms: 50ms}", "f:3:23: `max_warm_ms`: read `50ms`" WARM},
    {"verify: {max_warm_ms: .inf}", "f:3:23: `max_warm_ms`: read `.inf`" WARM},
    {"verify: {max_warm_ms: nan}", "f:3:23: `max_warm_ms`: read `nan`" WARM},
    {"verify: {max_warm_ms: .5}", "f:3:23: `max_warm_ms`: read `.5`" WARM},
    {"verify: {max_warm_ms: 5.}", "f:3:23: `max_warm_ms`: read `5.`" WARM},
    {"verify: {max_warm_ms: 1.2.3}", "f:3:23: `max_warm_ms`: read `1.2.3`" WARM},
    {"verify: {max_warm_ms: 1000000000000000000}", "f:3:23: `max_warm_ms`: read `1000000000000000000`" WARM},
    {"verify: {min_speedup: 5x}",
     "f:3:23: `min_speedup`: read `5x`; allowed is a number above 0, for example `min_speedup: 3`"},
    {"targets: native",
     "f:3:10: `targets`: read `native`; allowed is a list of at least one target, for example "
     "`targets: [native, sm_80..sm_90]`; write `targets: [native]`"},
    {"targets: ['']",
     "f:3:11: `targets`: read an empty value; allowed is a list of at least one target, for example "
     "`targets: [native, sm_80..sm_90]`"},
};

/* Keys of a module `a` that has nothing else: line 4, from column 3. */
static const struct {
    const char *text;
    const char *message;
} modules[] = {
    {"kernels: [k]", "f:3:3: the module says nothing to compile; it has exactly one of " KINDS
                     ", for example `ptx: kernels/saxpy.ptx`"},
    {"ptx: ''", "f:4:8: `ptx`: read an empty value" PTX},
    {"ptx:", "f:4:7: `ptx`: read an empty value" PTX},
    {"ptx: [a, b]", "f:4:8: `ptx`: read a list" PTX},
    {"ptx: {path: a}", "f:4:8: `ptx`: read a mapping" PTX},
    {"ptx: ~/k.ptx", "f:4:8: `ptx`: read `~/k.ptx`" TILDE},
    {"ptx: $DIR/k.ptx", "f:4:8: `ptx`: read `$DIR/k.ptx`" DOLLAR},
    {"ptx: k-$(arch).ptx", "f:4:8: `ptx`: read `k-$(arch).ptx`" DOLLAR},
    {"ptx: |\n    k.ptx", "f:4:8: `ptx`: read `k.ptx\\x0a`" CONTROL},
    {"ptx: \"a\\tb\"", "f:4:8: `ptx`: read `a\\x09b`" CONTROL},
    {"ptx: none/*.ptx",
     "f:4:8: `ptx`: no file matches `none/*.ptx`: check the pattern, and whether the files are made "
     "by now"},
    {"ptx: 'none/**/k.ptx'",
     "f:4:8: `ptx`: read `none/**/k.ptx`; `**` is not known: `*` matches within one folder, so "
     "write one pattern, and one module, for each depth (`*.ptx`, `*/*.ptx`)"},
    {"ptx: a.ptx\n  source: a.cu",
     "f:5:3: `source` beside `ptx` (line 4); a module has exactly one of " KINDS ": make it two modules"},
    {"binary: app\n  link: [a.ptx]",
     "f:4:3: `binary` beside `link` (line 5); a module has exactly one of " KINDS ": make it two modules"},
    {"source: ''",
     "f:4:11: `source`: read an empty value; allowed is a path, for example `source: kernels/physics.cu`"},
    {"link: a.ptx", "f:4:9: `link`: read `a.ptx`" LINKED "; a single one stands between `[` and `]` too"},
    {"link: [a.ptx, ~/b.ptx]", "f:4:17: `link`: read `~/b.ptx`" TILDE},
    {"link: [a.ptx, '']", "f:4:17: `link`: read an empty value" LINKED},
    {"link: [a.ptx]\n  linker: nvjitlinker",
     "f:5:11: `linker`: read `nvjitlinker`; allowed is `driver` or `nvjitlink`, "
     "for example `linker: nvjitlink`; did you mean `nvjitlink`?"},
    {"link: [a.ptx]\n  sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
     "f:5:3: `sha256` goes with `ptx`, `source` or `binary`, and this module has `link`: remove it"},
    {"ptx: a.ptx\n  nvrtc: [-O]", "f:5:3: `nvrtc` goes with `source`, and this module has `ptx`: remove it"},
    {"ptx: a.ptx\n  linker: driver",
     "f:5:3: `linker` goes with `link`, and this module has `ptx`: remove it"},
    {"source: a.cu\n  nvrtc: --std=c++17",
     "f:5:10: `nvrtc`: read `--std=c++17`; allowed is a list of at least one text, "
     "for example `nvrtc: [--std=c++17, -Iinclude]`; a single one stands between "
     "`[` and `]` too"},
    {"ptx: a.ptx\n  required: yes", "f:5:13: `required`: read `yes`" BOOLEANS "; did you mean `true`?"},
    {"ptx: a.ptx\n  required: On", "f:5:13: `required`: read `On`" BOOLEANS "; did you mean `true`?"},
    {"ptx: a.ptx\n  required: TRUE", "f:5:13: `required`: read `TRUE`" BOOLEANS "; did you mean `true`?"},
    {"ptx: a.ptx\n  required: no", "f:5:13: `required`: read `no`" BOOLEANS "; did you mean `false`?"},
    {"ptx: a.ptx\n  required: off", "f:5:13: `required`: read `off`" BOOLEANS "; did you mean `false`?"},
    {"ptx: a.ptx\n  required: 0", "f:5:13: `required`: read `0`" BOOLEANS "; did you mean `false`?"},
    {"ptx: a.ptx\n  required: maybe", "f:5:13: `required`: read `maybe`" BOOLEANS},
    {"ptx: a.ptx\n  required:", "f:5:12: `required`: read an empty value" BOOLEANS},
    {"ptx: a.ptx\n  sha256: 9f86", "f:5:11: `sha256`: read `9f86`" DIGEST "; these are 4 characters"},
    {"ptx: a.ptx\n  sha256: gf86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
     "f:5:11: `sha256`: read `gf86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f0…`" DIGEST},
    {"ptx: a.ptx\n  targets: []", "f:5:12: `targets`: read an empty list" MODULE_TARGETS},
    {"ptx: a.ptx\n  targets: sm_90",
     "f:5:12: `targets`: read `sm_90`" MODULE_TARGETS "; write `targets: [sm_90]`"},
    {"ptx: a.ptx\n  targets: 8.0;9.0+PTX",
     "f:5:12: `targets`: read `8.0;9.0+PTX`" MODULE_TARGETS "; write `targets: [8.0, sm_90]`"},
    {"ptx: a.ptx\n  targets: [{a: b}]", "f:5:13: `targets`: read a mapping within the list" MODULE_TARGETS},
    {"ptx: a.ptx\n  kernels: []", "f:5:12: `kernels`: read an empty list" KERNELS},
    {"ptx: a.ptx\n  kernels: saxpy",
     "f:5:12: `kernels`: read `saxpy`" KERNELS "; a single one stands between `[` and `]` too"},
    {"ptx: a.ptx\n  kernels: [k, '']", "f:5:16: `kernels`: read an empty value" KERNELS},
    {"ptx: a.ptx\n  kernels: [\"k\\n\"]", "f:5:13: `kernels`: read `k\\x0a`" KERNELS},
    {"ptx: a.ptx\n  options: [max_registers]",
     "f:5:12: `options`: read a list; allowed is a mapping, for example `options: {max_registers: 64}`"},
    {"ptx: a.ptx\n  options: {optimization_level: 5}",
     "f:5:33: `optimization_level`: read `5`; allowed is a whole number from 0 to 4"},
    {"ptx: a.ptx\n  options: {max_registers: lots}",
     "f:5:28: `max_registers`: read `lots`; allowed is a whole number from 1 to 65535"},
    {"ptx: a.ptx\n  options: {generate_line_info: yes}",
     "f:5:33: `generate_line_info`: read `yes`; allowed is true or false; did you mean `true`?"},
    {"ptx: a.ptx\n  options: {cache_mode: cc}",
     "f:5:25: `cache_mode`: read `cc`; allowed is `none`, `ca` or `cg`; did you mean `ca`?"},
    {"ptx: a.ptx\n  options: {cache_mode: L1}",
     "f:5:25: `cache_mode`: read `L1`; allowed is `none`, `ca` or `cg`"},
};

static const struct {
    const char *name;
    const char *message;
} names[] = {
    {"''", "f:3:9: `name`: read an empty value" NAMES},
    {"[a]", "f:3:9: `name`: read a list" NAMES},
    {"a@sm_90",
     "f:3:9: `name`: `a@sm_90` holds `@`, which stands between module and target in reports: leave it out"},
    {"\"a\\nb\"", "f:3:9: `name`: `a\\x0ab` holds a control character, or is not UTF-8: leave it out"},
    {"\"a\\x7f\"", "f:3:9: `name`: `a\\x7f` holds a control character, or is not UTF-8: leave it out"},
    {"\"a\\x85\"", "f:3:9: `name`: `a\\xc2\\x85` holds a control character, or is not UTF-8: leave it out"},
};

static void settings_are_refused_with_their_message(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
        pj_buffer_printf(&text, WHOLE "%s\n", settings[i].text);
        expect_refused(pj_buffer_text(&text), settings[i].message);
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

static void names_are_refused_with_their_message(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
        pj_buffer_printf(&text, HEAD "- name: %s\n  ptx: a.ptx\n", names[i].name);
        expect_refused(pj_buffer_text(&text), names[i].message);
    }
}

static void a_name_has_at_most_200_bytes(void **state)
{
    (void)state;
    char name[202] = {0};
    memset(name, 'n', 200);
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    pj_buffer_printf(&text, HEAD "- name: %s\n  ptx: a.ptx\n", name);
    PJ_CLEANUP_MANIFEST struct pj_manifest *manifest = parse_in(pj_buffer_text(&text), ".", false);
    assert_string_equal(manifest->modules[0].name, name);
    name[200] = 'n';
    pj_buffer_reset(&text);
    pj_buffer_printf(&text, HEAD "- name: %s\n  ptx: a.ptx\n", name);
    expect_refused(pj_buffer_text(&text),
                   "f:3:9: `name`: `nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn…` "
                   "is longer than the 200 bytes allowed: shorten it");
}

/* The words are those of arch, with the place and the key before them. */
static void targets_are_refused_as_arch_says(void **state)
{
    (void)state;
    static const char *const targets[] = {"turbo", "8.0a",  "12.10",        "compute_90",
                                          "sm90",  "sm_91", "sm_90..sm_80", "-1"};
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        PJ_CLEANUP_ERROR struct pj_error *err = NULL;
        struct pj_target_spec spec;
        assert_int_equal(pj_target_parse(targets[i], &spec, &err), PJ_ERROR_FORMAT);
        PJ_CLEANUP_BUFFER struct pj_buffer text = {0}, message = {0};
        pj_buffer_printf(&text, WHOLE "targets: [native, %s]\n", targets[i]);
        pj_buffer_printf(&message, "f:3:19: `targets`: %s", err->message);
        expect_refused(pj_buffer_text(&text), pj_buffer_text(&message));
    }
}

static void names_are_unique(void **state)
{
    (void)state;
    expect_refused(
        HEAD "- {name: b, ptx: 1.ptx}\n- {name: a, ptx: 2.ptx}\n- {name: b, ptx: 3.ptx}\n"
             "- {name: a, source: 4.cu}\n- {name: b, ptx: 1.ptx}\n",
        "f:5:10: `name`: `b` is also a name of the module at line 3; names are unique: rename one of the two "
        "modules\n"
        "f:6:10: `name`: `a` is also a name of the module at line 4; names are unique: rename one of the two "
        "modules\n"
        "f:7:10: `name`: `b` is also a name of the module at line 3; names are unique: rename one of the two "
        "modules");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings_are_refused_with_their_message),
        cmocka_unit_test(modules_are_refused_with_their_message),
        cmocka_unit_test(names_are_refused_with_their_message),
        cmocka_unit_test(a_name_has_at_most_200_bytes),
        cmocka_unit_test(targets_are_refused_as_arch_says),
        cmocka_unit_test(names_are_unique),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
