/* SPDX-License-Identifier: Apache-2.0 */
/* What build made, as JSON of schema prejit-build/1, one module and target at a time. */
#include "report/build.h"
#include "report/envelope.h"
#include "report/json_builder.h"
#include "report/trouble.h"

static void set_file(struct pj_json_builder *object, const struct pj_build_file *file)
{
    char hex[PJ_SHA256_HEX];
    pj_sha256_hex(&file->sha256, hex);
    pj_json_member(object, "bytes", pj_json_count(true, file->bytes));
    pj_json_member(object, "sha256", json_string(hex));
}

static json_t *make_input(const struct pj_build_file *file)
{
    struct pj_json_builder object = {.value = json_object()};
    pj_json_member(&object, "path", pj_json_text(file->path));
    pj_json_member(&object, "kind", pj_json_text(file->kind));
    set_file(&object, file);
    return pj_json_finish(&object);
}

/* `path` NULL: it was made and not written. */
static json_t *make_output(bool made, const struct pj_build_file *file, const char *path)
{
    if (!made)
        return json_null();
    struct pj_json_builder object = {.value = json_object()};
    pj_json_member(&object, "path", pj_json_text(path));
    set_file(&object, file);
    return pj_json_finish(&object);
}

static json_t *make_inputs(const struct pj_build_unit *unit)
{
    struct pj_json_builder array = {.value = json_array()};
    for (size_t i = 0; i < unit->input_count; i++)
        pj_json_item(&array, make_input(&unit->inputs[i]));
    return pj_json_finish(&array);
}

static json_t *make_kernel(const struct pj_build_kernel *kernel)
{
    struct pj_json_builder object = {.value = json_object()};
    pj_json_member(&object, "name", pj_json_text(kernel->name));
    pj_json_member(&object, "registers", pj_json_count(kernel->has_registers, kernel->registers));
    pj_json_member(&object, "shared_bytes", pj_json_count(kernel->has_shared, kernel->shared_bytes));
    pj_json_member(&object, "stack_bytes", pj_json_count(kernel->has_stack, kernel->stack_bytes));
    pj_json_member(&object, "spill_store_bytes",
                   pj_json_count(kernel->has_spills, kernel->spill_store_bytes));
    pj_json_member(&object, "spill_load_bytes", pj_json_count(kernel->has_spills, kernel->spill_load_bytes));
    pj_json_member(&object, "constant_bytes", pj_json_count(kernel->has_constant, kernel->constant_bytes));
    return pj_json_finish(&object);
}

static json_t *make_kernels(const struct pj_build_unit *unit)
{
    struct pj_json_builder array = {.value = json_array()};
    for (size_t i = 0; i < unit->kernel_count; i++)
        pj_json_item(&array, make_kernel(&unit->kernels[i]));
    return pj_json_finish(&array);
}

static json_t *make_names(const struct pj_build_unit *unit)
{
    struct pj_json_builder array = {.value = json_array()};
    for (size_t i = 0; i < unit->name_count; i++) {
        struct pj_json_builder object = {.value = json_object()};
        pj_json_member(&object, "expression", pj_json_text(unit->names[i].expression));
        pj_json_member(&object, "name", pj_json_text(unit->names[i].name));
        pj_json_item(&array, pj_json_finish(&object));
    }
    return pj_json_finish(&array);
}

static json_t *make_texts(const char *const *texts, size_t count)
{
    struct pj_json_builder array = {.value = json_array()};
    for (size_t i = 0; i < count; i++)
        pj_json_item(&array, pj_json_text(texts[i]));
    return pj_json_finish(&array);
}

static json_t *make_unit(const struct pj_build_unit *unit, bool written)
{
    struct pj_json_builder object = {.value = json_object()};
    pj_json_member(&object, "module", pj_json_text(unit->module));
    pj_json_member(&object, "target", pj_json_text(unit->target));
    pj_json_member(&object, "compiler", pj_json_text(unit->compiler));
    pj_json_member(&object, "required", json_boolean(unit->required));
    pj_json_member(&object, "verdict", pj_json_text(pj_build_verdict_name(unit->verdict)));
    pj_json_member(&object, "reason_code", pj_json_text(unit->reason_code));
    pj_json_member(&object, "reason", pj_json_text(unit->reason));
    pj_json_member(&object, "arguments", make_texts(unit->arguments, unit->argument_count));
    pj_json_member(&object, "inputs", make_inputs(unit));
    pj_json_member(&object, "cubin",
                   make_output(unit->has_cubin, &unit->cubin, written ? unit->cubin.path : NULL));
    pj_json_member(&object, "ptx", make_output(unit->has_ptx, &unit->ptx, written ? unit->ptx.path : NULL));
    pj_json_member(&object, "kernels", make_kernels(unit));
    pj_json_member(&object, "names", make_names(unit));
    pj_json_member(&object, "warnings", make_texts(unit->warnings, unit->warning_count));
    pj_json_member(&object, "log", pj_json_text(unit->log));
    pj_json_member(&object, "ms", pj_json_number(pj_report_ms_known(unit->has_ms, unit->ms), unit->ms));
    return pj_json_finish(&object);
}

static json_t *make_libraries(const struct pj_build_report *report)
{
    struct pj_json_builder object = {.value = json_object()};
    pj_json_member(&object, "nvrtc", pj_json_library(&report->nvrtc));
    pj_json_member(&object, "nvjitlink", pj_json_library(&report->nvjitlink));
    return pj_json_finish(&object);
}

static json_t *make_summary(const struct pj_build_report *report)
{
    size_t built = 0, not_tried = 0;
    for (size_t i = 0; i < report->unit_count; i++) {
        built += report->units[i].verdict == PJ_BUILD_BUILT;
        not_tried += report->units[i].verdict == PJ_BUILD_NOT_TRIED;
    }
    struct pj_json_builder object = {.value = json_object()};
    pj_json_member(&object, "units", pj_json_count(true, report->unit_count));
    pj_json_member(&object, "built", pj_json_count(true, built));
    pj_json_member(&object, "failed", pj_json_count(true, report->unit_count - built - not_tried));
    pj_json_member(&object, "not_tried", pj_json_count(true, not_tried));
    pj_json_member(&object, "left_out", pj_json_count(true, report->left_out));
    pj_json_member(&object, "seconds", pj_json_seconds(report->seconds >= 0, report->seconds));
    return pj_json_finish(&object);
}

int pj_build_render_json(const struct pj_build_report *report, struct pj_buffer *buffer,
                         struct pj_error **err)
{
    const struct pj_envelope envelope = {.command = "build", .exit_code = (int)report->exit_code};
    pj_envelope_begin(&envelope, buffer);
    pj_json_append(buffer, ",\n  \"manifest\": ", pj_json_text(report->manifest));
    pj_json_append(buffer, ",\n  \"libraries\": ", make_libraries(report));
    pj_json_append(buffer, ",\n  \"summary\": ", make_summary(report));
    pj_buffer_puts(buffer, ",\n  \"units\": [");
    for (size_t i = 0; i < report->unit_count && !buffer->failed; i++)
        pj_json_append(buffer, i == 0 ? "\n    " : ",\n    ",
                       make_unit(&report->units[i], report->out_dir != NULL));
    pj_buffer_puts(buffer, report->unit_count > 0 ? "\n  ]" : "]");
    pj_json_append(buffer, ",\n  \"notes\": ", make_texts(report->notes, report->note_count));
    pj_json_append(buffer, ",\n  \"ended_by\": ", pj_json_text(report->ended_by));
    return pj_envelope_end(&envelope, buffer, err);
}
