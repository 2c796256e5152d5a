/* SPDX-License-Identifier: Apache-2.0 */
/* When there is nothing to do, and which jobs are carried over from the last run. */
#include "runs.h"

#include "session/frame/request.h"
#include "session/receipt/identity.h"
#include "session/receipt/reuse.h"

typedef void change(struct run *run);

static void nothing(struct run *run)
{
    (void)run;
}

static void image_touched(struct run *run)
{
    run_touch(run, "axpb.ptx");
}

/* The same size, another byte: only its digest tells. */
static void image_edited(struct run *run)
{
    PJ_CLEANUP_CLOSE int fd = open(run->image_path, O_WRONLY | O_CLOEXEC);
    assert_int_equal(pwrite(fd, "#", 1, 2), 1);
    run_touch(run, "axpb.ptx");
}

/* Who edits a file can give it its old time again, but not the inode's. */
static void image_edited_in_its_time(struct run *run)
{
    struct stat before;
    assert_int_equal(stat(run->image_path, &before), 0);
    image_edited(run);
    const struct timespec times[2] = {before.st_atim, before.st_mtim};
    assert_int_equal(utimensat(AT_FDCWD, run->image_path, times, 0), 0);
    run->input.ctime_ns--; /* the edit may have come within the tick in which the file was made */
}

static void image_longer(struct run *run)
{
    assert_int_equal(truncate(run->image_path, (off_t)run->input.file.size_bytes + 1), 0);
}

static void image_gone(struct run *run)
{
    assert_int_equal(unlink(run->image_path), 0);
}

static void image_a_folder(struct run *run)
{
    image_gone(run);
    assert_int_equal(mkdir(run->image_path, 0700), 0);
}

static void entry_touched(struct run *run)
{
    run_touch(run, "cache/" ENTRY_PATH);
}

static void entry_damaged(struct run *run)
{
    PJ_CLEANUP_FREE char *path = pj_path_join(run->session.location.path, ENTRY_PATH);
    PJ_CLEANUP_CLOSE int fd = open(path, O_WRONLY | O_CLOEXEC);
    assert_int_equal(pwrite(fd, "#", 1, 2000), 1);
    run_touch(run, "cache/" ENTRY_PATH);
}

static void entry_shorter(struct run *run)
{
    PJ_CLEANUP_FREE char *path = pj_path_join(run->session.location.path, ENTRY_PATH);
    assert_int_equal(truncate(path, 4000), 0);
}

static void entry_gone(struct run *run)
{
    PJ_CLEANUP_FREE char *path = pj_path_join(run->session.location.path, ENTRY_PATH);
    assert_int_equal(unlink(path), 0);
}

/* As if another compiler had made it since, to the same size. */
static void entry_of_other_content(struct run *run)
{
    entry_touched(run);
    run->entry.checksum ^= 1;
}

static void entry_of_unknown_content(struct run *run)
{
    entry_touched(run);
    run->entry.checksum = 0;
}

/* The same, and its mtime is as it was. */
static void entry_replaced_in_its_time(struct run *run)
{
    run->entry.ctime_ns--;
    run->entry.checksum ^= 1;
}

/* Nothing is read of what nobody has touched. */
static void entry_untouched(struct run *run)
{
    run->entry.checksum = 0;
}

static void index_gone(struct run *run)
{
    PJ_CLEANUP_FREE char *path = pj_path_join(run->session.location.path, "index");
    assert_int_equal(unlink(path), 0);
}

static void index_empty_list(struct run *run)
{
    const unsigned char bytes[16] = {65}; /* valid, count 0 */
    folder_write_bytes(&run->folder, "cache/index", bytes, sizeof bytes);
}

static void index_other_format(struct run *run)
{
    const unsigned char bytes[16] = {66};
    folder_write_bytes(&run->folder, "cache/index", bytes, sizeof bytes);
}

static void cache_gone(struct run *run)
{
    assert_int_equal(pj_tree_remove(AT_FDCWD, run->session.location.path, NULL), 0);
}

static void not_proven(struct run *run)
{
    run->job.row.verdict = PJ_VERDICT_MISSED;
}

static void no_entry_name(struct run *run)
{
    run->job.entry_count = 0;
}

