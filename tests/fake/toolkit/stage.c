/* SPDX-License-Identifier: Apache-2.0 */
/* The scenario of the stand-in toolkit libraries: read once, acted on, logged. */
#include "stage.h"

#include "../words.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#ifndef TOOLKIT_MAJOR
#define TOOLKIT_MAJOR 13
#define TOOLKIT_MINOR 0
#define TOOLKIT_ARCHS 75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121
#endif

enum { TOOLKIT_BUILD = 88 };

static struct toolkit_stage the_stage;

static void set_archs(struct toolkit_stage *stage, const int *archs, size_t count)
{
    free(stage->archs);
    stage->archs = fake_allocate(count * sizeof *archs);
    memcpy(stage->archs, archs, count * sizeof *archs);
    stage->arch_count = count;
}

static void read_archs(struct toolkit_stage *stage, struct fake_words *words)
{
    int archs[64];
    size_t count = 0;
    for (const char *word; (word = fake_words_next(words)) != NULL;) {
        if (count == sizeof archs / sizeof archs[0])
            fake_words_die(words, "too many architectures");
        archs[count++] = (int)fake_words_parse_number(words, word);
    }
    if (!count)
        fake_words_die(words, "`archs` wants numbers such as 90");
    set_archs(stage, archs, count);
}

static enum toolkit_spoiled read_spoiled(struct fake_words *words, const char *word)
{
    static const char *const names[] = {[TOOLKIT_SPOILED_ARCH] = "other-arch",
                                        [TOOLKIT_SPOILED_LINKABLE] = "other-kind",
                                        [TOOLKIT_SPOILED_KERNELS] = "no-kernels",
                                        [TOOLKIT_SPOILED_CUT] = "cut",
                                        [TOOLKIT_SPOILED_RANDOM] = "random"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(names[i], word) == 0)
            return (enum toolkit_spoiled)i;
    }
    fake_words_die(words, "`as=%s` is no way to spoil a cubin", word);
}

static bool read_rule(struct toolkit_stage *stage, const char *directive, struct fake_words *words)
{
    static const char *const directives[] = {"crash", "hang", "slow", "spoil"};
    struct toolkit_rule rule = {.line = words->line, .times = -1, .ms = -1};
    struct fake_arch arch;
    size_t act = 0;
    while (act < 4 && strcmp(directives[act], directive) != 0)
        act++;
    if (act == 4)
        return false;
    rule.act = (enum toolkit_act)act;
    for (const char *word; (word = fake_words_next(words)) != NULL;) {
        if (strncmp(word, "kernel=", 7) == 0 && word[7])
            rule.kernel = fake_copy_text(word + 7, strlen(word + 7));
        else if (strncmp(word, "target=", 7) == 0 && fake_arch_parse(word + 7, false, &arch) && !arch.letter)
            rule.target = arch.number;
        else if (strncmp(word, "times=", 6) == 0)
            rule.times = (long)fake_words_parse_number(words, word + 6);
        else if (rule.act == TOOLKIT_SLOW && strncmp(word, "ms=", 3) == 0)
            rule.ms = fake_words_parse_number(words, word + 3);
        else if (rule.act == TOOLKIT_SPOIL && strncmp(word, "as=", 3) == 0)
            rule.spoiled = read_spoiled(words, word + 3);
        else
            fake_words_die(words, "`%s` is not understood behind `%s`", word, directive);
    }
    words->counts = words->counts || rule.times >= 0;
    if (!rule.kernel)
        fake_words_die(words, "`%s` wants kernel=GLOB", directive);
    if (rule.act == TOOLKIT_SLOW && rule.ms < 0)
        fake_words_die(words, "`slow` wants ms=…");
    stage->rules = fake_reallocate(stage->rules, (stage->rule_count + 1) * sizeof *stage->rules);
    stage->rules[stage->rule_count++] = rule;
    return true;
}

static void read_line(void *into, struct fake_words *words)
{
    struct toolkit_stage *stage = into;
    const char *directive = fake_words_next(words);
    if (read_rule(stage, directive, words))
        return;
    if (strcmp(directive, "version") == 0) {
        stage->major = (int)fake_words_number(words);
        stage->minor = (int)fake_words_number(words);
    } else if (strcmp(directive, "build") == 0) {
        stage->build = (unsigned)fake_words_number(words);
    } else if (strcmp(directive, "label") == 0) {
        free(stage->label);
        stage->label = fake_words_rest(words);
    } else if (strcmp(directive, "stamp") == 0) {
        free(stage->stamp);
        stage->stamp = fake_words_rest(words);
    } else if (strcmp(directive, "other_code") == 0) {
        stage->other_code = fake_words_yes(words);
    } else if (strcmp(directive, "archs") == 0) {
        read_archs(stage, words);
    } else if (strcmp(directive, "unstable") == 0) {
        stage->unstable = fake_words_yes(words);
    } else if (strcmp(directive, "no_trace") == 0) {
        stage->no_trace = fake_words_yes(words);
    } else if (strcmp(directive, "hang_version") == 0) {
        stage->hang_version = fake_words_yes(words);
    } else if (strcmp(directive, "no_builtins") == 0) {
        stage->no_builtins = fake_words_yes(words);
    } else if (strcmp(directive, "lto_version") == 0) {
        stage->lto_version = (unsigned)fake_words_number(words);
    } else if (strcmp(directive, "state") == 0) {
        stage->state_path = fake_words_path(words, fake_words_next(words));
    } else if (strcmp(directive, "log") == 0) {
        stage->log_path = fake_words_path(words, fake_words_next(words));
    } else {
        fake_words_die(words, "no directive `%s`", directive);
    }
}

