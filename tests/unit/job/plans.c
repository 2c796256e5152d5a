/* SPDX-License-Identifier: Apache-2.0 */
/* Makes plans from a manifest's text. */
#include "plans.h"

static int parse_targets(const struct plan_case *plan_case, struct pj_target_spec *specs,
                         struct pj_plan_selection *selection)
{
    for (size_t i = 0; plan_case->targets[i]; i++) {
        if (pj_target_parse(plan_case->targets[i], &specs[i], NULL) != 0)
            return -1;
        selection->target_count++;
    }
    while (plan_case->modules[selection->module_count])
        selection->module_count++;
    selection->targets = specs;
    selection->modules = plan_case->modules;
    return 0;
}

int plan_case_read(struct plan_case *plan_case, struct pj_error **err)
{
    struct pj_target_spec specs[4];
    struct pj_plan_selection selection = {0};
    assert_int_equal(parse_targets(plan_case, specs, &selection), 0);
    int r = pj_manifest_parse(plan_case->text, strlen(plan_case->text), "m.yaml", plan_case->directory, false,
                              &plan_case->manifest, err);
    return r < 0 ? r : pj_plan_read(plan_case->manifest, &selection, &plan_case->plan, err);
}

static struct pj_plan_machine machine_of(const struct plan_case *plan_case)
{
    struct pj_plan_machine machine = {.devices = plan_case->devices, .cuda_version = plan_case->cuda_version};
    while (plan_case->devices[machine.device_count])
        machine.device_count++;
    return machine;
}

int plan_case_expand(struct plan_case *plan_case, struct pj_error **err)
{
    struct pj_target_spec specs[4];
    struct pj_plan_selection selection = {0};
    const struct pj_plan_machine machine = machine_of(plan_case);
    assert_int_equal(parse_targets(plan_case, specs, &selection), 0);
    int r = pj_plan_expand(plan_case->plan, &selection, &machine, err);
    return r == 0 && !plan_case->unsettled ? pj_plan_settle(plan_case->plan, err) : r;
}

void plan_case_prepare(struct plan_case *plan_case, size_t job, const char *ptx)
{
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    const struct pj_plan_machine machine = machine_of(plan_case);
    const struct pj_job *before = &plan_case->plan->jobs[job];
    expect_success(pj_plan_prepared(plan_case->plan, job, &machine, ptx, strlen(ptx), before->files,
                                    before->file_count, &err),
                   &err);
}

void plan_case_settle(struct plan_case *plan_case)
{
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    expect_success(pj_plan_settle(plan_case->plan, &err), &err);
}

void plan_case_make(struct plan_case *plan_case)
{
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    expect_success(plan_case_read(plan_case, &err), &err);
    expect_success(plan_case_expand(plan_case, &err), &err);
}

void plan_case_free(struct plan_case *plan_case)
{
    pj_plan_free(plan_case->plan);
    pj_manifest_free(plan_case->manifest);
}

void plan_expect(const struct plan_case *plan_case, const char *lines)
{
    static const char *const kinds[] = {"native", "foreign", "unresolved"};
    static const char *const fates[] = {"open",          "rejected",  "incompatible", "crashed", "timed out",
                                        "out of memory", "not tried", "skipped",      "left out"};
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    for (size_t i = 0; i < plan_case->plan->job_count; i++) {
        const struct pj_job *job = &plan_case->plan->jobs[i];
        pj_buffer_printf(&text, "%s | %s | %s | %s%s%s\n", job->id, job->name, kinds[job->kind],
                         fates[job->fate], job->reason_code ? " | " : "",
                         job->reason_code ? job->reason_code : "");
        assert_int_equal(job->reason != NULL, job->reason_code != NULL);
    }
    assert_string_equal(pj_buffer_text(&text), lines);
}

void plan_expect_reason(const struct plan_case *plan_case, size_t job, const char *reason)
{
    static const char folder[] = "FOLDER";
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    for (const char *at = reason; *at;) {
        const char *found = strstr(at, folder);
        size_t length = found ? (size_t)(found - at) : strlen(at);
        pj_buffer_append(&text, at, length);
        pj_buffer_puts(&text, found ? plan_case->directory : "");
        at += length + (found ? sizeof folder - 1 : 0);
    }
    assert_true(job < plan_case->plan->job_count);
    assert_non_null(plan_case->plan->jobs[job].reason);
    assert_string_equal(plan_case->plan->jobs[job].reason, pj_buffer_text(&text));
}

void plan_expect_left_out(const struct plan_case *plan_case, const char *lines)
{
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    const struct pj_plan *plan = plan_case->plan;
    for (size_t i = 0; i < plan->left_out.count; i++) {
        const struct pj_left_out *item = &plan->left_out.items[i], *after = item + 1, *before = item - 1;
        bool last = i + 1 == plan->left_out.count || after->module != item->module ||
                    strcmp(after->why, item->why) != 0;
        bool first = i == 0 || before->module != item->module || strcmp(before->why, item->why) != 0;
        if (first)
            pj_buffer_printf(&text, "%s:", plan->manifest->modules[item->module].name);
        pj_buffer_printf(&text, " %u", item->target);
        if (last)
            pj_buffer_printf(&text, ": %s\n", item->why);
    }
    assert_string_equal(pj_buffer_text(&text), lines);
}