static void no_jobs(struct run *run)
{
    run->receipt.job_count = 0;
}

static void no_receipt(struct run *run)
{
    run->session.receipt = NULL;
}

static void other_image(struct run *run)
{
    run->input.file.path = run->manifest_path; /* what a glob found then and finds no more */
}

static void other_driver(struct run *run)
{
    run->session.same_driver = false;
}

static void other_gpus(struct run *run)
{
    run->session.same_gpus = false;
}

static void other_request(struct run *run)
{
    run->session.same_request = false;
}

static void other_samples(struct run *run)
{
    run->receipt.samples++;
}

static void other_options(struct run *run)
{
    run->job.row.options.given = 1;
}

static void other_content(struct run *run)
{
    run->job.content.bytes[31] ^= 1;
}

static void other_id(struct run *run)
{
    run->job.row.id = "b@sm_90";
}

static void test_nothing_to_do(void **state)
{
    static const struct {
        const char *name;
        change *apply;
        bool nothing_to_do;
    } cases[] = {
        {"nothing", nothing, true},
        {"image touched", image_touched, true}, /* copies and image layers keep bytes, not times */
        {"image edited", image_edited, false},
        {"image edited in its time", image_edited_in_its_time, false},
        {"image longer", image_longer, false},
        {"image gone", image_gone, false},
        {"image a folder", image_a_folder, false},
        {"other image", other_image, false},
        {"entry touched", entry_touched, true},
        {"entry of other content", entry_of_other_content, false},
        {"entry of unknown content", entry_of_unknown_content, false},
        {"entry replaced in its time", entry_replaced_in_its_time, false},
        {"entry untouched", entry_untouched, true},
        {"entry damaged", entry_damaged, false},
        {"entry shorter", entry_shorter, false},
        {"entry gone", entry_gone, false},
        {"index gone", index_gone, false},
        {"entry not listed", index_empty_list, false},
        {"index of another format", index_other_format, false},
        {"cache gone", cache_gone, false},
        {"not proven", not_proven, false},
        {"no entry name", no_entry_name, false},
        {"no jobs", no_jobs, false},
        {"no receipt", no_receipt, false},
        {"other driver", other_driver, false},
        {"other GPUs", other_gpus, false},
        {"other request", other_request, false},
    };
    (void)state;
    for (size_t i = 0; i < PJ_COUNT(cases); i++) {
        CLEANUP_RUN struct run run;
        PJ_CLEANUP_ERROR struct pj_error *err = NULL;
        bool found = !cases[i].nothing_to_do;
        run_make(&run);
        pj_identity_compare(&run.session);
        cases[i].apply(&run);
        expect_success(pj_reuse_everything(&run.session, &found, &err), &err);
        if (found != cases[i].nothing_to_do)
            fail_msg("%s: %d", cases[i].name, found);
    }
}

/* Plans the jobs as for the machine of the receipt. */
static void plan(struct run *run)
{
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    struct pj_session *session = &run->session;
    session->machine.archs[0] = 90;
    session->machine.arch_count = 1;
    expect_success(pj_plan_read(session->manifest, &session->selection, &session->plan, &err), &err);
    expect_success(pj_request_expand(session, &err), &err);
    assert_int_equal(session->plan->job_count, 1);
}

/* A link of two files, and a header that its compiler found: what `inputs` says is the receipt's, what
 * `named` says the manifest's. */
