/* SPDX-License-Identifier: Apache-2.0 */
/* Parses texts as profiles and compares what comes out. */
#ifndef PREJIT_UNIT_PROFILE_SUPPORT_H
#define PREJIT_UNIT_PROFILE_SUPPORT_H

#include "../support/unit.h"

#include "profile/profile.h"

/* The keys of a right profile, for a test to replace one of them. */
#define DRIVER     "driver: {version: 580.159.04, cuda: 13.0, stamp: \"Apr 29 202617:12:06\"}\n"
#define FORMAT     "cache_format: 65\n"
#define ISA        "ptx_isa: 9.0\n"
#define ARCHS      "architectures: [sm_80, sm_90]\n"
#define PROVEN     "proven: [plain, one-option, options, link]\n"
#define NOT_PROVEN "not_proven: [foreign, beside, fatbin]\n"
#define COMPILERS  "compilers: [{tool: ptxas, version: 13.0.88, cases: 12, same_code_cases: 12}]\n"
#define MADE       "made: {on: 2026-11-30, with: prejit 0.1.0, gpu: NVIDIA H200}\n"

/* What stands before and behind each of them in a whole profile. */
#define V              "version: 1\n"
#define TO_FORMAT      V DRIVER
#define TO_ISA         TO_FORMAT FORMAT
#define TO_ARCHS       TO_ISA ISA
#define TO_PROVEN      TO_ARCHS ARCHS
#define TO_COMPILERS   TO_PROVEN PROVEN NOT_PROVEN
#define TO_MADE        TO_COMPILERS COMPILERS
#define FROM_MADE      MADE
#define FROM_COMPILERS COMPILERS FROM_MADE
#define FROM_PROVEN    PROVEN NOT_PROVEN FROM_COMPILERS
#define FROM_ARCHS     ARCHS FROM_PROVEN
#define FROM_ISA       ISA FROM_ARCHS
#define FROM_FORMAT    FORMAT FROM_ISA
#define WHOLE          V DRIVER FROM_FORMAT

/** The text is refused with this message, `f` being the file's name, and the profile left alone. */
static inline void expect_refused(const char *text, const char *message)
{
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    struct pj_profile profile = {.name = "untouched"};
    int r = pj_profile_parse(text, strlen(text), "f", &arena, &profile, &err);
    assert_string_equal(r == 0 ? "accepted" : pj_error_message(err), message);
    assert_int_equal(r, PJ_ERROR_MANIFEST);
    assert_int_equal(err->code, PJ_ERROR_MANIFEST);
    assert_string_equal(profile.name, "untouched");
}

/** The profile of a right text. */
static inline struct pj_profile parse(const char *text, struct pj_arena *arena)
{
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    struct pj_profile profile = {0};
    if (pj_profile_parse(text, strlen(text), "f", arena, &profile, &err) != 0)
        fail_msg("%s", pj_error_message(err));
    return profile;
}

#endif
