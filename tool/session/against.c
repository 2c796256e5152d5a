/* SPDX-License-Identifier: Apache-2.0 */
/* Lets the driver warm a cache of its own with what is proven, and compares the two caches' code. */
#include "session/against.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/memory.h"
#include "cache/entry.h"
#include "session/engine/engine.h"
#include "session/run/outcome.h"

enum { NAMED_MAX = 8 };

/* The driver's cache, and the run that fills it: the plan, the machine and the options of the session, with
 * jobs, a store and a place of its own. */
struct own {
    struct pj_session session;
    char *folder;
};

static void free_own(struct own *own)
{
    PJ_CLEANUP_ERROR struct pj_error *ignored = NULL;
    pj_store_close(own->session.store, false);
    free(own->session.notes);
    pj_arena_free(&own->session.arena);
    if (own->folder)
        (void)pj_tree_remove(AT_FDCWD, own->folder, &ignored);
    free(own->folder);
}

static int open_store(struct own *own, struct pj_error **err)
{
    struct pj_store_preparation done;
    const struct pj_store_options options = {
        .path = own->folder, .limit_bytes = PJ_PRIVATE_CACHE_BYTES, .check_payload = pj_check_payload};
    int r = pj_store_open(&options, &own->session.store, err);
    return r == 0 ? pj_store_prepare(own->session.store, &done, err) : r;
}

/* Is the driver to compile this job? To be compared the proven ones are, to be measured the missed ones as
 * well.
 */
static bool is_wanted(const struct pj_session *session, size_t job)
{
    enum pj_verdict verdict = session->outcomes[job].verdict;
    return verdict == PJ_VERDICT_PROVEN || (session->options->measure_cold && verdict == PJ_VERDICT_MISSED);
}

static int make_outcomes(const struct pj_session *session, struct own *own, struct pj_error **err)
{
    struct pj_outcome *outcomes =
        pj_arena_calloc(&own->session.arena, session->plan->job_count + 1, sizeof *outcomes);
    if (!outcomes)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < session->plan->job_count; i++) {
        outcomes[i].stage = is_wanted(session, i) ? PJ_STAGE_WAITING : PJ_STAGE_FAILED;
    }
    own->session.outcomes = outcomes;
    return 0;
}

static int open_own(const struct pj_session *session, struct own *own, struct pj_error **err)
{
    own->session = (struct pj_session){
        .options = session->options,
        .begin_ms = session->begin_ms,
        .command = session->command,
        .root = session->root,
        .manifest = session->manifest,
        .selection = session->selection,
        .plan = session->plan,
        .machine = session->machine,
        .now = {.host = {.kernel_driver = session->now.host.kernel_driver}},
        .format = session->format,
        .stamp = session->stamp,
        .interrupted = session->interrupted,
        .deadline_passed = session->deadline_passed,
    };
    int r = make_outcomes(session, own, err);
    if (r == 0)
        r = pj_directory_temporary(getenv("TMPDIR"), "prejit-against", &own->folder, err);
    own->session.location =
        (struct pj_cache_location){.path = own->folder, .limit_bytes = PJ_PRIVATE_CACHE_BYTES};
    return r == 0 ? open_store(own, err) : r;
}

static int compile_own(struct own *own, struct pj_error **err)
{
    PJ_CLEANUP_ENGINE struct pj_engine *engine = NULL;
    int r = pj_engine_new(&own->session, &engine, err);
    return r == 0 ? pj_engine_compile(engine, err) : r;
}

enum pj_against pj_against_read(enum pj_code_equality equality)
{
    switch (equality) {
    case PJ_CODE_SAME:
        return PJ_AGAINST_SAME;
    case PJ_CODE_BYTES:
    case PJ_CODE_SIZE:
    case PJ_CODE_ONLY_IN_A:
    case PJ_CODE_ONLY_IN_B:
        return PJ_AGAINST_OTHER;
    case PJ_CODE_UNREADABLE_A:
    case PJ_CODE_UNREADABLE_B:
        break;
    }
    return PJ_AGAINST_NOT_COMPARED;
}

