/* SPDX-License-Identifier: Apache-2.0 */
/* What the driver makes of the values of its cache settings, and what their writers meant. Pure text. Numbers
 * in brackets are lines of docs/cache-model.md. */
#ifndef PREJIT_BASE_SETTING_H
#define PREJIT_BASE_SETTING_H

#include <stdbool.h>
#include <stdint.h>

/** How a value of CUDA_CACHE_MAXSIZE is read [24, 39]. */
enum pj_size_reading {
    PJ_SIZE_PLAIN,    /* a number and nothing else */
    PJ_SIZE_ODD,      /* a number with something behind it, which the driver forgets */
    PJ_SIZE_NOTHING,  /* so small that no entry fits, or a small number with a unit, which was never meant as
                         bytes */
    PJ_SIZE_NO_LIMIT, /* a minus, or more than 64 bits */
};

struct pj_size_setting {
    enum pj_size_reading reading;
    uint64_t read_bytes;  /* what the driver takes */
    uint64_t meant_bytes; /* what its writer probably wanted; the driver's default where nobody can tell */
};

struct pj_size_setting pj_setting_size(const char *text);

/** Does the path hold what only a shell replaces: a leading `~` or quote, or a variable? */
bool pj_setting_is_literal(const char *path);

/** Such a path as a shell with this HOME (may be NULL) would have written it; free(). NULL where nobody can
 * tell, and when memory is out. */
char *pj_setting_written_out(const char *path, const char *home);

#endif
