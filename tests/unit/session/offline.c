/* SPDX-License-Identifier: Apache-2.0 */
/* Entries made without a driver, held against those that the real one made: name for name, byte for byte. And
 * every allocation fails once on the way there. */
#include "runs.h"

#include "../job/descriptors.h"
#include "cache/entry.h"
#include "session/offline/private.h"
#include "session/run/outcome.h"

#include "failing_memory.h"

#define MANIFEST                                                                                             \
    "version: 1\ntargets: ['90']\nmodules:\n- {name: plain, ptx: axpb.ptx, targets: ['90', '80', '120']}\n"  \
    "- {name: options, ptx: axpb.ptx, options: {max_registers: 40, optimization_level: 2, "                  \
    "generate_line_info: true, cache_mode: ca, position_independent_code: true, override_directive_values: " \
    "true}}\n"                                                                                               \
    "- {name: link, link: [link_a.ptx, link_b.ptx]}\n"                                                       \
    "- {name: linked, link: [axpb.ptx], options: {optimization_level: 1, max_registers: 64}}\n"              \
    "- {name: letter, ptx: axpb_90a.ptx}\n"

/* What the driver made of the same: folder and entry of tests/data/driver/golden. */
static const char *const golden[] = {
    "plain/c/a/920786966c763d", "foreign_80/0/f/936157d6e3da30", "foreign_120/1/e/10b72591f8dcbb",
    "link/c/5/9d1065687ca934",  "link/1/f/f8fd50a4b60b42",       "link_opt/9/2/5a46772409d181",
    "sm90a/8/5/6a6990ab206bc5",
};

/* The part of such a name that the cache knows. */
static const char *entry_of(const char *name)
{
    return strchr(name, '/') + 1;
}

static void read_golden(const char *name, struct pj_buffer *ret_bytes)
{
    PJ_CLEANUP_FREE char *path = pj_path_join(GOLDEN, name);
    assert_int_equal(pj_file_read(AT_FDCWD, path, 1 << 20, ret_bytes, NULL), 0);
}

static void copy_input(const struct run *run, const char *name)
{
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    char path[128];
    (void)snprintf(path, sizeof path, "inputs/%s", name);
    read_golden(path, &bytes);
    folder_write_bytes(&run->folder, name, bytes.data, bytes.size);
}

/* An offline run over MANIFEST and a cache that is empty, or holds the plain entry of the driver's. */
struct trial {
    struct run run;
    struct pj_offline offline;
    const char *profile[1];
    char *empty;
};

static void begin(struct trial *trial, const char *manifest, bool empty)
{
    static const char profile[] = PROFILE;
    struct pj_session *session = &trial->run.session;
    struct pj_store_preparation done;
    memset(trial, 0, sizeof *trial);
    run_make(&trial->run);
    copy_input(&trial->run, "axpb_90a.ptx");
    copy_input(&trial->run, "link_a.ptx");
    copy_input(&trial->run, "link_b.ptx");
    folder_write(&trial->run.folder, "m.yaml", manifest);
    pj_manifest_free(session->manifest);
    session->manifest = NULL;
    session->command = "warm";
    session->receipt = NULL;
    assert_int_equal(pj_manifest_load(trial->run.manifest_path, &session->manifest, NULL), 0);
    trial->empty = pj_path_join(trial->run.folder.path, "empty");
    const struct pj_store_options options = {.path = empty ? trial->empty : session->location.path,
                                             .limit_bytes = session->location.limit_bytes,
                                             .check_payload = pj_check_payload};
    assert_int_equal(pj_store_open(&options, &session->store, NULL), 0);
    assert_int_equal(pj_store_prepare(session->store, &done, NULL), 0);
    trial->profile[0] = profile;
    trial->run.options.offline = trial->profile;
    trial->run.options.offline_count = 1;
    trial->offline = (struct pj_offline){.session = session, .folder_fd = -1, .compiler = "ptxas 13.0.88"};
}

static void end(struct trial *trial)
{
    pj_close(trial->offline.folder_fd);
    pj_buffer_free(&trial->offline.image_bytes);
    pj_buffer_free(&trial->offline.file_bytes);
    pj_store_close(trial->run.session.store, false);
    free(trial->empty);
    run_free(&trial->run);
}
#define CLEANUP_TRIAL __attribute__((cleanup(end)))

static int plan(struct trial *trial, struct pj_error **err)
{
    int r = pj_offline_read_profiles(&trial->offline, err);
    if (r == 0)
        r = pj_offline_plan(&trial->offline, err);
    return r == 0 ? pj_offline_find(&trial->offline, err) : r;
}

