/* SPDX-License-Identifier: Apache-2.0 */
/* GPUs that a module could run on, and no job is for. */
#include "plans.h"

static struct folder folder;

static int make_images(void **state)
{
    (void)state;
    folder_make(&folder);
    folder_write(&folder, "50.ptx", PTX("sm_50"));
    folder_write(&folder, "90.ptx", PTX("sm_90"));
    folder_write(&folder, "90a.ptx", PTX("sm_90a"));
    folder_write(&folder, "text.ptx", "hello\n");
    folder_write(&folder, "k.cu", "__global__ void k() {}\n");
    return 0;
}

static int remove_images(void **state)
{
    (void)state;
    folder_remove(&folder);
    return 0;
}

#define HEAD "version: 1\nmodules:\n"

/* "a sm_120, b sm_120" */
static void expect_unserved(const char *text, const char *const *targets, const uint16_t *devices,
                            const char *expected)
{
    CLEANUP_PLAN struct plan_case plan_case = {.text = text, .directory = folder.path};
    PJ_CLEANUP_BUFFER struct pj_buffer found = {0};
    for (size_t i = 0; targets && targets[i]; i++)
        plan_case.targets[i] = targets[i];
    for (size_t i = 0; devices[i]; i++)
        plan_case.devices[i] = devices[i];
    plan_case_make(&plan_case);
    for (size_t i = 0; i < plan_case.plan->unserved.count; i++) {
        const struct pj_unserved *item = &plan_case.plan->unserved.items[i];
        pj_buffer_printf(&found, "%s%s sm_%u", i ? ", " : "",
                         plan_case.plan->manifest->modules[item->module].name, item->target);
    }
    assert_string_equal(pj_buffer_text(&found), expected);
}

static void test_named_targets(void **state)
{
    (void)state;
    static const char text[] = HEAD "- {name: a, ptx: 50.ptx, targets: [sm_80, sm_90]}\n"
                                    "- {name: b, ptx: 50.ptx}\n"
                                    "- {name: c, ptx: 90.ptx, targets: [sm_90]}\n";
    expect_unserved(text, NULL, (const uint16_t[]){120, 0}, "a sm_120, c sm_120");
    expect_unserved(text, NULL, (const uint16_t[]){80, 90, 0}, ""); /* c does not run on sm_80 */
    expect_unserved(text, NULL, (const uint16_t[]){75, 90, 120, 0}, "a sm_75, a sm_120, c sm_120");
    expect_unserved(text, NULL, (const uint16_t[]){0}, ""); /* no GPU is known */
    expect_unserved(text, (const char *const[]){"sm_80", NULL}, (const uint16_t[]){90, 0},
                    "a sm_90, b sm_90, c sm_90");
}

static void test_ranges_and_letters(void **state)
{
    (void)state;
    static const char text[] = HEAD "- {name: range, ptx: 50.ptx, targets: [sm_80..sm_90]}\n"
                                    "- {name: all, ptx: 50.ptx, targets: [all]}\n"
                                    "- {name: alone, ptx: 90a.ptx, targets: [sm_90a]}\n";
    expect_unserved(text, NULL, (const uint16_t[]){120, 0}, "range sm_120"); /* 90a runs on 9.0 alone */
    expect_unserved(text, NULL, (const uint16_t[]){90, 0}, "");
}

/* What no GPU can load needs no target. */
static void test_rejected(void **state)
{
    (void)state;
    expect_unserved(HEAD "- {name: a, ptx: text.ptx, targets: [sm_80]}\n"
                         "- {name: b, ptx: 50.ptx, kernels: [other], targets: [sm_80]}\n",
                    NULL, (const uint16_t[]){90, 0}, "");
}

static void test_sources_and_links(void **state)
{
    (void)state;
    static const char text[] =
        HEAD "- {name: any, source: k.cu, targets: [sm_80]}\n"
             "- {name: named, source: k.cu, targets: [sm_80], nvrtc: [-arch=compute_80]}\n"
             "- {name: newer, source: k.cu, targets: [sm_120], nvrtc: [-arch=compute_120]}\n"
             "- {name: lto, source: k.cu, targets: [sm_80], nvrtc: [-dlto, -arch=compute_80]}\n"
             "- {name: link, link: [50.ptx, 90.ptx], targets: [sm_100]}\n";
    expect_unserved(text, NULL, (const uint16_t[]){90, 0}, "any sm_90, named sm_90, link sm_90");
    expect_unserved(text, NULL, (const uint16_t[]){86, 0}, "any sm_86, named sm_86");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_named_targets),
        cmocka_unit_test(test_ranges_and_letters),
        cmocka_unit_test(test_rejected),
        cmocka_unit_test(test_sources_and_links),
    };
    return cmocka_run_group_tests(tests, make_images, remove_images);
}
