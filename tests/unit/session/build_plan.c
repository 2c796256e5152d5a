/* SPDX-License-Identifier: Apache-2.0 */
/* Units of `build`: modules times architectures, letters included, as far as the files tell. */
#include "folder.h"

#include "session/build/private.h"

static struct folder folder;

#define PTX_OF(version, target)                                                                              \
    ".version " version "\n.target " target "\n.address_size 64\n.visible .entry k()\n{\n\tret;\n}\n"

#define PTX(target) PTX_OF("8.6", target)

static int make_files(void **state)
{
    (void)state;
    folder_make(&folder);
    folder_write(&folder, "80.ptx", PTX("sm_80"));
    folder_write(&folder, "90a.ptx", PTX("sm_90a"));
    folder_write(&folder, "100f.ptx", PTX_OF("9.0", "sm_100f"));
    folder_write(&folder, "text.ptx", "hello\n");
    folder_write(&folder, "k.cu", "__global__ void k() {}\n");
    folder_write(&folder, "empty.cu", "");
    folder_write(&folder, "k.h", "int h;\n");
    return 0;
}

static int remove_files(void **state)
{
    (void)state;
    folder_remove(&folder);
    return 0;
}

static void free_build(struct pj_build *build)
{
    free(build->works);
    pj_plan_free(build->plan);
    pj_manifest_free(build->manifest);
    pj_arena_free(&build->arena);
}
#define CLEANUP_BUILD __attribute__((cleanup(free_build)))

/* Plans the modules of `text`, for `target` (-t) where there is one. */
static int plan(struct pj_build *build, const char *text, const char *target, struct pj_error **err)
{
    static struct pj_target_spec spec;
    *build = (struct pj_build){.options = NULL};
    if (target) {
        assert_int_equal(pj_target_parse(target, &spec, NULL), 0);
        build->selection.targets = &spec;
        build->selection.target_count = 1;
    }
    int r = pj_manifest_parse(text, strlen(text), "m.yaml", folder.path, false, &build->manifest, err);
    assert_int_equal(r, 0);
    r = pj_plan_read(build->manifest, &build->selection, &build->plan, err);
    assert_int_equal(r, 0);
    r = pj_build_plan(build, err);
    if (r == 0)
        pj_build_keep_one(build); /* as at the end of a run, when no more is left out */
    return r;
}

static void expect_units(const struct pj_build *build, const char *lines)
{
    static const char *const routes[] = {"link", "nvrtc", "ptx", "object", "ltoir"};
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    for (size_t i = 0; i < build->count; i++) {
        const struct pj_build_work *work = &build->works[i];
        pj_buffer_printf(&text, "%s %s %s%s%s%s\n", work->unit->module, work->unit->target,
                         routes[work->route], work->unit->verdict == PJ_BUILD_NOT_TRIED ? "" : " ",
                         work->unit->reason_code ? work->unit->reason_code : "",
                         work->left_out ? " left out" : "");
        assert_int_equal(work->unit->verdict == PJ_BUILD_NOT_TRIED, work->unit->reason_code == NULL);
        assert_true(work->unit->input_count > 0);
    }
    assert_string_equal(pj_buffer_text(&text), lines);
}

static void expect_plan(const char *text, const char *target, const char *lines)
{
    CLEANUP_BUILD struct pj_build build;
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    expect_success(plan(&build, text, target, &err), &err);
    expect_units(&build, lines);
}

#define HEAD "version: 1\nmodules:\n"

/* A compiler is told the letter that PTX has where the numbers are the same. */
static void test_letters(void **state)
{
    (void)state;
    expect_plan(HEAD "- {name: a, ptx: 90a.ptx, targets: ['90', sm_90a]}\n"
                     "- {name: b, ptx: 80.ptx, targets: [sm_90a, '90', '80', sm_80, 8.0]}\n"
                     "- {name: c, ptx: 100f.ptx, targets: ['100', sm_100f, sm_100a, '103', '110']}\n",
                NULL,
                "a sm_90a link\n"
                "b sm_90a link\nb sm_90 link\nb sm_80 link\n"
                "c sm_100f link\nc sm_100a link\nc sm_103 link\nc sm_110 link newer-than-gpu\n");
}

