/* SPDX-License-Identifier: Apache-2.0 */
/* A worker process that cannot be started is one less; the run ends where there is none. Real workers with
 * the emulated driver; the system's refusal is made here. */
#include "folder.h"

#include <prejit/prejit.h>

#include "job/pool.h"

int __real_pj_pool_start(struct pj_pool *pool, const struct pj_worker_spec *spec,
                         struct pj_worker **ret_worker, struct pj_error **err);
int __wrap_pj_pool_start(struct pj_pool *pool, const struct pj_worker_spec *spec,
                         struct pj_worker **ret_worker, struct pj_error **err);

enum { JOBS = 4 };

static struct {
    size_t first, last; /* of the starts that are refused, counted from 1 */
    bool proof;         /* which are counted: those of workers that prove, or that compile */
    size_t count;
} refusal;

int __wrap_pj_pool_start(struct pj_pool *pool, const struct pj_worker_spec *spec,
                         struct pj_worker **ret_worker, struct pj_error **err)
{
    bool counted = spec->disable_jit == refusal.proof;
    refusal.count += counted;
    if (counted && refusal.count >= refusal.first && refusal.count <= refusal.last)
        return pj_error_set(err, PJ_ERROR_IO, "no process number %zu", refusal.count);
    return __real_pj_pool_start(pool, spec, ret_worker, err);
}

struct run {
    const char *scenario;
    const char *driver; /* NULL = the usual one */
    bool listed;
};

static const char ptx[] =
    ".version 6.4\n.target sm_52\n.address_size 64\n.visible .entry k%zu()\n{\nret;\n}\n";

/* One GPU is listed: all workers start at once. Else the first tells what GPU there is, and the others
 * follow. */
static void list_gpu(const struct folder *folder, bool listed)
{
    if (listed)
        folder_write(folder, "root/proc/driver/nvidia/gpus/0000:00:00.0/information", "Model: H200\n");
    PJ_CLEANUP_FREE char *root = pj_path_join(folder->path, "root");
    assert_int_equal(setenv("PREJIT_ROOT", root, 1), 0);
}

static int warm(const struct run *run, char **ret_answer, struct pj_error **err)
{
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    for (size_t i = 0; i < JOBS; i++) {
        char name[16], text[sizeof ptx + 16];
        (void)snprintf(name, sizeof name, "k%zu.ptx", i);
        (void)snprintf(text, sizeof text, ptx, i);
        folder_write(&folder, name, text);
    }
    folder_write(&folder, "m.yaml", "version: 1\nmodules: [{name: k, ptx: 'k*.ptx'}]\n");
    folder_write(&folder, "s", run->scenario);
    list_gpu(&folder, run->listed);
    PJ_CLEANUP_FREE char *manifest = pj_path_join(folder.path, "m.yaml");
    PJ_CLEANUP_FREE char *cache = pj_path_join(folder.path, "nv");
    PJ_CLEANUP_FREE char *file = pj_path_join(folder.path, "s");
    assert_int_equal(setenv("NVIDIA_FAKE_SCENARIO", file, 1), 0);
    const struct pj_options options = {
        .manifest = manifest,
        .cache = cache,
        .driver = run->driver ? run->driver : FAKE_DRIVER,
        .worker_program = PREJIT,
        .workers = JOBS,
        .interrupt_fd = -1,
    };
    struct pj_result *result = NULL;
    int r = pj_warm(&options, &result, err);
    if (r == 0)
        r = pj_result_answer(result, false, ret_answer, err);
    pj_result_free(result);
    return r;
}

static void expect_proven(const struct run *run)
{
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    PJ_CLEANUP_FREE char *answer = NULL;
    refusal.count = 0;
    expect_success(warm(run, &answer, &err), &err);
    if (strncmp(answer, "4 jobs: 4 proven (4 compiled) in ", 33) != 0)
        fail_msg("%s", answer);
}

/* Of the three beside the first none comes. */
static void test_one_compiles_all(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        refusal.first = 2;
        refusal.last = SIZE_MAX;
        expect_proven(&(struct run){.scenario = "device sm_90 H200\n", .listed = i > 0});
        assert_int_equal(refusal.count, 2); /* it is not tried again and again */
    }
}

/* One that the driver refuses is not tried again either. */
static void test_refused_by_the_driver(void **state)
{
    (void)state;
    refusal.first = refusal.last = SIZE_MAX;
    expect_proven(&(struct run){
        .scenario = "device sm_90 H200\nstate state\ncontext_fail CUDA_ERROR_OUT_OF_MEMORY times 1\n",
        .driver = FAKE_DRIVER_NO_LIBRARY, /* for which compile workers need a context */
        .listed = true});
    assert_int_equal(refusal.count, JOBS);
}

/* Two compile; one dies of its job, and no other can take its place. */
static void test_none_in_place_of_a_dead_one(void **state)
{
    (void)state;
    refusal.first = 3;
    refusal.last = SIZE_MAX;
    expect_proven(&(struct run){
        .scenario = "device sm_90 H200\nstate state\nslow kernel=k* ms=300\ncrash kernel=k1 times=1\n",
        .listed = true});
    assert_in_range(refusal.count, 3, 4);
}

static void test_one_proves_all(void **state)
{
    (void)state;
    refusal.proof = true;
    refusal.first = 2;
    refusal.last = 2;
    expect_proven(&(struct run){.scenario = "device sm_90 H200\n"});
    refusal.proof = false;
}

static void test_none(void **state)
{
    PJ_CLEANUP_FREE char *answer = NULL;
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        PJ_CLEANUP_ERROR struct pj_error *err = NULL;
        refusal.proof = i > 0;
        refusal.first = 1;
        refusal.last = SIZE_MAX;
        refusal.count = 0;
        expect_error(warm(&(struct run){.scenario = "device sm_90 H200\n"}, &answer, &err), &err, PJ_ERROR_IO,
                     "no process number 1");
        assert_int_equal(refusal.count, 1);
    }
    refusal.proof = false;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_compiles_all),
        cmocka_unit_test(test_refused_by_the_driver),
        cmocka_unit_test(test_none_in_place_of_a_dead_one),
        cmocka_unit_test(test_one_proves_all),
        cmocka_unit_test(test_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
