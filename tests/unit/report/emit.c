/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the JSON of one test model to stdout, of a receipt or of a refusal; without arguments the names of
 * all models. With `build` in front: of the models of builds. */
#include <stdio.h>
#include <string.h>

#include "build_models.h"
#include "models.h"
#include "report/receipt.h"
#include "report/render.h"

static int make_json(struct pj_arena *arena, const char *name, struct pj_buffer *ret_json)
{
    if (strcmp(name, "receipt") == 0) {
        struct pj_receipt_job job = {.row = {.id = "a", .module = "\x01\xff\xc3\xa9\"", .target = "sm_90"},
                                     .inputs = &(uint32_t){0},
                                     .input_count = 1};
        struct pj_receipt_input input = {.file = {.path = "/a"}};
        const struct pj_receipt receipt = {.inputs = &input, .input_count = 1, .jobs = &job, .job_count = 1};
        return pj_receipt_write(&receipt, ret_json, NULL);
    }
    if (strcmp(name, "refusal") == 0) {
        PJ_CLEANUP_ERROR struct pj_error *error = NULL;
        (void)pj_error_set(&error, PJ_ERROR_MANIFEST, "m.yaml:1:1: no\xff");
        return pj_render_json_refusal("warm", error, 2, ret_json, NULL);
    }
    struct pj_report *report = model_make(arena, name);
    return report ? pj_render_json(report, ret_json, NULL) : -1;
}

static int make_build_json(struct pj_arena *arena, const char *name, struct pj_buffer *ret_json)
{
    struct pj_build_report *report = build_model_make(arena, name);
    return report ? pj_build_render_json(report, ret_json, NULL) : -1;
}

int main(int argc, char **argv)
{
    bool build = argc > 1 && strcmp(argv[1], "build") == 0;
    const char *name = argc > 1 + build ? argv[1 + build] : NULL;
    if (!name) {
        const char *const *names = build ? build_model_names : model_names;
        for (size_t i = 0; names[i]; i++)
            (void)puts(names[i]);
        return 0;
    }
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    PJ_CLEANUP_BUFFER struct pj_buffer json = {0};
    if ((build ? make_build_json(&arena, name, &json) : make_json(&arena, name, &json)) != 0)
        return 1;
    return fwrite(json.data, 1, json.size, stdout) == json.size && fflush(stdout) == 0 ? 0 : 1;
}
