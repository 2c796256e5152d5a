/* SPDX-License-Identifier: Apache-2.0 */
/* One program through NVRTC. */
#include <stdlib.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/file.h"
#include "job/worker_capture.h"
#include "job/worker_make.h"

/* More than any compiler's output that anybody has. */
#define OUTPUT_MAX_BYTES (UINT64_C(1) << 30)

struct program {
    const struct pj_nvrtc *nvrtc;
    const struct pj_wire_make *make;
    const struct pj_wire_descriptors *descriptors;
    nvrtcProgram handle;
    struct pj_wire_made *made;
};

/* Notes the first call that fails; true where this one did not. */
static bool went_well(struct program *program, nvrtcResult result, const char *call)
{
    if (result != NVRTC_SUCCESS && program->made->result == 0) {
        program->made->result = (int32_t)result;
        program->made->failed_call = call;
        program->made->result_name = program->nvrtc->nvrtcGetErrorString_(result);
    }
    return result == NVRTC_SUCCESS;
}

static int create(struct program *program, const struct pj_worker_parts *parts, bool *ret_created,
                  struct pj_error **err)
{
    const struct pj_wire_make *make = program->make;
    size_t count = parts->count - 1;
    PJ_CLEANUP_FREE const char **texts = calloc(count + 1, sizeof *texts);
    PJ_CLEANUP_FREE const char **names = calloc(count + 1, sizeof *names);
    if (!texts || !names)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < count; i++) {
        texts[i] = pj_buffer_text(&parts->items[i + 1]);
        names[i] = make->parts[i + 1].name;
    }
    *ret_created =
        went_well(program,
                  program->nvrtc->nvrtcCreateProgram_(&program->handle, pj_buffer_text(&parts->items[0]),
                                                      make->name, (int)count, texts, names),
                  "nvrtcCreateProgram");
    for (uint32_t i = 0; i < make->expression_count && *ret_created; i++)
        *ret_created =
            went_well(program, program->nvrtc->nvrtcAddNameExpression_(program->handle, make->expressions[i]),
                      "nvrtcAddNameExpression");
    return 0;
}

/* The list of files read is printed by the compiler, so standard error goes to where it is wanted meanwhile.
 */
static void compile(struct program *program)
{
    const struct pj_wire_make *make = program->make;
    int headers = pj_worker_output(make, program->descriptors, PJ_OUTPUT_HEADERS);
    struct pj_capture capture = {.saved = -1};
    pj_capture_begin(&capture, headers);
    double begin = pj_clock_ms();
    nvrtcResult result = program->nvrtc->nvrtcCompileProgram_(program->handle, (int)make->argument_count,
                                                              (const char *const *)make->arguments);
    program->made->call_ms = pj_clock_ms() - begin;
    pj_capture_end(&capture);
    (void)went_well(program, result, "nvrtcCompileProgram");
}

typedef nvrtcResult size_function(nvrtcProgram program, size_t *size);
typedef nvrtcResult get_function(nvrtcProgram program, char *bytes);

/* `text`: its size counts the NUL behind it, which is not written. */
static int write_result(struct program *program, enum pj_wire_output output, size_function *get_size,
                        get_function *get, const char *call, bool text, struct pj_error **err)
{
    size_t size = 0;
    if (!(program->make->outputs & (uint32_t)output))
        return 0;
    if (!get_size || !get) { /* PJ_NVRTC_OPTIONAL */
        (void)went_well(program, NVRTC_ERROR_INVALID_INPUT, call);
        program->made->result_name = "it has no nvrtcGetLTOIR, which NVRTC has from version 12.0 on: name a "
                                     "newer one with --nvrtc PATH";
        return 0;
    }
    if (!went_well(program, get_size(program->handle, &size), call) || size == 0)
        return 0;
    if (size > OUTPUT_MAX_BYTES)
        return pj_error_set(err, PJ_ERROR_WORKER, "%s tells a size of %zu bytes", call, size);
    PJ_CLEANUP_FREE char *bytes = malloc(size);
    if (!bytes)
        return pj_error_no_memory(err);
    if (!went_well(program, get(program->handle, bytes), call))
        return 0;
    size_t used = text && bytes[size - 1] == '\0' ? size - 1 : size;
    return pj_worker_write_output(program->make, program->descriptors, output, bytes, used, err);
}

static int write_names(struct program *program, struct pj_error **err)
{
    const struct pj_wire_make *make = program->make;
    PJ_CLEANUP_BUFFER struct pj_buffer names = {0};
    for (uint32_t i = 0; i < make->expression_count; i++) {
        const char *name = NULL;
        if (!went_well(program,
                       program->nvrtc->nvrtcGetLoweredName_(program->handle, make->expressions[i], &name),
                       "nvrtcGetLoweredName"))
            return 0;
        pj_buffer_printf(&names, "%s\n", name);
    }
    int r = pj_buffer_check(&names, err);
    return r < 0 ? r
                 : pj_worker_write_output(make, program->descriptors, PJ_OUTPUT_NAMES, pj_buffer_text(&names),
                                          names.size, err);
}

static int write_results(struct program *program, struct pj_error **err)
{
    const struct pj_nvrtc *nvrtc = program->nvrtc;
    int r = write_names(program, err);
    if (r == 0)
        r = write_result(program, PJ_OUTPUT_PTX, nvrtc->nvrtcGetPTXSize_, nvrtc->nvrtcGetPTX_, "nvrtcGetPTX",
                         true, err);
    if (r == 0)
        r = write_result(program, PJ_OUTPUT_CUBIN, nvrtc->nvrtcGetCUBINSize_, nvrtc->nvrtcGetCUBIN_,
                         "nvrtcGetCUBIN", false, err);
    if (r == 0)
        r = write_result(program, PJ_OUTPUT_LTOIR, nvrtc->nvrtcGetLTOIRSize_, nvrtc->nvrtcGetLTOIR_,
                         "nvrtcGetLTOIR", false, err);
    return r;
}

int pj_worker_nvrtc_make(const struct pj_nvrtc *nvrtc, const struct pj_wire_make *make,
                         const struct pj_worker_parts *parts, const struct pj_wire_descriptors *descriptors,
                         struct pj_wire_made *made, struct pj_error **err)
{
    struct program program = {.nvrtc = nvrtc, .make = make, .descriptors = descriptors, .made = made};
    bool created = false;
    if (parts->count == 0)
        return pj_error_set(err, PJ_ERROR_WORKER, "an order for NVRTC came without a source");
    int r = create(&program, parts, &created, err);
    if (r == 0 && created) {
        compile(&program);
        r = write_result(&program, PJ_OUTPUT_LOG, nvrtc->nvrtcGetProgramLogSize_, nvrtc->nvrtcGetProgramLog_,
                         "nvrtcGetProgramLog", true, err);
    }
    if (r == 0 && made->result == 0)
        r = write_results(&program, err);
    if (program.handle)
        (void)nvrtc->nvrtcDestroyProgram_(&program.handle);
    return r;
}
