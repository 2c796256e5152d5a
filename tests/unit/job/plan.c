/* SPDX-License-Identifier: Apache-2.0 */
/* Modules times targets: which jobs there are, which are left out, which cannot be, and which are one. */
#include "plans.h"

static struct folder folder;

static int make_images(void **state)
{
    (void)state;
    folder_make(&folder);
    folder_write(&folder, "50.ptx", PTX("sm_50"));
    folder_write(&folder, "80.ptx", PTX("sm_80"));
    folder_write(&folder, "80b.ptx", PTX("sm_80")); /* another path, the same bytes */
    folder_write(&folder, "90.ptx", PTX("sm_90"));
    folder_write(&folder, "90a.ptx", PTX("sm_90a"));
    folder_write(&folder, "text.ptx", "hello\n");
    folder_write(&folder, "none.ptx", ".version 8.6\n.target sm_50\n.address_size 64\n");
    folder_write(&folder, "g/b.ptx", PTX("sm_50"));
    folder_write(&folder, "g/a.ptx", PTX("sm_80"));
    return 0;
}

static int remove_images(void **state)
{
    (void)state;
    folder_remove(&folder);
    return 0;
}

#define HEAD "version: 1\nmodules:\n"

static void test_native(void **state)
{
    (void)state;
    CLEANUP_PLAN struct plan_case here = {.text = HEAD "- {name: a, ptx: 50.ptx}\n- {name: b, ptx: 90.ptx}\n",
                                          .directory = folder.path,
                                          .devices = {80, 90}};
    plan_case_make(&here);
    /* A GPU of this machine that cannot run the module is a fault, as if it had been named. */
    plan_expect(&here, "a@sm_80 | a | native | open\n"
                       "a@sm_90 | a | native | open\n"
                       "b@sm_80 | b | native | incompatible | newer-than-gpu\n"
                       "b@sm_90 | b | native | open\n");
    assert_int_equal(here.plan->left_out.count, 0);
    assert_int_equal(here.plan->image_count, 2);
    CLEANUP_PLAN struct plan_case unknown = {.text = here.text, .directory = folder.path};
    plan_case_make(&unknown);
    plan_expect(&unknown, "a@native | a | unresolved | open\n"
                          "b@native | b | unresolved | open\n");
    assert_int_equal(unknown.plan->jobs[0].target, 0);
}

static void test_explicit(void **state)
{
    (void)state;
    CLEANUP_PLAN struct plan_case plan_case = {
        .text = "version: 1\ntargets: [sm_80, 9.0a, 100]\nmodules:\n- {name: a, ptx: 90a.ptx}\n",
        .directory = folder.path,
        .devices = {90}};
    plan_case_make(&plan_case);
    plan_expect(&plan_case, "a@sm_80 | a | foreign | incompatible | newer-than-gpu\n"
                            "a@sm_90 | a | native | open\n" /* a driver's target is the device, all letters */
                            "a@sm_100 | a | foreign | incompatible | newer-than-gpu\n");
    assert_int_equal(plan_case.plan->left_out.count, 0);
}

static void test_ranges(void **state)
{
    (void)state;
    CLEANUP_PLAN struct plan_case range = {.text = HEAD "- {name: a, ptx: 90.ptx, targets: [sm_80..sm_100]}\n"
                                                        "- {name: b, ptx: 80.ptx, targets: [ampere]}\n",
                                           .directory = folder.path,
                                           .devices = {90}};
    plan_case_make(&range);
    plan_expect(&range, "a@sm_90 | a | native | open\n"
                        "a@sm_100 | a | foreign | open\n"
                        "b@sm_80 | b | foreign | open\n"
                        "b@sm_86 | b | foreign | open\n"
                        "b@sm_87 | b | foreign | open\n");
    plan_expect_left_out(&range, "a: 80 86 87 89: .target sm_90 runs on compute capability 9.0 and above\n");
}

