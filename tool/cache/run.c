/* SPDX-License-Identifier: Apache-2.0 */
/* Run folders `.prejit/run-<pid>-<starttime>`: whose they are, and whether that process lives. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache/store_private.h"

/* Field 22 of /proc/<pid>/stat; the second field is a name in parentheses that may hold anything. */
static bool parse_stat(const char *text, char *ret_state, uint64_t *ret_ticks)
{
    enum { STATE = 3, START_TIME = 22 };
    const char *c = strrchr(text, ')');
    if (!c)
        return false;
    c++;
    c += strspn(c, " ");
    *ret_state = *c;
    for (int field = STATE; field < START_TIME; field++) {
        c += strspn(c, " ");
        c += strcspn(c, " ");
    }
    char *end = NULL;
    errno = 0;
    *ret_ticks = strtoull(c, &end, 10);
    return end != c && errno == 0;
}

static bool read_stat(long pid, char *ret_state, uint64_t *ret_ticks)
{
    enum { STAT_BYTES = 4096 };
    char path[64];
    PJ_CLEANUP_BUFFER struct pj_buffer text = {.data = NULL};
    (void)snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    return pj_file_read_special(AT_FDCWD, path, STAT_BYTES, &text, NULL) == 0 &&
           parse_stat(pj_buffer_text(&text), ret_state, ret_ticks);
}

bool pj_run_start_time(long pid, uint64_t *ret_ticks)
{
    char state;
    return read_stat(pid, &state, ret_ticks);
}

static bool parse_number(const char **text, uint64_t maximum, uint64_t *ret_number)
{
    if (!isdigit((unsigned char)**text))
        return false;
    char *end = NULL;
    errno = 0;
    uint64_t number = strtoull(*text, &end, 10);
    if (errno != 0 || number > maximum)
        return false;
    *text = end;
    *ret_number = number;
    return true;
}

bool pj_run_name_parse(const char *name, long *ret_pid, uint64_t *ret_ticks, bool *ret_superseded)
{
    static const char prefix[] = "run-";
    uint64_t pid, ticks, number;
    if (strncmp(name, prefix, sizeof prefix - 1) != 0)
        return false;
    const char *c = name + sizeof prefix - 1;
    if (!parse_number(&c, INT32_MAX, &pid) || *c++ != '-' || !parse_number(&c, UINT64_MAX, &ticks))
        return false;
    bool superseded = *c == '.';
    if (superseded) {
        c++;
        if (!parse_number(&c, UINT64_MAX, &number))
            return false;
    }
    if (*c != '\0')
        return false;
    *ret_pid = (long)pid;
    *ret_ticks = ticks;
    *ret_superseded = superseded;
    return true;
}

bool pj_run_is_alive(const char *name)
{
    long pid;
    uint64_t ticks, now;
    char state;
    bool superseded;
    if (!pj_run_name_parse(name, &pid, &ticks, &superseded) || superseded || pid <= 0)
        return false;
    /* One that was killed stays in /proc until somebody has waited for it. */
    if (read_stat(pid, &state, &now))
        return now == ticks && state != 'Z' && state != 'X';
    /* No such process, or no /proc: then any process of that number counts. */
    return kill((pid_t)pid, 0) == 0 || errno == EPERM;
}

/* The first run folder of the wanted kind; false where there is none, or the directory cannot be read. */
static bool find_run(int prejit_fd, bool alive, long *ret_pid)
{
    int fd = -1;
    if (pj_directory_open(prejit_fd, ".", false, &fd, NULL) < 0)
        return false;
    PJ_CLEANUP_CLOSEDIR DIR *directory = fdopendir(fd);
    if (!directory) {
        pj_close(fd);
        return false;
    }
    const struct dirent *item;
    while ((item = readdir(directory))) {
        uint64_t ticks;
        bool superseded;
        if (pj_run_name_parse(item->d_name, ret_pid, &ticks, &superseded) &&
            pj_run_is_alive(item->d_name) == alive)
            return true;
    }
    return false;
}

long pj_run_find_holder(int prejit_fd)
{
    long pid;
    return find_run(prejit_fd, true, &pid) ? pid : 0;
}

static bool find_run_in(const char *path, bool alive, long *ret_pid)
{
    PJ_CLEANUP_CLOSE int cache = -1;
    PJ_CLEANUP_CLOSE int own = -1;
    return pj_directory_open(AT_FDCWD, path, true, &cache, NULL) == 0 &&
           pj_directory_open(cache, ".prejit", false, &own, NULL) == 0 && find_run(own, alive, ret_pid);
}

bool pj_store_has_dead_run(const char *path)
{
    long pid;
    return find_run_in(path, false, &pid);
}

bool pj_store_has_live_run(const char *path, long *ret_pid)
{
    return find_run_in(path, true, ret_pid);
}
