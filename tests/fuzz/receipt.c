/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: any bytes as a receipt; what is accepted must survive being written and read again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "report/receipt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct pj_receipt *read_again(const struct pj_buffer *text)
{
    struct pj_receipt *receipt = NULL;
    if (pj_receipt_read(text->data, text->size, &receipt, NULL) != 0)
        abort();
    return receipt;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    PJ_CLEANUP_ERROR struct pj_error *error = NULL;
    PJ_CLEANUP_BUFFER struct pj_buffer first = {0}, second = {0};
    struct pj_receipt *receipt = NULL;
    int result = pj_receipt_read((const char *)data, size, &receipt, &error);
    if ((result == 0) != (receipt != NULL) || (result == 0) != (error == NULL))
        abort();
    if (result != 0) {
        if (result != PJ_ERROR_FORMAT || strncmp(error->message, "reading the receipt", 19) != 0)
            abort();
        return 0;
    }
    if (pj_receipt_write(receipt, &first, NULL) != 0)
        abort();
    pj_receipt_free(receipt);
    receipt = read_again(&first);
    if (pj_receipt_write(receipt, &second, NULL) != 0)
        abort();
    pj_receipt_free(receipt);
    if (first.size != second.size || memcmp(first.data, second.data, first.size) != 0)
        abort();
    return 0;
}
