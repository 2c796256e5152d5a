/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs of sources: before NVRTC has run, and with the PTX that it made. */
#include "plans.h"

#define SOURCE_TEXT "__global__ void k() {}\n"
#define HEAD        "version: 1\nmodules:\n"

static struct folder folder;

static int make_files(void **state)
{
    static const char nul[] = "__global__ void k() {}\n\0more";
    (void)state;
    folder_make(&folder);
    folder_write(&folder, "k.cu", SOURCE_TEXT);
    folder_write(&folder, "same.cu", SOURCE_TEXT);
    folder_write(&folder, "other.cu", "__global__ void other() {}\n");
    folder_write(&folder, "plain.h", "int plain;\n");
    folder_write(&folder, "same.h", "int plain;\n");
    folder_write(&folder, "empty", "");
    folder_write(&folder, "blank", " \n");
    folder_write(&folder, "ptx", PTX("sm_80"));
    folder_write_bytes(&folder, "nul", nul, sizeof nul - 1);
    folder_write_bytes(&folder, "end", nul, strlen(nul) + 1);
    folder_write(&folder, "gzip", "\x1f\x8b\x08");
    folder_write(&folder, "bom", "\xef\xbb\xbfint x;\n");
    folder_write(&folder, "archive", "!<arch>\n");
    folder_write(&folder, "bytes", "\x01\x02");
    return 0;
}

static int remove_files(void **state)
{
    (void)state;
    folder_remove(&folder);
    return 0;
}

/* Letters are the compiler's, so `sm_90` and `sm_90a` are two jobs. */
static void test_letters(void **state)
{
    (void)state;
    CLEANUP_PLAN struct plan_case here = {
        .text = "version: 1\ntargets: [native, sm_90a, '90', sm_100f, turing, sm_90a]\nmodules:\n"
                "- {name: a, source: k.cu, headers: {p.h: plain.h, e.h: empty}}\n",
        .directory = folder.path,
        .devices = {90}};
    plan_case_make(&here);
    plan_expect(&here, "a@sm_90 | a | native | open\n"
                       "a@sm_90a | a | native | open\n"
                       "a@sm_100f | a | foreign | open\n"
                       "a@sm_75 | a | foreign | open\n");
    static const char letters[] = {0, 'a', 'f', 0};
    static const uint16_t targets[] = {90, 90, 100, 75};
    for (size_t i = 0; i < 4; i++) {
        const struct pj_job *job = &here.plan->jobs[i];
        assert_int_equal(job->letter, letters[i]);
        assert_int_equal(job->target, targets[i]);
        assert_int_equal(job->explicit_target, i < 3);
        assert_true(pj_job_needs_preparing(job));
        assert_int_equal(job->image_count, 0);
        assert_false(job->link);
        assert_int_equal(job->size_bytes, strlen(SOURCE_TEXT)); /* headers weigh nothing */
        assert_int_equal(job->file_count, 3);
        assert_string_equal(job->option_text, "");
        for (size_t k = 0; k < 3; k++)
            assert_true(job->files[k].named);
        assert_int_equal(job->files[1].status.st_size, strlen("int plain;\n"));
        assert_memory_equal(&job->files[0].sha256, &here.plan->module_images[0][0]->sha256,
                            sizeof(struct pj_sha256));
    }
    CLEANUP_PLAN struct plan_case unknown = {.text = HEAD "- {name: a, source: k.cu}\n",
                                             .directory = folder.path};
    plan_case_make(&unknown);
    plan_expect(&unknown, "a@native | a | unresolved | open\n");
}

