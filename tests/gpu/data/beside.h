/* SPDX-License-Identifier: Apache-2.0 */
/* Found by way of an include path. */
#define BESIDE_THRICE(x) ((x) * 3.f)
