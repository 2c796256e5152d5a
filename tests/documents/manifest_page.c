/* SPDX-License-Identifier: Apache-2.0 */
/* The reference page of the manifest, in Markdown. */
#include "documents.h"

#include <stddef.h>

#include "manifest/schema.h"

static const char example[] = "version: 1\n"
                              "cache:\n"
                              "  path: nv              # relative to this file\n"
                              "  max_size: 2GiB\n"
                              "targets: [native]       # for every module without targets of its own\n"
                              "verify:\n"
                              "  samples: 3            # fresh processes for each job\n"
                              "  max_warm_ms: 50       # fail when a warm load takes longer\n"
                              "modules:\n"
                              "  - name: saxpy\n"
                              "    ptx: kernels/saxpy.ptx\n"
                              "    kernels: [saxpy]    # must be in the file\n"
                              "  - name: solver\n"
                              "    ptx: kernels/solver.ptx\n"
                              "    targets: [sm_80, sm_90]\n"
                              "    options:            # just those that the program passes\n"
                              "      max_registers: 64\n"
                              "  - name: physics\n"
                              "    source: kernels/physics.cu\n"
                              "    nvrtc: [--std=c++17, -Ikernels/include]\n"
                              "  - name: fields\n"
                              "    link: [kernels/grid.ptx, kernels/fields.ptx]\n"
                              "  - name: preview\n"
                              "    ptx: kernels/preview.ptx\n"
                              "    required: false     # a failure does not change the exit status\n";

const char *document_manifest_example(void)
{
    return example;
}

static const char introduction[] =
    "<!-- Made from the table in tool/manifest/schema.c; see the end of this page. -->\n"
    "# The manifest\n"
    "\n"
    "A manifest is a YAML file that says which modules `prejit` warms, for which GPU architectures, and in\n"
    "which cache. Two keys are enough: `version` and `modules`.\n"
    "\n"
    "```yaml\n"
    "version: 1\n"
    "modules:\n"
    "  - name: saxpy\n"
    "    ptx: kernels/saxpy.ptx\n"
    "```\n"
    "\n"
    "`prejit warm manifest.yaml` compiles each module for each GPU of the machine, stores the result in the\n"
    "driver's compute cache, and proves that later loads find it. A longer manifest:\n"
    "\n"
    "```yaml\n";

static const char rules[] =
    "```\n"
    "\n"
    "## How it is read\n"
    "\n"
    "- **The bytes count.** The cache is looked up by the exact bytes that a program hands to the driver. "
    "`ptx`\n"
    "  names the file that holds just those bytes, and `options` the JIT options the program passes, no "
    "others. For\n"
    "  `source` and `link` the same holds for what they are made from; see [Sources](#sources) and "
    "[Links](#links).\n"
    "- **A value means its text.** `12.0` under `targets` is sm_120, and quotes change nothing. `true` and\n"
    "  `false` are the only booleans; `yes`, `no`, `on` and `off` are refused where a boolean belongs.\n"
    "- **Paths** are relative to the manifest's folder; from standard input (`prejit warm -`) to the "
    "working\n"
    "  directory. `~` and `$` are not expanded: they are errors.\n"
    "- **Globs** are for `ptx` alone. `ptx: kernels/*.ptx` gives one job for each file, in bytewise order, "
    "named\n"
    "  `name/stem`. Files of different folders with one stem get as much of their path as tells them apart. "
    "`*`\n"
    "  does not cross folders, no match is an error, and a file whose own name has `*`, `?` or `[` is taken "
    "as it "
    "is.\n"
    "- **Errors** of one kind come together, each with its place in the file: what is not YAML ends the "
    "reading;\n"
    "  then all wrong keys and values come at once, then all keys that this version does not support, then\n"
    "  all files that cannot be read.\n"
    "- **Only plain YAML:** anchors, aliases, tags, merge keys, several documents, duplicate and unknown "
    "keys\n"
    "  are errors. A file holds at most 64 MB, 1,000,000 keys and values, and 16 levels.\n"
    "\n"
    "## Targets\n"
    "\n"
    "| Written | Means |\n"
    "|---|---|\n"
    "| `native` | every distinct architecture among the GPUs that are visible; a module that cannot run on "
    "one "
    "of "
    "them fails the run |\n"
    "| `sm_90`, `90`, `9.0`, `sm_90a`, `90a`, `9.0a` | that architecture; a module that cannot run on it is "
    "an "
    "error |\n"
    "| `sm_80..sm_90` | every architecture from the first to the last that the module can run on |\n"
    "| `turing`, `ampere`, `ada`, `hopper`, `blackwell` | every architecture of that family that the module "
    "can "
    "run on |\n"
    "| `h100`, `a100`, `l40s`, `rtx 4090` | the architecture of that GPU, as if it stood there |\n"
    "| `all` | every architecture that the driver takes and the module can run on |\n";

