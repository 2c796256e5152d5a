/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs of links: their files, what is wrong with one of them, and the entries of their inputs. */
#include "plans.h"

#define HEAD  "version: 1\nmodules:\n"
#define STAMP "Apr 29 202617:12:06"

#define CALLER                                                                                               \
    ".version 8.6\n.target sm_80\n.address_size 64\n.extern .func twice;\n.visible .entry k()\n{\n\tcall "   \
    "twice;\n\tret;\n}\n"
#define CALLED(target)                                                                                       \
    ".version 8.6\n.target " target "\n.address_size 64\n.visible .func twice\n{\n\tret;\n}\n"

/* Defines what CALLER calls, and misses something itself. */
#define HALF                                                                                                 \
    ".version 8.6\n.target sm_80\n.address_size 64\n.extern .func more;\n.visible .func twice\n{\n\tcall "   \
    "more;\n}\n"

static struct folder folder;

static void copy(const char *from, const char *to)
{
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    PJ_CLEANUP_FREE char *path = pj_path_join(TEST_IMAGES, from);
    assert_int_equal(pj_file_read(AT_FDCWD, path, 1 << 20, &bytes, NULL), 0);
    folder_write_bytes(&folder, to, bytes.data, bytes.size);
}

/* An entry of a size that is no multiple of 8, and padding behind it. */
static void make_bad_fatbin(void)
{
    enum { SIZE_AT = 16 + 8, PACKED_SIZE_AT = 16 + 16, BYTES = 237, PADDING = 3 };
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    PJ_CLEANUP_FREE char *path = pj_path_join(TEST_IMAGES, "link/lz4.fatbin");
    assert_int_equal(pj_file_read(AT_FDCWD, path, 1 << 20, &bytes, NULL), 0);
    bytes.data[SIZE_AT] = bytes.data[PACKED_SIZE_AT] = (char)BYTES;
    memset(bytes.data + bytes.size - PADDING, 0, PADDING);
    folder_write_bytes(&folder, "bad.fatbin", bytes.data, bytes.size);
}

static int make_files(void **state)
{
    (void)state;
    folder_make(&folder);
    folder_write(&folder, "caller.ptx", CALLER);
    folder_write(&folder, "called.ptx", CALLED("sm_80"));
    folder_write(&folder, "same.ptx", CALLED("sm_80"));
    folder_write(&folder, "90.ptx", CALLED("sm_90"));
    folder_write(&folder, "half.ptx", HALF);
    folder_write(&folder, "none.ptx", PTX("sm_80"));
    folder_write(&folder, "text", "hello\n");
    folder_write(&folder, "empty", "");
    folder_write(&folder, "32.ptx", ".version 8.6\n.target sm_80\n.address_size 32\n");
    copy("driver_sm_90_relocatable.cubin", "90.cubin");
    copy("driver_sm_80_relocatable.cubin", "80.cubin");
    copy("link/rdc.fatbin", "rdc.fatbin");
    copy("link/rdc.o", "rdc.o");
    copy("link/host.o", "host.o");
    copy("link/host_and_rdc.a", "both.a");
    copy("link/sm_90.ltoir", "lto");
    copy("link/lto_stored.fatbin", "lto.fatbin");
    copy("link/dlto.o", "dlto.o");
    make_bad_fatbin();
    return 0;
}

static int remove_files(void **state)
{
    (void)state;
    folder_remove(&folder);
    return 0;
}

static void test_jobs(void **state)
{
    (void)state;
    CLEANUP_PLAN struct plan_case plan_case = {
        .text = HEAD "- {name: a, link: [caller.ptx, called.ptx], targets: [native, sm_90a, sm_80]}\n"
                     "- {name: b, link: [90.ptx, caller.ptx], options: {max_registers: 32}}\n"
                     "- {name: c, ptx: 90.ptx}\n",
        .directory = folder.path,
        .devices = {90}};
    plan_case_make(&plan_case);
    plan_expect(&plan_case, "a@sm_90 | a | native | open\n" /* the driver's targets have no letters */
                            "a@sm_80 | a | foreign | open\n"
                            "b[max_registers=32]@sm_90 | b | native | open\n"
                            "c@sm_90 | c | native | open | no-kernels\n");
    const struct pj_job *job = &plan_case.plan->jobs[0];
    assert_true(job->link);
    assert_false(pj_job_needs_preparing(job));
    assert_int_equal(job->letter, 0);
    assert_int_equal(job->image_count, 2);
    assert_int_equal(job->file_count, 2);
    assert_int_equal(job->size_bytes, strlen(CALLER) + strlen(CALLED("sm_80")));
    assert_int_equal(job->images[0]->size_bytes, strlen(CALLER));
    assert_int_equal(job->images[1]->contents.kind, PJ_INPUT_PTX);
    assert_true(job->images[1]->contents.has_ptx);
    assert_string_equal(job->option_text, "-c");
    assert_string_equal(plan_case.plan->jobs[2].option_text, "-c --maxrregcount 32");
    assert_ptr_equal(plan_case.plan->jobs[2].images[1], job->images[0]); /* read once */
    assert_int_equal(plan_case.plan->image_count, 4);                    /* 90.ptx in two forms */
    assert_memory_not_equal(&job->content, &job->images[0]->sha256, sizeof job->content);
}

