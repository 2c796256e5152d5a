/* SPDX-License-Identifier: Apache-2.0 */
/* Fills the description of driver and GPUs from a receipt that still holds, or from a worker's answer. */
#include "session/run/machine.h"

#include <string.h>

#include "arch/arch.h"
#include "session/run/driver_start.h"

static int allocate_devices(struct pj_session *session, size_t count, struct pj_error **err)
{
    struct pj_machine *machine = &session->machine;
    machine->devices = pj_arena_calloc(&session->arena, count + 1, sizeof *machine->devices);
    machine->device_arch = pj_arena_calloc(&session->arena, count + 1, sizeof *machine->device_arch);
    machine->device_count = count;
    return machine->devices && machine->device_arch ? 0 : pj_error_no_memory(err);
}

/* Distinct architectures, ascending. */
static void collect_archs(struct pj_machine *machine)
{
    machine->arch_count = 0;
    for (size_t i = 0; i < machine->device_count; i++) {
        size_t at = 0;
        while (at < machine->arch_count && machine->archs[at] < machine->device_arch[i])
            at++;
        if (at < machine->arch_count && machine->archs[at] == machine->device_arch[i])
            continue;
        if (machine->arch_count == PJ_WIRE_DEVICES_MAX)
            return;
        memmove(&machine->archs[at + 1], &machine->archs[at],
                (machine->arch_count - at) * sizeof machine->archs[0]);
        machine->archs[at] = machine->device_arch[i];
        machine->arch_count++;
    }
}

int pj_machine_from_receipt(struct pj_session *session, struct pj_error **err)
{
    const struct pj_receipt *receipt = session->receipt;
    struct pj_machine *machine = &session->machine;
    int r = allocate_devices(session, receipt->host.device_count, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < receipt->host.device_count; i++) {
        struct pj_arch arch;
        PJ_CLEANUP_ERROR struct pj_error *ignored = NULL;
        machine->devices[i] = receipt->host.devices[i];
        if (pj_arch_parse(receipt->host.devices[i].arch, &arch, &ignored) < 0) {
            session->same_gpus = false; /* a receipt is a hint: one that makes no sense is not used */
            machine->device_count = 0;
            return 0;
        }
        machine->device_arch[i] = arch.number;
    }
    machine->cuda_version = receipt->host.cuda_version;
    machine->driver_version = receipt->host.driver_version;
    machine->files = receipt->driver_files;
    machine->file_count = receipt->driver_file_count;
    machine->known = true;
    collect_archs(machine);
    return 0;
}

void pj_machine_forget(struct pj_session *session)
{
    session->stamp = NULL;
    session->format = PJ_FORMAT_UNSEEN;
    session->machine = (struct pj_machine){0};
    session->same_driver = session->same_gpus = false;
}

int pj_machine_from_worker(struct pj_session *session, const struct pj_wire_started *started,
                           struct pj_error **err)
{
    struct pj_machine *machine = &session->machine;
    int r = allocate_devices(session, started->device_count, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < machine->device_count; i++) {
        const struct pj_wire_device *device = &started->devices[i];
        uint16_t number = (uint16_t)(device->major * 10 + device->minor);
        machine->device_arch[i] = number;
        machine->devices[i] = (struct pj_report_device){
            .name = pj_arena_strdup(&session->arena, device->name),
            .arch = pj_arena_printf(&session->arena, "sm_%u", number),
            .uuid = pj_arena_strdup(&session->arena, device->uuid),
        };
        if (!machine->devices[i].name || !machine->devices[i].arch || !machine->devices[i].uuid)
            return pj_error_no_memory(err);
    }
    machine->cuda_version = started->cuda_version;
    machine->known = true;
    collect_archs(machine);
    return pj_machine_files(session, started->files, started->file_count, err);
}

const char *pj_machine_driver_version(struct pj_arena *arena, const char *path)
{
    const char *version = pj_driver_file_version(path);
    return version ? pj_arena_strdup(arena, version) : NULL;
}

int pj_machine_copy_files(const struct pj_wire_file *files, size_t count, struct pj_arena *arena,
                          struct pj_receipt_file **ret_files, struct pj_error **err)
{
    struct pj_receipt_file *copies = pj_arena_calloc(arena, count, sizeof *copies);
    if (!copies)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < count; i++) {
        copies[i] = (struct pj_receipt_file){
            .path = pj_arena_strdup(arena, files[i].path),
            .device = files[i].device,
            .inode = files[i].inode,
            .size_bytes = files[i].size_bytes,
            .mtime_seconds = files[i].mtime_seconds,
        };
        if (!copies[i].path)
            return pj_error_no_memory(err);
    }
    *ret_files = copies;
    return 0;
}

int pj_machine_files(struct pj_session *session, const struct pj_wire_file *files, size_t count,
                     struct pj_error **err)
{
    struct pj_machine *machine = &session->machine;
    struct pj_receipt_file *copies = NULL;
    if (count == 0)
        return 0;
    int r = pj_machine_copy_files(files, count, &session->arena, &copies, err);
    if (r < 0)
        return r;
    machine->files = copies;
    machine->file_count = count;
    if (!machine->driver_version)
        machine->driver_version = pj_machine_driver_version(&session->arena, copies[0].path);
    return 0;
}

/* A cache can be warmed without a driver; nothing can be verified without one. */
static const char *without_driver(const struct pj_session *session)
{
    bool warms = session->command && strcmp(session->command, "warm") == 0;
    return warms ? "; where an image is built without a GPU: prejit warm --offline PROFILE" : "";
}

int pj_machine_start_error(const struct pj_session *session, const struct pj_wire_started *started,
                           struct pj_error **err)
{
    return pj_driver_start_error(session->now.host.kernel_driver, without_driver(session), started, err);
}
