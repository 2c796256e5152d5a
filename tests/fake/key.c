/* SPDX-License-Identifier: Apache-2.0 */
/* Cache keys: what makes two compilations the same one. */
#include "key.h"

void fake_key_make(const struct fake_scenario *scenario, unsigned arch, const char *ptx, size_t ptx_bytes,
                   const char *option_text, struct fake_buffer *ret_key)
{
    struct fake_buffer key = {0};
    fake_buffer_add_text(&key, scenario->stamp);
    if (scenario->alternate_key_order) {
        fake_buffer_printf(&key, "sm_%uHOST64%s ", arch, option_text);
        fake_buffer_add(&key, ptx, ptx_bytes);
        fake_buffer_add(&key, "", 1);
    } else {
        fake_buffer_printf(&key, "HOST64sm_%u", arch);
        fake_buffer_add(&key, ptx, ptx_bytes);
        fake_buffer_add(&key, "\0 ", 2);
        fake_buffer_add_text(&key, option_text);
    }
    *ret_key = key;
}
