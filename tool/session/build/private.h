/* SPDX-License-Identifier: Apache-2.0 */
/* One run of `build`: its units, from plan to files. */
#ifndef PREJIT_SESSION_BUILD_PRIVATE_H
#define PREJIT_SESSION_BUILD_PRIVATE_H

#include <time.h>

#include "report/build.h"
#include "session/make/maker.h"
#include "session/prepare/source.h"

/** How a source gets to a cubin. */
enum pj_build_route {
    PJ_ROUTE_LINK,         /* no source: nvJitLink takes the files */
    PJ_ROUTE_NVRTC,        /* NVRTC gives the cubin */
    PJ_ROUTE_NVRTC_PTX,    /* NVRTC gives PTX, because its options name a virtual architecture; nvJitLink
                              compiles it */
    PJ_ROUTE_NVRTC_OBJECT, /* NVRTC gives a relocatable cubin; nvJitLink links it */
    PJ_ROUTE_NVRTC_LTOIR,  /* NVRTC gives LTO-IR; nvJitLink optimises and links it */
};

/** One module for one architecture. */
struct pj_build_work {
    struct pj_build_unit *unit; /* what is reported; its verdict NOT_TRIED says that it is still open */
    size_t module;
    struct pj_arch arch;
    bool explicit_target;
    bool left_out; /* decided late: the toolkit does not know a target that nobody named */
    enum pj_build_route route;
    struct pj_source source;
    struct pj_making compile, link; /* of NVRTC, of nvJitLink; name NULL = not made */
    struct pj_buffer cubin;         /* what is to be written */
};

enum { PJ_BUILD_REMOVED_NAMED_MAX = 6 };

struct pj_build {
    const struct pj_build_options *options;
    struct pj_arena arena;
    struct pj_host_root root;
    struct pj_manifest *manifest;
    struct pj_plan_selection selection;
    struct pj_plan *plan;
    struct pj_build_work *works;
    size_t count, capacity;
    struct pj_build_report report;
    const char *nvrtc_build, *linker_build; /* as their outputs tell; NULL = not known */
    bool made_out_dir;                      /* by this run: it goes again where the run fails as a whole */
    struct pj_maker *linker;                /* NULL = not needed, or done */
    double begin_ms;
    struct timespec begin;       /* of the run, by the clock of file systems */
    struct timespec nvrtc_begin; /* headers that changed since are not what NVRTC read */
    bool interrupted, deadline_passed;
    const char *removed[PJ_BUILD_REMOVED_NAMED_MAX]; /* the first of report.removed files */
    size_t lasting_notes; /* of the report: those that the next run would have as well */
};

/** Units for every module and target, judged as far as the files tell. */
int pj_build_plan(struct pj_build *build, struct pj_error **err);

/** A file that this run may write or remove, relative to the output folder. */
struct pj_build_output {
    const char *path;
    const struct pj_build_work *work; /* NULL: PJ_BUILD_INDEX */
};

#define PJ_BUILD_INDEX "index.json"

/** All of them, in the order of their paths, in the build's arena; and the one of `path`, or NULL. */
int pj_build_outputs(struct pj_build *build, struct pj_build_output **ret_outputs, size_t *ret_count,
                     struct pj_error **err);
const struct pj_build_output *pj_build_find_output(const struct pj_build_output *outputs, size_t count,
                                                   const char *path);

/** The folders in which modules of the manifest have their files, whatever was selected: "" and "a/b/", in
 * their order, each once, in the build's arena. */
int pj_build_folders(struct pj_build *build, const char ***ret_folders, size_t *ret_count,
                     struct pj_error **err);

/** PJ_ERROR_MANIFEST where a module's files would lie outside of the folder, or below what is a file itself;
 * part of pj_build_plan. */
int pj_build_check_names(struct pj_build *build, struct pj_error **err);

/** A module of which every target is left out would be built for nobody, and nobody would hear of it: the
 * last one counts as what it is, incompatible. Called when all units are settled. */
void pj_build_keep_one(struct pj_build *build);

/** Opens the library and runs what `orders` says: see build_compile.c and build_link.c. A library that is not
 * to be had is PJ_ERROR_ENVIRONMENT. */
int pj_build_open(struct pj_build *build, enum pj_wire_library library, struct pj_maker **ret_maker,
                  struct pj_error **err);

/** Takes the maker's end over: interrupted, deadline, what the library is. */
void pj_build_close(struct pj_build *build, struct pj_maker *maker, const char *build_of_output,
                    struct pj_report_library *ret_library);

/** Opens nvJitLink where a unit needs it, before anything is compiled: that it is missing is known at once.
 */
int pj_build_open_linker(struct pj_build *build, struct pj_error **err);

/** Runs NVRTC on the units of sources, then nvJitLink on those that need it. */
int pj_build_compile(struct pj_build *build, struct pj_error **err);
int pj_build_link(struct pj_build *build, struct pj_error **err);

/** Settles a unit whose order made nothing. `library` is for people: "NVRTC 13.0". */
int pj_build_take_failure(struct pj_build *build, struct pj_build_work *work, struct pj_making *making,
                          const char *library, struct pj_error **err);

/** Takes kernels and warnings out of a compiler's log. */
int pj_build_take_usage(struct pj_build *build, struct pj_build_work *work, struct pj_making *making,
                        struct pj_error **err);

/** Takes the cubin: checks that it is whole, for the right architecture and not to be linked any more. */
int pj_build_take_cubin(struct pj_build *build, struct pj_build_work *work, struct pj_making *making,
                        struct pj_error **err);

int pj_build_settle(struct pj_build_work *work, enum pj_build_verdict verdict, const char *code,
                    const char *reason, struct pj_error **err);

/** Makes the output folder where it is missing; an output that cannot be written there is known before
 * anything is compiled. */
int pj_build_open_out_dir(struct pj_build *build, struct pj_error **err);

/** Removes from the output folder the half-written files that a killed build left: temporaries of
 * pj_file_replace for outputs that this run writes, older than the run. */
int pj_build_remove_leftovers(struct pj_build *build, struct pj_error **err);

/** Removes what an earlier run made of a unit that was not built now: it is of an older source, and whoever
 * takes *.cubin shall not ship it. Nothing where it was not tried, or with --check. */
int pj_build_remove_stale(struct pj_build *build, const struct pj_build_unit *unit, struct pj_error **err);

/** Adds notes to the report, which must have room for two: what was removed, and how many cubins lie in the
 * folder that this run's index does not list. */
int pj_build_note_earlier(struct pj_build *build, struct pj_error **err);

/** Writes cubins and PTX, and afterwards index.json, which is the report without times. Nothing with --check.
 */
int pj_build_write(struct pj_build *build, struct pj_error **err);
int pj_build_write_index(struct pj_build *build, struct pj_error **err);

/** Adds the arguments that an order was made with to the unit's. */
int pj_build_note_arguments(struct pj_build *build, struct pj_build_work *work,
                            const struct pj_making *making, struct pj_error **err);

#endif