static const char sources[] =
    "\n"
    "## Sources\n"
    "\n"
    "A `source` module is for a program that compiles CUDA C++ with NVRTC at run time and loads the PTX. "
    "`prejit` "
    "compiles\n"
    "the same text with the same options in a process of its own, and warms the PTX that comes out. Same "
    "source, "
    "same\n"
    "headers, same options and the same NVRTC give the same PTX, and so a hit.\n"
    "\n"
    "```yaml\n"
    "  - name: physics\n"
    "    source: kernels/physics.cu\n"
    "    program_name: physics.cu          # what the program hands to nvrtcCreateProgram\n"
    "    nvrtc: [--std=c++17, -Ikernels/include, -DN=90]\n"
    "    headers: {config.h: build/config.h}\n"
    "    name_expressions: ['step<float>']\n"
    "```\n"
    "\n"
    "- **Where NVRTC runs.** In the manifest's folder; for a manifest from standard input in the working "
    "directory. "
    "Options\n"
    "  go to NVRTC as they stand, so `-Ikernels/include` is a folder beside the manifest. `source` and "
    "`headers` are\n"
    "  paths like all others.\n"
    "- **Architecture.** For each target `prejit` adds `--gpu-architecture=compute_NN`, unless `nvrtc` has "
    "an "
    "architecture:\n"
    "  then that one holds for every target.\n"
    "- **PTX or cubin.** With a virtual architecture (`compute_90`) NVRTC has PTX alone. With a real one "
    "(`sm_90`) it has a\n"
    "  cubin and the PTX, which is that of `compute_90`; which of them the program asks for, only `takes` "
    "can "
    "say. `takes: ptx`\n"
    "  (nvrtcGetPTX): the driver compiles it, so it is warmed. `takes: cubin` (nvrtcGetCUBIN): NVRTC itself "
    "compiles at each\n"
    "  start, the driver has nothing to compile, and the module is skipped; `prejit build` makes that cubin "
    "ahead of time.\n"
    "- **The toolkit's headers.** The include folder that belongs to the NVRTC in use, and the `cccl` folder "
    "in "
    "it, come last,\n"
    "  as one more `-I` each. They change nothing for what is found before them. A program gets no such "
    "help: "
    "where a header\n"
    "  came from there alone, the report says so. Name the folder by `-I` under `nvrtc` where the program "
    "does.\n"
    "- **What `prejit` adds or refuses.** It adds `--no-cache`. Options that make NVRTC write files or "
    "print, and "
    "those about\n"
    "  precompiled headers, change nothing in the PTX and are errors here; the program may go on using "
    "them.\n"
    "- **Headers in memory.** `headers` has those that the program hands to nvrtcCreateProgram: the name "
    "that "
    "`#include` has,\n"
    "  and a file with the same text. A template that only `nvrtcAddNameExpression` asks for needs "
    "`name_expressions`.\n"
    "- **Names and folders in the PTX.** Most PTX depends on neither. The program's name is part of it where "
    "the "
    "source has\n"
    "  an unnamed namespace or `__FILE__`; give it as `program_name` (`default_program` where the program "
    "passes "
    "NULL).\n"
    "  With `-lineinfo` or `-G` the folder that NVRTC runs in is part of it too: then the program must run "
    "in the "
    "folder of\n"
    "  the manifest.\n"
    "- **The same PTX each time.** `prejit` compiles a source twice the first time, with `--check-stable` "
    "every time.\n"
    "  Where the two differ (`__TIME__`, random names), no program would ever hit what was warmed: the "
    "module fails, and\n"
    "  the report shows the first line that differs.\n"
    "- **What is seen of a change.** NVRTC itself tells which headers it reads. The PTX is kept beside the "
    "cache with a\n"
    "  record of the source, every header, the options and the NVRTC; where one of them changed, it is "
    "compiled anew.\n"
    "- **What it costs all the same.** What is warmed here spares the driver's compilation, not the "
    "program's "
    "call of NVRTC. The\n"
    "  column TO PTX of the report has the time that NVRTC took, which a program takes at each start.\n"
    "- **Other caches.** NVRTC and frameworks keep caches of their own; `prejit doctor` names them.\n"
    "\n"
    "## Links\n"
    "\n"
    "A `link` module is for a program that links at run time: cuLinkCreate, a cuLinkAddFile or cuLinkAddData "
    "for "
    "each input,\n"
    "cuLinkComplete. The driver keeps nothing of the link itself, which takes milliseconds, but the PTX of "
    "each "
    "input gets an\n"
    "entry of its own. Give the inputs in the program's order, and as `options` those that it passes to "
    "cuLinkCreate.\n"
    "\n"
    "LTO-IR is not for the driver's linker: a program that links it uses nvJitLink, and says `linker: "
    "nvjitlink` "
    "here, with the\n"
    "options that it passes to nvJitLinkCreate as `nvjitlink`. With `-lto -ptx` nvJitLink gives PTX, which "
    "the "
    "driver compiles:\n"
    "`prejit` makes the same link, and warms its PTX. For each target it adds `-arch=compute_NN`, unless an "
    "`-arch` is there.\n"
    "Without `-ptx` nvJitLink itself makes a cubin at each start, and the driver has nothing to compile. "
    "`prejit "
    "build` makes\n"
    "cubins of such links ahead of time, with the nvJitLink that it finds (`--nvjitlink PATH` chooses "
    "another); it "
    "must be as new\n"
    "as the compiler that made the LTO-IR.\n"
    "\n"
    "```yaml\n"
    "  - name: fused\n"
    "    link: [a.ltoir, b.ltoir]\n"
    "    linker: nvjitlink\n"
    "    nvjitlink: [-lto, -ptx, -arch=compute_80]\n"
    "```\n"
    "\n"
    "CUDA C++ is no input of a link. Where a program compiles it with NVRTC and links the PTX, make it a "
    "`source` "
    "module with\n"
    "the program's options, let `prejit build` compile that, and name the PTX which it leaves "
    "(`MODULE.TARGET.ptx`): it is\n"
    "NVRTC's, byte for byte, and nvcc's is not.\n"
    "\n"
    "What nvcc makes for a link needs `-rdc=true`: `nvcc -rdc=true -ptx` gives PTX, `nvcc -dc` an object, "
    "`nvcc -rdc=true\n"
    "-cubin -arch=sm_90` a cubin, and `nvcc -rdc=true -ltoir -gencode arch=compute_80,code=lto_80` LTO-IR.\n"
    "\n"
    "Inputs may be PTX, relocatable cubins, and fatbins, host objects and libraries of `nvcc -dc`. The names "
    "of the entries of\n"
    "PTX inputs are known beforehand; those of PTX inside the other kinds are learned when it is compiled.\n";

