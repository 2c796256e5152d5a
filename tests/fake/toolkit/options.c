/* SPDX-License-Identifier: Apache-2.0 */
/* The options of a compilation by the stand-in NVRTC: known by a table, spelt with `=`, with a blank, or
 * together. */
#include "options.h"

#include <stdlib.h>
#include <string.h>

enum meaning {
    ARCH,
    FOLDER,
    FRONT_END, /* -Xcudafe: only its --trace_includes is understood */
    LTO,
    RELOCATABLE, /* with a value: true or false */
    RELOCATABLE_SWITCH,
    LINE_INFO,
    PTXAS, /* changes no PTX; only -v is understood */
    CODE,  /* changes the code in a way that is not looked into */
    SILENT,
};

enum value { NO_VALUE, BEHIND_EQUALS, NEXT_OR_EQUALS, NEXT_OR_JOINED, NEXT };

static const struct option {
    const char *name;
    enum value value;
    enum meaning meaning;
} known[] = {
    {"--gpu-architecture", NEXT_OR_EQUALS, ARCH},
    {"-arch", NEXT_OR_EQUALS, ARCH},
    {"--include-path", NEXT_OR_EQUALS, FOLDER},
    {"-I", NEXT_OR_JOINED, FOLDER},
    {"-Xcudafe", NEXT, FRONT_END},
    {"--dlink-time-opt", NO_VALUE, LTO},
    {"-dlto", NO_VALUE, LTO},
    {"--relocatable-device-code", NEXT_OR_EQUALS, RELOCATABLE},
    {"-rdc", NEXT_OR_EQUALS, RELOCATABLE},
    {"--device-c", NO_VALUE, RELOCATABLE_SWITCH},
    {"-dc", NO_VALUE, RELOCATABLE_SWITCH},
    {"--device-w", NO_VALUE, SILENT},
    {"-dw", NO_VALUE, SILENT},
    {"--generate-line-info", NO_VALUE, LINE_INFO},
    {"-lineinfo", NO_VALUE, LINE_INFO},
    {"--device-debug", NO_VALUE, LINE_INFO},
    {"-G", NO_VALUE, LINE_INFO},
    {"--define-macro", NEXT_OR_EQUALS, CODE},
    {"-D", NEXT_OR_JOINED, CODE},
    {"--undefine-macro", NEXT_OR_EQUALS, CODE},
    {"-U", NEXT_OR_JOINED, CODE},
    {"--pre-include", NEXT_OR_EQUALS, CODE},
    {"-include", NEXT_OR_EQUALS, CODE},
    {"--std", BEHIND_EQUALS, CODE},
    {"-std", BEHIND_EQUALS, CODE},
    {"--maxrregcount", NEXT_OR_EQUALS, CODE},
    {"-maxrregcount", NEXT_OR_EQUALS, CODE},
    {"--ftz", BEHIND_EQUALS, CODE},
    {"-ftz", BEHIND_EQUALS, CODE},
    {"--prec-sqrt", BEHIND_EQUALS, CODE},
    {"-prec-sqrt", BEHIND_EQUALS, CODE},
    {"--prec-div", BEHIND_EQUALS, CODE},
    {"-prec-div", BEHIND_EQUALS, CODE},
    {"--fmad", BEHIND_EQUALS, CODE},
    {"-fmad", BEHIND_EQUALS, CODE},
    {"--use_fast_math", NO_VALUE, CODE},
    {"-use_fast_math", NO_VALUE, CODE},
    {"--extra-device-vectorization", NO_VALUE, CODE},
    {"-extra-device-vectorization", NO_VALUE, CODE},
    {"--restrict", NO_VALUE, CODE},
    {"-restrict", NO_VALUE, CODE},
    {"--device-as-default-execution-space", NO_VALUE, CODE},
    {"-default-device", NO_VALUE, CODE},
    {"--ptxas-options", NEXT_OR_EQUALS, PTXAS},
    {"-Xptxas", NEXT_OR_EQUALS, PTXAS},
    {"-Xnvvm", NEXT, CODE},
    {"--dopt", BEHIND_EQUALS, CODE},
    {"-dopt", BEHIND_EQUALS, CODE},
    {"--disable-warnings", NO_VALUE, SILENT},
    {"-w", NO_VALUE, SILENT},
    {"--no-cache", NO_VALUE, SILENT},
    {"-no-cache", NO_VALUE, SILENT},
    {"--no-source-include", NO_VALUE, SILENT},
    {"-no-source-include", NO_VALUE, SILENT},
    {"--builtin-initializer-list", BEHIND_EQUALS, SILENT},
    {"--diag-suppress", NEXT_OR_EQUALS, SILENT},
    {"-diag-suppress", NEXT_OR_EQUALS, SILENT},
    {"--minimal", NO_VALUE, SILENT},
    {"-minimal", NO_VALUE, SILENT},
};

