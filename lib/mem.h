/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Memory: allocation that never returns NULL, and arenas for objects with the same lifetime.
 * Running out of memory aborts: systemd restarts the daemon and the standby takes over, which is
 * safer than a manager in an undefined state. Any thread may allocate; one arena belongs to one
 * thread.
 */
#ifndef LIB_MEM_H
#define LIB_MEM_H

#include <stddef.h>

/* Never NULL; the caller frees with free(). Sizes are bytes; a product that overflows aborts. */
void *mem_alloc(size_t size);				/* not cleared */
void *mem_zalloc(size_t size);				/* cleared */
void *mem_array(size_t count, size_t size);		/* cleared; count * size is checked */
void *mem_resize(void *old, size_t count, size_t size); /* new elements are not cleared */
/* The array with room for one more element; its size doubles. Only for arrays that grow by this
 * function alone, from NULL. */
void *mem_grow(void *old, size_t count, size_t size);
char *mem_strdup(const char *text);
/* After this call, freed blocks of MEM_LARGE_BYTES and more return to the system at once. For
 * programs that run long; call it before the start of any thread. */
void mem_give_back(void);
enum { MEM_LARGE_BYTES = 64 << 10 };
/* As sprintf(), into memory that the caller frees. */
char *mem_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* An arena: allocations that are freed all at once. */
struct arena;
/* An empty arena, without memory before the first allocation. Free it with arena_free(). */
struct arena *arena_new(void);
void arena_free(struct arena *arena); /* with all allocations from it */
/* Frees all allocations at once; its blocks are kept for reuse. */
void arena_reset(struct arena *arena);
void *arena_alloc(struct arena *arena, size_t size);		   /* cleared, 16-byte aligned */
void *arena_array(struct arena *arena, size_t count, size_t size); /* cleared, product checked */
char *arena_strdup(struct arena *arena, const char *text);

#define container_of(pointer, type, member) ((type *)((char *)(pointer)-offsetof(type, member)))
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

#endif