static void test_faults(void **state)
{
    static const struct {
        const char *file;
        const char *line, *reason; /* of it as the source; NULL = nothing is wrong */
        bool header_too;           /* the same as a header */
    } rows[] = {
        {"ptx", "not-source", "FOLDER/ptx: it is PTX, not CUDA C++: name it with `ptx:`, it needs no NVRTC",
         true},
        {"nul", "interior-nul",
         "FOLDER/nul: it has a NUL byte inside, and NVRTC reads to the first one only: remove it", true},
        {"end", "interior-nul",
         "FOLDER/end: it has a NUL byte inside, and NVRTC reads to the first one only: remove it", true},
        {"gzip", "not-source",
         "FOLDER/gzip: it is a file compressed with gzip, not CUDA C++: decompress it first", true},
        {"bom", "not-source",
         "FOLDER/bom: it is text that starts with a UTF-8 byte-order mark, not CUDA C++: save it as plain "
         "ASCII without a byte-order mark",
         true},
        {"archive", "not-source",
         "FOLDER/archive: it is an ar archive, not CUDA C++: check that this is the file you mean", true},
        {"bytes", "not-source",
         "FOLDER/bytes: it is a file of no kind that prejit knows, not CUDA C++: check that this is the file "
         "you mean",
         true},
        {"empty", "not-source", "FOLDER/empty: it is an empty file: check what should have written it",
         false},
        {"blank", NULL, NULL, false},
        {"plain.h", NULL, NULL, false},
    };
    (void)state;
    for (size_t i = 0; i < PJ_COUNT(rows); i++) {
        char text[256], expected[256];
        (void)snprintf(text, sizeof text,
                       HEAD "- {name: a, source: '%s'}\n- {name: b, source: k.cu, headers: {h: '%s'}}\n",
                       rows[i].file, rows[i].file);
        CLEANUP_PLAN struct plan_case plan_case = {.text = text, .directory = folder.path, .devices = {90}};
        plan_case_make(&plan_case);
        (void)snprintf(expected, sizeof expected,
                       "a@sm_90 | a | native | %s%s\nb@sm_90 | b | native | %s%s\n",
                       rows[i].line ? "rejected | " : "open", rows[i].line ? rows[i].line : "",
                       rows[i].header_too ? "rejected | " : "open", rows[i].header_too ? rows[i].line : "");
        plan_expect(&plan_case, expected);
        if (rows[i].reason)
            plan_expect_reason(&plan_case, 0, rows[i].reason);
        if (rows[i].header_too)
            plan_expect_reason(&plan_case, 1, rows[i].reason);
        assert_int_equal(pj_job_needs_preparing(&plan_case.plan->jobs[0]), !rows[i].line);
    }
}

/* A file that is a source here and PTX or a header there is judged as each of them. */
static void test_forms(void **state)
{
    (void)state;
    CLEANUP_PLAN struct plan_case plan_case = {
        .text = HEAD "- {name: a, ptx: ptx}\n- {name: b, source: ptx}\n- {name: c, link: [ptx]}\n"
                     "- {name: d, source: k.cu, headers: {k.cu: k.cu}}\n",
        .directory = folder.path,
        .devices = {90}};
    plan_case_make(&plan_case);
    plan_expect(&plan_case, "a@sm_90 | a | native | open\n"
                            "b@sm_90 | b | native | rejected | not-source\n"
                            "c@sm_90 | c | native | open\n"
                            "d@sm_90 | d | native | open\n");
    assert_int_equal(plan_case.plan->image_count, 4);
    assert_ptr_equal(plan_case.plan->module_images[3][0], plan_case.plan->module_images[3][1]);
}

static void test_unreadable(void **state)
{
    (void)state;
    struct pj_error *err = NULL;
    char message[2048];
    CLEANUP_PLAN struct plan_case plan_case = {
        .text = HEAD "- {name: a, source: gone.cu, headers: {h: gone.h}}\n", .directory = folder.path};
    (void)snprintf(message, sizeof message,
                   "m.yaml:3: module 'a': cannot open %s/gone.cu: No such file or directory\n"
                   "m.yaml:3: module 'a': cannot open %s/gone.h: No such file or directory",
                   folder.path, folder.path);
    expect_error(plan_case_read(&plan_case, &err), &err, PJ_ERROR_MANIFEST, message);
    CLEANUP_PLAN struct plan_case optional = {
        .text = HEAD "- {name: a, source: k.cu, headers: {h: gone.h}, required: false}\n",
        .directory = folder.path,
        .devices = {90}};
    plan_case_make(&optional);
    plan_expect(&optional, "a@sm_90 | a | native | rejected | unreadable\n");
    plan_expect_reason(&optional, 0, "cannot open FOLDER/gone.h: No such file or directory");
}

