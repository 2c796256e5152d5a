/* SPDX-License-Identifier: Apache-2.0 */
/* A shared library that has two of the driver's functions and lacks the others. */
int cuInit(unsigned flags);
int cuDriverGetVersion(int *version);

__attribute__((visibility("default"))) int cuInit(unsigned flags)
{
    return (int)flags;
}

__attribute__((visibility("default"))) int cuDriverGetVersion(int *version)
{
    *version = 1;
    return 0;
}