static void test_ranges(void **state)
{
    (void)state;
    expect_plan(HEAD "- {name: a, ptx: 90a.ptx, targets: [sm_80..sm_100]}\n"
                     "- {name: b, ptx: 90a.ptx, targets: [ampere]}\n"
                     "- {name: c, source: k.cu, targets: [ampere, '86']}\n",
                NULL,
                "a sm_80 link newer-than-gpu left out\na sm_86 link newer-than-gpu left out\n"
                "a sm_87 link newer-than-gpu left out\na sm_89 link newer-than-gpu left out\n"
                "a sm_90a link\na sm_100 link newer-than-gpu left out\n"
                "b sm_80 link newer-than-gpu left out\nb sm_86 link newer-than-gpu left out\n"
                "b sm_87 link newer-than-gpu\n" /* so that somebody hears of it */
                "c sm_80 nvrtc\nc sm_86 nvrtc\nc sm_87 nvrtc\n");
}

static void test_routes(void **state)
{
    (void)state;
    expect_plan(
        HEAD "- {name: a, source: k.cu}\n"
             "- {name: b, source: k.cu, nvrtc: [-arch=compute_80]}\n"
             "- {name: c, source: k.cu, nvrtc: [-rdc=true]}\n"
             "- {name: d, source: k.cu, nvrtc: [-dlto]}\n"
             "- {name: e, source: k.cu, nvrtc: [-arch=sm_90a]}\n"
             "- {name: f, source: k.cu, nvrtc: [-arch=sm_80, -dc]}\n"
             "- {name: g, link: [80.ptx]}\n"
             "- {name: h, source: empty.cu}\n"
             "- {name: i, ptx: text.ptx}\n",
        "90",
        "a sm_90 nvrtc\nb sm_90 ptx\nc sm_90 object\nd sm_90 ltoir\ne sm_90a nvrtc\n"
        "f sm_90 object other-architecture\ng sm_90 link\nh sm_90 nvrtc not-source\ni sm_90 link not-ptx\n");
}

/* Options that name a real architecture give its cubin once, however its target is spelled. */
static void test_real_options(void **state)
{
    (void)state;
    expect_plan(
        HEAD "- {name: a, source: k.cu, nvrtc: [-arch=sm_90a], targets: [sm_90a, '90']}\n"
             "- {name: b, source: k.cu, nvrtc: [-arch=sm_90a], targets: ['90', sm_90a, '90']}\n"
             "- {name: c, source: k.cu, nvrtc: [-arch=sm_90a], targets: ['90', hopper]}\n"
             "- {name: d, source: k.cu, nvrtc: [-arch=sm_90a], targets: [ada, hopper, '80']}\n",
        NULL,
        "a sm_90a nvrtc\nb sm_90a nvrtc\nc sm_90a nvrtc\n"
        "d sm_89 nvrtc other-architecture left out\nd sm_90a nvrtc\nd sm_80 nvrtc other-architecture\n");
}

static void test_reasons(void **state)
{
    (void)state;
    CLEANUP_BUILD struct pj_build build;
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    char message[1024];
    expect_success(plan(&build,
                        HEAD "- {name: a, source: k.cu, nvrtc: [-arch=sm_90a], headers: {h: k.h}}\n"
                             "- {name: b, ptx: 90a.ptx, required: false}\n",
                        "sm_80", &err),
                   &err);
    assert_string_equal(build.works[0].unit->reason,
                        "its NVRTC options name sm_90a, so there is no cubin for sm_80: "
                        "leave the option out, and each target gets its own");
    (void)snprintf(
        message, sizeof message,
        "%s/90a.ptx is PTX with .target sm_90a, which does not compile for sm_80: it runs on compute "
        "capability 9.0 alone",
        folder.path);
    assert_string_equal(build.works[1].unit->reason, message);
    assert_int_equal(build.works[0].unit->verdict, PJ_BUILD_INCOMPATIBLE);
    assert_true(build.works[0].unit->required);
    assert_false(build.works[1].unit->required);
    assert_string_equal(build.works[0].unit->compiler, "nvrtc");
    assert_string_equal(build.works[1].unit->compiler, "nvjitlink");
    assert_int_equal(build.works[0].unit->input_count, 2);
    assert_string_equal(build.works[0].unit->inputs[0].kind, "source");
    assert_string_equal(build.works[0].unit->inputs[1].kind, "header");
    assert_string_equal(build.works[1].unit->inputs[0].kind, "ptx");
    assert_int_equal(build.works[0].unit->inputs[1].bytes, 7);
}