static void test_pin(void **state)
{
    (void)state;
    char found[PJ_SHA256_HEX], text[512], message[1024];
    struct pj_sha256 digest;
    pj_sha256_of(SOURCE_TEXT, strlen(SOURCE_TEXT), &digest);
    pj_sha256_hex(&digest, found);
    (void)snprintf(text, sizeof text,
                   HEAD "- {name: a, source: k.cu, sha256: %s}\n- {name: b, source: k.cu, sha256: '%064d'}\n",
                   found, 0);
    CLEANUP_PLAN struct plan_case plan_case = {.text = text, .directory = folder.path, .devices = {90}};
    plan_case_make(&plan_case);
    plan_expect(&plan_case, "a@sm_90 | a | native | open\n"
                            "b@sm_90 | b | native | rejected | sha256-mismatch\n");
    (void)snprintf(message, sizeof message,
                   "FOLDER/k.cu has SHA-256 %s, the manifest pins %064d: update sha256 at m.yaml:4, or "
                   "restore the file",
                   found, 0);
    plan_expect_reason(&plan_case, 1, message);
}

/* What leaves the driver nothing to compile. */
static void test_skipped(void **state)
{
    static const struct {
        const char *option;
        enum pj_takes takes;
        const char *code, *reason;
    } rows[] = {
        {"-dlto", PJ_TAKES_PTX, "nvjitlink-links",
         "NVRTC gives it LTO-IR (-dlto), which nvJitLink links at each start, and the driver's cache keeps "
         "nothing of that. If the link gives PTX (-ptx), the driver compiles this PTX: save the LTO-IR that "
         "nvrtcGetLTOIR gives the program to a file, and name it under `link:` with `linker: nvjitlink` and "
         "`nvjitlink: [-lto, -ptx]`"},
        {"-arch=sm_90a", PJ_TAKES_CUBIN, "nvrtc-compiles",
         "its program takes the cubin (`takes: cubin` at m.yaml:3), which NVRTC itself compiles at each "
         "start: the driver has nothing to compile; `prejit build` makes that cubin ahead of time"},
        {"--optix-ir", PJ_TAKES_PTX, "nothing-to-warm",
         "with these options NVRTC gives no PTX that a program could load: the driver has nothing to "
         "compile"},
        {"-fdevice-syntax-only", PJ_TAKES_PTX, "nothing-to-warm",
         "with these options NVRTC gives no PTX that a program could load: the driver has nothing to "
         "compile"},
    };
    (void)state;
    for (size_t i = 0; i < PJ_COUNT(rows); i++) {
        PJ_CLEANUP_ERROR struct pj_error *err = NULL;
        const char *options[] = {rows[i].option};
        CLEANUP_PLAN struct plan_case plan_case = {.text = HEAD
                                                   "- {name: a, source: k.cu, targets: ['80', '90']}\n",
                                                   .directory = folder.path,
                                                   .devices = {90}};
        expect_success(plan_case_read(&plan_case, &err), &err);
        plan_case.manifest->modules[0].nvrtc = options; /* a manifest may not have all of them */
        plan_case.manifest->modules[0].nvrtc_count = 1;
        plan_case.manifest->modules[0].takes = rows[i].takes;
        expect_success(plan_case_expand(&plan_case, &err), &err);
        char expected[256];
        (void)snprintf(expected, sizeof expected,
                       "a@sm_80 | a | foreign | skipped | %s\na@sm_90 | a | native | skipped | %s\n",
                       rows[i].code, rows[i].code);
        plan_expect(&plan_case, expected);
        plan_expect_reason(&plan_case, 0, rows[i].reason);
        assert_false(pj_job_needs_preparing(&plan_case.plan->jobs[0]));
    }
    CLEANUP_PLAN struct plan_case plain = {
        .text = HEAD "- {name: a, source: k.cu, nvrtc: [-arch=compute_90a, -rdc=true]}\n"
                     "- {name: b, source: k.cu, nvrtc: [-arch=sm_90], takes: ptx}\n",
        .directory = folder.path,
        .devices = {90}};
    plan_case_make(&plain);
    plan_expect(&plain, "a@sm_90 | a | native | open\nb@sm_90 | b | native | open\n");
}

