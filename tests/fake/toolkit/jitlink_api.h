/* SPDX-License-Identifier: Apache-2.0 */
/* What libnvJitLink offers, declared here so that no toolkit is needed to build the stand-in. Every function
   has a name with the library's version; that of 13 has one without it too. */
#ifndef TOOLKIT_JITLINK_API_H
#define TOOLKIT_JITLINK_API_H

#include "results.h"

#include <stddef.h>
#include <stdint.h>

#ifdef TOOLKIT_OLD
#define JITLINK(name) __nvJitLink##name##_12_0
#else
#define JITLINK(name) __nvJitLink##name##_13_0
#endif

#define TOOLKIT_API __attribute__((visibility("default")))

struct jitlink;

TOOLKIT_API int JITLINK(Create)(struct jitlink **link, uint32_t option_count, const char *const *options);
TOOLKIT_API int JITLINK(Destroy)(struct jitlink **link);
TOOLKIT_API int JITLINK(AddData)(struct jitlink *link, int type, const void *data, size_t size,
                                 const char *name);
TOOLKIT_API int JITLINK(AddFile)(struct jitlink *link, int type, const char *path);
#ifndef TOOLKIT_BROKEN
TOOLKIT_API int JITLINK(Complete)(struct jitlink *link);
#endif
TOOLKIT_API int JITLINK(GetLinkedCubinSize)(struct jitlink *link, size_t *size);
TOOLKIT_API int JITLINK(GetLinkedCubin)(struct jitlink *link, void *cubin);
TOOLKIT_API int JITLINK(GetLinkedPtxSize)(struct jitlink *link, size_t *size);
TOOLKIT_API int JITLINK(GetLinkedPtx)(struct jitlink *link, char *ptx);
TOOLKIT_API int JITLINK(GetErrorLogSize)(struct jitlink *link, size_t *size);
TOOLKIT_API int JITLINK(GetErrorLog)(struct jitlink *link, char *log);
TOOLKIT_API int JITLINK(GetInfoLogSize)(struct jitlink *link, size_t *size);
TOOLKIT_API int JITLINK(GetInfoLog)(struct jitlink *link, char *log);

#ifndef TOOLKIT_OLD
TOOLKIT_API int nvJitLinkVersion(unsigned *major, unsigned *minor);
#endif

#endif
