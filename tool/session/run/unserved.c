/* SPDX-License-Identifier: Apache-2.0 */
/* Says for which of this machine's GPUs no target is, and which modules are compiled there. */
#include "session/run/unserved.h"

#include <string.h>

#include "report/phrase.h"

enum { NAMED_MAX = 6 };

/* Modules of the plan that `device` is not served with, required or not. */
static int gather(struct pj_session *session, uint16_t device, bool required, struct pj_error **err)
{
    const struct pj_plan *plan = session->plan;
    struct pj_report_unserved found = {.required = required};
    found.modules = pj_arena_calloc(&session->arena, plan->unserved.count + 1, sizeof *found.modules);
    found.target = pj_arena_printf(&session->arena, "sm_%u", device);
    if (!found.modules || !found.target)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < plan->unserved.count; i++) {
        const struct pj_unserved *item = &plan->unserved.items[i];
        const struct pj_module *module = &session->manifest->modules[item->module];
        if (item->target == device && module->required == required)
            found.modules[found.module_count++] = module->name;
    }
    if (found.module_count > 0)
        session->unserved[session->unserved_count++] = found;
    return 0;
}

/* "sm_120 (NVIDIA X, NVIDIA Y)": each name once. */
static void put_gpu(const struct pj_session *session, const char *target, struct pj_buffer *text)
{
    const struct pj_machine *machine = &session->machine;
    const char *names[NAMED_MAX];
    size_t count = 0;
    for (size_t i = 0; i < machine->device_count && count < NAMED_MAX; i++) {
        const struct pj_report_device *device = &machine->devices[i];
        bool known = strcmp(device->arch, target) != 0 || !device->name;
        for (size_t k = 0; k < count && !known; k++)
            known = strcmp(names[k], device->name) == 0;
        if (!known)
            names[count++] = device->name;
    }
    pj_buffer_puts(text, target);
    if (count == 0)
        return;
    pj_buffer_puts(text, " (");
    pj_phrase_names(text, names, count, NAMED_MAX);
    pj_buffer_putc(text, ')');
}

static int note(struct pj_session *session, const struct pj_report_unserved *unserved, struct pj_error **err)
{
    PJ_CLEANUP_BUFFER struct pj_buffer gpu = {0};
    PJ_CLEANUP_BUFFER struct pj_buffer modules = {0};
    put_gpu(session, unserved->target, &gpu);
    pj_phrase_names(&modules, unserved->modules, unserved->module_count, NAMED_MAX);
    if (gpu.failed || modules.failed)
        return pj_error_no_memory(err);
    const char *kind = unserved->required ? "" : "not required, ";
    if (session->selection.target_count > 0)
        return pj_session_note(
            session, err, "-t does not name the GPU here, %s: %snot warmed for it: %s; for it: -t native",
            pj_buffer_text(&gpu), kind, pj_buffer_text(&modules));
    return pj_session_note(session, err,
                           "no target is for the GPU here, %s: %swill be compiled there at first use: %s; "
                           "write native among the targets in the manifest%s",
                           pj_buffer_text(&gpu), kind, pj_buffer_text(&modules),
                           unserved->required ? ", or required: false where no program loads them on it"
                                              : "");
}

static int note_each(struct pj_session *session, struct pj_error **err)
{
    int r = 0;
    for (size_t i = 0; i < session->unserved_count && r == 0; i++)
        r = note(session, &session->unserved[i], err);
    return r;
}

int pj_unserved_note(struct pj_session *session, struct pj_error **err)
{
    const struct pj_machine *machine = &session->machine;
    if (session->plan->unserved.count == 0)
        return 0;
    session->unserved =
        pj_arena_calloc(&session->arena, 2 * machine->arch_count + 1, sizeof *session->unserved);
    if (!session->unserved)
        return pj_error_no_memory(err);
    int r = 0;
    for (size_t i = 0; i < machine->arch_count && r == 0; i++) {
        r = gather(session, machine->archs[i], true, err);
        if (r == 0)
            r = gather(session, machine->archs[i], false, err);
    }
    return r == 0 ? note_each(session, err) : r;
}

int pj_unserved_from_receipt(struct pj_session *session, struct pj_error **err)
{
    session->unserved = session->receipt->unserved;
    session->unserved_count = session->receipt->unserved_count;
    return note_each(session, err);
}
