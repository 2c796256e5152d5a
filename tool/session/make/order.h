/* SPDX-License-Identifier: Apache-2.0 */
/* An order to a compiler worker: its files on the way there, its results on the way back. */
#ifndef PREJIT_SESSION_MAKE_ORDER_H
#define PREJIT_SESSION_MAKE_ORDER_H

#include "session/make/maker.h"

/** Files in memory that a worker writes its results to: one for each output that was asked for. */
struct pj_maker_results {
    size_t count;
    int fds[PJ_OUTPUT_COUNT];
    unsigned outputs[PJ_OUTPUT_COUNT]; /* numbers of their bits */
};

void pj_maker_results_close(struct pj_maker_results *results);

/** Reads what was written into making->results, and closes the files. */
int pj_maker_results_read(struct pj_maker_results *results, struct pj_making *making, struct pj_error **err);

struct pj_maker_order {
    struct pj_wire_message message;
    struct pj_wire_part *parts;
    struct pj_wire_descriptors descriptors; /* of the parts (owned), then of the results (borrowed) */
    size_t owned;
};

/** Opens the files of the order and makes those for its results. A file that cannot be opened is the error,
 * and so is more than one order can hold. Both are to be freed in any case. */
int pj_maker_order_make(const struct pj_making *making, uint64_t number, struct pj_maker_order *ret_order,
                        struct pj_maker_results *ret_results, struct pj_error **err);

void pj_maker_order_free(struct pj_maker_order *order);
#define PJ_CLEANUP_MAKER_ORDER __attribute__((cleanup(pj_maker_order_free)))

/** What a worker said of its library, copied into `arena`. */
int pj_maker_describe(const struct pj_wire_started *started, struct pj_arena *arena,
                      struct pj_compiler *ret_compiler, struct pj_error **err);

/** The files that a worker has mapped, copied into `arena`. */
int pj_maker_note_files(const struct pj_wire_file *files, size_t count, struct pj_arena *arena,
                        struct pj_compiler *compiler, struct pj_error **err);

#endif
