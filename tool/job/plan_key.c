/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of a plan's jobs: which jobs share one, and what the entries will be called. */
#include <stdlib.h>
#include <string.h>

#include "cache/format.h"
#include "job/plan_private.h"

/* Order by what the key is made of. */
static int compare_keys(const void *a, const void *b)
{
    const struct pj_job *x = *(const struct pj_job *const *)a, *y = *(const struct pj_job *const *)b;
    int order = memcmp(&x->key, &y->key, sizeof x->key);
    if (order == 0)
        order = (x->target > y->target) - (x->target < y->target);
    if (order == 0)
        order = strcmp(x->option_text, y->option_text);
    return order;
}

/* The second spelling's verdict must count where the first one's does not: a required name makes the job
 * required. A rejected one (kernel missing, pin broken) is a fault of that module alone, so it stays a job of
 * its own. */
static bool can_join(const struct pj_job *first, const struct pj_job *second)
{
    return first->fate == second->fate && (first->fate == PJ_JOB_OPEN || first->module == second->module);
}

/* Brings together what can be joined: jobs of one key by fate, so that no rejected one stands between two
 * that are not. */
static int compare_keys_then_position(const void *a, const void *b)
{
    const struct pj_job *x = *(const struct pj_job *const *)a, *y = *(const struct pj_job *const *)b;
    int order = compare_keys(a, b);
    if (order == 0)
        order = (x->fate > y->fate) - (x->fate < y->fate);
    return order != 0 ? order : (x > y) - (x < y);
}

/* "a, b, c and 7 more" */
static const char *shorten(struct pj_plan *plan, const char *const *names, size_t count)
{
    enum { SHOWN = 3 };
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    for (size_t i = 0; i < count && i < SHOWN; i++)
        pj_buffer_printf(&text, "%s%s", i == 0 ? "" : ", ", names[i]);
    if (count > SHOWN)
        pj_buffer_printf(&text, " and %zu more", count - SHOWN);
    return text.failed ? NULL : pj_arena_strdup(&plan->arena, pj_buffer_text(&text));
}

/* The first of `jobs` gets the names of all. */
static int join_names(struct pj_plan *plan, struct pj_job *const *jobs, size_t count, struct pj_error **err)
{
    struct pj_job *first = jobs[0];
    size_t used = 0;
    const char **names = pj_arena_calloc(&plan->arena, count, sizeof *names);
    if (!names)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < count; i++) {
        first->required |= jobs[i]->required;
        if (i == 0 || jobs[i]->module != jobs[i - 1]->module) /* else the same, its target named twice */
            names[used++] = jobs[i]->name;
    }
    if (used == 1)
        return 0;
    first->names = names;
    first->name_count = used;
    first->name = shorten(plan, names, used);
    return first->name ? 0 : pj_error_no_memory(err);
}

/* A file of a job that was joined, and its place among all of them. */
struct joined_file {
    const struct pj_plan_file *file;
    size_t place;
};

static int compare_same(const struct joined_file *x, const struct joined_file *y)
{
    int order = x->file == y->file ? 0 : strcmp(x->file->path, y->file->path);
    return order != 0 ? order : memcmp(&x->file->sha256, &y->file->sha256, sizeof x->file->sha256);
}

static int compare_joined(const void *a, const void *b)
{
    const struct joined_file *x = a, *y = b;
    int order = compare_same(x, y);
    return order != 0 ? order : (x->place > y->place) - (x->place < y->place);
}

static int compare_places(const void *a, const void *b)
{
    const struct joined_file *x = a, *y = b;
    return (x->place > y->place) - (x->place < y->place);
}

/* Each file once, at its first place; a file is named where one of them is. Gives how many are left. */
static size_t drop_repeated(struct joined_file *files, size_t count, bool *named)
{
    size_t kept = 0;
    qsort(files, count, sizeof *files, compare_joined);
    for (size_t i = 0; i < count; i++) {
        bool repeated = kept > 0 && compare_same(&files[kept - 1], &files[i]) == 0;
        if (!repeated)
            files[kept++] = files[i];
        named[files[kept - 1].place] |= files[i].file->named;
    }
    qsort(files, kept, sizeof *files, compare_places);
    return kept;
}

