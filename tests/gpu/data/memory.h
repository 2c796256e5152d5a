/* SPDX-License-Identifier: Apache-2.0 */
/* Handed over in memory. */
#define MEMORY_ONE 1.f