static void test_all(void **state)
{
    (void)state;
    CLEANUP_PLAN struct plan_case all = {
        .text = HEAD "- {name: a, ptx: 90.ptx, targets: [all]}\n", .directory = folder.path, .devices = {90}};
    plan_case_make(&all);
    plan_expect(&all, "a@sm_90 | a | native | open\n"
                      "a@sm_100 | a | foreign | open\n"
                      "a@sm_103 | a | foreign | open\n"
                      "a@sm_110 | a | foreign | open\n"
                      "a@sm_120 | a | foreign | open\n"
                      "a@sm_121 | a | foreign | open\n");
    plan_expect_left_out(&all, "a: 75 80 86 87 89: .target sm_90 runs on compute capability 9.0 and above\n");
    /* A driver of CUDA 12.8 does not know the later ones: it could not be asked for them. */
    CLEANUP_PLAN struct plan_case old = {
        .text = HEAD "- {name: a, ptx: 50.ptx, targets: [all]}\n", .directory = folder.path, .devices = {90}};
    old.cuda_version = 12080;
    plan_case_make(&old);
    plan_expect(&old, "a@sm_75 | a | foreign | open\na@sm_80 | a | foreign | open\n"
                      "a@sm_86 | a | foreign | open\na@sm_87 | a | foreign | open\n"
                      "a@sm_89 | a | foreign | open\na@sm_90 | a | native | open\n"
                      "a@sm_100 | a | foreign | open\na@sm_120 | a | foreign | open\n");
    plan_expect_left_out(&old, "a: 103 110 121: unknown to a driver of CUDA 12.8\n");
    /* Each once, whatever names it; what is a job after all is not left out. */
    CLEANUP_PLAN struct plan_case twice = {.text = HEAD
                                           "- {name: a, ptx: 90.ptx, targets: [ampere, sm_80..sm_90]}\n"
                                           "- {name: b, ptx: 90.ptx, targets: [ampere, ampere]}\n"
                                           "- {name: c, ptx: 90.ptx, targets: [sm_103..sm_110]}\n",
                                           .directory = folder.path,
                                           .devices = {90},
                                           .cuda_version = 12080};
    plan_case_make(&twice);
    plan_expect(&twice, "a@sm_90 | a | native | open\n"
                        "b@sm_87 | b | foreign | incompatible | newer-than-gpu\n"
                        "c@sm_110 | c | foreign | incompatible | unknown-to-driver\n");
    plan_expect_left_out(&twice, "a: 80 86 87 89: .target sm_90 runs on compute capability 9.0 and above\n"
                                 "b: 80 86: .target sm_90 runs on compute capability 9.0 and above\n"
                                 "c: 103: unknown to a driver of CUDA 12.8\n");
}

static void test_too_new_for_the_driver(void **state)
{
    (void)state;
    CLEANUP_PLAN struct plan_case plan_case = {.text = HEAD "- {name: a, ptx: 50.ptx}\n",
                                               .directory = folder.path,
                                               .devices = {90},
                                               .cuda_version = 12000};
    plan_case_make(&plan_case);
    plan_expect(&plan_case, "a@sm_90 | a | native | rejected | newer-than-driver\n");
}

static void test_rejected(void **state)
{
    (void)state;
    CLEANUP_PLAN struct plan_case plan_case = {
        .text = HEAD "- {name: a, ptx: text.ptx}\n"
                     "- {name: b, ptx: 80.ptx, kernels: [k, other]}\n"
                     "- {name: c, ptx: 80.ptx, sha256: "
                     "0000000000000000000000000000000000000000000000000000000000000000}\n"
                     "- {name: d, ptx: none.ptx}\n",
        .directory = folder.path,
        .devices = {90}};
    plan_case_make(&plan_case);
    plan_expect(&plan_case, "a@sm_90 | a | native | rejected | not-ptx\n"
                            "b@sm_90 | b | native | rejected | kernel-missing\n"
                            "c@sm_90 | c | native | rejected | sha256-mismatch\n"
                            "d@sm_90 | d | native | open | no-kernels\n");
    char message[1024], found[PJ_SHA256_HEX];
    (void)snprintf(message, sizeof message, "%s/80.ptx has no kernel 'other' (it has 1, the first is 'k')",
                   folder.path);
    assert_string_equal(plan_case.plan->jobs[1].reason, message);
    pj_sha256_hex(&plan_case.plan->jobs[2].images[0]->sha256, found);
    (void)snprintf(
        message, sizeof message,
        "%s/80.ptx has SHA-256 %s, the manifest pins %064d: update sha256 at m.yaml:5, or restore the file",
        folder.path, found, 0);
    assert_string_equal(plan_case.plan->jobs[2].reason, message);
    (void)snprintf(message, sizeof message,
                   "%s/text.ptx: this is text without a PTX header, not PTX: PTX starts with .version: check "
                   "that this is the file you mean",
                   folder.path);
    assert_string_equal(plan_case.plan->jobs[0].reason, message);
}

