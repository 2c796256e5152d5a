/* SPDX-License-Identifier: Apache-2.0 */
/* Another user who swaps names under a program of root's, without pause, until it is ended.
 *
 * usage: fault_swap UID SEED exchange A B | appear NAME TARGET | runs FOLDER TARGET
 *
 * exchange: the two names change places.
 * appear:   NAME comes and goes: a link to TARGET, a folder of this user's, nothing.
 * runs:     each run-* that appears in FOLDER is renamed, and a link to TARGET takes its name.
 *
 * Says "ready" when it begins, and at SIGTERM how many swaps there were. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t ended;

static void end(int number)
{
    (void)number;
    ended = 1;
}

/* Some moments last longer, so that what lies between two looks of the program is met, too. */
static void pause_now_and_then(unsigned *seed)
{
    struct timespec pause = {.tv_nsec = (long)(rand_r(seed) % 400) * 1000};
    if (rand_r(seed) % 8 == 0)
        (void)nanosleep(&pause, NULL);
}

static unsigned long exchange(const char *a, const char *b)
{
    return renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE) == 0;
}

static unsigned long appear(const char *name, const char *target, unsigned *seed)
{
    unsigned long made = symlink(target, name) == 0;
    pause_now_and_then(seed);
    (void)unlink(name);
    made += mkdir(name, 0777) == 0;
    pause_now_and_then(seed);
    (void)rmdir(name);
    return made;
}

static unsigned long swap_runs(const char *folder, const char *target)
{
    unsigned long swapped = 0;
    DIR *directory = opendir(folder);
    for (struct dirent *item = directory ? readdir(directory) : NULL; item; item = readdir(directory)) {
        char aside[300];
        if (strncmp(item->d_name, "run-", 4) != 0 || item->d_type != DT_DIR)
            continue;
        (void)snprintf(aside, sizeof aside, "aside-%s", item->d_name);
        if (renameat(dirfd(directory), item->d_name, dirfd(directory), aside) == 0 &&
            symlinkat(target, dirfd(directory), item->d_name) == 0)
            swapped++;
    }
    if (directory)
        (void)closedir(directory);
    return swapped;
}

int main(int count, char **arguments)
{
    if (count != 6)
        return 2;
    uid_t user = (uid_t)strtoul(arguments[1], NULL, 10);
    unsigned seed = (unsigned)strtoul(arguments[2], NULL, 10);
    const char *what = arguments[3], *a = arguments[4], *b = arguments[5];
    struct sigaction action = {.sa_handler = end};
    unsigned long swaps = 0;
    if (setgroups(0, NULL) != 0 || setresgid(user, user, user) != 0 || setresuid(user, user, user) != 0 ||
        sigaction(SIGTERM, &action, NULL) != 0)
        return 3;
    (void)umask(0);
    (void)puts("ready");
    (void)fflush(stdout);
    while (!ended) {
        pause_now_and_then(&seed);
        if (strcmp(what, "exchange") == 0)
            swaps += exchange(a, b);
        else if (strcmp(what, "appear") == 0)
            swaps += appear(a, b, &seed);
        else
            swaps += swap_runs(a, b);
    }
    (void)printf("%lu\n", swaps);
    return 0;
}