static void test_several_inputs(void **state)
{
    static const struct {
        const char *name, *touched, *edited, *named[3];
        size_t input_count;
        bool unknown, nothing_to_do;
    } cases[] = {
        {"the same", NULL, NULL, {"axpb.ptx", "b.ptx"}, 3, false, true},
        {"another order", NULL, NULL, {"b.ptx", "axpb.ptx"}, 3, false, true},
        {"touched", "b.ptx", NULL, {"axpb.ptx", "b.ptx"}, 3, false, true},
        {"edited", NULL, "b.ptx", {"axpb.ptx", "b.ptx"}, 3, false, false},
        {"header touched", "h.cuh", NULL, {"axpb.ptx", "b.ptx"}, 3, false, true},
        {"header edited", NULL, "h.cuh", {"axpb.ptx", "b.ptx"}, 3, false, false},
        {"one more named", NULL, NULL, {"axpb.ptx", "b.ptx", "m.yaml"}, 3, false, false},
        {"one less named", NULL, NULL, {"axpb.ptx"}, 3, false, false},
        {"a found header named", NULL, NULL, {"axpb.ptx", "b.ptx", "h.cuh"}, 3, false, false},
        {"no header", NULL, "h.cuh", {"axpb.ptx", "b.ptx"}, 2, false, true},
        {"headers unknown", NULL, NULL, {"axpb.ptx", "b.ptx"}, 3, true, false},
    };
    (void)state;
    for (size_t i = 0; i < PJ_COUNT(cases); i++) {
        CLEANUP_RUN struct run run;
        PJ_CLEANUP_ARENA struct pj_arena arena = {0};
        run_make(&run);
        folder_write(&run.folder, "b.ptx", "b");
        folder_write(&run.folder, "h.cuh", "h");
        struct pj_receipt_input inputs[3] = {run.input, run_describe(&run, &arena, "b.ptx"),
                                             run_describe(&run, &arena, "h.cuh")};
        inputs[1].named = true;
        struct pj_receipt_job jobs[2] = {run.job, run.job}; /* one has all files, the other shares some */
        jobs[0].inputs = (uint32_t[]){0, 1, 2};
        jobs[0].input_count = cases[i].input_count;
        run.receipt.inputs = inputs;
        run.receipt.input_count = cases[i].input_count;
        jobs[0].inputs_unknown = cases[i].unknown;
        run.receipt.jobs = jobs;
        run.receipt.job_count = 2;
        const char *named[3];
        struct pj_module *module = &run.session.manifest->modules[0];
        module->kind = PJ_MODULE_LINK;
        module->path = NULL;
        module->inputs = named;
        for (; module->input_count < 3 && cases[i].named[module->input_count]; module->input_count++)
            named[module->input_count] =
                pj_arena_printf(&arena, "%s/%s", run.folder.path, cases[i].named[module->input_count]);
        if (cases[i].touched)
            run_touch(&run, cases[i].touched);
        if (cases[i].edited) {
            folder_write(&run.folder, cases[i].edited, "#");
            run_touch(&run, cases[i].edited);
        }
        bool found = !cases[i].nothing_to_do;
        pj_identity_compare(&run.session);
        assert_int_equal(pj_reuse_everything(&run.session, &found, NULL), 0);
        if (found != cases[i].nothing_to_do)
            fail_msg("%s: %d", cases[i].name, found);
    }
}

/* Where somebody needs NVRTC, it must be the same, and found in the same way. */
static void test_nvrtc(void **state)
{
    static const struct {
        const char *name, *then, *now;
        bool touched, check_stable, same, nothing_to_do;
    } cases[] = {
        {"the same", "/opt/libnvrtc.so", "/opt/libnvrtc.so", false, false, true, true},
        {"looked for elsewhere", "/opt/libnvrtc.so", "libnvrtc.so.13", false, false, false, false},
        {"not known then", NULL, "/opt/libnvrtc.so", false, false, false, false},
        {"another file", "/opt/libnvrtc.so", "/opt/libnvrtc.so", true, false, false, false},
        {"no sources", "/opt/libnvrtc.so", NULL, true, false, false, true},
        {"to be compiled anew", "/opt/libnvrtc.so", "/opt/libnvrtc.so", false, true, true, false},
        {"nothing to compile anew", NULL, NULL, false, true, false, true},
    };
    (void)state;
    for (size_t i = 0; i < PJ_COUNT(cases); i++) {
        CLEANUP_RUN struct run run;
        PJ_CLEANUP_ARENA struct pj_arena arena = {0};
        run_make(&run);
        folder_write(&run.folder, "libnvrtc.so", "library");
        struct pj_receipt_file library = run_describe(&run, &arena, "libnvrtc.so").file;
        run.receipt.nvrtc_search = cases[i].then;
        run.receipt.nvrtc_files = &library;
        run.receipt.nvrtc_file_count = cases[i].then != NULL;
        run.session.nvrtc.search = cases[i].now;
        run.options.check_stable = cases[i].check_stable;
        if (cases[i].touched)
            run_touch(&run, "libnvrtc.so");
        bool found = !cases[i].nothing_to_do;
        pj_identity_compare(&run.session);
        assert_int_equal(pj_identity_same_compiler(&run.session.nvrtc, run.receipt.nvrtc_search,
                                                   run.receipt.nvrtc_files, run.receipt.nvrtc_file_count),
                         cases[i].same);
        assert_int_equal(pj_reuse_everything(&run.session, &found, NULL), 0);
        if (found != cases[i].nothing_to_do)
            fail_msg("%s: %d", cases[i].name, found);
    }
}

