/* SPDX-License-Identifier: Apache-2.0 */
/* What comes out of NVRTC or nvJitLink, and what of it the program takes. */
#include <string.h>

#include "arch/nvrtc_options.h"
#include "manifest/reader.h"

/* Where the options name a real architecture NVRTC has both, and only who wrote the program knows which of
 * them it asks for. */
static void refuse_missing(struct pj_reader *reader, const struct pj_yaml_node *architecture)
{
    char read[PJ_READ_TEXT];
    pj_findings_add(
        &reader->undecided, architecture,
        "`nvrtc`: read %s; for a real architecture NVRTC has PTX as well as a cubin, and `takes` is missing: "
        "add `takes: ptx` if the program calls nvrtcGetPTX (the driver compiles that PTX, so it is warmed), "
        "or `takes: cubin` if it calls nvrtcGetCUBIN (NVRTC itself compiles at each start, so nothing is "
        "warmed)",
        pj_findings_read(&reader->undecided, architecture, read));
}

static void refuse_cubin(struct pj_reader *reader, const struct pj_value *takes,
                         const struct pj_yaml_node *architecture)
{
    char read[PJ_READ_TEXT];
    pj_findings_add(&reader->check.findings, takes->node,
                    "`takes`: read `cubin`; with %s, a virtual architecture, NVRTC has PTX alone: write "
                    "`takes: ptx`, or under `nvrtc` the real architecture that the program names",
                    pj_findings_read(&reader->check.findings, architecture, read));
}

void pj_takes_read(struct pj_reader *reader, const struct pj_value *values,
                   const struct pj_yaml_node *architecture, struct pj_module *module)
{
    const struct pj_value *takes = &values[PJ_MODULE_KEY_TAKES];
    struct pj_nvrtc_options options;
    pj_nvrtc_options_read(module->nvrtc, module->nvrtc_count, &options);
    module->takes = takes->ok ? (enum pj_takes)takes->integer : PJ_TAKES_PTX;
    if (options.lto && takes->node)
        pj_findings_add(&reader->check.findings, takes->node->key,
                        "`takes`: with -dlto NVRTC has LTO-IR, and neither PTX nor a cubin: remove it");
    else if (options.real && !options.lto && !takes->node)
        refuse_missing(reader, architecture);
    else if (takes->ok && module->takes == PJ_TAKES_CUBIN && architecture && !options.real)
        refuse_cubin(reader, takes, architecture);
}

static bool has_option(const char *const *options, size_t count, const char *option)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(options[i], option) == 0)
            return true;
    }
    return false;
}

bool pj_module_is_prepared(const struct pj_module *module)
{
    struct pj_nvrtc_options options;
    if (module->kind == PJ_MODULE_LINK)
        return module->linker == PJ_LINKER_NVJITLINK &&
               has_option((const char *const *)module->nvjitlink, module->nvjitlink_count, "-ptx");
    if (module->kind != PJ_MODULE_SOURCE || module->takes != PJ_TAKES_PTX)
        return false;
    pj_nvrtc_options_read((const char *const *)module->nvrtc, module->nvrtc_count, &options);
    return !options.lto && !options.optix && !options.syntax_only;
}