static const char refused_head[] = "\n"
                                   "### Options that are refused\n"
                                   "\n"
                                   "Some CUjit_options of CUDA have no place in a manifest.\n"
                                   "\n"
                                   "| Option | Why |\n"
                                   "|---|---|\n";

static const char editors[] = "\n"
                              "## In an editor\n"
                              "\n"
                              "`docs/manifest.schema.json` is a JSON Schema of all this. Editors with the "
                              "YAML language server take it from\n"
                              "a first line such as\n"
                              "\n"
                              "```yaml\n"
                              "# yaml-language-server: $schema=path/to/docs/manifest.schema.json\n"
                              "```\n"
                              "\n"
                              "`prejit --help manifest` prints the same keys in a terminal.\n"
                              "\n"
                              "## How this page is made\n"
                              "\n"
                              "This page and the JSON Schema are written by the table that the parser itself "
                              "works from. After a change of\n"
                              "that table, `PREJIT_UPDATE=1 ctest -R documents` writes both "
                              "anew; without it the test compares "
                              "them.\n";

static const struct {
    const char *title;
    const char *text;
} headings[PJ_SECTION_COUNT] = {
    [PJ_SECTION_ROOT] = {"The manifest's keys", "At the top of the file."},
    [PJ_SECTION_CACHE] =
        {"`cache`", "Without it prejit fills the cache that the driver itself would use, as the environment "
                    "says (CUDA_CACHE_PATH, CUDA_CACHE_MAXSIZE)."},
    [PJ_SECTION_VERIFY] = {"`verify`",
                           "Proof does not depend on times; the two limits fail a run whose loads are "
                           "proven and too slow."},
    [PJ_SECTION_MODULE] = {"Keys of a module",
                           "Each item of `modules` has a `name` and exactly one of `ptx`, "
                           "`source`, `link` and `binary`."},
    [PJ_SECTION_OPTIONS] =
        {"`options`",
         "CUDA's CUjit_option names in lower case and without CU_JIT_. An option counts even where its "
         "value is the driver's default: `optimization_level: 4` makes another cache key than no "
         "level at all."},
};

