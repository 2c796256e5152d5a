/* SPDX-License-Identifier: Apache-2.0 */
/* Private to profile: the spellings of single values. Pure code. */
#ifndef PREJIT_PROFILE_VALUE_H
#define PREJIT_PROFILE_VALUE_H

#include <stdbool.h>
#include <stdint.h>

/** Is it a version as drivers and toolkits have it: two to four numbers of at most five digits, joined by
 * points? */
bool pj_profile_is_version(const char *text);

/** Reads "13.0": two numbers of at most `digits` digits without leading zeros. */
bool pj_profile_read_pair(const char *text, unsigned digits, uint16_t *ret_major, uint16_t *ret_minor);

/** Is it a day that exists, as "2026-11-30", from the year 2000 on? */
bool pj_profile_is_date(const char *text);

#endif
