/* SPDX-License-Identifier: Apache-2.0 */
/* What was learned of a driver, as JSON of schema prejit-profile-run/1. */
#include "session/profile/json.h"

#include <stdlib.h>

#include "base/memory.h"
#include "report/column.h"
#include "report/envelope.h"

static bool get_version(const void *row, struct pj_cell *cell)
{
    const struct pj_profile_document *document = row;
    pj_buffer_puts(&cell->text, document->work->profile.driver_version);
    return true;
}

static bool get_cuda_version(const void *row, struct pj_cell *cell)
{
    int version = ((const struct pj_profile_document *)row)->work->profile.cuda_version;
    pj_buffer_printf(&cell->text, "%d.%d", version / 1000, version % 1000 / 10);
    return true;
}

static bool get_stamp(const void *row, struct pj_cell *cell)
{
    pj_buffer_puts(&cell->text, ((const struct pj_profile_document *)row)->work->profile.stamp);
    return true;
}

static bool get_gpu(const void *row, struct pj_cell *cell)
{
    pj_buffer_puts(&cell->text, ((const struct pj_profile_document *)row)->work->profile.gpu);
    return true;
}

static bool get_canary(const void *row, struct pj_cell *cell)
{
    cell->flag = ((const struct pj_profile_document *)row)->work->canary_held;
    return true;
}

static bool get_file(const void *row, struct pj_cell *cell)
{
    const char *file = ((const struct pj_profile_document *)row)->work->options->file;
    pj_buffer_puts(&cell->text, file ? file : "");
    return file != NULL;
}

static bool get_profile(const void *row, struct pj_cell *cell)
{
    const struct pj_profile_document *document = row;
    pj_buffer_puts(&cell->text, document->profile);
    return document->work->options->file == NULL;
}

static const struct pj_column result_columns[] = {
    {NULL, "driver_version", PJ_COLUMN_TEXT, false, get_version},
    {NULL, "cuda_version", PJ_COLUMN_TEXT, false, get_cuda_version},
    {NULL, "stamp", PJ_COLUMN_TEXT, false, get_stamp},
    {NULL, "gpu", PJ_COLUMN_TEXT, false, get_gpu},
    {NULL, "canary_held", PJ_COLUMN_FLAG, false, get_canary},
    {NULL, "file", PJ_COLUMN_TEXT, false, get_file},
    {NULL, "profile", PJ_COLUMN_TEXT, false, get_profile},
};

static bool get_tool(const void *row, struct pj_cell *cell)
{
    pj_buffer_puts(&cell->text, ((const struct pj_profile_compiler *)row)->tool);
    return true;
}

static bool get_tool_version(const void *row, struct pj_cell *cell)
{
    pj_buffer_puts(&cell->text, ((const struct pj_profile_compiler *)row)->version);
    return true;
}

static bool get_cases(const void *row, struct pj_cell *cell)
{
    cell->count = ((const struct pj_profile_compiler *)row)->cases;
    return true;
}

static bool get_same(const void *row, struct pj_cell *cell)
{
    cell->count = ((const struct pj_profile_compiler *)row)->same;
    return true;
}

static const struct pj_column compiler_columns[] = {
    {NULL, "tool", PJ_COLUMN_TEXT, false, get_tool},
    {NULL, "version", PJ_COLUMN_TEXT, false, get_tool_version},
    {NULL, "cases", PJ_COLUMN_COUNT, false, get_cases},
    {NULL, "same", PJ_COLUMN_COUNT, false, get_same},
};

struct kind {
    enum pj_profile_kind kind;
    bool proven;
};

static bool get_kind(const void *row, struct pj_cell *cell)
{
    pj_buffer_puts(&cell->text, pj_profile_kind_name(((const struct kind *)row)->kind));
    return true;
}

static bool get_proven(const void *row, struct pj_cell *cell)
{
    cell->flag = ((const struct kind *)row)->proven;
    return true;
}

static const struct pj_column kind_columns[] = {
    {NULL, "kind", PJ_COLUMN_TEXT, false, get_kind},
    {NULL, "proven", PJ_COLUMN_FLAG, false, get_proven},
};

static int put_list(const char *name, const struct pj_column *columns, size_t column_count, const void *items,
                    size_t count, size_t item_size, struct pj_buffer *text, struct pj_error **err)
{
    PJ_CLEANUP_FREE const void **rows = calloc(count + 1, sizeof *rows);
    if (!rows)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < count; i++)
        rows[i] = (const char *)items + i * item_size;
    const struct pj_column_table table = {
        .columns = columns, .column_count = column_count, .rows = rows, .row_count = count};
    pj_buffer_printf(text, ",\n  \"%s\": ", name);
    return pj_column_json(&table, text, err);
}

int pj_profile_json(const struct pj_profile_document *document, struct pj_buffer *text, struct pj_error **err)
{
    const struct pj_profile_work *work = document->work;
    const struct pj_envelope envelope = {.command = "profile", .exit_code = document->exit_code};
    struct kind kinds[PJ_PROFILE_KIND_COUNT];
    for (size_t i = 0; i < PJ_PROFILE_KIND_COUNT; i++)
        kinds[i] = (struct kind){(enum pj_profile_kind)i, work->profile.proven[i]};
    pj_envelope_begin(&envelope, text);
    pj_buffer_puts(text, ",\n  \"result\": ");
    int r = pj_column_json_object(result_columns, PJ_COUNT(result_columns), document, text, err);
    if (r == 0)
        r = put_list("kinds", kind_columns, PJ_COUNT(kind_columns), kinds, PJ_PROFILE_KIND_COUNT,
                     sizeof *kinds, text, err);
    if (r == 0)
        r = put_list("cases", document->case_columns, document->case_column_count, work->trials, work->count,
                     sizeof *work->trials, text, err);
    if (r == 0)
        r = put_list("compilers", compiler_columns, PJ_COUNT(compiler_columns), work->profile.compilers,
                     work->profile.compiler_count, sizeof *work->profile.compilers, text, err);
    return r == 0 ? pj_envelope_end(&envelope, text, err) : r;
}
