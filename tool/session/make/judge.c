/* SPDX-License-Identifier: Apache-2.0 */
/* What became of an order. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "host/toolkit.h"
#include "session/make/end.h"
#include "session/make/private.h"

static void tell_finished(const struct pj_maker *maker, size_t order)
{
    const struct pj_observer *observer = maker->options.observer;
    const struct pj_making *making = &maker->makings[order];
    if (!observer || !observer->finished || making->quiet)
        return;
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    pj_making_put_end(making, maker->options.library, pj_maker_library_name(maker), &maker->compiler.library,
                      &text);
    observer->finished(observer->context, order, making->title, making->weight_bytes, pj_buffer_text(&text),
                       making->end != PJ_MAKING_MADE);
}

int pj_maker_settle(struct pj_maker *maker, size_t order, enum pj_making_end end, const char *reason,
                    struct pj_error **err)
{
    struct pj_making *making = &maker->makings[order];
    making->end = end;
    making->reason = reason;
    maker->left--;
    tell_finished(maker, order);
    return maker->options.taken ? maker->options.taken(maker->options.context, making, err) : 0;
}

/* What the log says first, else the name of the result. */
static const char *refusal_of(const struct pj_maker *maker, struct pj_making *making)
{
    const char *line =
        pj_maker_first_error(pj_buffer_text(pj_making_result(making, PJ_OUTPUT_LOG)), maker->options.arena);
    return line && *line ? line : making->result_name;
}

/* nvJitLink 13.0 keeps something of a link that failed: after PTX that did not compile, a later link in the
 * same process with an undefined reference "succeeds". So a process that refused goes. */
static void replace_tainted(struct pj_maker *maker, struct pj_maker_seat *seat)
{
    if (maker->options.library != PJ_LIBRARY_NVJITLINK)
        return;
    pj_pool_stop(maker->pool, PJ_STEAL(seat->worker));
    seat->state = PJ_SEAT_EMPTY;
}

/* Which build a library is, where its file's name does not tell: what it makes says so. */
static void note_build(struct pj_maker *maker, struct pj_making *making)
{
    static const enum pj_wire_output outputs[] = {PJ_OUTPUT_CUBIN, PJ_OUTPUT_PTX};
    for (size_t i = 0; i < PJ_COUNT(outputs) && !maker->compiler.library.build; i++) {
        const struct pj_buffer *made = pj_making_result(making, outputs[i]);
        maker->compiler.library.build =
            pj_toolkit_build_in(pj_buffer_text(made), made->size, maker->options.arena);
    }
}

/* "libnvrtc-builtins.so.13.0" of what NVRTC says; else that of its version. */
static const char *builtins_name(const struct pj_maker *maker, const char *log)
{
    static const char begin[] = "libnvrtc-builtins";
    int version = maker->compiler.version;
    const char *name = strstr(log, begin);
    size_t size = name ? strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-.") : 0;
    while (size > 0 && name[size - 1] == '.')
        size--;
    return size > 0 ? pj_arena_strndup(maker->options.arena, name, size)
                    : pj_arena_printf(maker->options.arena, "%s.so.%d.%d", begin, version / 1000,
                                      version % 1000 / 10);
}

/* NVRTC's other half is not there, or is another version's: no source compiles on this machine. */
static int refuse_builtins(const struct pj_maker *maker, const char *log, struct pj_error **err)
{
    const char *path = maker->compiler.library.path, *slash = strrchr(path, '/');
    const char *name = builtins_name(maker, log);
    if (!name)
        return pj_error_no_memory(err);
    return pj_error_set(
        err, PJ_ERROR_ENVIRONMENT,
        "NVRTC %s (%s) cannot load %s, without which it compiles nothing: no folder of the loader has it (it "
        "belongs into %.*s), or one of LD_LIBRARY_PATH hides it with another file of that name; install the "
        "package "
        "of this NVRTC whole (cuda-nvrtc), or name another one with --nvrtc PATH; see: prejit doctor "
        "MANIFEST",
        maker->compiler.library.version, path, name, slash ? (int)(slash - path) : 1, slash ? path : ".");
}

int pj_maker_take_made(struct pj_maker *maker, struct pj_maker_seat *seat, const struct pj_wire_made *made,
                       struct pj_error **err)
{
    struct pj_making *making = &maker->makings[seat->order];
    size_t order = seat->order;
    seat->state = PJ_SEAT_IDLE;
    maker->running--;
    int r = pj_maker_results_read(&seat->results, making, err);
    if (r == 0 && made->file_count > 0)
        r = pj_maker_note_files(made->files, made->file_count, maker->options.arena, &maker->compiler, err);
    if (r < 0)
        return r;
    note_build(maker, making);
    making->call_ms = made->call_ms;
    making->peak_rss_bytes = made->peak_rss_bytes;
    making->result_name = pj_arena_strdup(maker->options.arena, made->result_name);
    making->failed_call = pj_arena_strdup(maker->options.arena, made->failed_call);
    if (!making->result_name || !making->failed_call)
        return pj_error_no_memory(err);
    if (made->image_changed)
        return pj_maker_settle(maker, order, PJ_MAKING_CHANGED, PJ_FILE_CHANGED, err);
    if (made->failed_call[0] == '\0')
        return pj_maker_settle(maker, order, PJ_MAKING_MADE, NULL, err);
    if (strcmp(making->result_name, "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE") == 0)
        return refuse_builtins(maker, pj_buffer_text(pj_making_result(making, PJ_OUTPUT_LOG)), err);
    replace_tainted(maker, seat);
    return pj_maker_settle(maker, order, PJ_MAKING_REFUSED, refusal_of(maker, making), err);
}

int pj_maker_blame(struct pj_maker *maker, size_t order, const struct pj_death *death, struct pj_error **err)
{
    struct pj_making *making = &maker->makings[order];
    const struct pj_observer *observer = maker->options.observer;
    bool late = death->cause == PJ_DEATH_TIMED_OUT;
    char limit[PJ_DURATION_TEXT];
    if (!late && making->deaths++ == 0) {
        maker->alone[maker->alone_count++] = order;
        if (observer && observer->requeued && !making->quiet)
            observer->requeued(observer->context, order);
        return 0;
    }
    const char *reason = late ? pj_arena_printf(maker->options.arena, "%s gave up after %s (--timeout)",
                                                pj_maker_library_name(maker),
                                                pj_text_from_ms(maker->options.timeout_ms, limit))
                              : pj_arena_printf(maker->options.arena, "%s: %s, tried twice",
                                                pj_maker_library_name(maker), death->text);
    if (!reason)
        return pj_error_no_memory(err);
    return pj_maker_settle(maker, order,
                           late                                     ? PJ_MAKING_TIMED_OUT
                           : death->cause == PJ_DEATH_OUT_OF_MEMORY ? PJ_MAKING_OUT_OF_MEMORY
                                                                    : PJ_MAKING_CRASHED,
                           reason, err);
}

int pj_maker_take_own_failure(struct pj_maker *maker, struct pj_maker_seat *seat,
                              const struct pj_wire_made *made, struct pj_error **err)
{
    struct pj_death death = {.cause = PJ_DEATH_CRASHED};
    (void)snprintf(death.text, sizeof death.text, "%s", made->result_name);
    pj_maker_results_close(&seat->results);
    seat->state = PJ_SEAT_IDLE;
    maker->running--;
    return pj_maker_blame(maker, seat->order, &death, err);
}
