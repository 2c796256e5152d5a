/* SPDX-License-Identifier: Apache-2.0 */
/* What to do about what NVIDIA's compilers and linkers complain of: pure code. */
#ifndef PREJIT_IMAGE_COMPLAINT_H
#define PREJIT_IMAGE_COMPLAINT_H

/** The next step after the first complaint of a log (of the driver's JIT, ptxas, nvJitLink) that is known, as
 * one clause without a full stop. A literal; NULL where none of its complaints is known. */
const char *pj_complaint_cure(const char *log);

#endif