/* Number of the golden entry with this hash; PJ_COUNT(golden) = none. */
static size_t find_golden(uint64_t hash)
{
    char path[PJ_ENTRY_PATH_TEXT];
    size_t i = 0;
    while (i < PJ_COUNT(golden) && strcmp(entry_of(golden[i]), pj_entry_path(hash, path)) != 0)
        i++;
    return i;
}

/* What the driver's compiler made goes through the offline run as if a compiler had made it. */
static int take_golden(struct trial *trial, struct pj_offline_unit *unit, struct pj_error **err)
{
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    struct pj_making making = {.end = PJ_MAKING_MADE, .call_ms = 12};
    struct pj_entry_header header;
    size_t at = find_golden(unit->entries[0].entry.hash);
    if (at == PJ_COUNT(golden))
        return 0;
    size_t countdown = failing_memory_countdown;
    failing_memory_countdown = 0; /* what the test itself allocates succeeds */
    read_golden(golden[at], &bytes);
    pj_entry_header_read((const unsigned char *)bytes.data, &header);
    struct pj_buffer *cubin = pj_making_result(&making, PJ_OUTPUT_CUBIN);
    pj_buffer_append(cubin, bytes.data + PJ_ENTRY_HEADER_BYTES + header.key_bytes, header.payload_bytes);
    failing_memory_countdown = countdown;
    int r = pj_offline_take_made(&trial->offline, unit, &making, err);
    pj_making_free(&making);
    return r;
}

static int take_all(struct trial *trial, struct pj_error **err)
{
    int r = plan(trial, err);
    for (size_t i = 0; i < trial->offline.unit_count && r == 0; i++)
        r = take_golden(trial, &trial->offline.units[i], err);
    if (r == 0)
        r = pj_offline_commit(&trial->offline, err);
    if (r == 0)
        r = pj_offline_check_listed(&trial->offline, err);
    return r == 0 ? pj_offline_settle(&trial->offline, err) : r;
}

static void the_drivers_own_entries_come_out(void **state)
{
    (void)state;
    CLEANUP_TRIAL struct trial trial;
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    begin(&trial, MANIFEST, true);
    expect_success(take_all(&trial, &err), &err);
    for (size_t i = 0; i < PJ_COUNT(golden); i++) {
        PJ_CLEANUP_BUFFER struct pj_buffer expected = {0};
        PJ_CLEANUP_BUFFER struct pj_buffer found = {0};
        read_golden(golden[i], &expected);
        expect_success(pj_file_read(pj_store_directory(trial.run.session.store), entry_of(golden[i]), 1 << 20,
                                    &found, &err),
                       &err);
        assert_int_equal(found.size, expected.size);
        assert_memory_equal(found.data, expected.data, expected.size);
    }
    const struct pj_session *session = &trial.run.session;
    assert_int_equal(session->plan->job_count, 7);
    for (size_t i = 0; i < session->plan->job_count; i++) {
        const struct pj_outcome *outcome = &session->outcomes[i];
        if (strcmp(session->plan->jobs[i].name, "options") == 0) { /* nobody made it */
            assert_int_equal(outcome->verdict, PJ_VERDICT_NONE);
            continue;
        }
        assert_int_equal(outcome->verdict, PJ_VERDICT_STORED);
        assert_int_equal(outcome->origin, PJ_ORIGIN_COMPILED);
        assert_string_equal(outcome->offline_compiler, "ptxas 13.0.88");
        assert_int_equal(outcome->entry_count, strcmp(session->plan->jobs[i].name, "link") == 0 ? 2 : 1);
        assert_true(outcome->entries[0].file_bytes > 0);
    }
}

static void what_is_there_is_not_compiled(void **state)
{
    (void)state;
    CLEANUP_TRIAL struct trial trial;
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    begin(&trial, "version: 1\ntargets: ['90']\nmodules: [{name: a, ptx: axpb.ptx}]\n", false);
    expect_success(plan(&trial, &err), &err);
    assert_int_equal(trial.offline.unit_count, 1);
    assert_int_equal(trial.offline.units[0].entries[0].entry.hash, ENTRY_HASH);
    for (size_t i = 0; i < trial.offline.unit_count; i++)
        assert_false(pj_offline_is_missing(&trial.offline, &trial.offline.units[i]));
    expect_success(pj_offline_settle(&trial.offline, &err), &err);
    assert_int_equal(trial.run.session.outcomes[0].verdict, PJ_VERDICT_STORED);
    assert_int_equal(trial.run.session.outcomes[0].origin, PJ_ORIGIN_REUSED);
    assert_null(trial.run.session.outcomes[0].offline_compiler);
}

