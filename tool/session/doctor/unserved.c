/* SPDX-License-Identifier: Apache-2.0 */
/* GPUs of this machine that the manifest's targets leave out. */
#include "report/phrase.h"
#include "session/doctor/doctor.h"

enum { NAMED_MAX = 6 };

/* Distinct architectures, ascending, as a plan wants them. */
static size_t collect(const struct pj_wire_started *started, uint16_t archs[PJ_WIRE_DEVICES_MAX])
{
    size_t count = 0;
    for (size_t i = 0; i < started->device_count; i++) {
        uint16_t number = (uint16_t)(started->devices[i].major * 10 + started->devices[i].minor);
        size_t at = 0;
        while (at < count && archs[at] < number)
            at++;
        if (at < count && archs[at] == number)
            continue;
        for (size_t k = count++; k > at; k--)
            archs[k] = archs[k - 1];
        archs[at] = number;
    }
    return count;
}

/* "sm_120: a, b" of the required modules; nothing where there are none. */
static void put_modules(const struct pj_plan *plan, uint16_t device, struct pj_buffer *text)
{
    const char *names[NAMED_MAX];
    size_t count = 0;
    for (size_t i = 0; i < plan->unserved.count; i++) {
        const struct pj_unserved *item = &plan->unserved.items[i];
        const struct pj_module *module = &plan->manifest->modules[item->module];
        if (item->target != device || !module->required)
            continue;
        if (count < NAMED_MAX)
            names[count] = module->name;
        count++;
    }
    if (count == 0)
        return;
    pj_buffer_printf(text, "%ssm_%u: ", text->size > 0 ? "; on " : "", device);
    pj_phrase_names(text, names, count, NAMED_MAX);
}

int pj_doctor_find_unserved(struct pj_doctor *doctor, const struct pj_wire_started *started,
                            struct pj_error **err)
{
    uint16_t archs[PJ_WIRE_DEVICES_MAX];
    const struct pj_plan_selection all = {0};
    const struct pj_plan_machine machine = {
        .devices = archs, .device_count = collect(started, archs), .cuda_version = started->cuda_version};
    struct pj_plan *plan = NULL;
    PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    if (!doctor->manifest)
        return 0;
    /* Files that cannot be read are what `plan` is asked about. */
    int r = pj_plan_read(doctor->manifest, &all, &plan, &problem);
    if (r == 0)
        r = pj_plan_expand(plan, &all, &machine, &problem);
    for (size_t i = 0; i < machine.device_count && r == 0; i++)
        put_modules(plan, archs[i], &text);
    pj_plan_free(plan);
    if (r == PJ_ERROR_NO_MEMORY || text.failed)
        return pj_error_no_memory(err);
    return text.size == 0
               ? 0
               : pj_finding_add(&doctor->findings, PJ_FINDING_GPU_NOT_SERVED, doctor->options->manifest, NULL,
                                err, "will be compiled at first use on %s", pj_buffer_text(&text));
}
