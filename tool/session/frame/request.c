/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what a run is asked for, and what an earlier run of the same request knew. */
#include "session/frame/request.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "arch/target.h"
#include "base/clock.h"
#include "base/file.h"
#include "cache/guard.h"
#include "session/prepare/prepare.h"
#include "session/receipt/file.h"
#include "session/receipt/identity.h"
#include "session/run/device_runtime.h"
#include "session/run/given_file.h"
#include "session/run/left_out.h"
#include "session/run/machine.h"
#include "session/run/outcome.h"
#include "session/run/unserved.h"
#include "session/run/worker_program.h"

static int parse_selection(struct pj_session *session, struct pj_error **err)
{
    const struct pj_options *options = session->options;
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    PJ_CLEANUP_FREE char *manifest = NULL;
    struct pj_target_spec *targets =
        pj_arena_calloc(&session->arena, options->target_count + 1, sizeof *targets);
    if (!targets)
        return pj_error_no_memory(err);
    bool is_stdin = strcmp(options->manifest, "-") == 0;
    int named = is_stdin ? 0 : pj_path_absolute(options->manifest, &manifest, err);
    if (named < 0)
        return named;
    pj_buffer_printf(&text, "manifest %s\n", is_stdin ? "-" : manifest);
    for (size_t i = 0; i < options->target_count; i++) {
        if (pj_target_parse(options->targets[i], &targets[i], err) < 0) {
            int r = pj_error_recode(err, PJ_ERROR_USAGE, 0);
            return pj_error_wrap(err, r, "-t");
        }
        pj_buffer_printf(&text, "-t %s\n", options->targets[i]);
    }
    for (size_t i = 0; i < options->module_count; i++)
        pj_buffer_printf(&text, "-m %s\n", options->modules[i]);
    for (size_t i = 0; i < options->offline_count; i++) /* another request, whose receipt is another one */
        pj_buffer_printf(&text, "--offline %s\n", options->offline[i]);
    session->selection = (struct pj_plan_selection){
        .targets = targets,
        .target_count = options->target_count,
        .modules = options->modules,
        .module_count = options->module_count,
    };
    int r = pj_plan_check_selection(session->manifest, &session->selection, err);
    if (r < 0)
        return r;
    session->selection_text = text.failed ? NULL : pj_arena_strdup(&session->arena, pj_buffer_text(&text));
    return session->selection_text ? 0 : pj_error_no_memory(err);
}

static int locate(struct pj_session *session, struct pj_error **err)
{
    struct pj_cache_inputs inputs = {
        .option_path = session->options->cache,
        .manifest_path = session->manifest->cache_path,
        .manifest_max_size_bytes = session->manifest->cache_max_size_bytes,
        .cuda_cache_path = getenv("CUDA_CACHE_PATH"),
        .cuda_cache_maxsize = getenv("CUDA_CACHE_MAXSIZE"),
        .cuda_cache_disable = getenv("CUDA_CACHE_DISABLE"),
        .home = getenv("HOME"),
    };
    int r = pj_cache_locate(&inputs, &session->location, err);
    if (r == 0 && geteuid() == 0)
        r = pj_guard_look(session->location.path, &session->way, err);
    session->cache_absent =
        session->way.fd >= 0 && session->way.fault == PJ_WAY_CLOSED && !session->way.exists;
    return r;
}

/* What the receipt of an unchanged driver says need not be asked again. */
static int adopt_receipt(struct pj_session *session, struct pj_error **err)
{
    const struct pj_receipt *receipt = session->receipt;
    if (!receipt)
        return 0;
    pj_identity_compare(session);
    if (session->same_driver && receipt->cache_format == PJ_CACHE_FORMAT && receipt->host.stamp) {
        session->stamp = receipt->host.stamp;
        session->format = PJ_FORMAT_KNOWN;
    }
    return session->same_driver && session->same_gpus ? pj_machine_from_receipt(session, err) : 0;
}

int pj_request_reload_receipt(struct pj_session *session, struct pj_error **err)
{
    if (session->options->no_receipt || session->way.fault != PJ_WAY_CLOSED ||
        session->cache_absent) /* whose receipt it is, nobody knows */
        return 0;
    pj_receipt_free(session->receipt);
    session->receipt = NULL;
    session->stamp = NULL;
    session->format = PJ_FORMAT_UNSEEN;
    session->machine = (struct pj_machine){0};
    int r = pj_receipt_load(session->location.path, session->selection_text, &session->receipt, err);
    return r < 0 ? r : adopt_receipt(session, err);
}

int pj_request_open(const struct pj_options *options, const char *command, struct pj_session **ret_session,
                    struct pj_error **err)
{
    int r = pj_worker_program_check(options->worker_program, err);
    if (r < 0)
        return r;
    PJ_CLEANUP_SESSION struct pj_session *session = calloc(1, sizeof *session);
    if (!session)
        return pj_error_no_memory(err);
    session->options = options;
    session->command = command;
    session->way = PJ_WAY_NONE;
    session->begin_ms = pj_clock_ms();
    (void)clock_gettime(CLOCK_REALTIME, &session->begin_time);
    session->root = pj_host_root_from_environment();
    r = pj_given_manifest_load(options->manifest, &session->manifest, err);
    if (r == 0)
        r = pj_manifest_check_decided(session->manifest, err);
    if (r == 0)
        r = parse_selection(session, err);
    if (r == 0)
        r = locate(session, err);
    if (r == 0)
        r = pj_identity_now(session, err);
    if (r == 0)
        r = pj_prepare_search(session, err);
    if (r == 0)
        r = pj_request_reload_receipt(session, err);
    if (r < 0)
        return r;
    *ret_session = PJ_STEAL(session);
    return 0;
}

int pj_request_expand(struct pj_session *session, struct pj_error **err)
{
    const struct pj_plan_machine machine = {
        .devices = session->machine.archs,
        .device_count = session->machine.arch_count,
        .cuda_version = session->machine.cuda_version,
    };
    int r = pj_plan_expand(session->plan, &session->selection, &machine, err);
    if (r == 0)
        r = pj_prepare_sources(session, err);
    if (r == 0)
        r = pj_plan_settle(session->plan, err);
    if (r == 0)
        r = pj_left_out_note(session, err);
    if (r == 0)
        r = pj_device_runtime_note(session, err);
    if (r == 0)
        r = pj_unserved_note(session, err);
    if (r < 0)
        return r;
    session->outcomes =
        pj_arena_calloc(&session->arena, session->plan->job_count + 1, sizeof *session->outcomes);
    if (!session->outcomes)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < session->plan->job_count; i++)
        pj_outcome_from_plan(&session->outcomes[i], &session->plan->jobs[i]);
    return 0;
}
