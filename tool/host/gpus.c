/* SPDX-License-Identifier: Apache-2.0 */
/* Reads /proc/driver/nvidia and the device nodes. */
#include "host/gpus.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"

static int compare_names(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_visible(const struct dirent *item)
{
    return item->d_name[0] != '.';
}

static int is_gpu_node(const struct dirent *item)
{
    const char *name = item->d_name;
    return strncmp(name, "nvidia", 6) == 0 && isdigit((unsigned char)name[6]);
}

static void free_list(struct dirent **list, int count)
{
    for (int i = 0; i < count; i++)
        free(list[i]);
    free(list);
}

/* Appends the lines of a GPU's information file that tell which GPU it is. Others (BIOS, DMA size) change by
 * themselves. */
static void append_identity(struct pj_buffer *text, const char *information)
{
    static const char *const wanted[] = {"Model:", "GPU UUID:"};
    for (const char *line = information; *line;) {
        size_t length = strcspn(line, "\n");
        for (size_t i = 0; i < PJ_COUNT(wanted); i++) {
            if (strncmp(line, wanted[i], strlen(wanted[i])) == 0) {
                pj_buffer_append(text, line, length);
                pj_buffer_putc(text, '\n');
            }
        }
        line += length + (line[length] == '\n');
    }
}

/* Reads a file that may be absent; only memory can fail. */
static int read_optional(const struct pj_host_root *root, const char *path, struct pj_buffer *text,
                         struct pj_error **err)
{
    PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
    int r = pj_host_read(root, path, text, &problem);
    if (r < 0)
        pj_buffer_reset(text);
    return r == PJ_ERROR_NO_MEMORY ? pj_error_no_memory(err) : 0;
}

static int append_gpus(const struct pj_host_root *root, struct pj_buffer *text, size_t *ret_count,
                       struct pj_error **err)
{
    PJ_CLEANUP_FREE char *folder = pj_host_path(root, "/proc/driver/nvidia/gpus");
    if (!folder)
        return pj_error_no_memory(err);
    struct dirent **list = NULL;
    int count = scandir(folder, &list, is_visible, compare_names);
    if (count < 0)
        return errno == ENOMEM ? pj_error_no_memory(err) : 0;
    int r = 0;
    for (int i = 0; i < count && r == 0; i++) {
        PJ_CLEANUP_BUFFER struct pj_buffer information = {0};
        PJ_CLEANUP_BUFFER struct pj_buffer path = {0};
        pj_buffer_printf(&path, "/proc/driver/nvidia/gpus/%s/information", list[i]->d_name);
        r = pj_buffer_check(&path, err);
        if (r < 0)
            break;
        pj_buffer_printf(text, "gpu %s\n", list[i]->d_name);
        r = read_optional(root, path.data, &information, err);
        append_identity(text, pj_buffer_text(&information));
    }
    free_list(list, count);
    *ret_count = (size_t)count;
    return r;
}

static int append_nodes(const struct pj_host_root *root, struct pj_buffer *text, struct pj_error **err)
{
    PJ_CLEANUP_FREE char *folder = pj_host_path(root, "/dev");
    struct dirent **list = NULL;
    if (!folder)
        return pj_error_no_memory(err);
    int count = scandir(folder, &list, is_gpu_node, compare_names);
    if (count < 0)
        return errno == ENOMEM ? pj_error_no_memory(err) : 0;
    for (int i = 0; i < count; i++)
        pj_buffer_printf(text, "node %s\n", list[i]->d_name);
    free_list(list, count);
    return 0;
}

/* Finds the driver's version in the first line of `text`, "NVRM version: NVIDIA UNIX … Kernel Module
 * 580.159.04  Release Build …": the first word that looks like one. NULL where there is none. */
static const char *find_version(const char *text, size_t *ret_length)
{
    for (const char *word = text; *word && *word != '\n';) {
        size_t length = strcspn(word, " \t\n");
        if (length > 2 && strspn(word, "0123456789.") >= length && memchr(word, '.', length)) {
            *ret_length = length;
            return word;
        }
        word += length;
        word += strspn(word, " \t");
    }
    return NULL;
}

#define VERSION_PATH "/proc/driver/nvidia/version"

int pj_host_gpu_listing(const struct pj_host_root *root, struct pj_buffer *ret_text, size_t *ret_count,
                        struct pj_error **err)
{
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    size_t length, count = 0;
    int r = read_optional(root, VERSION_PATH, &text, err);
    if (r < 0)
        return r;
    const char *version = find_version(pj_buffer_text(&text), &length);
    if (version)
        pj_buffer_printf(ret_text, "kernel %.*s\n", (int)length, version);
    r = append_gpus(root, ret_text, &count, err);
    if (r == 0)
        r = append_nodes(root, ret_text, err);
    if (r == 0)
        r = pj_buffer_check(ret_text, err);
    if (r == 0)
        *ret_count = count;
    return r;
}

char *pj_host_boot_id(const struct pj_host_root *root)
{
    enum { LONGEST = 64 };
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    PJ_CLEANUP_ERROR struct pj_error *ignored = NULL;
    if (read_optional(root, "/proc/sys/kernel/random/boot_id", &text, &ignored) < 0)
        return NULL;
    size_t length = strspn(pj_buffer_text(&text), "0123456789abcdef-");
    bool is_one = length > 0 && length <= LONGEST && pj_buffer_text(&text)[length] <= '\n';
    return is_one ? strndup(text.data, length) : NULL;
}

char *pj_host_kernel_driver(const struct pj_host_root *root)
{
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    PJ_CLEANUP_ERROR struct pj_error *ignored = NULL;
    size_t length;
    if (read_optional(root, VERSION_PATH, &text, &ignored) < 0)
        return NULL;
    const char *version = find_version(pj_buffer_text(&text), &length);
    return version ? strndup(version, length) : NULL;
}
