/* SPDX-License-Identifier: Apache-2.0 */
/* Looks for everything around a cache that would make warming useless; changes nothing. */
#include "session/doctor/doctor.h"

#include <stdlib.h>
#include <string.h>

#include "session/run/worker_program.h"

static int identify(struct pj_doctor *doctor, struct pj_error **err)
{
    const struct pj_doctor_options *options = doctor->options;
    int r;
    if (options->pid)
        r = pj_program_of_process(&doctor->root, options->pid, &doctor->findings, &doctor->program, err);
    else
        r = pj_program_own(&doctor->program, err);
    if (r == 0 && options->env_file)
        r = pj_program_set_environment_file(&doctor->program, options->env_file, &doctor->findings, err);
    if (r == 0 && options->user) {
        bool has_home = pj_program_variable(&doctor->program, "HOME") != NULL;
        bool set_home = !options->pid && !(options->env_file && has_home);
        r = pj_program_set_user(&doctor->program, &doctor->root, options->user, set_home, &doctor->findings,
                                err);
    }
    return r;
}

static int check_place(const struct pj_program *program, const char *path, struct pj_finding_list *findings,
                       bool *ret_exists, struct pj_error **err)
{
    int r = pj_check_path(program, path, ret_exists, findings, err);
    if (r == 0 && *ret_exists)
        r = pj_check_index(program, path, findings, err);
    if (r == 0)
        r = pj_check_file_system(program, path, findings, err);
    return r;
}

static int look_at_cache(struct pj_doctor *doctor, struct pj_error **err)
{
    int r = pj_doctor_locate(doctor, err);
    doctor->path = doctor->filled_path ? doctor->filled_path : doctor->read_path;
    if (r < 0 || !doctor->path)
        return r;
    r = check_place(&doctor->program, doctor->path, &doctor->findings, &doctor->exists, err);
    if (r == 0 && doctor->exists)
        r = pj_doctor_content(&doctor->program, doctor->path, doctor->limit_bytes, &doctor->findings,
                              &doctor->has_content, &doctor->entries, &doctor->bytes, err);
    return r;
}

/* A driver that starts has its kernel driver, devices and GPUs: its own word counts for more than what can be
 * seen of them. The worker is a child of this process, so it speaks for no other program. */
static int look_at_machine(struct pj_doctor *doctor, struct pj_error **err)
{
    bool offline = doctor->options->offline_count > 0; /* needs none of it */
    doctor->findings.as_notes = offline;
    int r = pj_check_driver(&doctor->root, &doctor->program, doctor->options->driver, &doctor->findings,
                            &doctor->facts, err);
    bool can_ask = doctor->program.own && doctor->options->worker_program && doctor->facts.library &&
                   !doctor->facts.stub && !offline;
    if (r == 0 && can_ask)
        r = pj_doctor_ask_driver(doctor, err);
    if (r == 0 && !doctor->driver_text)
        r = pj_check_machine(&doctor->root, &doctor->program, &doctor->facts, &doctor->findings, err);
    doctor->findings.as_notes = false;
    return r == 0 ? pj_check_memory(&doctor->root, &doctor->findings, err) : r;
}

/* It is this process that compiles with it, whichever program is asked about. */
static int look_at_toolkit(struct pj_doctor *doctor, struct pj_error **err)
{
    PJ_CLEANUP_PROGRAM struct pj_program own = {.root = ""};
    const struct pj_doctor_options *options = doctor->options;
    doctor->needs.nvrtc = options->nvrtc;
    doctor->needs.nvjitlink = options->nvjitlink;
    doctor->needs.ptxas = options->ptxas;
    bool named = options->nvrtc || options->nvjitlink || options->ptxas;
    if (!doctor->program.own && !options->manifest && !named)
        return 0;
    int r = pj_program_own(&own, err);
    return r < 0 ? r
                 : pj_check_toolkit(&doctor->root, &own, &doctor->needs, &doctor->findings, &doctor->toolkit,
                                    err);
}