/* Its entries have no names that anybody could look for. */
static void an_image_that_changed_is_told(void **state)
{
    (void)state;
    CLEANUP_TRIAL struct trial trial;
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    begin(&trial, "version: 1\ntargets: ['90']\nmodules: [{name: a, ptx: axpb.ptx}]\n", true);
    expect_success(pj_offline_read_profiles(&trial.offline, &err), &err);
    expect_success(pj_offline_plan(&trial.offline, &err), &err);
    folder_write(&trial.run.folder, "axpb.ptx", "changed");
    expect_success(pj_offline_find(&trial.offline, &err), &err);
    expect_success(pj_offline_settle(&trial.offline, &err), &err);
    const struct pj_outcome *outcome = &trial.run.session.outcomes[0];
    assert_int_equal(outcome->verdict, PJ_VERDICT_REJECTED);
    assert_string_equal(outcome->reason_code, "image-changed");
    assert_string_equal(outcome->reason, "a file changed while prejit was working on it; run again");
    assert_int_equal(outcome->entry_count, 0);
}

/* The words of a unit's order, joined by '|'. */
static void assert_arguments(const struct trial *trial, enum pj_wire_library library, struct pj_arch ptx,
                             uint16_t target, const char *option_text, const char *expected)
{
    struct pj_offline offline = trial->offline;
    const struct pj_plan_image image = {.path = "x.ptx", .ptx = {.target = ptx}};
    const struct pj_offline_unit unit = {.image = &image, .target = target, .option_text = option_text};
    const char **arguments = NULL, *refusal = NULL;
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    size_t count = 0;
    offline.library = library;
    assert_int_equal(pj_offline_arguments(&offline, &unit, &arguments, &count, &refusal, NULL), 0);
    for (size_t i = 0; i < count && !refusal; i++)
        pj_buffer_printf(&text, "%s%s", i ? "|" : "", arguments[i]);
    assert_string_equal(refusal ? refusal : pj_buffer_text(&text), expected);
}

static void ptxas_is_told_what_the_key_says(void **state)
{
    (void)state;
    CLEANUP_TRIAL struct trial trial;
    const enum pj_wire_library ptxas = PJ_LIBRARY_PTXAS;
    begin(&trial, MANIFEST, true);
    assert_arguments(&trial, ptxas, (struct pj_arch){75, 0}, 90, "", "-arch=sm_90");
    assert_arguments(&trial, ptxas, (struct pj_arch){90, 'a'}, 90, "", "-arch=sm_90a");
    assert_arguments(&trial, ptxas, (struct pj_arch){100, 'f'}, 100, "", "-arch=sm_100f");
    assert_arguments(&trial, ptxas, (struct pj_arch){75, 0}, 90, "-c -O3 --maxrregcount 64 -g -dlcm=ca",
                     "-arch=sm_90|-c|-O3|--maxrregcount|64|-g|-dlcm=ca");
}

/* ptxas 13.0.88 takes each of these. */
static void a_letter_is_given_where_ptxas_wants_one(void **state)
{
    (void)state;
    CLEANUP_TRIAL struct trial trial;
    begin(&trial, MANIFEST, true);
    const enum pj_wire_library ptxas = PJ_LIBRARY_PTXAS;
    assert_arguments(&trial, ptxas, (struct pj_arch){100, 'f'}, 103, "", "-arch=sm_103");
    assert_arguments(&trial, ptxas, (struct pj_arch){101, 'f'}, 110, "", "-arch=sm_110");
    assert_arguments(&trial, ptxas, (struct pj_arch){101, 'a'}, 110, "", "-arch=sm_110a");
}

static void every_allocation_fails_once(void **state)
{
    (void)state;
    bool failed = true;
    size_t failures = 0;
    assert_int_equal(unsetenv("CUDA_HOME"), 0);
    assert_int_equal(unsetenv("CUDA_PATH"), 0);
    for (size_t n = 1; failed; n++, failures += failed) {
        CLEANUP_TRIAL struct trial trial;
        PJ_CLEANUP_ERROR struct pj_error *err = NULL;
        begin(&trial, MANIFEST, true);
        size_t descriptors = count_descriptors();
        failing_memory_start(n);
        int r = take_all(&trial, &err);
        failed = failing_memory_stop();
        if (r != (failed ? PJ_ERROR_NO_MEMORY : 0))
            fail_msg("allocation %zu: %d: %s", n, r, err ? pj_error_message(err) : "");
        if (failed)
            assert_string_equal(pj_error_message(err), "out of memory");
        pj_close(trial.offline.folder_fd);
        trial.offline.folder_fd = -1;
        assert_int_equal(count_descriptors(), descriptors);
    }
    assert_true(failures > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_drivers_own_entries_come_out),
        cmocka_unit_test(what_is_there_is_not_compiled),
        cmocka_unit_test(an_image_that_changed_is_told),
        cmocka_unit_test(ptxas_is_told_what_the_key_says),
        cmocka_unit_test(a_letter_is_given_where_ptxas_wants_one),
        cmocka_unit_test(every_allocation_fails_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
