/* SPDX-License-Identifier: Apache-2.0 */
/* Gathers the jobs that the last line names, and names them. */
#include "report/named.h"

#include <string.h>

#include "report/phrase.h"

enum { NAME_BYTES = 80, REASON_BYTES = 1000, REASON_BELOW_TABLE_BYTES = 60 };

void pj_named_add(struct pj_named *named, const void *row, const char *module, const char *target)
{
    struct pj_named_group *group = NULL;
    for (size_t i = 0; i < named->group_count && !group; i++) {
        if (strcmp(named->groups[i].module, module) == 0 && named->alike(named->groups[i].first, row))
            group = &named->groups[i];
    }
    if (!group && named->group_count < PJ_NAMED_MAX) {
        group = &named->groups[named->group_count++];
        *group = (struct pj_named_group){.first = row, .module = module};
    }
    if (!group) {
        named->others++;
        return;
    }
    if (group->count < PJ_NAMED_TARGETS_MAX)
        group->targets[group->count] = target;
    group->count++;
}

static void put_group(const struct pj_named_group *group, struct pj_buffer *buffer)
{
    pj_phrase_cut(buffer, group->module, strlen(group->module), NAME_BYTES);
    pj_buffer_putc(buffer, ' ');
    pj_phrase_names(buffer, group->targets, group->count, PJ_NAMED_TARGETS_MAX);
}

void pj_named_put(const struct pj_named *named,
                  void (*put_why)(const void *context, const void *row, struct pj_buffer *buffer),
                  const void *context, struct pj_buffer *buffer)
{
    for (size_t i = 0; i < named->group_count; i++) {
        const void *row = named->groups[i].first;
        pj_buffer_puts(buffer, i == 0 ? ": " : ", ");
        put_group(&named->groups[i], buffer);
        if (i + 1 == named->group_count || !named->alike(row, named->groups[i + 1].first))
            put_why(context, row, buffer);
    }
    if (named->others > 0)
        pj_buffer_printf(buffer, " and %zu more", named->others);
}

void pj_named_put_why(const char *verdict, const char *reason, bool below_table, struct pj_buffer *buffer)
{
    size_t size = reason ? strcspn(reason, "\n") : 0;
    if (below_table && size > REASON_BELOW_TABLE_BYTES)
        size = 0;
    if (*verdict == '\0' && size == 0)
        return;
    pj_buffer_printf(buffer, " (%s%s", verdict, *verdict && size > 0 ? ": " : "");
    if (size > 0)
        pj_phrase_shorten(buffer, reason, size, REASON_BYTES);
    pj_buffer_putc(buffer, ')');
}
