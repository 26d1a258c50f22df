/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Finds the functions behind this library's own; see preload/next.h. It runs before main(), or when
 * a library that is initialised earlier calls a wrapper; two threads that run it at once write the
 * same values. It has no other effect: a program that does not use InfiniBand is not affected.
 */
#include "preload/next.h"

#include <dlfcn.h>

struct next next_functions;
atomic_bool next_found;

__attribute__((constructor)) void next_find(void)
{
#define X(name) next_functions.name = (__typeof__(next_functions.name))dlsym(RTLD_NEXT, #name);
	WRAPPED(X)
#undef X
	atomic_store_explicit(&next_found, true, memory_order_release);
}