void pj_against_describe(const struct pj_code_difference *difference, const char *entry,
                         struct pj_buffer *buffer)
{
    switch (difference->equality) {
    case PJ_CODE_SAME:
        break;
    case PJ_CODE_BYTES:
        pj_buffer_printf(buffer, "section %s of its entry %s differs from byte %" PRIu64 " on",
                         difference->section, entry, difference->offset);
        break;
    case PJ_CODE_SIZE:
        pj_buffer_printf(buffer, "section %s of its entry %s has %" PRIu64 " bytes, the driver's %" PRIu64,
                         difference->section, entry, difference->a_bytes, difference->b_bytes);
        break;
    case PJ_CODE_ONLY_IN_A:
        pj_buffer_printf(buffer, "section %s of its entry %s is not in the driver's code",
                         difference->section, entry);
        break;
    case PJ_CODE_ONLY_IN_B:
        pj_buffer_printf(buffer, "section %s of the driver's code is not in its entry %s",
                         difference->section, entry);
        break;
    case PJ_CODE_UNREADABLE_A:
        pj_buffer_printf(buffer, "its entry %s cannot be read as a cubin", entry);
        break;
    case PJ_CODE_UNREADABLE_B:
        pj_buffer_puts(buffer, "what the driver stored cannot be read as a cubin");
        break;
    }
}

static const char *payload_of(const struct pj_entry_contents *contents)
{
    return contents->bytes.data + PJ_ENTRY_HEADER_BYTES + contents->header.key_bytes;
}

static int compare_payloads(const struct pj_entry_contents *cached, const struct pj_entry_contents *own,
                            const char *entry, enum pj_against *ret_against, struct pj_buffer *detail,
                            struct pj_error **err)
{
    struct pj_code_difference difference;
    int r = pj_code_compare(payload_of(cached), (size_t)cached->header.payload_bytes, payload_of(own),
                            (size_t)own->header.payload_bytes, &difference, err);
    if (r < 0)
        return r;
    *ret_against = pj_against_read(difference.equality);
    pj_against_describe(&difference, entry, detail);
    return 0;
}

/* One entry, by the name that the driver gave its own. */
static int compare_entry(int cache_fd, int own_fd, uint64_t hash, enum pj_against *ret_against,
                         struct pj_buffer *detail, struct pj_error **err)
{
    PJ_CLEANUP_ENTRY struct pj_entry_contents cached = {.fd = -1};
    PJ_CLEANUP_ENTRY struct pj_entry_contents own = {.fd = -1};
    PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
    char path[PJ_ENTRY_PATH_TEXT];
    *ret_against = PJ_AGAINST_NOT_COMPARED;
    int r = pj_entry_load(cache_fd, hash, NULL, &cached, &problem);
    if (r == 0)
        r = pj_entry_load(own_fd, hash, NULL, &own, &problem);
    if (r == PJ_ERROR_NO_MEMORY)
        return pj_error_no_memory(err);
    (void)pj_entry_path(hash, path);
    if (r < 0)
        pj_buffer_puts(detail, pj_error_message(problem));
    else if (cached.state == PJ_ENTRY_ABSENT)
        pj_buffer_printf(detail, "the cache has no entry %s, which is the name of the driver's own", path);
    else if (cached.state != PJ_ENTRY_SOUND)
        pj_buffer_printf(detail, "its entry %s is %s", path, pj_entry_state_text(cached.state));
    else if (own.state != PJ_ENTRY_SOUND)
        pj_buffer_printf(detail, "the driver's own entry %s is %s", path, pj_entry_state_text(own.state));
    else
        return compare_payloads(&cached, &own, path, ret_against, detail, err);
    return 0;
}

/* Why the driver has no entries of its own to compare with; NULL = it has. */
static const char *obstacle(const struct pj_session *own, const struct pj_outcome *made)
{
    if (made->stage == PJ_STAGE_PRESENT && made->entry_count > 0)
        return NULL;
    if (made->stage == PJ_STAGE_FAILED && made->reason)
        return made->reason;
    if (own->format == PJ_FORMAT_OTHER)
        return "the driver's cache has a format that this prejit does not know";
    if (own->interrupted)
        return "the run was interrupted";
    return own->deadline_passed ? "the run's deadline passed" : "the driver's own entry was lost";
}

