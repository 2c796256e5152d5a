/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: any bytes as a compiler's text; what is known was said, and names and warnings are texts of
 * it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "image/usage.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

static void check_number(struct pj_usage_number number)
{
    require(number.known || number.value == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    PJ_CLEANUP_ERROR struct pj_error *error = NULL;
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    struct pj_usage usage = {0};
    size_t kernels = 0, text = size > 0 ? strnlen((const char *)data, size) : 0;
    require(pj_usage_read((const char *)data, size, &arena, &usage, &error) == 0 && error == NULL);
    for (size_t i = 0; i < usage.count; i++) {
        const struct pj_usage_function *function = &usage.functions[i];
        size_t length = strlen(function->name);
        require(length > 0 && memmem(data, text, function->name, length) != NULL);
        require(function->kernel || function->arch.number == 0);
        check_number(function->registers);
        check_number(function->barriers);
        check_number(function->shared_bytes);
        check_number(function->linked_shared_bytes);
        check_number(function->stack_bytes);
        check_number(function->whole_stack_bytes);
        check_number(function->spill_store_bytes);
        check_number(function->spill_load_bytes);
        check_number(function->constant_bytes);
        kernels += function->kernel;
    }
    require(kernels == usage.kernel_count);
    for (size_t i = 0; i < usage.warning_count; i++)
        require(strstr(usage.warnings[i], "warning") != NULL && strchr(usage.warnings[i], '\n') == NULL);
    return 0;
}
