/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The functions that this library wraps: each name that it exports, as the C library (or a later
 * preload library) defines it. All are looked up at once, before main() if possible, so that a
 * wrapper called from a signal handler or between fork() and exec() looks up nothing. A name that
 * is not in WRAPPED cannot be called through next(). preload/libweftsim.map lists the exported
 * names; a test compares both lists.
 */
#ifndef PRELOAD_NEXT_H
#define PRELOAD_NEXT_H

#include <dirent.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Functions of programs that were compiled with _FORTIFY_SOURCE, or for a C library before 2.33; no
 * header declares them. open() without a mode: */
int __open_2(const char *path, int flags);
/* open64() without a mode. */
int __open64_2(const char *path, int flags);
/* openat() without a mode. */
int __openat_2(int dir, const char *path, int flags);
/* openat64() without a mode. */
int __openat64_2(int dir, const char *path, int flags);
/* read(); aborts if count exceeds room, the size of buf, as do the next three. */
ssize_t __read_chk(int fd, void *buf, size_t count, size_t room);
/* readlink(). */
ssize_t __readlink_chk(const char *path, char *buf, size_t count, size_t room);
/* readlinkat(). */
ssize_t __readlinkat_chk(int dir, const char *path, char *buf, size_t count, size_t room);
/* realpath(). */
char *__realpath_chk(const char *path, char *resolved, size_t room);
/* stat() of C libraries before 2.33; version is that of the struct. */
int __xstat(int version, const char *path, struct stat *st);
/* stat64(), likewise. */
int __xstat64(int version, const char *path, struct stat64 *st);
/* lstat(), likewise. */
int __lxstat(int version, const char *path, struct stat *st);
/* lstat64(), likewise. */
int __lxstat64(int version, const char *path, struct stat64 *st);
/* fstatat(), likewise. */
int __fxstatat(int version, int dir, const char *path, struct stat *st, int flags);
/* fstatat64(), likewise. */
int __fxstatat64(int version, int dir, const char *path, struct stat64 *st, int flags);

/* clang-format off */
#define WRAPPED(X) \
	X(open) X(open64) X(openat) X(openat64) \
	X(__open_2) X(__open64_2) X(__openat_2) X(__openat64_2) \
	X(fopen) X(fopen64) X(opendir) X(scandir) X(scandir64) X(chdir) \
	X(stat) X(stat64) X(lstat) X(lstat64) X(fstatat) X(fstatat64) X(statx) \
	X(__xstat) X(__xstat64) X(__lxstat) X(__lxstat64) X(__fxstatat) X(__fxstatat64) \
	X(access) X(eaccess) X(euidaccess) X(faccessat) \
	X(readlink) X(readlinkat) X(__readlink_chk) X(__readlinkat_chk) \
	X(realpath) X(__realpath_chk) X(canonicalize_file_name) X(getxattr) X(lgetxattr) \
	X(read) X(__read_chk) X(write) X(ioctl) X(close) X(close_range) X(closefrom) \
	X(dup) X(dup2) X(dup3) X(fcntl) X(fcntl64)
/* clang-format on */

struct next {
#define X(name) __typeof__(name) *name;
	WRAPPED(X)
#undef X
};

extern struct next next_functions;
extern atomic_bool next_found;
/* Looks up all functions, and sets next_found. Any thread; it may run twice. */
void next_find(void);

static inline const struct next *next(void)
{
	if (!atomic_load_explicit(&next_found, memory_order_acquire))
		next_find();
	return &next_functions;
}

#endif
