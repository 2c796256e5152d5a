/* SPDX-License-Identifier: Apache-2.0 */
/* Uses a scenario: which rule applies, the counters across processes, the event log. */
#include "scenario.h"

#include "base.h"
#include "words.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <string.h>
#include <unistd.h>

static bool applies(const struct fake_rule *rule, const struct fake_ptx *ptx, unsigned target)
{
    if (rule->target && rule->target != target)
        return false;
    for (size_t i = 0; i < ptx->kernel_count; i++)
        if (fnmatch(rule->kernel, ptx->kernels[i].name, 0) == 0)
            return true;
    /* An input of a linker may have no kernel at all. */
    for (size_t i = 0; i < ptx->function_count && !ptx->kernel_count; i++)
        if (fnmatch(rule->kernel, ptx->functions[i].name, 0) == 0)
            return true;
    return false;
}

const struct fake_rule *fake_scenario_rule(enum fake_act act, const struct fake_ptx *ptx, unsigned target)
{
    const struct fake_scenario *scenario = fake_scenario();
    for (size_t i = 0; i < scenario->rule_count; i++) {
        const struct fake_rule *rule = &scenario->rules[i];
        if (rule->act == act && applies(rule, ptx, target) &&
            (rule->times < 0 || fake_scenario_count(rule->line) < (unsigned long)rule->times))
            return rule;
    }
    return NULL;
}

bool fake_scenario_has(enum fake_act act)
{
    const struct fake_scenario *scenario = fake_scenario();
    for (size_t i = 0; i < scenario->rule_count; i++)
        if (scenario->rules[i].act == act)
            return true;
    return false;
}

bool fake_scenario_is_disabled(unsigned arch)
{
    const struct fake_scenario *scenario = fake_scenario();
    for (size_t i = 0; i < scenario->disabled_count; i++)
        if (scenario->disabled_architectures[i] == arch)
            return true;
    return false;
}

unsigned long fake_scenario_count(unsigned line)
{
    return fake_words_count(fake_scenario()->state_path, line);
}

void fake_scenario_log(const char *word, const char *format, ...)
{
    const char *path = fake_scenario()->log_path;
    if (!path)
        return;
    struct fake_buffer line = {0};
    fake_buffer_printf(&line, "%s pid=%ld ", word, (long)getpid());
    va_list arguments;
    va_start(arguments, format);
    fake_buffer_vprintf(&line, format, arguments);
    va_end(arguments);
    while (line.length && line.data[line.length - 1] == ' ')
        line.length--;
    fake_buffer_add_text(&line, "\n");
    int descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (descriptor < 0 || write(descriptor, line.data, line.length) != (ssize_t)line.length)
        fake_die("log file %s: %s", path, strerror(errno));
    close(descriptor);
    fake_buffer_free(&line);
}
