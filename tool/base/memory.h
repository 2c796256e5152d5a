/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that outlives a function: arenas for data that dies together, arrays that grow, cleanup attributes.
 */
#ifndef PREJIT_BASE_MEMORY_H
#define PREJIT_BASE_MEMORY_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Allocates many small objects and frees them together. Zero-initialised is a valid, empty arena. */
struct pj_arena {
    struct pj_arena_block *blocks;
};

/** `size` zeroed bytes, aligned for any object, or NULL when memory is out. */
void *pj_arena_alloc(struct pj_arena *arena, size_t size);

/** Like pj_arena_alloc for `count` objects of `size` bytes; NULL also where the product overflows. */
void *pj_arena_calloc(struct pj_arena *arena, size_t count, size_t size);

/** Copy of `text`; NULL when memory is out. */
char *pj_arena_strdup(struct pj_arena *arena, const char *text);

/** NUL-terminated copy of `size` bytes; NULL when memory is out. */
char *pj_arena_strndup(struct pj_arena *arena, const char *text, size_t size);

/** Formatted text; NULL when memory is out. */
char *pj_arena_printf(struct pj_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *pj_arena_vprintf(struct pj_arena *arena, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));

/** Frees everything the arena gave out; the arena is empty and usable afterwards. */
void pj_arena_free(struct pj_arena *arena);

/** Makes room for one more item of `item_size` bytes in *items (capacity doubles); false when memory is out.
 */
bool pj_array_reserve(void **items, size_t count, size_t *capacity, size_t item_size);

/** Appends one zeroed item to `array` (a struct with `items`, `count`, `capacity`); gives its address or
 * NULL. */
#define PJ_ARRAY_PUSH(array)                                                                                 \
    (pj_array_reserve((void **)&(array)->items, (array)->count, &(array)->capacity, sizeof *(array)->items)  \
         ? &(array)->items[(array)->count++]                                                                 \
         : NULL)

/** free() of a pointer variable, for the cleanup attribute. */
void pj_free_pointer(void *pointer);

#define PJ_CLEANUP_FREE  __attribute__((cleanup(pj_free_pointer)))
#define PJ_CLEANUP_ARENA __attribute__((cleanup(pj_arena_free)))

/** Hands over what a pointer variable owns: gives its value and leaves NULL. */
#define PJ_STEAL(pointer)                                                                                    \
    __extension__({                                                                                          \
        __typeof__(pointer) stolen_ = (pointer);                                                             \
        (pointer) = NULL;                                                                                    \
        stolen_;                                                                                             \
    })

#define PJ_COUNT(array) (sizeof(array) / sizeof *(array))

#endif