/* Two modules are one job before NVRTC has run only where it is told the very same; all else is decided by
 * the PTX. */
static void test_told_the_same(void **state)
{
    (void)state;
    CLEANUP_PLAN struct plan_case plan_case = {
        .text = HEAD "- {name: a, source: k.cu, headers: {p.h: plain.h}, nvrtc: [-DX], program_name: n, "
                     "name_expressions: [f<1>]}\n"
                     "- {name: same, source: k.cu, headers: {p.h: plain.h}, nvrtc: [-DX], program_name: n, "
                     "name_expressions: [f<1>], kernels: [k]}\n"
                     "- {name: path, source: same.cu, headers: {p.h: plain.h}, nvrtc: [-DX], "
                     "program_name: n, name_expressions: [f<1>]}\n"
                     "- {name: header, source: k.cu, headers: {q.h: plain.h}, nvrtc: [-DX], "
                     "program_name: n, name_expressions: [f<1>]}\n"
                     "- {name: text, source: k.cu, headers: {p.h: k.cu}, nvrtc: [-DX], program_name: n, "
                     "name_expressions: [f<1>]}\n"
                     "- {name: option, source: k.cu, headers: {p.h: plain.h}, nvrtc: [-DY], "
                     "program_name: n, name_expressions: [f<1>]}\n"
                     "- {name: program, source: k.cu, headers: {p.h: plain.h}, nvrtc: [-DX], "
                     "program_name: m, name_expressions: [f<1>]}\n"
                     "- {name: expression, source: k.cu, headers: {p.h: plain.h}, nvrtc: [-DX], "
                     "program_name: n, name_expressions: [f<2>]}\n"
                     "- {name: jit, source: k.cu, headers: {p.h: plain.h}, nvrtc: [-DX], program_name: n, "
                     "name_expressions: [f<1>], options: {max_registers: 32}}\n"
                     "- {name: moved, source: k.cu, headers: {p.h: same.h}, nvrtc: [-DX], program_name: n, "
                     "name_expressions: [f<1>]}\n",
        .directory = folder.path,
        .devices = {90}};
    plan_case_make(&plan_case);
    plan_expect(&plan_case,
                "a@sm_90 | a, same, moved | native | open\n" /* NVRTC gets a header's text alone */
                "path@sm_90 | path | native | open\n"
                "header@sm_90 | header | native | open\n"
                "text@sm_90 | text | native | open\n"
                "option@sm_90 | option | native | open\n"
                "program@sm_90 | program | native | open\n"
                "expression@sm_90 | expression | native | open\n"
                "jit[max_registers=32]@sm_90 | jit | native | open\n");
}

/* What counts is the PTX that came out. */
static void test_prepared_joins(void **state)
{
    (void)state;
    CLEANUP_PLAN struct plan_case plan_case = {
        .text = HEAD "- {name: a, source: k.cu, targets: ['90', 90a], required: false}\n"
                     "- {name: b, source: same.cu}\n- {name: c, source: k.cu, kernels: [none]}\n"
                     "- {name: d, ptx: ptx}\n- {name: e, source: other.cu}\n"
                     "- {name: f, source: k.cu, options: {max_registers: 32}}\n",
        .directory = folder.path,
        .devices = {90},
        .unsettled = true};
    plan_case_make(&plan_case);
    assert_int_equal(plan_case.plan->job_count, 7);
    static const char *const ptx[] = {PTX("sm_80"), PTX("sm_80"), PTX("sm_80"), PTX("sm_80"),
                                      NULL,         PTX("sm_75"), PTX("sm_80")};
    for (size_t i = 0; i < 7; i++) {
        if (ptx[i])
            plan_case_prepare(&plan_case, i, ptx[i]);
    }
    plan_case_settle(&plan_case);
    plan_expect(&plan_case, "a@sm_90 | a, b, d | native | open\n"
                            "c@sm_90 | c | native | rejected | kernel-missing\n"
                            "e@sm_90 | e | native | open\n"
                            "f[max_registers=32]@sm_90 | f | native | open\n");
    plan_expect_reason(&plan_case, 1, "FOLDER/k.cu has no kernel 'none' (it has 1, the first is 'k')");
    assert_true(plan_case.plan->jobs[0].required);
    const struct pj_job *job = &plan_case.plan->jobs[0];
    assert_int_equal(job->image_count, 1);
    assert_int_equal(job->size_bytes, strlen(PTX("sm_80")));
    assert_string_equal(job->images[0]->path, job->files[0].path);
    assert_memory_equal(&job->content, &job->images[0]->sha256, sizeof job->content);
    /* It comes from the files of all of them: one that changes parts them again. */
    static const char *const files[] = {"k.cu", "same.cu", "ptx"};
    assert_int_equal(job->file_count, PJ_COUNT(files));
    for (size_t i = 0; i < PJ_COUNT(files); i++) {
        PJ_CLEANUP_FREE char *path = pj_path_join(folder.path, files[i]);
        assert_string_equal(job->files[i].path, path);
        assert_true(job->files[i].named);
    }
    assert_int_equal(plan_case.plan->jobs[1].file_count, 1);
}

