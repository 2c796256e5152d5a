/* SPDX-License-Identifier: Apache-2.0 */
/* The ends that a compilation can put to its process: SIGSEGV, no end at all, SIGKILL as by the kernel's
 * memory killer. */
#include "disaster.h"

#include "base.h"
#include "scenario.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* A library that hangs in whoever opens it: its constructors run inside dlopen. */
__attribute__((constructor)) static void hang_when_opened(void)
{
    const char *wanted = getenv("NVIDIA_FAKE_OPEN");
    if (wanted && strcmp(wanted, "hang") == 0)
        fake_disaster_hang();
}

_Noreturn void fake_disaster_crash(void)
{
    struct rlimit no_core = {0};
    setrlimit(RLIMIT_CORE, &no_core);
    /* By the signal itself and with nobody's handler: so that a sanitised program dies of it like any other.
     */
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
    _exit(139);
}

_Noreturn void fake_disaster_hang(void)
{
    for (;;)
        pause();
}

/* Adds one to the line `oom_kill N` of a stand-in for a cgroup's memory.events. */
static void count_oom_kill(const char *path)
{
    int descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    struct fake_buffer old;
    if (descriptor < 0 || fcntl(descriptor, F_SETLKW, &lock) != 0 || !fake_read_all(descriptor, &old))
        fake_die("kill: %s: %s", path, strerror(errno));
    struct fake_buffer new = {0};
    bool found = false;
    for (const char *line = fake_buffer_text(&old); *line;) {
        size_t length = strcspn(line, "\n");
        if (strncmp(line, "oom_kill ", 9) == 0) {
            fake_buffer_printf(&new, "oom_kill %lu\n", strtoul(line + 9, NULL, 10) + 1);
            found = true;
        } else {
            fake_buffer_printf(&new, "%.*s\n", (int)length, line);
        }
        line += length + (line[length] == '\n');
    }
    if (!found)
        fake_buffer_add_text(&new, "oom_kill 1\n");
    if (!fake_write_all(descriptor, new.data, new.length, 0) ||
        ftruncate(descriptor, (off_t) new.length) != 0)
        fake_die("kill: %s: %s", path, strerror(errno));
    close(descriptor);
    fake_buffer_free(&old);
    fake_buffer_free(&new);
}

void fake_disaster_strike(const struct fake_ptx *ptx, unsigned arch)
{
    const struct fake_rule *rule = fake_scenario_rule(FAKE_ACT_CRASH, ptx, arch);
    if (rule) {
        fake_scenario_log("crash", "line=%u", rule->line);
        fake_disaster_crash();
    }
    rule = fake_scenario_rule(FAKE_ACT_KILL, ptx, arch);
    if (rule) {
        count_oom_kill(rule->path);
        fake_scenario_log("kill", "line=%u", rule->line);
        raise(SIGKILL);
    }
    rule = fake_scenario_rule(FAKE_ACT_HANG, ptx, arch);
    if (rule) {
        fake_scenario_log("hang", "line=%u", rule->line);
        fake_disaster_hang();
    }
}