static void add_key(struct pj_buffer *buffer, const struct pj_schema_key *key)
{
    pj_buffer_printf(buffer, "| `%s` | ", key->name);
    pj_schema_allowed(key, buffer);
    pj_buffer_printf(buffer, " | %s | %s%s |",
                     key->required       ? "needed"
                     : key->default_text ? key->default_text
                                         : "–",
                     key->help, key->later ? " Not supported by this version." : "");
    if (key->example)
        pj_buffer_printf(buffer, " `%s` |", key->example);
    pj_buffer_putc(buffer, '\n');
}

static void add_section(struct pj_buffer *buffer, enum pj_schema_section section)
{
    bool examples = pj_schema_key(section, 0).example != NULL;
    pj_buffer_printf(buffer,
                     "\n## %s\n\n%s\n\n| Key | Value | Default | What it says |%s\n|---|---|---|---|%s\n",
                     headings[section].title, headings[section].text, examples ? " Example |" : "",
                     examples ? "---|" : "");
    for (size_t i = 0; i < pj_schema_count(section); i++) {
        struct pj_schema_key key = pj_schema_key(section, i);
        add_key(buffer, &key);
    }
}

void document_manifest(struct pj_buffer *buffer)
{
    pj_buffer_puts(buffer, introduction);
    pj_buffer_puts(buffer, example);
    pj_buffer_puts(buffer, rules);
    pj_buffer_puts(buffer, sources);
    for (int section = 0; section < PJ_SECTION_COUNT; section++)
        add_section(buffer, (enum pj_schema_section)section);
    pj_buffer_puts(buffer, refused_head);
    size_t count;
    const struct pj_refused_option *refused = pj_schema_refused_options(&count);
    for (size_t i = 0; i < count; i++)
        pj_buffer_printf(buffer, "| `%s` | %s |\n", refused[i].name, refused[i].reason);
    pj_buffer_puts(buffer, editors);
}