static void test_faults(void **state)
{
    static const struct {
        const char *link, *line, *reason;
    } rows[] = {
        {"text", "rejected | not-linkable",
         "FOLDER/text: this is text without a PTX header, which no linker takes: PTX starts with .version: "
         "check that this is the file you mean"},
        {"empty", "rejected | not-linkable",
         "FOLDER/empty: this is an empty file, which no linker takes: check what should have written it"},
        {"host.o", "rejected | no-device-code",
         "FOLDER/host.o: it holds no device code, so there is nothing in it to link: compile it with `nvcc "
         "-dc`, or leave it out"},
        {"bad.fatbin", "rejected | bad-fatbin",
         "FOLDER/bad.fatbin: a fatbin in it has an entry whose size is no multiple of 8 and padding behind "
         "it, which hangs or crashes the driver: make it anew with fatbinary or nvcc"},
        {"caller.ptx, 32.ptx", "rejected | 32-bit", NULL},
        {"lto", "rejected | needs-nvjitlink",
         "FOLDER/lto holds LTO-IR, which the driver's linker does not take: write `linker: nvjitlink` at "
         "m.yaml:3 if the program links with nvJitLink, or name PTX"},
        {"caller.ptx, lto.fatbin", "rejected | needs-nvjitlink",
         "FOLDER/lto.fatbin holds LTO-IR, which the driver's linker does not take: write `linker: nvjitlink` "
         "at m.yaml:3 if the program links with nvJitLink, or name PTX"},
        {"caller.ptx", "rejected | undefined-function",
         "FOLDER/caller.ptx: line 4: a kernel calls the function \"twice\", which no file of this link "
         "defines: name the one that does as well"},
        {"none.ptx, caller.ptx", "rejected | undefined-function", NULL},
        {"caller.ptx, half.ptx", "rejected | undefined-function",
         "FOLDER/half.ptx: line 4: the function \"twice\", which a kernel needs, calls the function "
         "\"more\", "
         "which no file of this link defines: name the one that does as well"},
        {"half.ptx, 90.cubin, caller.ptx", "open", NULL},
        {"half.ptx", "open", NULL}, /* no kernel reaches what it misses */
        {"half.ptx, none.ptx", "open", NULL},
        {"caller.ptx, 90.cubin", "open", NULL}, /* what another kind of file defines is not known */
        {"caller.ptx, rdc.o", "open", NULL},
        {"dlto.o", "open", NULL}, /* it has PTX as well, which the driver takes */
        {"rdc.fatbin", "open", NULL},
        {"rdc.o, both.a", "open", NULL},
        {"90.cubin", "open", NULL},
        {"80.cubin", "incompatible | other-architecture",
         "FOLDER/80.cubin is a cubin for sm_80, which does not run on sm_90: name its PTX, or a cubin for "
         "each target"},
    };
    (void)state;
    for (size_t i = 0; i < PJ_COUNT(rows); i++) {
        char text[256], expected[256];
        (void)snprintf(text, sizeof text, HEAD "- {name: a, link: [%s]}\n", rows[i].link);
        (void)snprintf(expected, sizeof expected, "a@sm_90 | a | native | %s\n", rows[i].line);
        CLEANUP_PLAN struct plan_case plan_case = {.text = text, .directory = folder.path, .devices = {90}};
        plan_case_make(&plan_case);
        plan_expect(&plan_case, expected);
        if (rows[i].reason)
            plan_expect_reason(&plan_case, 0, rows[i].reason);
    }
}

static void test_nvjitlink(void **state)
{
    (void)state;
    CLEANUP_PLAN struct plan_case plan_case = {
        .text = HEAD "- {name: a, link: [lto], linker: nvjitlink}\n- {name: b, link: [text], linker: "
                     "nvjitlink}\n- {name: c, link: [80.cubin], linker: nvjitlink}\n"
                     "- {name: d, link: [lto], linker: nvjitlink, nvjitlink: [-lto, -ptx]}\n",
        .directory = folder.path,
        .devices = {90}};
    plan_case_make(&plan_case);
    plan_expect(&plan_case, "a@sm_90 | a | native | skipped | nvjitlink-links\n"
                            "b@sm_90 | b | native | rejected | not-linkable\n"
                            "c@sm_90 | c | native | skipped | nvjitlink-links\n"
                            "d@sm_90 | d | native | open\n");
    plan_expect_reason(
        &plan_case, 0,
        "nvJitLink itself makes a cubin of it at each start (m.yaml:3 has no -ptx under "
        "`nvjitlink`): the driver has nothing to compile; `prejit build` makes that cubin ahead "
        "of time; if the program passes -ptx, write `nvjitlink: [-lto, -ptx]`, with what else it "
        "passes");
    const struct pj_job *made = &plan_case.plan->jobs[3]; /* the driver loads the PTX that comes out */
    assert_true(pj_job_needs_preparing(made));
    assert_false(made->link);
    assert_string_equal(made->option_text, "");
    assert_int_equal(made->file_count, 1);
}

