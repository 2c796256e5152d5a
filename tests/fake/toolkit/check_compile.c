/* SPDX-License-Identifier: Apache-2.0 */
/* One compilation by libnvrtc, from nvrtcCreateProgram to everything it gave. */
#include "check.h"
#include "nvrtc_api.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NVRTC "libnvrtc.so.13"

static int count(const char *const *list)
{
    int number = 0;
    while (number < CHECK_MOST && list[number])
        number++;
    return number;
}

/* Size and bytes of one result; a text loses its NUL. */
static struct fake_buffer get(struct nvrtc_program *program, const char *size_name, const char *name,
                              bool is_text)
{
    int (*get_size)(struct nvrtc_program *, size_t *);
    int (*get_bytes)(struct nvrtc_program *, char *);
    struct fake_buffer result = {0};
    size_t bytes = 0;
    CHECK_SYMBOL(get_size, NVRTC, size_name);
    CHECK_SYMBOL(get_bytes, NVRTC, name);
    EXPECT(get_size(program, &bytes) == 0, "%s", size_name);
    fake_buffer_fill(&result, 0x77, bytes + 1);
    EXPECT(get_bytes(program, (char *)result.data) == 0, "%s", name);
    EXPECT(result.data[bytes] == 0x77, "%s writes more than %zu bytes", name, bytes);
    result.length = bytes;
    if (is_text) {
        EXPECT(bytes > 0 && result.data[bytes - 1] == 0, "%s", name);
        result.length--;
    }
    return result;
}

struct check_compiled check_compile(const struct check_program *program)
{
    struct check_compiled compiled = {0};
    struct nvrtc_program *handle = NULL;
    int (*create)(struct nvrtc_program **, const char *, const char *, int, const char *const *,
                  const char *const *);
    int (*compile)(struct nvrtc_program *, int, const char *const *);
    int (*add_expression)(struct nvrtc_program *, const char *);
    int (*get_lowered)(struct nvrtc_program *, const char *, const char **);
    int (*destroy)(struct nvrtc_program **);
    CHECK_SYMBOL(create, NVRTC, "nvrtcCreateProgram");
    CHECK_SYMBOL(compile, NVRTC, "nvrtcCompileProgram");
    CHECK_SYMBOL(add_expression, NVRTC, "nvrtcAddNameExpression");
    CHECK_SYMBOL(get_lowered, NVRTC, "nvrtcGetLoweredName");
    CHECK_SYMBOL(destroy, NVRTC, "nvrtcDestroyProgram");
    EXPECT(create(&handle, program->source, program->name ? program->name : "n.cu", count(program->headers),
                  program->headers, program->header_names) == 0);
    for (int i = 0; i < count(program->expressions); i++)
        EXPECT(add_expression(handle, program->expressions[i]) == 0);
    compiled.result = compile(handle, count(program->options), program->options);
    compiled.ptx = get(handle, "nvrtcGetPTXSize", "nvrtcGetPTX", true);
    compiled.log = get(handle, "nvrtcGetProgramLogSize", "nvrtcGetProgramLog", true);
    compiled.cubin = get(handle, "nvrtcGetCUBINSize", "nvrtcGetCUBIN", false);
    compiled.ltoir = get(handle, "nvrtcGetLTOIRSize", "nvrtcGetLTOIR", false);
    for (int i = 0; i < count(program->expressions); i++) {
        const char *name = NULL;
        compiled.lowered_result[i] = get_lowered(handle, program->expressions[i], &name);
        if (compiled.lowered_result[i] == 0)
            compiled.lowered[i] = fake_copy_text(name, strlen(name));
    }
    /* Refused options were no compilation. */
    EXPECT(add_expression(handle, "late") ==
           (compiled.result == NVRTC_INVALID_OPTION ? 0 : NVRTC_NO_NAME_EXPRESSIONS_AFTER_COMPILATION));
    EXPECT(destroy(&handle) == 0 && !handle);
    return compiled;
}

struct check_compiled check_compile_traced(const struct check_program *program, struct fake_buffer *ret_trace)
{
    int saved = fcntl(2, F_DUPFD_CLOEXEC, 3),
        file = open("stderr", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    EXPECT(saved >= 0 && file >= 0 && dup2(file, 2) == 2);
    struct check_compiled compiled = check_compile(program);
    EXPECT(dup2(saved, 2) == 2);
    close(saved);
    close(file);
    *ret_trace = check_read("stderr");
    return compiled;
}