/* Of several entries each must be there. */
static void test_several_entries(void **state)
{
    (void)state;
    for (int missing = 0; missing < 2; missing++) {
        CLEANUP_RUN struct run run;
        run_make(&run);
        struct pj_receipt_entry entries[2] = {run.entry, run.entry};
        entries[1].hash += (uint64_t)missing;
        run.job.entries = entries;
        run.job.entry_count = 2;
        bool found = missing;
        pj_identity_compare(&run.session);
        assert_int_equal(pj_reuse_everything(&run.session, &found, NULL), 0);
        assert_int_equal(found, !missing);
        plan(&run);
        assert_int_equal(pj_reuse_jobs(&run.session, NULL), 0);
        const struct pj_outcome *outcome = &run.session.outcomes[0];
        assert_int_equal(outcome->stage, missing ? PJ_STAGE_WAITING : PJ_STAGE_CARRIED);
        assert_int_equal(outcome->entry_count, missing ? 0 : 2);
    }
}

/* A skipped job has no entry to look at: it does not keep the others from being a no-op. */
static void test_skipped(void **state)
{
    (void)state;
    CLEANUP_RUN struct run run;
    run_make(&run);
    struct pj_receipt_job jobs[2] = {run.job, run.job};
    jobs[1].row.id = "a@sm_80";
    jobs[1].row.verdict = PJ_VERDICT_SKIPPED;
    jobs[1].entry_count = 0;
    run.receipt.jobs = jobs;
    run.receipt.job_count = 2;
    bool found = false;
    pj_identity_compare(&run.session);
    assert_int_equal(pj_reuse_everything(&run.session, &found, NULL), 0);
    assert_true(found);
}

static void test_carried(void **state)
{
    static const struct {
        const char *name;
        change *apply;
        bool carried, cold_known;
    } cases[] = {
        {"nothing", nothing, true, true},
        {"image touched", image_touched, true, true},
        {"entry touched", entry_touched, true, true},
        {"other request", other_request, true, true}, /* of other modules, say */
        /* What is the same module is still worth its compile time. */
        {"other driver", other_driver, false, true},
        {"other GPUs", other_gpus, false, true},
        {"other samples", other_samples, false, true},
        {"not proven", not_proven, false, true},
        {"entry damaged", entry_damaged, false, true},
        {"entry gone", entry_gone, false, true},
        {"index gone", index_gone, false, true},
        {"entry not listed", index_empty_list, false, true},
        {"cache gone", cache_gone, false, true},
        {"no entry name", no_entry_name, false, true},
        {"image edited", image_edited, false, false},
        {"other options", other_options, false, false},
        {"other id", other_id, false, false},
        {"no receipt", no_receipt, false, false},
        {"no jobs", no_jobs, false, false},
    };
    (void)state;
    for (size_t i = 0; i < PJ_COUNT(cases); i++) {
        CLEANUP_RUN struct run run;
        PJ_CLEANUP_ERROR struct pj_error *err = NULL;
        run_make(&run);
        pj_identity_compare(&run.session);
        cases[i].apply(&run);
        plan(&run);
        expect_success(pj_reuse_jobs(&run.session, &err), &err);
        const struct pj_outcome *outcome = &run.session.outcomes[0];
        if ((outcome->stage == PJ_STAGE_CARRIED) != cases[i].carried ||
            outcome->has_cold_ms != cases[i].cold_known)
            fail_msg("%s: stage %d, cold time known %d", cases[i].name, outcome->stage, outcome->has_cold_ms);
    }
}

