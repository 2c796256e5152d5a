/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the driver which GPUs are here, once a boot. */
#include "session/ask_gpus.h"

#include <string.h>

#include "session/engine/engine.h"
#include "session/receipt/file.h"
#include "session/run/machine.h"
#include "session/run/outcome.h"

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_devices(const struct pj_receipt *receipt, const struct pj_machine *machine)
{
    bool same = receipt->host.device_count == machine->device_count;
    for (size_t i = 0; same && i < machine->device_count; i++) {
        const struct pj_report_device *then = &receipt->host.devices[i], *now = &machine->devices[i];
        same = same_text(then->name, now->name) && same_text(then->arch, now->arch) &&
               same_text(then->uuid, now->uuid);
    }
    return same;
}

int pj_ask_gpus(struct pj_session *session, bool *ret_told, struct pj_error **err)
{
    PJ_CLEANUP_ENGINE struct pj_engine *engine = NULL;
    struct pj_event event = {0};
    const struct pj_worker_spec spec = {.cache_path = NULL}; /* cuInit alone, and no cache */
    *ret_told = false;
    if (!session->receipt || !session->gpus_unsure || !session->same_driver || !session->same_request)
        return 0;
    int r = pj_engine_new(session, &engine, err);
    if (r == 0)
        r = pj_engine_ask(engine, &spec, NULL, NULL, &event, err);
    if (r < 0 || event.kind != PJ_EVENT_STARTED || event.started->failed_step[0])
        return r;
    r = pj_machine_from_worker(session, event.started, err);
    if (r == 0)
        *ret_told = session->same_gpus = same_devices(session->receipt, &session->machine);
    return r;
}

static int renew(const struct pj_session *session, struct pj_error **err)
{
    struct pj_store *store = NULL;
    const struct pj_store_options options = {.path = session->location.path,
                                             .limit_bytes = session->location.limit_bytes,
                                             .check_payload = pj_check_payload};
    int r = pj_store_open(&options, &store, err); /* waits for nobody */
    if (r < 0)
        return r;
    r = pj_receipt_renew(session, pj_store_directory(store), err);
    pj_store_close(store, false);
    return r;
}

int pj_ask_gpus_remember(const struct pj_session *session, struct pj_error **err)
{
    PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
    if (!session->now.boot_id)
        return 0;
    return renew(session, &problem) == PJ_ERROR_NO_MEMORY ? pj_error_no_memory(err) : 0;
}
