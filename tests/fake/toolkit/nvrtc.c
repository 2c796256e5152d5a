/* SPDX-License-Identifier: Apache-2.0 */
/* The stand-in NVRTC: programs, and what can be asked of them. */
#include "nvrtc_api.h"
#include "nvrtc_program.h"
#include "stage.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const uint64_t PROGRAM_MARK = 0x6d6172676f727066u;

const char *nvrtcGetErrorString(int result)
{
    static const char *const names[] = {"NVRTC_SUCCESS",
                                        "NVRTC_ERROR_OUT_OF_MEMORY",
                                        "NVRTC_ERROR_PROGRAM_CREATION_FAILURE",
                                        "NVRTC_ERROR_INVALID_INPUT",
                                        "NVRTC_ERROR_INVALID_PROGRAM",
                                        "NVRTC_ERROR_INVALID_OPTION",
                                        "NVRTC_ERROR_COMPILATION",
                                        "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE",
                                        "NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION",
                                        "NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION",
                                        "NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID",
                                        "NVRTC_ERROR_INTERNAL_ERROR"};
    bool known = result >= 0 && (size_t)result < sizeof names / sizeof names[0];
    return known ? names[result] : "NVRTC_ERROR unknown";
}

int nvrtcVersion(int *major, int *minor)
{
    if (!major || !minor)
        return NVRTC_INVALID_INPUT;
    while (toolkit_stage()->hang_version)
        pause();
    *major = toolkit_stage()->major;
    *minor = toolkit_stage()->minor;
    return NVRTC_OK;
}

int nvrtcGetNumSupportedArchs(int *count)
{
    if (!count)
        return NVRTC_INVALID_INPUT;
    *count = (int)toolkit_stage()->arch_count;
    return NVRTC_OK;
}

#ifndef TOOLKIT_BROKEN
int nvrtcGetSupportedArchs(int *archs)
{
    const struct toolkit_stage *stage = toolkit_stage();
    if (!archs)
        return NVRTC_INVALID_INPUT;
    memcpy(archs, stage->archs, stage->arch_count * sizeof *archs);
    return NVRTC_OK;
}
#endif

static bool is_program(const struct nvrtc_program *program)
{
    return program && program->mark == PROGRAM_MARK;
}

static char *copy(const char *text)
{
    return fake_copy_text(text, strlen(text));
}

int nvrtcCreateProgram(struct nvrtc_program **program, const char *source, const char *name, int header_count,
                       const char *const *headers, const char *const *names)
{
    if (!program || !source || header_count < 0 || (header_count && (!headers || !names)))
        return NVRTC_INVALID_INPUT;
    struct nvrtc_program *made = fake_allocate(sizeof *made);
    made->mark = PROGRAM_MARK;
    made->source = copy(source);
    made->name = copy(name && *name ? name : "default_program");
    made->headers = fake_allocate((size_t)header_count * sizeof *made->headers);
    for (int i = 0; i < header_count; i++)
        made->headers[made->header_count++] = (struct toolkit_header){copy(names[i]), copy(headers[i])};
    toolkit_stage_log(toolkit_stage(), "create pid=%ld name=%s", (long)getpid(), made->name);
    *program = made;
    return NVRTC_OK;
}

int nvrtcDestroyProgram(struct nvrtc_program **program)
{
    if (!program || !is_program(*program))
        return NVRTC_INVALID_PROGRAM;
    struct nvrtc_program *gone = *program;
    for (size_t i = 0; i < gone->header_count; i++) {
        free((char *)(uintptr_t)gone->headers[i].name);
        free((char *)(uintptr_t)gone->headers[i].text);
    }
    free(gone->headers);
    free(gone->source);
    free(gone->name);
    fake_names_free(&gone->expressions);
    fake_names_free(&gone->lowered);
    fake_buffer_free(&gone->log);
    fake_buffer_free(&gone->ptx);
    fake_buffer_free(&gone->cubin);
    fake_buffer_free(&gone->ltoir);
    gone->mark = 0;
    free(gone);
    *program = NULL;
    return NVRTC_OK;
}