/* What is not known of one is not known of the job. */
static void test_unknown_files_join(void **state)
{
    (void)state;
    CLEANUP_PLAN struct plan_case plan_case = {
        .text =
            HEAD "- {name: a, source: k.cu}\n- {name: b, source: same.cu}\n- {name: c, source: other.cu}\n",
        .directory = folder.path,
        .devices = {90},
        .unsettled = true};
    plan_case_make(&plan_case);
    for (size_t i = 0; i < 3; i++)
        plan_case_prepare(&plan_case, i, i < 2 ? PTX("sm_80") : PTX("sm_75"));
    plan_case.plan->jobs[1].files_unknown = true;
    plan_case_settle(&plan_case);
    plan_expect(&plan_case, "a@sm_90 | a, b | native | open\nc@sm_90 | c | native | open\n");
    assert_true(plan_case.plan->jobs[0].files_unknown);
    assert_false(plan_case.plan->jobs[1].files_unknown);
}

static void test_prepared_faults(void **state)
{
    static const struct {
        const char *ptx, *line, *reason;
    } rows[] = {
        {PTX("sm_90"), "open", NULL},
        {".version 8.6\n.target sm_50\n.address_size 64\n", "open | no-kernels",
         "no kernel (.entry) is defined here, so nothing but its own cache entry can be warmed by it; check "
         "that this is the file you mean"},
        {"hello\n", "rejected | not-ptx",
         "FOLDER/k.cu: this is text without a PTX header, not PTX: PTX starts with .version: check that this "
         "is the file you mean"},
        {"", "rejected | not-ptx",
         "FOLDER/k.cu: this is an empty file, not PTX: check what should have "
         "written it"},
        {PTX("sm_100"), "incompatible | newer-than-gpu", NULL},
        {".version 9.9\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n\tret;\n}\n",
         "rejected | newer-than-driver", NULL},
    };
    (void)state;
    for (size_t i = 0; i < PJ_COUNT(rows); i++) {
        char expected[128];
        CLEANUP_PLAN struct plan_case plan_case = {.text = HEAD "- {name: a, source: k.cu}\n",
                                                   .directory = folder.path,
                                                   .devices = {90},
                                                   .cuda_version = 13000,
                                                   .unsettled = true};
        plan_case_make(&plan_case);
        plan_case_prepare(&plan_case, 0, rows[i].ptx);
        plan_case_settle(&plan_case);
        (void)snprintf(expected, sizeof expected, "a@sm_90 | a | native | %s\n", rows[i].line);
        plan_expect(&plan_case, expected);
        if (rows[i].reason)
            plan_expect_reason(&plan_case, 0, rows[i].reason);
    }
}

/* Options may name an architecture that not every target of a range runs: the last one of a module stays, so
 * that somebody hears of it. */