/* The jobs that became one come from the files of all: whichever changes, they are to be looked at again. */
static int join_files(struct pj_plan *plan, struct pj_job *const *jobs, size_t count, struct pj_error **err)
{
    size_t most = 0, used = 0;
    for (size_t i = 0; i < count; i++)
        most += jobs[i]->file_count;
    PJ_CLEANUP_FREE struct joined_file *all = calloc(most + 1, sizeof *all);
    PJ_CLEANUP_FREE bool *named = calloc(most + 1, sizeof *named);
    if (!all || !named)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < count; i++) {
        jobs[0]->files_unknown |= jobs[i]->files_unknown;
        for (size_t k = 0; k < jobs[i]->file_count; k++, used++)
            all[used] = (struct joined_file){.file = &jobs[i]->files[k], .place = used};
    }
    size_t kept = drop_repeated(all, used, named);
    struct pj_plan_file *files = pj_arena_calloc(&plan->arena, kept + 1, sizeof *files);
    if (!files)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < kept; i++) {
        files[i] = *all[i].file;
        files[i].named = named[all[i].place];
    }
    jobs[0]->files = files;
    jobs[0]->file_count = kept;
    return 0;
}

int pj_plan_join_equal(struct pj_plan *plan, struct pj_error **err)
{
    size_t count = plan->job_count;
    PJ_CLEANUP_FREE struct pj_job **sorted = calloc(count + 1, sizeof *sorted);
    PJ_CLEANUP_FREE bool *drop = calloc(count + 1, sizeof *drop);
    if (!sorted || !drop)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < count; i++)
        sorted[i] = &plan->jobs[i];
    qsort(sorted, count, sizeof *sorted, compare_keys_then_position);
    int r = 0;
    for (size_t i = 0, next; i < count && r == 0; i = next) {
        struct pj_job *first = sorted[i];
        next = i + 1;
        while (next < count && compare_keys(&first, &sorted[next]) == 0 && can_join(first, sorted[next]))
            drop[sorted[next++] - plan->jobs] = true;
        if (next - i > 1)
            r = join_names(plan, &sorted[i], next - i, err);
        if (r == 0 && next - i > 1)
            r = join_files(plan, &sorted[i], next - i, err);
    }
    if (r < 0)
        return r;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (!drop[i])
            plan->jobs[kept++] = plan->jobs[i];
    }
    plan->job_count = kept;
    return 0;
}

/* Of a link: its inputs' one after the other. */
static int link_key(struct pj_job *job, struct pj_error **err)
{
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    pj_buffer_puts(&text, "link\n");
    for (size_t i = 0; i < job->image_count; i++)
        pj_buffer_append(&text, &job->images[i]->key, sizeof job->images[i]->key);
    int r = pj_buffer_check(&text, err);
    if (r == 0)
        pj_sha256_of(pj_buffer_text(&text), text.size, &job->key);
    return r;
}

int pj_plan_digest(const struct pj_module *module, struct pj_job *job, struct pj_error **err)
{
    if (job->image_count == 1 && !job->link) {
        job->content = job->images[0]->sha256;
        job->key = job->images[0]->key;
        return 0;
    }
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    pj_buffer_puts(&text, job->link ? "link\n" : "source\n");
    for (size_t i = 0; i < job->file_count; i++)
        pj_buffer_append(&text, &job->files[i].sha256, sizeof job->files[i].sha256);
    for (size_t i = 0; i < module->header_count; i++)
        pj_buffer_printf(&text, "header %s\n", module->headers[i].name);
    for (size_t i = 0; i < module->nvrtc_count; i++)
        pj_buffer_printf(&text, "option %s\n", module->nvrtc[i]);
    for (size_t i = 0; i < module->nvjitlink_count; i++)
        pj_buffer_printf(&text, "option %s\n", module->nvjitlink[i]);
    for (size_t i = 0; i < module->name_expression_count; i++)
        pj_buffer_printf(&text, "name %s\n", module->name_expressions[i]);
    if (module->kind == PJ_MODULE_SOURCE)
        pj_buffer_printf(&text, "program %s\nsource %s\nletter %d\n", module->program_name, module->path,
                         job->letter);
    int r = pj_buffer_check(&text, err);
    if (r < 0)
        return r;
    pj_sha256_of(pj_buffer_text(&text), text.size, &job->content);
    job->key = job->content;
    return job->link ? link_key(job, err) : 0;
}

