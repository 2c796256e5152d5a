/* SPDX-License-Identifier: Apache-2.0 */
/* Counts what a test must not leave behind: open descriptors and children. */
#ifndef PREJIT_UNIT_JOB_DESCRIPTORS_H
#define PREJIT_UNIT_JOB_DESCRIPTORS_H

#include <dirent.h>
#include <errno.h>
#include <sys/wait.h>

#include "unit.h"

/** Descriptors that are open in this process. */
static inline size_t count_descriptors(void)
{
    DIR *directory = opendir("/proc/self/fd");
    size_t count = 0;
    assert_non_null(directory);
    while (readdir(directory))
        count++;
    (void)closedir(directory);
    return count - 3; /* ".", ".." and the one this took */
}

/** No child lives, and none waits to be reaped. */
static inline void expect_no_children(void)
{
    int status;
    assert_int_equal(waitpid(-1, &status, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

#endif
