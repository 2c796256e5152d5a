/* SPDX-License-Identifier: Apache-2.0 */
/* Says what a compiler did with an order. */
#include "session/make/end.h"

#include <string.h>

#include "base/text.h"

/* Machine code is what is wanted at last, and is not named where nothing else could be meant. */
static const char *deed_of(const struct pj_making *making, enum pj_wire_library library)
{
    bool one_ptx = making->part_count == 1 && making->parts[0].type == PJ_NVJITLINK_PTX;
    if (library == PJ_LIBRARY_NVRTC)
        return making->outputs & PJ_OUTPUT_CUBIN   ? "compiled to a cubin"
               : making->outputs & PJ_OUTPUT_LTOIR ? "compiled to LTO-IR"
                                                   : "compiled to PTX";
    if (library == PJ_LIBRARY_NVJITLINK && making->outputs & PJ_OUTPUT_PTX)
        return "linked to PTX";
    return library == PJ_LIBRARY_NVJITLINK && !one_ptx ? "linked" : "compiled";
}

bool pj_making_was_killed(const struct pj_making *making)
{
    static const char begin[] = "killed";
    return making->end == PJ_MAKING_REFUSED && strncmp(making->result_name, begin, strlen(begin)) == 0;
}

void pj_making_put_end(const struct pj_making *making, enum pj_wire_library library, const char *name,
                       const struct pj_report_library *which, struct pj_buffer *text)
{
    const char *version = which->build ? which->build : which->version;
    char took[PJ_DURATION_TEXT];
    if (making->end == PJ_MAKING_MADE)
        pj_buffer_printf(text, "%s by %s %s in %s", deed_of(making, library), name, version,
                         pj_text_from_ms(making->call_ms, took));
    else if (pj_making_was_killed(making))
        pj_buffer_printf(text, "%s %s was %s", name, version, making->result_name);
    else if (making->end == PJ_MAKING_REFUSED)
        pj_buffer_printf(text, "refused by %s %s: %s", name, version, making->reason);
    else
        pj_buffer_puts(text, making->reason ? making->reason : "failed");
}