static void load(void)
{
    static const int archs[] = {TOOLKIT_ARCHS};
    static const char stamp[] = "Apr 29 202617:12:06";
    static const char label[] = "cuda_13.0.r13.0/compiler.36424714_0";
    the_stage = (struct toolkit_stage){
        .major = TOOLKIT_MAJOR, .minor = TOOLKIT_MINOR, .build = TOOLKIT_BUILD, .lto_version = 1};
    the_stage.stamp = fake_copy_text(stamp, sizeof stamp - 1);
    the_stage.label = fake_copy_text(label, sizeof label - 1);
    set_archs(&the_stage, archs, sizeof archs / sizeof archs[0]);
    char *path = fake_words_beside_library(&the_stage);
    int descriptor = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (descriptor >= 0) {
        if (fake_words_read_file(path, descriptor, read_line, &the_stage) && !the_stage.state_path)
            fake_die("%s: `times` counts across processes and needs a `state FILE` line", path);
        close(descriptor);
    }
    free(path);
}

/* A library that hangs in whoever opens it. */
__attribute__((constructor)) static void hang_when_opened(void)
{
    const char *wanted = getenv("NVIDIA_FAKE_OPEN");
    while (wanted && strcmp(wanted, "hang") == 0)
        pause();
}

/* A library that is not whole is closed again by who opened it. */
__attribute__((destructor)) static void unload(void)
{
    free(the_stage.archs);
    free(the_stage.label);
    free(the_stage.stamp);
    the_stage.label = the_stage.stamp = NULL;
    the_stage.archs = NULL;
    the_stage.arch_count = 0;
}

const struct toolkit_stage *toolkit_stage(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return &the_stage;
}

unsigned toolkit_stage_isa(const struct toolkit_stage *stage)
{
    unsigned major = (unsigned)stage->major, minor = (unsigned)stage->minor;
    if (major >= 13)
        return 90 + (major - 13) * 10 + (minor < 9 ? minor : 9);
    return (major - 4) * 10 + (minor < 8 ? minor : 8);
}

bool toolkit_stage_has_arch(const struct toolkit_stage *stage, unsigned arch)
{
    for (size_t i = 0; i < stage->arch_count; i++)
        if (stage->archs[i] == (int)arch)
            return true;
    return false;
}

/* By the signal itself, whatever handlers there are, as the emulated driver dies. */
static _Noreturn void crash(void)
{
    struct rlimit no_core = {0};
    setrlimit(RLIMIT_CORE, &no_core);
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
    _exit(139);
}

static bool matches(const struct toolkit_rule *rule, const struct fake_ptx *ptx)
{
    for (size_t i = 0; i < ptx->kernel_count; i++)
        if (fnmatch(rule->kernel, ptx->kernels[i].name, 0) == 0)
            return true;
    /* An input of a link may have no kernel at all. */
    for (size_t i = 0; i < ptx->function_count && !ptx->kernel_count; i++)
        if (fnmatch(rule->kernel, ptx->functions[i].name, 0) == 0)
            return true;
    return false;
}

static bool applies(const struct toolkit_stage *stage, const struct toolkit_rule *rule,
                    const struct fake_ptx *ptx, unsigned arch)
{
    if ((rule->target && rule->target != arch) || !matches(rule, ptx))
        return false;
    return rule->times < 0 || fake_words_count(stage->state_path, rule->line) < (unsigned long)rule->times;
}

void toolkit_stage_strike(const struct toolkit_stage *stage, const struct fake_ptx *ptx, unsigned arch)
{
    for (size_t i = 0; i < stage->rule_count; i++) {
        const struct toolkit_rule *rule = &stage->rules[i];
        if (rule->act == TOOLKIT_SPOIL || !applies(stage, rule, ptx, arch))
            continue;
        if (rule->act == TOOLKIT_CRASH)
            crash();
        while (rule->act == TOOLKIT_HANG)
            pause();
        if (rule->act == TOOLKIT_SLOW)
            fake_pass(rule->ms, false);
    }
}

const struct toolkit_rule *toolkit_stage_spoils(const struct toolkit_stage *stage, const struct fake_ptx *ptx,
                                                unsigned arch)
{
    for (size_t i = 0; i < stage->rule_count; i++) {
        if (stage->rules[i].act == TOOLKIT_SPOIL && applies(stage, &stage->rules[i], ptx, arch))
            return &stage->rules[i];
    }
    return NULL;
}

void toolkit_stage_log(const struct toolkit_stage *stage, const char *format, ...)
{
    if (!stage->log_path)
        return;
    struct fake_buffer line = {0};
    va_list arguments;
    va_start(arguments, format);
    fake_buffer_vprintf(&line, format, arguments);
    va_end(arguments);
    fake_buffer_add_text(&line, "\n");
    int descriptor = open(stage->log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (descriptor < 0 || write(descriptor, line.data, line.length) != (ssize_t)line.length)
        fake_die("log file %s: %s", stage->log_path, strerror(errno));
    close(descriptor);
    fake_buffer_free(&line);
}