/* One input that does not run there is enough; of a target that nobody named it is no fault. */
static void test_targets(void **state)
{
    (void)state;
    CLEANUP_PLAN struct plan_case plan_case = {
        .text = HEAD "- {name: a, link: [caller.ptx, 90.ptx], targets: ['86', sm_89..sm_100]}\n"
                     "- {name: b, link: [caller.ptx, 80.cubin], targets: [sm_75..sm_90]}\n"
                     "- {name: c, link: [90.cubin], targets: [ampere]}\n"
                     "- {name: d, link: [caller.ptx, rdc.fatbin], targets: ['80']}\n",
        .directory = folder.path,
        .devices = {90}};
    plan_case_make(&plan_case);
    plan_expect(&plan_case,
                "a@sm_86 | a | foreign | incompatible | newer-than-gpu\n"
                "a@sm_90 | a | native | open\n"
                "a@sm_100 | a | foreign | open\n"
                "b@sm_80 | b | foreign | open\n"
                "b@sm_86 | b | foreign | open\n"
                "b@sm_87 | b | foreign | open\n"
                "b@sm_89 | b | foreign | open\n"
                "c@sm_87 | c | foreign | incompatible | other-architecture\n"
                "d@sm_80 | d | foreign | open\n"); /* what a container holds for it is not judged */
    plan_expect_left_out(&plan_case, "a: 89: .target sm_90 runs on compute capability 9.0 and above\n"
                                     "b: 75: .target sm_80 runs on compute capability 8.0 and above\n"
                                     "b: 90: a cubin for sm_80 does not run there\n"
                                     "c: 80 86: a cubin for sm_90 does not run there\n");
    assert_memory_equal(plan_case.plan->jobs[0].reason, folder.path, strlen(folder.path));
    assert_memory_equal(plan_case.plan->jobs[0].reason + strlen(folder.path), "/90.ptx: ", 9);
    CLEANUP_PLAN struct plan_case unknown = {.text = HEAD "- {name: a, link: [80.cubin, 90.ptx]}\n",
                                             .directory = folder.path};
    plan_case_make(&unknown);
    plan_expect(&unknown, "a@native | a | unresolved | open\n");
    CLEANUP_PLAN struct plan_case old = {.text = HEAD "- {name: a, link: [caller.ptx, 90.ptx]}\n",
                                         .directory = folder.path,
                                         .devices = {90},
                                         .cuda_version = 12000};
    plan_case_make(&old);
    plan_expect(&old, "a@sm_90 | a | native | rejected | newer-than-driver\n");
}

static void test_kernels(void **state)
{
    (void)state;
    CLEANUP_PLAN struct plan_case plan_case = {
        .text = HEAD "- {name: a, link: [called.ptx, caller.ptx], kernels: [k]}\n"
                     "- {name: b, link: [called.ptx, caller.ptx], kernels: [k, other]}\n"
                     "- {name: c, link: [called.ptx], kernels: [k]}\n"
                     "- {name: d, link: [called.ptx, 90.cubin], kernels: [other]}\n",
        .directory = folder.path,
        .devices = {90}};
    plan_case_make(&plan_case);
    plan_expect(&plan_case, "a@sm_90 | a | native | open\n"
                            "b@sm_90 | b | native | rejected | kernel-missing\n"
                            "c@sm_90 | c | native | rejected | kernel-missing\n"
                            "d@sm_90 | d | native | open\n"); /* the cubin may have it */
    plan_expect_reason(&plan_case, 1, "none of the 2 files has a kernel 'other'");
    plan_expect_reason(&plan_case, 2, "FOLDER/called.ptx has no kernel 'k' (it has none at all)");
}