static void test_joined(void **state)
{
    (void)state;
    CLEANUP_PLAN struct plan_case plan_case = {
        .text = HEAD "- {name: a, ptx: 80.ptx, required: false, targets: [native, sm_90, 90a]}\n"
                     "- {name: wrong, ptx: 80.ptx, kernels: [none]}\n"
                     "- {name: b, ptx: 80b.ptx, targets: [sm_90, native, sm_80, 90a]}\n"
                     "- {name: c, ptx: 80.ptx, options: {max_registers: 32}}\n"
                     "- {name: d, ptx: 80.ptx, options: {max_registers: 32, fast_compile: false}}\n"
                     "- {name: wrong2, ptx: 80.ptx, kernels: [none], targets: [native, sm_90]}\n"
                     "- {name: e, ptx: 80.ptx}\n",
        .directory = folder.path,
        .devices = {90}};
    plan_case_make(&plan_case);
    plan_expect(&plan_case, "a@sm_90 | a, b, e | native | open\n"
                            "wrong@sm_90 | wrong | native | rejected | kernel-missing\n"
                            "b@sm_80 | b | foreign | open\n"
                            "c[max_registers=32]@sm_90 | c, d | native | open\n"
                            "wrong2@sm_90 | wrong2 | native | rejected | kernel-missing\n");
    /* One that is required makes the job required. */
    assert_true(plan_case.plan->jobs[0].required);
    assert_string_equal(plan_case.plan->jobs[3].option_text, "--maxrregcount 32");
    assert_int_equal(plan_case.plan->image_count, 2);
}

static void test_selection(void **state)
{
    (void)state;
    CLEANUP_PLAN struct plan_case plan_case = {.text = HEAD "- {name: a, ptx: 80.ptx}\n"
                                                            "- {name: ab, ptx: gone.ptx}\n"
                                                            "- {name: g, ptx: 'g/*.ptx', targets: [all]}\n",
                                               .directory = folder.path,
                                               .targets = {"sm_89", "native"},
                                               .modules = {"g", "a"},
                                               .devices = {90}};
    plan_case_make(&plan_case); /* what is not selected need not be readable */
    plan_expect(&plan_case, "a@sm_89 | a, g/a | foreign | open\n"
                            "a@sm_90 | a, g/a | native | open\n"
                            "g/b@sm_89 | g/b | foreign | open\n"
                            "g/b@sm_90 | g/b | native | open\n");
    CLEANUP_PLAN struct plan_case one = plan_case;
    one.manifest = NULL;
    one.plan = NULL;
    one.modules[0] = "g/b";
    one.modules[1] = NULL;
    plan_case_make(&one);
    plan_expect(&one, "g/b@sm_89 | g/b | foreign | open\ng/b@sm_90 | g/b | native | open\n");
    CLEANUP_PLAN struct plan_case none = one;
    none.manifest = NULL;
    none.plan = NULL;
    none.modules[0] = "g/";
    struct pj_error *err = NULL;
    expect_error(plan_case_read(&none, &err), &err, PJ_ERROR_USAGE,
                 "-m g/: m.yaml has no module of that name; did you mean 'g/a'?");
    CLEANUP_PLAN struct plan_case other = one;
    other.manifest = NULL;
    other.plan = NULL;
    other.modules[0] = "other";
    expect_error(plan_case_read(&other, &err), &err, PJ_ERROR_USAGE,
                 "-m other: m.yaml has no module of that name; it has a, ab, g/a, g/b");
}

static void test_unreadable(void **state)
{
    (void)state;
    CLEANUP_PLAN struct plan_case plan_case = {.text = HEAD "- {name: a, ptx: gone.ptx}\n"
                                                            "- {name: b, ptx: 80.ptx}\n"
                                                            "- {name: c, ptx: g}\n",
                                               .directory = folder.path,
                                               .devices = {90}};
    struct pj_error *err = NULL;
    char message[2048];
    (void)snprintf(message, sizeof message,
                   "m.yaml:3: module 'a': cannot open %s/gone.ptx: No such file or directory\n"
                   "m.yaml:5: module 'c': %s/g is a directory, not a regular file",
                   folder.path, folder.path);
    expect_error(plan_case_read(&plan_case, &err), &err, PJ_ERROR_MANIFEST, message);
    assert_null(plan_case.plan);
    CLEANUP_PLAN struct plan_case optional = {.text = HEAD "- {name: a, ptx: gone.ptx, required: false}\n",
                                              .directory = folder.path,
                                              .devices = {90}};
    plan_case_make(&optional);
    plan_expect(&optional, "a@sm_90 | a | native | rejected | unreadable\n");
    (void)snprintf(message, sizeof message, "cannot open %s/gone.ptx: No such file or directory",
                   folder.path);
    assert_string_equal(optional.plan->jobs[0].reason, message);
    assert_false(optional.plan->jobs[0].required);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_native),     cmocka_unit_test(test_explicit),
        cmocka_unit_test(test_ranges),     cmocka_unit_test(test_all),
        cmocka_unit_test(test_rejected),   cmocka_unit_test(test_too_new_for_the_driver),
        cmocka_unit_test(test_joined),     cmocka_unit_test(test_selection),
        cmocka_unit_test(test_unreadable),
    };
    return cmocka_run_group_tests(tests, make_images, remove_images);
}
