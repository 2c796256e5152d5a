/* SPDX-License-Identifier: Apache-2.0 */
/* Device nodes, the GPUs that the kernel driver lists, and memory. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/text.h"
#include "host/check.h"
#include "host/gpus.h"
#include "host/limits.h"

#define SMALL_BYTES (UINT64_C(512) << 20)

struct look {
    const struct pj_host_root *root;
    const struct pj_program *program;
    struct pj_finding_list *findings;
    struct pj_error **err;
};

/* A node that is there: may it be used? *ret_there tells whether it is. */
static int check_node(const struct look *look, const char *path, bool *ret_there)
{
    struct stat status;
    PJ_CLEANUP_FREE char *full = pj_host_path(look->root, path);
    if (!full)
        return pj_error_no_memory(look->err);
    *ret_there = stat(full, &status) == 0;
    if (!*ret_there || pj_program_may(look->program, full, &status, PJ_MAY_READ | PJ_MAY_WRITE))
        return 0;
    return pj_finding_add(look->findings, PJ_FINDING_DEVICE_DENIED, path, NULL, look->err,
                          "owner %lu, group %lu, mode %04o: user %s cannot open it",
                          (unsigned long)status.st_uid, (unsigned long)status.st_gid,
                          (unsigned)(status.st_mode & 07777u), look->program->user_text);
}

static int is_gpu(const struct dirent *item)
{
    const char *name = item->d_name;
    return strncmp(name, "nvidia", 6) == 0 && name[6] && strspn(name + 6, "0123456789") == strlen(name + 6);
}

static int check_gpu_nodes(const struct look *look)
{
    struct dirent **list = NULL;
    PJ_CLEANUP_FREE char *folder = pj_host_path(look->root, "/dev");
    if (!folder)
        return pj_error_no_memory(look->err);
    int count = scandir(folder, &list, is_gpu, alphasort);
    if (count < 0)
        return errno == ENOMEM ? pj_error_no_memory(look->err) : 0;
    int r = 0;
    for (int i = 0; i < count; i++) {
        bool there;
        PJ_CLEANUP_FREE char *path = pj_path_join("/dev", list[i]->d_name);
        if (r == 0)
            r = path ? check_node(look, path, &there) : pj_error_no_memory(look->err);
        free(list[i]);
    }
    free(list);
    if (r == 0 && count == 0)
        r = pj_finding_add(look->findings, PJ_FINDING_DEVICE_MISSING, "/dev/nvidia0", NULL, look->err,
                           "there is no /dev/nvidiaN");
    return r;
}

static int check_nodes(const struct look *look)
{
    bool there;
    int r = check_node(look, "/dev/nvidiactl", &there);
    if (r == 0 && !there)
        return pj_finding_add(look->findings, PJ_FINDING_DEVICE_MISSING, "/dev/nvidiactl", NULL, look->err,
                              "there is no such node");
    if (r == 0)
        r = check_gpu_nodes(look);
    if (r == 0)
        r = check_node(look, "/dev/nvidia-uvm", &there);
    if (r == 0 && !there)
        r = pj_finding_add(look->findings, PJ_FINDING_DEVICE_LATE, "/dev/nvidia-uvm", NULL, look->err,
                           "there is no such node");
    return r;
}

/* Without a kernel driver there is nothing to list; that was said already. */
static int check_listing(const struct look *look)
{
    PJ_CLEANUP_BUFFER struct pj_buffer listing = {0};
    size_t count;
    int r = pj_host_gpu_listing(look->root, &listing, &count, look->err);
    if (r < 0 || count > 0)
        return r;
    return pj_finding_add(look->findings, PJ_FINDING_NO_GPU, "/proc/driver/nvidia/gpus", NULL, look->err,
                          "it is empty");
}

/* WSL has its driver in Windows, and neither /proc/driver/nvidia nor device nodes. */
static bool is_wsl(const struct pj_host_root *root)
{
    struct stat status;
    PJ_CLEANUP_FREE char *path = pj_host_path(root, "/dev/dxg");
    return path && stat(path, &status) == 0;
}

static int check_kernel(const struct pj_host_root *root, const struct pj_driver_facts *facts,
                        struct pj_finding_list *findings, struct pj_error **err)
{
    if (is_wsl(root))
        return 0;
    if (!facts->kernel_version)
        return pj_finding_add(findings, PJ_FINDING_KERNEL_DRIVER_MISSING, "/proc/driver/nvidia/version", NULL,
                              err, "it cannot be read or tells no version");
    if (!facts->version || facts->compat || facts->stub || strcmp(facts->version, facts->kernel_version) == 0)
        return 0;
    return pj_finding_add(findings, PJ_FINDING_REBOOT_PENDING, "/proc/driver/nvidia/version", NULL, err,
                          "the kernel driver is %s, libcuda is %s (%s)", facts->kernel_version,
                          facts->version, facts->library);
}

int pj_check_memory(const struct pj_host_root *root, struct pj_finding_list *findings, struct pj_error **err)
{
    char size[PJ_SIZE_TEXT];
    uint64_t bytes = pj_host_memory_available(root);
    if (bytes == 0 || bytes >= SMALL_BYTES)
        return 0;
    return pj_finding_add(findings, PJ_FINDING_MEMORY_SMALL, "memory", NULL, err,
                          "%s can still be used here (the container's limit counts)",
                          pj_text_from_size(bytes, size));
}

int pj_check_machine(const struct pj_host_root *root, const struct pj_program *program,
                     const struct pj_driver_facts *facts, struct pj_finding_list *findings,
                     struct pj_error **err)
{
    const struct look look = {root, program, findings, err};
    int r = check_kernel(root, facts, findings, err);
    if (r == 0 && facts->kernel_version)
        r = check_listing(&look);
    if (r == 0 && facts->kernel_version)
        r = check_nodes(&look);
    return r;
}