static void test_carried_figures(void **state)
{
    (void)state;
    CLEANUP_RUN struct run run;
    run_make(&run);
    pj_identity_compare(&run.session);
    plan(&run);
    assert_int_equal(pj_reuse_jobs(&run.session, NULL), 0);
    const struct pj_outcome *outcome = &run.session.outcomes[0];
    assert_int_equal(outcome->verdict, PJ_VERDICT_PROVEN);
    assert_int_equal(outcome->origin, PJ_ORIGIN_REUSED);
    assert_int_equal(outcome->entry_count, 1);
    assert_true(outcome->entries[0].hash == ENTRY_HASH);
    assert_int_equal(outcome->entries[0].file_bytes, 4714);
    assert_true(outcome->cold_from_receipt && outcome->cold_ms == 350);
    assert_int_equal(outcome->warm.count, 1);
    assert_int_equal(outcome->witnesses.jit_disabled, PJ_WITNESS_YES);
}

/* What verify and plan are told of links whose entries are not foreseen. */
static void test_links(void **state)
{
    static const uint64_t foreseen[] = {1};
    static const struct {
        const char *name;
        change *apply;
        bool no_link, has_names;
        size_t foreseen_count;
        enum pj_verdict then;
        size_t entries;
        bool skipped;
    } cases[] = {
        {"as it was", nothing, false, false, 0, PJ_VERDICT_PROVEN, 1, false},
        {"some are foreseen", nothing, false, false, 1, PJ_VERDICT_PROVEN, 1, false},
        {"all are foreseen", nothing, false, true, 1, PJ_VERDICT_PROVEN, 0, false},
        {"none, and that is foreseen", nothing, false, true, 0, PJ_VERDICT_PROVEN, 0, true},
        {"skipped then", nothing, false, false, 0, PJ_VERDICT_SKIPPED, 0, true},
        {"no link", nothing, true, false, 0, PJ_VERDICT_PROVEN, 0, false},
        {"other driver", other_driver, false, false, 0, PJ_VERDICT_PROVEN, 0, false},
        {"other options", other_options, false, false, 0, PJ_VERDICT_PROVEN, 0, false},
        {"other id", other_id, false, false, 0, PJ_VERDICT_PROVEN, 0, false},
        {"other inputs", other_content, false, false, 0, PJ_VERDICT_PROVEN, 0, false},
        {"no receipt", no_receipt, false, false, 0, PJ_VERDICT_SKIPPED, 0, false},
    };
    (void)state;
    for (size_t i = 0; i < PJ_COUNT(cases); i++) {
        CLEANUP_RUN struct run run;
        run_make(&run);
        pj_identity_compare(&run.session);
        struct pj_job job = {.id = "a@sm_90",
                             .link = !cases[i].no_link,
                             .content = run.job.content,
                             .has_names = cases[i].has_names,
                             .entries = foreseen,
                             .entry_count = cases[i].foreseen_count};
        struct pj_plan plan_of_one = {.jobs = &job, .job_count = 1};
        struct pj_outcome outcome = {.stage = PJ_STAGE_WAITING};
        run.job.row.verdict = cases[i].then;
        run.job.row.reason = "why";
        cases[i].apply(&run);
        run.session.plan = &plan_of_one;
        run.session.outcomes = &outcome;
        assert_int_equal(pj_reuse_links(&run.session, NULL), 0);
        run.session.plan = NULL;
        if (outcome.entry_count != cases[i].entries ||
            (outcome.verdict == PJ_VERDICT_SKIPPED) != cases[i].skipped)
            fail_msg("%s: %zu entries, verdict %d", cases[i].name, outcome.entry_count, outcome.verdict);
        if (cases[i].entries)
            assert_true(outcome.entries[0].hash == ENTRY_HASH && outcome.entries[0].file_bytes == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_to_do),   cmocka_unit_test(test_several_inputs),
        cmocka_unit_test(test_nvrtc),           cmocka_unit_test(test_several_entries),
        cmocka_unit_test(test_skipped),         cmocka_unit_test(test_carried),
        cmocka_unit_test(test_carried_figures), cmocka_unit_test(test_links),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