/* The option's value: its own rest, or the next word, which is then used up. False where it has another
 * shape. */
static bool match(const struct option *option, int count, const char *const *options, int *index,
                  const char **ret_value)
{
    const char *word = options[*index];
    size_t length = strlen(option->name);
    if (strncmp(word, option->name, length) != 0)
        return false;
    const char *rest = word + length;
    bool takes_next =
        option->value == NEXT_OR_EQUALS || option->value == NEXT_OR_JOINED || option->value == NEXT;
    *ret_value = rest;
    if (!*rest && takes_next && *index + 1 < count) {
        *ret_value = options[++*index];
        return true;
    }
    if (*rest == '=' && (option->value == BEHIND_EQUALS || option->value == NEXT_OR_EQUALS)) {
        ++*ret_value;
        return true;
    }
    return *rest ? option->value == NEXT_OR_JOINED : option->value == NO_VALUE;
}

static bool read_arch(const struct toolkit_stage *stage, const char *value, struct toolkit_options *options,
                      struct fake_buffer *log)
{
    options->real_arch = strncmp(value, "sm_", 3) == 0;
    if (fake_arch_parse(value, true, &options->arch) && toolkit_stage_has_arch(stage, options->arch.number))
        return true;
    fake_buffer_add_text(log, "nvrtc: error: invalid value for --gpu-architecture (-arch)\n");
    return false;
}

static void digest(struct toolkit_options *options, const char *text)
{
    options->digest = options->digest * 0x100000001b3u ^ fake_fnv(text, strlen(text));
}

static bool apply(const struct toolkit_stage *stage, const struct option *option, const char *value,
                  struct toolkit_options *options, struct fake_buffer *log)
{
    switch (option->meaning) {
    case ARCH:
        return read_arch(stage, value, options, log);
    case FOLDER:
        fake_names_add(&options->folders, value, strlen(value));
        break;
    case FRONT_END:
        options->trace = options->trace || strcmp(value, "--trace_includes") == 0;
        break;
    case LTO:
        options->lto = true;
        break;
    case RELOCATABLE:
        options->relocatable = strcmp(value, "true") == 0;
        break;
    case RELOCATABLE_SWITCH:
        options->relocatable = true;
        break;
    case LINE_INFO:
        options->line_info = true;
        digest(options, option->name);
        break;
    case PTXAS:
        options->verbose = options->verbose || strcmp(value, "-v") == 0;
        break;
    case CODE:
        digest(options, option->name);
        digest(options, value);
        break;
    case SILENT:
        break;
    }
    return true;
}

bool toolkit_options_read(const struct toolkit_stage *stage, int count, const char *const *options,
                          struct toolkit_options *ret_options, struct fake_buffer *log)
{
    *ret_options = (struct toolkit_options){.arch = {.number = (unsigned)stage->archs[0]}};
    for (int i = 0; i < count; i++) {
        const char *word = options[i], *value = "";
        size_t at = 0, known_count = sizeof known / sizeof known[0];
        while (at < known_count && !match(&known[at], count, options, &i, &value))
            at++;
        if (at == known_count || (known[at].meaning == FRONT_END && stage->no_trace)) {
            fake_buffer_printf(log, "nvrtc: error: unrecognized option %s found\n", word);
            return false;
        }
        if (!apply(stage, &known[at], value, ret_options, log))
            return false;
    }
    return true;
}

void toolkit_options_free(struct toolkit_options *options)
{
    fake_names_free(&options->folders);
}
