/* SPDX-License-Identifier: Apache-2.0 */
/* Names the targets that were left out, and why. */
#include "session/run/left_out.h"

#include <stdlib.h>
#include <string.h>

#include "report/phrase.h"

enum { NAMED_MAX = 6, TARGETS_MAX = 64 };

/* One line of it. */
struct reason {
    const char *why;
    uint16_t targets[TARGETS_MAX];
    size_t target_count;
    const char *modules[NAMED_MAX];
    size_t module_count;
};

struct reasons {
    struct reason *items;
    size_t count, capacity;
};

static void free_reasons(struct reasons *reasons)
{
    free(reasons->items);
}

static bool is_same(const struct reason *a, const struct reason *b)
{
    return strcmp(a->why, b->why) == 0 && a->target_count == b->target_count &&
           memcmp(a->targets, b->targets, a->target_count * sizeof *a->targets) == 0;
}

static int add_module(struct reasons *reasons, const struct reason *found, const char *module,
                      struct pj_error **err)
{
    struct reason *reason = NULL;
    for (size_t i = 0; i < reasons->count && !reason; i++) {
        if (is_same(&reasons->items[i], found))
            reason = &reasons->items[i];
    }
    if (!reason) {
        reason = PJ_ARRAY_PUSH(reasons);
        if (!reason)
            return pj_error_no_memory(err);
        *reason = *found;
    }
    if (reason->module_count < NAMED_MAX)
        reason->modules[reason->module_count] = module;
    reason->module_count++;
    return 0;
}

/* Those of `count` items of one module that have the reason of number `first`. */
static struct reason gather(const struct pj_left_out *items, size_t count, size_t first)
{
    struct reason reason = {.why = items[first].why};
    for (size_t i = first; i < count && reason.target_count < TARGETS_MAX; i++) {
        if (strcmp(items[i].why, reason.why) == 0)
            reason.targets[reason.target_count++] = items[i].target;
    }
    return reason;
}

static bool is_first(const struct pj_left_out *items, size_t at)
{
    for (size_t i = 0; i < at; i++) {
        if (strcmp(items[i].why, items[at].why) == 0)
            return false;
    }
    return true;
}

/* "old, new: sm_80, sm_86 left out: .target sm_90a runs on …" */
static int note(struct pj_session *session, const struct reason *reason, struct pj_error **err)
{
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    const char *targets[NAMED_MAX];
    for (size_t i = 0; i < reason->target_count && i < NAMED_MAX; i++) {
        targets[i] = pj_arena_printf(&session->arena, "sm_%u", reason->targets[i]);
        if (!targets[i])
            return pj_error_no_memory(err);
    }
    pj_phrase_names(&text, reason->modules, reason->module_count, NAMED_MAX);
    pj_buffer_puts(&text, ": ");
    pj_phrase_names(&text, targets, reason->target_count, NAMED_MAX);
    pj_buffer_printf(&text, " left out: %s", reason->why);
    return text.failed ? pj_error_no_memory(err) : pj_session_note(session, err, "%s", pj_buffer_text(&text));
}

int pj_left_out_note(struct pj_session *session, struct pj_error **err)
{
    __attribute__((cleanup(free_reasons))) struct reasons reasons = {0};
    const struct pj_plan *plan = session->plan;
    int r = 0;
    for (size_t begin = 0, end; begin < plan->left_out.count; begin = end) {
        const struct pj_left_out *items = &plan->left_out.items[begin];
        for (end = begin + 1;
             end < plan->left_out.count && plan->left_out.items[end].module == items->module;)
            end++;
        for (size_t i = 0; i < end - begin && r == 0; i++) {
            if (!is_first(items, i))
                continue;
            const struct reason found = gather(items, end - begin, i);
            r = add_module(&reasons, &found, plan->manifest->modules[items->module].name, err);
        }
    }
    for (size_t i = 0; i < reasons.count && r == 0; i++)
        r = note(session, &reasons.items[i], err);
    return r;
}