static int set(struct pj_session *session, size_t job, enum pj_against against, const char *detail,
               struct pj_error **err)
{
    struct pj_outcome *outcome = &session->outcomes[job];
    outcome->against_driver = against;
    outcome->against_detail = *detail ? pj_arena_strdup(&session->arena, detail) : NULL;
    return *detail && !outcome->against_detail ? pj_error_no_memory(err) : 0;
}

/* Of several entries the first with other code decides, else the first that was not compared. */
static int compare_job(struct pj_session *session, size_t job, const struct own *own, int cache_fd,
                       struct pj_error **err)
{
    const struct pj_outcome *made = &own->session.outcomes[job];
    const char *why_not = obstacle(&own->session, made);
    if (why_not)
        return set(session, job, PJ_AGAINST_NOT_COMPARED, why_not, err);
    int own_fd = pj_store_directory(own->session.store), r = 0;
    for (size_t i = 0; i < made->entry_count && r == 0; i++) {
        PJ_CLEANUP_BUFFER struct pj_buffer detail = {0};
        enum pj_against against, before = session->outcomes[job].against_driver;
        r = compare_entry(cache_fd, own_fd, made->entries[i].hash, &against, &detail, err);
        if (r == 0)
            r = pj_buffer_check(&detail, err);
        bool decides = before == PJ_AGAINST_NONE ||
                       (before == PJ_AGAINST_SAME && against != PJ_AGAINST_SAME) ||
                       (before == PJ_AGAINST_NOT_COMPARED && against == PJ_AGAINST_OTHER);
        if (r == 0 && decides)
            r = set(session, job, against, pj_buffer_text(&detail), err);
    }
    return r;
}

static int compare_all(struct pj_session *session, const struct own *own, struct pj_error **err)
{
    PJ_CLEANUP_CLOSE int cache_fd = -1;
    int r = pj_session_open_cache(session, &cache_fd, err);
    for (size_t i = 0; i < session->plan->job_count && r == 0; i++) {
        if (session->outcomes[i].verdict == PJ_VERDICT_PROVEN)
            r = compare_job(session, i, own, cache_fd, err);
    }
    return r;
}

/* No job was compared, or those left were not. */
static int give_up(struct pj_session *session, const char *why, struct pj_error **err)
{
    int r = 0;
    for (size_t i = 0; i < session->plan->job_count && r == 0; i++) {
        const struct pj_outcome *outcome = &session->outcomes[i];
        if (outcome->verdict == PJ_VERDICT_PROVEN && outcome->against_driver == PJ_AGAINST_NONE)
            r = set(session, i, PJ_AGAINST_NOT_COMPARED, why, err);
    }
    return r;
}

static int note_others(struct pj_session *session, struct pj_error **err)
{
    PJ_CLEANUP_BUFFER struct pj_buffer names = {0};
    size_t others = 0;
    for (size_t i = 0; i < session->plan->job_count; i++) {
        const struct pj_job *job = &session->plan->jobs[i];
        if (session->outcomes[i].against_driver != PJ_AGAINST_OTHER)
            continue;
        if (others++ < NAMED_MAX)
            pj_buffer_printf(&names, "%s%s sm_%u", names.size > 0 ? ", " : "", job->name, job->target);
    }
    if (others > NAMED_MAX)
        pj_buffer_printf(&names, " and %zu more", others - NAMED_MAX);
    if (others == 0)
        return 0;
    int r = pj_buffer_check(&names, err);
    return r < 0 ? r
                 : pj_session_note(session, err,
                                   "other code than the driver's own: %s; it is proven, so it works, but it "
                                   "is not what the driver would have made (nvJitLink's may differ); for the "
                                   "driver's, remove these entry files and run: prejit warm",
                                   pj_buffer_text(&names));
}

