/* SPDX-License-Identifier: Apache-2.0 */
/* Looks for the macros that stand for the time of a compilation. */
#include "session/prepare/clock_macros.h"

#include <fcntl.h>
#include <string.h>

#include "base/file.h"

#define FILE_MAX_BYTES (UINT64_C(1) << 30)

static bool has(const struct pj_buffer *bytes, const char *macro)
{
    return bytes->size > 0 && memmem(bytes->data, bytes->size, macro, strlen(macro)) != NULL;
}

int pj_clock_macros_find(const struct pj_plan_file *files, size_t count, const char **ret_time,
                         const char **ret_date, struct pj_error **err)
{
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    *ret_time = *ret_date = NULL;
    for (size_t i = 0; i < count; i++) {
        PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
        if (files[i].absent)
            continue;
        pj_buffer_reset(&bytes);
        int r = pj_file_read(AT_FDCWD, files[i].path, FILE_MAX_BYTES, &bytes, &problem);
        if (r == PJ_ERROR_NO_MEMORY)
            return pj_error_no_memory(err);
        if (r < 0)
            continue;
        if (!*ret_time && (has(&bytes, "__TIME__") || has(&bytes, "__TIMESTAMP__")))
            *ret_time = files[i].path;
        if (!*ret_date && has(&bytes, "__DATE__"))
            *ret_date = files[i].path;
    }
    return 0;
}