int nvrtcCompileProgram(struct nvrtc_program *program, int option_count, const char *const *options)
{
    const struct toolkit_stage *stage = toolkit_stage();
    if (!is_program(program))
        return NVRTC_INVALID_PROGRAM;
    if (option_count < 0 || (option_count && !options))
        return NVRTC_INVALID_INPUT;
    struct fake_buffer line = {0};
    for (int i = 0; i < option_count; i++)
        fake_buffer_printf(&line, "%s%s", i ? " " : "", options[i]);
    toolkit_stage_log(stage, "compile %s pid=%ld args=%s", program->name, (long)getpid(),
                      fake_buffer_text(&line));
    fake_buffer_free(&line);
    return toolkit_program_compile(program, stage, option_count, options);
}

/* Texts are counted with their NUL, and there is always one. */
static int text_size(const struct nvrtc_program *program, const struct fake_buffer *text, size_t *bytes)
{
    if (!is_program(program))
        return NVRTC_INVALID_PROGRAM;
    if (!bytes)
        return NVRTC_INVALID_INPUT;
    *bytes = text->length + 1;
    return NVRTC_OK;
}

static int text_copy(const struct nvrtc_program *program, const struct fake_buffer *text, char *to)
{
    if (!is_program(program))
        return NVRTC_INVALID_PROGRAM;
    if (!to)
        return NVRTC_INVALID_INPUT;
    memcpy(to, fake_buffer_text(text), text->length + 1);
    return NVRTC_OK;
}

static int code_size(const struct nvrtc_program *program, const struct fake_buffer *code, size_t *bytes)
{
    if (!is_program(program))
        return NVRTC_INVALID_PROGRAM;
    if (!bytes)
        return NVRTC_INVALID_INPUT;
    *bytes = code->length;
    return NVRTC_OK;
}

static int code_copy(const struct nvrtc_program *program, const struct fake_buffer *code, char *to)
{
    if (!is_program(program))
        return NVRTC_INVALID_PROGRAM;
    if (!to)
        return NVRTC_INVALID_INPUT;
    if (code->length)
        memcpy(to, code->data, code->length);
    return NVRTC_OK;
}

int nvrtcGetPTXSize(struct nvrtc_program *program, size_t *bytes)
{
    return text_size(program, &program->ptx, bytes);
}

#ifndef TOOLKIT_BROKEN
int nvrtcGetPTX(struct nvrtc_program *program, char *ptx)
{
    return text_copy(program, &program->ptx, ptx);
}
#endif

int nvrtcGetCUBINSize(struct nvrtc_program *program, size_t *bytes)
{
    return code_size(program, &program->cubin, bytes);
}

int nvrtcGetCUBIN(struct nvrtc_program *program, char *cubin)
{
    return code_copy(program, &program->cubin, cubin);
}

#if !defined TOOLKIT_MAJOR || TOOLKIT_MAJOR >= 12
int nvrtcGetLTOIRSize(struct nvrtc_program *program, size_t *bytes)
{
    return code_size(program, &program->ltoir, bytes);
}

int nvrtcGetLTOIR(struct nvrtc_program *program, char *ltoir)
{
    return code_copy(program, &program->ltoir, ltoir);
}
#endif

int nvrtcGetProgramLogSize(struct nvrtc_program *program, size_t *bytes)
{
    return text_size(program, &program->log, bytes);
}

int nvrtcGetProgramLog(struct nvrtc_program *program, char *log)
{
    return text_copy(program, &program->log, log);
}

int nvrtcAddNameExpression(struct nvrtc_program *program, const char *expression)
{
    if (!is_program(program))
        return NVRTC_INVALID_PROGRAM;
    if (!expression)
        return NVRTC_INVALID_INPUT;
    if (program->compiled)
        return NVRTC_NO_NAME_EXPRESSIONS_AFTER_COMPILATION;
    fake_names_add(&program->expressions, expression, strlen(expression));
    return NVRTC_OK;
}

int nvrtcGetLoweredName(struct nvrtc_program *program, const char *expression, const char **lowered)
{
    if (!is_program(program))
        return NVRTC_INVALID_PROGRAM;
    if (!expression || !lowered)
        return NVRTC_INVALID_INPUT;
    if (!program->lowered.count)
        return NVRTC_NO_LOWERED_NAMES_BEFORE_COMPILATION;
    for (size_t i = 0; i < program->expressions.count; i++) {
        if (strcmp(program->expressions.names[i], expression) == 0) {
            *lowered = program->lowered.names[i];
            return NVRTC_OK;
        }
    }
    return NVRTC_NAME_EXPRESSION_NOT_VALID;
}
