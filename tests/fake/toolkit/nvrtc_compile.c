/* SPDX-License-Identifier: Apache-2.0 */
/* A compilation by the stand-in NVRTC: source in; PTX, a cubin or LTO-IR out. */
#include "../cubin.h"
#include "ltoir.h"
#include "nvrtc_api.h"
#include "nvrtc_program.h"
#include "options.h"
#include "usage.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* `&k<float>` → "k_float_": not C++'s own mangling, but a name of its own for each expression. */
static char *lower(const char *expression)
{
    while (*expression == '&' || isspace((unsigned char)*expression))
        expression++;
    char *name = fake_copy_text(expression, strlen(expression));
    for (char *at = name; *at; at++)
        if (!isalnum((unsigned char)*at) && *at != '_')
            *at = '_';
    return name;
}

static size_t base_length(const char *expression)
{
    return strcspn(expression, "< ");
}

static int name_is_undefined(struct nvrtc_program *program, const char *expression)
{
    fake_buffer_printf(&program->log,
                       "__nv_name_map(2): error: identifier \"%s\" is undefined\n  #pragma nv_mangled_name "
                       "%s\n\n1 error detected in the compilation of \"%s\".\n",
                       expression, expression, program->name);
    return NVRTC_COMPILATION;
}

/* Names for the expressions; instances of templates join the kernels. */
static int lower_names(struct nvrtc_program *program, struct toolkit_source *source)
{
    for (size_t i = 0; i < program->expressions.count; i++) {
        const char *expression = program->expressions.names[i];
        const char *bare = expression + strspn(expression, "& ");
        bool is_kernel = fake_names_have(&source->kernels, bare, strlen(bare));
        if (!is_kernel && !fake_names_have(&source->templates, bare, base_length(bare)))
            return name_is_undefined(program, bare);
        char *name = lower(expression);
        program->lowered.names =
            fake_reallocate(program->lowered.names, (i + 1) * sizeof *program->lowered.names);
        program->lowered.names[program->lowered.count++] = name;
        fake_names_add(&source->kernels, name, strlen(name));
    }
    return NVRTC_OK;
}

static void write_ptx(const struct toolkit_stage *stage, const struct toolkit_options *options,
                      const struct toolkit_source *source, struct fake_buffer *ptx)
{
    unsigned isa = toolkit_stage_isa(stage);
    uint64_t digest = source->digest * 0x100000001b3u ^ options->digest;
    if (options->line_info)
        digest ^= fake_fnv(source->name, strlen(source->name));
    fake_buffer_printf(ptx, "//\n// Made by the stand-in NVRTC\n// digest %016llx\n",
                       (unsigned long long)digest);
    if (stage->unstable) {
        uint64_t random = 0;
        if (getrandom(&random, sizeof random, 0) != sizeof random)
            fake_die("getrandom");
        fake_buffer_printf(ptx, "// random %016llx\n", (unsigned long long)random);
    }
    fake_buffer_printf(ptx, "//\n\n.version %u.%u\n.target sm_%u", isa / 10, isa % 10, options->arch.number);
    if (options->arch.letter)
        fake_buffer_add(ptx, &options->arch.letter, 1);
    fake_buffer_add_text(ptx, "\n.address_size 64\n");
    for (size_t i = 0; i < source->kernels.count; i++)
        fake_buffer_printf(ptx, "\n.visible .entry %s()\n{\n\tret;\n}\n", source->kernels.names[i]);
}

static void produce(struct nvrtc_program *program, const struct toolkit_stage *stage,
                    const struct toolkit_options *options, const struct toolkit_source *source)
{
    struct fake_buffer text = {0};
    struct fake_ptx ptx;
    write_ptx(stage, options, source, &text);
    fake_ptx_read((char *)text.data, text.length, toolkit_stage_isa(stage), &ptx);
    if (ptx.refusal != CUDA_SUCCESS)
        fake_die("stand-in NVRTC: its own PTX is refused: %s", ptx.refusal_text);
    toolkit_stage_strike(stage, &ptx, options->arch.number);
    if (options->lto) {
        toolkit_ltoir_write(stage->lto_version, &text, &program->ltoir);
        fake_buffer_free(&text);
    } else {
        if (options->real_arch)
            fake_cubin_write(&ptx, options->arch.number, options->relocatable,
                             fake_fnv(text.data, text.length), 0, &program->cubin);
        if (options->real_arch && options->verbose)
            toolkit_usage_report(&ptx, options->arch.number, &program->log);
        program->ptx = text;
    }
    fake_ptx_free(&ptx);
}

int toolkit_program_compile(struct nvrtc_program *program, const struct toolkit_stage *stage,
                            int option_count, const char *const *options)
{
    struct toolkit_options read;
    fake_buffer_free(&program->log);
    fake_buffer_free(&program->ptx);
    fake_buffer_free(&program->cubin);
    fake_buffer_free(&program->ltoir);
    fake_names_free(&program->lowered);
    int result = NVRTC_INVALID_OPTION;
    if (stage->no_builtins) {
        fake_buffer_printf(&program->log,
                           "nvrtc: error: failed to open libnvrtc-builtins.so.%d.%d.\n  Make sure that "
                           "libnvrtc-builtins.so.%d.%d is installed correctly.",
                           stage->major, stage->minor, stage->major, stage->minor);
        return NVRTC_BUILTIN_OPERATION_FAILURE;
    }
    if (toolkit_options_read(stage, option_count, options, &read, &program->log)) {
        struct toolkit_source source = {.name = program->name,
                                        .headers = program->headers,
                                        .header_count = program->header_count,
                                        .folders = read.folders,
                                        .trace = read.trace};
        read.folders = (struct fake_names){0};
        program->compiled = true;
        result = NVRTC_COMPILATION;
        if (toolkit_source_read(&source, program->source))
            result = lower_names(program, &source);
        else
            fake_buffer_add(&program->log, source.log.data, source.log.length);
        if (result == NVRTC_OK)
            produce(program, stage, &read, &source);
        else
            fake_names_free(&program->lowered);
        toolkit_source_free(&source);
    }
    toolkit_options_free(&read);
    return result;
}