/* The same bytes in the same order are the same link; one input that is linked is not that one loaded. */
static void test_joined(void **state)
{
    (void)state;
    CLEANUP_PLAN struct plan_case plan_case = {
        .text = HEAD "- {name: a, link: [caller.ptx, called.ptx]}\n"
                     "- {name: b, link: [caller.ptx, same.ptx]}\n"
                     "- {name: c, link: [called.ptx, caller.ptx]}\n"
                     "- {name: d, link: [caller.ptx, called.ptx], options: {max_registers: 32}}\n"
                     "- {name: e, link: [caller.ptx, called.ptx, same.ptx]}\n"
                     "- {name: f, link: [called.ptx]}\n- {name: g, ptx: called.ptx}\n",
        .directory = folder.path,
        .devices = {90}};
    plan_case_make(&plan_case);
    plan_expect(&plan_case, "a@sm_90 | a, b | native | open\n"
                            "c@sm_90 | c | native | open\n"
                            "d[max_registers=32]@sm_90 | d | native | open\n"
                            "e@sm_90 | e | native | open\n"
                            "f@sm_90 | f | native | open\n"
                            "g@sm_90 | g | native | open | no-kernels\n");
}

/* Against the entries of driver 580.159.04. */
static void test_golden_names(void **state)
{
    (void)state;
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    CLEANUP_PLAN struct plan_case plan_case = {
        .text = HEAD "- {name: a, link: [link_a.ptx, link_b.ptx]}\n"
                     "- {name: b, link: [axpb.ptx], options: {optimization_level: 1, max_registers: 64}}\n"
                     "- {name: c, link: [axpb.ptx], targets: ['80']}\n",
        .directory = GOLDEN_INPUTS,
        .devices = {90}};
    plan_case_make(&plan_case);
    expect_success(pj_plan_name(plan_case.plan, STAMP, &err), &err);
    const struct pj_job *jobs = plan_case.plan->jobs;
    assert_int_equal(plan_case.plan->job_count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_true(jobs[i].has_names);
        assert_int_equal(jobs[i].entry_count, i == 0 ? 2 : 1);
    }
    static const uint64_t first[] = {UINT64_C(0xc59d1065687ca934), UINT64_C(0x1ff8fd50a4b60b42)};
    assert_true((jobs[0].entries[0] == first[0] && jobs[0].entries[1] == first[1]) ||
                (jobs[0].entries[0] == first[1] && jobs[0].entries[1] == first[0]));
    assert_true(jobs[1].entries[0] == UINT64_C(0x925a46772409d181));
    assert_true(jobs[2].entries[0] == UINT64_C(0x47d99365291f6a2c));
}

/* Equal inputs have one entry, a cubin none, and what a container holds is not known. */
static void test_names(void **state)
{
    static const struct {
        const char *link;
        bool has_names;
        size_t entry_count;
    } rows[] = {
        {"caller.ptx, called.ptx", true, 2},
        {"caller.ptx, called.ptx, same.ptx", true, 2},
        {"caller.ptx, 90.cubin", true, 1},
        {"90.cubin", true, 0},
        {"rdc.fatbin", false, 0},
        {"caller.ptx, rdc.o", false, 1},
        {"both.a", false, 0},
    };
    (void)state;
    for (size_t i = 0; i < PJ_COUNT(rows); i++) {
        PJ_CLEANUP_ERROR struct pj_error *err = NULL;
        char text[256];
        (void)snprintf(text, sizeof text, HEAD "- {name: a, link: [%s]}\n", rows[i].link);
        CLEANUP_PLAN struct plan_case plan_case = {.text = text, .directory = folder.path, .devices = {90}};
        plan_case_make(&plan_case);
        for (int again = 0; again < 2; again++) { /* the stamp may turn out to be another one */
            expect_success(pj_plan_name(plan_case.plan, again ? STAMP : "x", &err), &err);
            assert_int_equal(plan_case.plan->jobs[0].has_names, rows[i].has_names);
            assert_int_equal(plan_case.plan->jobs[0].entry_count, rows[i].entry_count);
        }
    }
}

/* One input that changed leaves the link without a complete list. */
static void test_changed(void **state)
{
    (void)state;
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    CLEANUP_PLAN struct plan_case plan_case = {
        .text = HEAD "- {name: a, link: [caller.ptx, 90.ptx]}\n", .directory = folder.path, .devices = {90}};
    plan_case_make(&plan_case);
    folder_write(&folder, "90.ptx", CALLED("sm_75"));
    expect_success(pj_plan_name(plan_case.plan, STAMP, &err), &err);
    assert_false(plan_case.plan->jobs[0].has_names);
    assert_int_equal(plan_case.plan->jobs[0].entry_count, 1);
    folder_write(&folder, "90.ptx", CALLED("sm_90"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_jobs),    cmocka_unit_test(test_faults),       cmocka_unit_test(test_nvjitlink),
        cmocka_unit_test(test_targets), cmocka_unit_test(test_kernels),      cmocka_unit_test(test_joined),
        cmocka_unit_test(test_names),   cmocka_unit_test(test_golden_names), cmocka_unit_test(test_changed),
    };
    return cmocka_run_group_tests(tests, make_files, remove_files);
}