static void test_settle(void **state)
{
    (void)state;
    CLEANUP_PLAN struct plan_case plan_case = {
        .text = HEAD "- {name: a, source: k.cu, targets: [ampere], nvrtc: [-arch=compute_90]}\n"
                     "- {name: b, source: other.cu, targets: [sm_89..sm_100], nvrtc: [-arch=compute_90]}\n"
                     "- {name: c, source: k.cu, targets: [ada], nvrtc: [-arch=compute_90]}\n",
        .directory = folder.path,
        .devices = {90},
        .unsettled = true};
    plan_case_make(&plan_case);
    plan_expect(&plan_case, "a@sm_80 | a | foreign | open\na@sm_86 | a | foreign | open\n"
                            "a@sm_87 | a | foreign | open\nb@sm_89 | b | foreign | open\n"
                            "b@sm_90 | b | native | open\nb@sm_100 | b | foreign | open\n"
                            "c@sm_89 | c | foreign | open\n");
    for (size_t i = 0; i < 7; i++)
        plan_case_prepare(&plan_case, i, PTX("sm_90"));
    assert_int_equal(plan_case.plan->left_out.count, 0);
    plan_case_settle(&plan_case);
    plan_expect(&plan_case, "a@sm_87 | a | foreign | incompatible | newer-than-gpu\n"
                            "b@sm_90 | b | native | open\n"
                            "b@sm_100 | b | foreign | open\n"
                            "c@sm_89 | c | foreign | incompatible | newer-than-gpu\n");
    plan_expect_left_out(&plan_case, "a: 80 86: .target sm_90 runs on compute capability 9.0 and above\n"
                                     "b: 89: .target sm_90 runs on compute capability 9.0 and above\n");
}

/* PTX in memory is named and opened as a file would be. */
static void test_in_memory(void **state)
{
    (void)state;
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    CLEANUP_PLAN struct plan_case plan_case = {.text =
                                                   HEAD "- {name: a, source: k.cu}\n- {name: b, ptx: ptx}\n",
                                               .directory = folder.path,
                                               .devices = {90},
                                               .unsettled = true};
    plan_case_make(&plan_case);
    expect_success(pj_plan_name(plan_case.plan, "Apr 29 202617:12:06", &err), &err);
    assert_false(plan_case.plan->jobs[0].has_names); /* its PTX is not there yet */
    assert_int_equal(plan_case.plan->jobs[0].entry_count, 0);
    plan_case_prepare(&plan_case, 0, PTX("sm_80"));
    expect_success(pj_plan_name(plan_case.plan, "Apr 29 202617:12:06", &err), &err);
    for (size_t i = 0; i < 2; i++) {
        const struct pj_job *job = &plan_case.plan->jobs[i];
        PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
        PJ_CLEANUP_CLOSE int fd = -1;
        assert_true(job->has_names);
        assert_int_equal(job->entry_count, 1);
        assert_true(job->entries[0] == plan_case.plan->jobs[0].entries[0]);
        expect_success(pj_job_open_image(job, 0, &fd, &err), &err);
        assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
        expect_success(pj_file_read_fd(fd, "it", 1 << 20, &bytes, &err), &err);
        assert_string_equal(pj_buffer_text(&bytes), PTX("sm_80"));
    }
    PJ_CLEANUP_FREE char *path = pj_path_join(folder.path, "ptx"),
                         *moved = pj_path_join(folder.path, "moved");
    char message[1024];
    int fd = 77;
    assert_int_equal(rename(path, moved), 0);
    (void)snprintf(message, sizeof message, "cannot open %s: No such file or directory", path);
    expect_error(pj_job_open_image(&plan_case.plan->jobs[1], 0, &fd, &err), &err, PJ_ERROR_IO, message);
    assert_int_equal(fd, 77);
    assert_int_equal(rename(moved, path), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_letters),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_unreadable),
        cmocka_unit_test(test_pin),
        cmocka_unit_test(test_skipped),
        cmocka_unit_test(test_told_the_same),
        cmocka_unit_test(test_prepared_joins),
        cmocka_unit_test(test_unknown_files_join),
        cmocka_unit_test(test_prepared_faults),
        cmocka_unit_test(test_settle),
        cmocka_unit_test(test_in_memory),
    };
    return cmocka_run_group_tests(tests, make_files, remove_files);
}