static int examine(struct pj_doctor *doctor, pj_doctor_look_offline *look_offline, struct pj_error **err)
{
    int r = identify(doctor, err);
    if (r == 0)
        r = pj_check_variables(&doctor->program, &doctor->findings, err);
    if (r == 0)
        r = look_at_cache(doctor, err);
    if (r == 0)
        r = look_at_machine(doctor, err);
    if (r == 0)
        r = look_at_toolkit(doctor, err);
    if (r == 0 && doctor->options->offline_count > 0)
        r = look_offline(doctor, err);
    if (r == 0)
        r = pj_check_other_caches(&doctor->program, doctor->path, &doctor->findings, err);
    return r;
}

int pj_doctor_exit_code(const struct pj_doctor *doctor)
{
    return pj_finding_number(&doctor->findings, PJ_SEVERITY_ERROR) > 0 ? PJ_EXIT_ENVIRONMENT : PJ_EXIT_OK;
}

static void free_doctor(struct pj_doctor *doctor)
{
    pj_finding_list_free(&doctor->findings);
    pj_program_free(&doctor->program);
    pj_arena_free(&doctor->facts.arena);
    pj_arena_free(&doctor->toolkit.arena);
    pj_buffer_free(&doctor->offline_text);
    pj_manifest_free(doctor->manifest);
    pj_arena_free(&doctor->arena);
}

int pj_doctor_run(const struct pj_doctor_options *options, pj_doctor_look_offline *look_offline,
                  char **ret_text, int *ret_exit_code, struct pj_error **err)
{
    __attribute__((cleanup(free_doctor))) struct pj_doctor doctor = {.options = options,
                                                                     .root = pj_host_root_from_environment()};
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    if (options->pid && options->env_file)
        return pj_error_set(err, PJ_ERROR_USAGE,
                            "--pid and --env-file exclude each other: a process has its own environment");
    int r = options->worker_program ? pj_worker_program_check(options->worker_program, err) : 0;
    if (r == 0)
        r = examine(&doctor, look_offline, err);
    if (r == 0)
        r = options->json ? pj_doctor_render_json(&doctor, &text, err)
                          : pj_doctor_render_text(&doctor, &text, err);
    if (r == 0)
        r = pj_buffer_check(&text, err);
    if (r < 0)
        return r;
    *ret_text = PJ_STEAL(text.data);
    *ret_exit_code = pj_doctor_exit_code(&doctor);
    return 0;
}

int pj_doctor_findings(const struct pj_host_root *root, const char *path, uint64_t limit_bytes,
                       const char *driver, unsigned parts, struct pj_finding_list *findings,
                       struct pj_error **err)
{
    PJ_CLEANUP_PROGRAM struct pj_program program = {.root = ""};
    int r = pj_program_own(&program, err);
    if (r == 0 && (parts & (PJ_DOCTOR_CACHE | PJ_DOCTOR_PLACE))) {
        bool exists = false, known;
        uint64_t entries, bytes;
        r = check_place(&program, path, findings, &exists, err);
        if (r == 0 && exists && (parts & PJ_DOCTOR_CACHE))
            r = pj_doctor_content(&program, path, limit_bytes, findings, &known, &entries, &bytes, err);
    }
    if (r == 0 && (parts & PJ_DOCTOR_MACHINE)) {
        struct pj_driver_facts facts = {.library = NULL};
        r = pj_check_driver(root, &program, driver, findings, &facts, err);
        if (r == 0)
            r = pj_check_machine(root, &program, &facts, findings, err);
        if (r == 0)
            r = pj_check_memory(root, findings, err);
        pj_arena_free(&facts.arena);
    }
    return r;
}

int pj_doctor_refuse(const struct pj_finding_list *findings, struct pj_error **err)
{
    const struct pj_finding *finding = pj_finding_with(findings, PJ_STOPS_WARM);
    if (!finding)
        return 0;
    return pj_error_set(err,
                        finding->code == PJ_FINDING_REBOOT_PENDING ? PJ_ERROR_BUSY : PJ_ERROR_ENVIRONMENT,
                        "%s: %s; %s", finding->subject, finding->found, finding->cure);
}
