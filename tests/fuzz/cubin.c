/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: any bytes as a cubin; what is whole must not be whole once it is cut. */
#include <stdint.h>
#include <stdlib.h>

#include "image/code.h"
#include "image/cubin.h"
#include "image/kind.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

/* Its code is its own, or cannot be read; its header alone has none. */
static void check_code(const uint8_t *data, size_t size)
{
    struct pj_code_difference difference;
    int same = pj_code_compare(data, size, data, size, &difference, NULL);
    require(same == (difference.equality == PJ_CODE_SAME));
    require(same || difference.equality == PJ_CODE_UNREADABLE_A ||
            (difference.equality <= PJ_CODE_ONLY_IN_B && difference.section[0] == '.'));
    require(pj_code_compare(data, size, data, 64, &difference, NULL) == 0);
    static const char *const kernel = "axpb";
    size_t missing = 2;
    require(pj_code_missing_kernel(data, size, &kernel, 1, &missing, NULL) == 0 && missing <= 1);
    require(pj_code_missing_kernel(data, 64, &kernel, 1, &missing, NULL) == 0 && missing == 0);
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
    check_code(data, size);
    /* Headers of 64 bytes cannot be cut away and leave a whole file. */
    require(pj_cubin_read(data, 64, &cubin, NULL) == PJ_ERROR_FORMAT);
    return 0;
}
