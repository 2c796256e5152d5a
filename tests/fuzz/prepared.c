/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: any bytes as the record of prepared PTX; what is accepted must be written just so again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "report/prepared.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    PJ_CLEANUP_ERROR struct pj_error *error = NULL;
    PJ_CLEANUP_BUFFER struct pj_buffer first = {0}, second = {0};
    struct pj_prepared prepared, again;
    int result = pj_prepared_read((const char *)data, size, &arena, &prepared, &error);
    if ((result == 0) != (error == NULL) || (result != 0 && result != PJ_ERROR_FORMAT))
        abort();
    if (result != 0)
        return 0;
    if (pj_prepared_write(&prepared, &first, NULL) != 0 ||
        pj_prepared_read(first.data, first.size, &arena, &again, NULL) != 0 ||
        pj_prepared_write(&again, &second, NULL) != 0)
        abort();
    if (first.size != second.size || memcmp(first.data, second.data, first.size) != 0)
        abort();
    return 0;
}
