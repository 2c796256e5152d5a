/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: any bytes as a cubin; what is whole must not be whole once it is cut. */
#include <stdint.h>
#include <stdlib.h>

#include "image/cubin.h"
#include "image/kind.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    PJ_CLEANUP_ERROR struct pj_error *error = NULL;
    struct pj_cubin cubin = {0};
    int status = pj_cubin_read(data, size, &cubin, &error);
    require((status == 0) == (error == NULL));
    if (status < 0) {
        require(status == PJ_ERROR_FORMAT && cubin.arch_number == 0);
        return 0;
    }
    require(cubin.arch_number >= 10 && cubin.arch_number <= 255);
    require(cubin.relocatable == 0 || cubin.relocatable == 1);
    require(pj_image_kind_of(data, size) == PJ_IMAGE_CUBIN);
    /* Headers of 64 bytes cannot be cut away and leave a whole file. */
    require(pj_cubin_read(data, 64, &cubin, NULL) == PJ_ERROR_FORMAT);
    return 0;
}