/* What was asked for did not take place; which jobs are proven is another matter. */
static int blame(struct pj_session *session, enum pj_exit status, const char *why, struct pj_error **err)
{
    bool ended_early = session->interrupted || session->deadline_passed;
    const char *reason =
        pj_arena_printf(&session->arena, "nothing was compared with the driver's own code: %s", why);
    if (!reason)
        return pj_error_no_memory(err);
    pj_session_blame(session, ended_early ? PJ_EXIT_RETRY : status, reason);
    return 0;
}

/* A comparison that compared nothing is no success. `status`: of what kept it from all of them. */
static int judge(struct pj_session *session, enum pj_exit status, struct pj_error **err)
{
    const char *why = NULL;
    for (size_t i = 0; i < session->plan->job_count; i++) {
        const struct pj_outcome *outcome = &session->outcomes[i];
        if (outcome->against_driver == PJ_AGAINST_SAME || outcome->against_driver == PJ_AGAINST_OTHER)
            return 0;
        if (outcome->against_driver == PJ_AGAINST_NOT_COMPARED && !why)
            why = outcome->against_detail;
    }
    return blame(session, status, why ? why : "no job is proven", err);
}

static bool any_wanted(const struct pj_session *session)
{
    for (size_t i = 0; i < session->plan->job_count; i++) {
        if (is_wanted(session, i))
            return true;
    }
    return false;
}

/* How long the driver took, which is how long a program waits without the cache. */
static int take_times(struct pj_session *session, const struct own *own, struct pj_error **err)
{
    size_t unknown = 0;
    for (size_t i = 0; i < session->plan->job_count; i++) {
        const struct pj_outcome *made = &own->session.outcomes[i];
        struct pj_outcome *outcome = &session->outcomes[i];
        if (!is_wanted(session, i))
            continue;
        if (!made->has_cold_ms) {
            unknown++;
            continue;
        }
        outcome->has_cold_ms = true;
        outcome->cold_ms = made->cold_ms;
        outcome->cold_from_receipt = false;
    }
    if (unknown == 0)
        return 0;
    return pj_session_note(session, err,
                           "--measure-cold: %zu job%s not measured: the driver did not compile %s", unknown,
                           unknown == 1 ? " was" : "s were", unknown == 1 ? "it" : "them");
}

/* The proof stands, whatever became of what else was asked for. */
static int settle(struct pj_session *session, int failure, const struct pj_error *problem,
                  struct pj_error **err)
{
    enum pj_exit status = failure < 0 ? (enum pj_exit)pj_error_exit_code(problem) : PJ_EXIT_COLD;
    int r = 0;
    if (status != PJ_EXIT_ENVIRONMENT && status != PJ_EXIT_RETRY)
        status = PJ_EXIT_COLD;
    if (failure < 0 && session->options->measure_cold)
        r = pj_session_note(session, err, "--measure-cold: nothing was measured: %s",
                            pj_error_message(problem));
    if (r < 0 || !session->options->against_driver)
        return r;
    if (failure < 0)
        r = give_up(session, pj_error_message(problem), err);
    if (r == 0)
        r = judge(session, status, err);
    return r == 0 ? note_others(session, err) : r;
}

int pj_against_driver(struct pj_session *session, struct pj_error **err)
{
    const struct pj_options *options = session->options;
    __attribute__((cleanup(free_own))) struct own own = {.folder = NULL};
    PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
    if (!any_wanted(session))
        return options->against_driver ? judge(session, PJ_EXIT_COLD, err) : 0;
    int r = open_own(session, &own, &problem);
    if (r == 0)
        r = compile_own(&own, &problem);
    if (r == 0 && options->measure_cold)
        r = take_times(session, &own, &problem);
    if (r == 0 && options->against_driver)
        r = compare_all(session, &own, &problem);
    session->interrupted |= own.session.interrupted;
    session->deadline_passed |= own.session.deadline_passed;
    return r == PJ_ERROR_NO_MEMORY ? pj_error_no_memory(err) : settle(session, r, problem, err);
}