/* One image of one job, to be read for its entry's name. */
struct reading {
    struct pj_job *job;
    const struct pj_plan_image *image;
};

static int compare_readings(const void *a, const void *b)
{
    const struct reading *x = a, *y = b;
    return (x->image > y->image) - (x->image < y->image);
}

static bool is_nameable(const struct pj_job *job)
{
    return job->fate == PJ_JOB_OPEN && job->target && job->image_count > 0;
}

/* Only PTX has an entry. What lies inside a fatbin, an object or a library may have one too, under a key that
 * is not predicted [45]. */
static bool has_entry(const struct pj_plan_image *image)
{
    return image->form == PJ_FORM_PTX || image->contents.kind == PJ_INPUT_PTX;
}

static bool is_predictable(const struct pj_plan_image *image)
{
    return has_entry(image) || image->contents.kind == PJ_INPUT_CUBIN;
}

static int collect_readings(struct pj_plan *plan, struct reading **ret_readings, size_t *ret_count,
                            struct pj_error **err)
{
    size_t most = 0, count = 0;
    for (size_t i = 0; i < plan->job_count; i++)
        most += plan->jobs[i].image_count;
    struct reading *readings = calloc(most + 1, sizeof *readings);
    if (!readings)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < plan->job_count; i++) {
        struct pj_job *job = &plan->jobs[i];
        job->has_names = is_nameable(job);
        job->entry_count = 0;
        for (size_t k = 0; is_nameable(job) && k < job->image_count; k++) {
            job->has_names &= is_predictable(job->images[k]);
            if (has_entry(job->images[k]))
                readings[count++] = (struct reading){job, job->images[k]};
        }
    }
    qsort(readings, count, sizeof *readings, compare_readings); /* each image is read once for all its jobs */
    *ret_readings = readings;
    *ret_count = count;
    return 0;
}

/* Two inputs with the same text have one entry. */
static int add_entry(struct pj_plan *plan, struct pj_job *job, uint64_t hash, struct pj_error **err)
{
    uint64_t *entries = (uint64_t *)(uintptr_t)job->entries; /* the plan's own, in its arena */
    if (!entries)
        entries = pj_arena_calloc(&plan->arena, job->image_count, sizeof *entries);
    if (!entries)
        return pj_error_no_memory(err);
    job->entries = entries;
    for (size_t i = 0; i < job->entry_count; i++) {
        if (entries[i] == hash)
            return 0;
    }
    entries[job->entry_count++] = hash;
    return 0;
}

int pj_plan_name(struct pj_plan *plan, const char *stamp, struct pj_error **err)
{
    PJ_CLEANUP_FREE struct reading *readings = NULL;
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    size_t count = 0;
    int r = collect_readings(plan, &readings, &count, err);
    bool same = false;
    for (size_t i = 0; i < count && r == 0; i++) {
        struct pj_job *job = readings[i].job;
        if (i == 0 || readings[i].image != readings[i - 1].image)
            r = pj_plan_reread(readings[i].image, &bytes, &same, err);
        if (r < 0)
            return r;
        job->has_names &= same;
        if (same)
            r = add_entry(
                plan, job,
                pj_cache_key_hash(stamp, job->target, pj_buffer_text(&bytes), bytes.size, job->option_text),
                err);
    }
    return r;
}