static void expect_refused(const char *text, const char *target, enum pj_error_code code, const char *message)
{
    CLEANUP_BUILD struct pj_build build;
    struct pj_error *err = NULL;
    int r = plan(&build, text, target, &err);
    expect_error(r, &err, code, message);
}

static void test_refused(void **state)
{
#define NATIVE                                                                                               \
    "m.yaml: module 'a' has the target native, and build asks no GPU what that is: name the targets, for "   \
    "example -t sm_80 -t sm_90, or in the manifest targets: [sm_80, sm_90]"
    static const char *const names[] = {"../a", "a/..", "a/../b", "./a", "a/.",
                                        "/a",   "a/",   "a//b",   ".",   ".."};
    (void)state;
    expect_refused(HEAD "- {name: a, ptx: 80.ptx}\n", NULL, PJ_ERROR_USAGE, NATIVE);
    expect_refused(HEAD "- {name: a, ptx: 80.ptx, targets: ['80', native]}\n", NULL, PJ_ERROR_USAGE, NATIVE);
    expect_refused(HEAD "- {name: a, ptx: 80.ptx}\n", "native", PJ_ERROR_USAGE, NATIVE);
    expect_plan(HEAD "- {name: a, ptx: 80.ptx}\n", "80", "a sm_80 link\n");
    for (size_t i = 0; i < PJ_COUNT(names); i++) {
        char text[128], message[512];
        (void)snprintf(text, sizeof text, HEAD "- {name: '%s', ptx: 80.ptx}\n", names[i]);
        (void)snprintf(
            message, sizeof message,
            "module '%s': build makes the name of a file from its name, and that would lie elsewhere: "
            "rename it, without empty parts, `.` and `..` between slashes",
            names[i]);
        expect_refused(text, "80", PJ_ERROR_MANIFEST, message);
    }
    expect_plan(
        HEAD "- {name: ..a, ptx: 80.ptx}\n- {name: a/..b/c.., ptx: 80.ptx}\n- {name: '...', ptx: 80.ptx}\n",
        "80", "..a sm_80 link\na/..b/c.. sm_80 link\n... sm_80 link\n");
}

/* What is a file of one module is no folder for those of another. */
static void test_names_below_files(void **state)
{
#define BELOW(module, name, file)                                                                            \
    "modules '" module "' and '" name "': build makes the names of files from their names, and " file        \
    " would be a file of the one and a folder of the other: rename one of them"
    (void)state;
    expect_refused(HEAD "- {name: k, ptx: 80.ptx}\n- {name: k.sm_90.cubin/x, ptx: 80.ptx}\n", "90",
                   PJ_ERROR_MANIFEST, BELOW("k", "k.sm_90.cubin/x", "k.sm_90.cubin"));
    expect_refused(HEAD "- {name: a/k.sm_90.ptx/b/x, ptx: 80.ptx}\n- {name: a/k, source: k.cu}\n", "90",
                   PJ_ERROR_MANIFEST, BELOW("a/k", "a/k.sm_90.ptx/b/x", "a/k.sm_90.ptx"));
    expect_refused(
        HEAD "- {name: index.json/x, ptx: 80.ptx}\n", "90", PJ_ERROR_MANIFEST,
        "module 'index.json/x': build makes the name of a file from its name, and index.json, where "
        "it says what it built, would be a folder: rename it");
    expect_plan(HEAD "- {name: k, ptx: 80.ptx}\n- {name: k.sm_80.cubin/x, ptx: 80.ptx}\n"
                     "- {name: k.sm_90.cubin, ptx: 80.ptx}\n- {name: k.sm_90/x, ptx: 80.ptx}\n"
                     "- {name: a/index.json/x, ptx: 80.ptx}\n- {name: index.json, ptx: 80.ptx}\n",
                "90",
                "k sm_90 link\nk.sm_80.cubin/x sm_90 link\nk.sm_90.cubin sm_90 link\nk.sm_90/x sm_90 link\n"
                "a/index.json/x sm_90 link\nindex.json sm_90 link\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_letters),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_routes),
        cmocka_unit_test(test_real_options),
        cmocka_unit_test(test_reasons),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_names_below_files),
    };
    return cmocka_run_group_tests(tests, make_files, remove_files);
}
