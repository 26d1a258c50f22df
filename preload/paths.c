/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The C library's functions that take a path: each calls the next function, with the file of the
 * simulation if the path is one of the simulation's. A relative path is never replaced; after
 * chdir() into the simulation's folders it names their files directly.
 */
#include <errno.h>
#include <stdarg.h>

#include "preload/device.h"
#include "preload/next.h"
#include "preload/server.h"

/* Replaces path, which is a parameter of the wrapper, or returns from it with errno. */
#define FIND(path, failed)                      \
	char place_[PLACE_SIZE];                \
	int err_ = place_find(&(path), place_); \
                                                \
	do {                                    \
		if (err_) {                     \
			errno = -err_;          \
			return failed;          \
		}                               \
	} while (0)

/* The forms of open(): a device file becomes a connection, any other is opened by the same form. */
#define OPEN(path, flags, call)                                   \
	do {                                                      \
		enum wire_kind kind_;                             \
		unsigned minor_;                                  \
                                                                  \
		if (place_is_device(path, &kind_, &minor_))       \
			return device_open(kind_, minor_, flags); \
		FIND(path, -1);                                   \
		return call;                                      \
	} while (0)

/* The mode is there only when a file may be made. */
#define MODE(mode, flags)                                                    \
	mode_t mode = 0;                                                     \
                                                                             \
	do {                                                                 \
		if (((flags)&O_CREAT) || ((flags)&O_TMPFILE) == O_TMPFILE) { \
			va_list list_;                                       \
                                                                             \
			va_start(list_, flags);                              \
			mode = va_arg(list_, mode_t);                        \
			va_end(list_);                                       \
		}                                                            \
	} while (0)

int open(const char *path, int flags, ...)
{
	MODE(mode, flags);
	OPEN(path, flags, next()->open(path, flags, mode));
}

int open64(const char *path, int flags, ...)
{
	MODE(mode, flags);
	OPEN(path, flags, next()->open64(path, flags, mode));
}

int openat(int dir, const char *path, int flags, ...)
{
	MODE(mode, flags);
	OPEN(path, flags, next()->openat(dir, path, flags, mode));
}

int openat64(int dir, const char *path, int flags, ...)
{
	MODE(mode, flags);
	OPEN(path, flags, next()->openat64(dir, path, flags, mode));
}

int __open_2(const char *path, int flags)
{
	OPEN(path, flags, next()->__open_2(path, flags));
}

int __open64_2(const char *path, int flags)
{
	OPEN(path, flags, next()->__open64_2(path, flags));
}

int __openat_2(int dir, const char *path, int flags)
{
	OPEN(path, flags, next()->__openat_2(dir, path, flags));
}

int __openat64_2(int dir, const char *path, int flags)
{
	OPEN(path, flags, next()->__openat64_2(dir, path, flags));
}

/* A wrapper of another function: its type, name, parameters, its result for a path of the
 * simulation that does not exist, and its arguments. */
#define WRAP(type, name, parameters, failed, arguments) \
	type name parameters                            \
	{                                               \
		FIND(path, failed);                     \
		return next()->name arguments;          \
	}

typedef int select_fn(const struct dirent *entry);
typedef int select64_fn(const struct dirent64 *entry);
typedef int order_fn(const struct dirent **a, const struct dirent **b);
typedef int order64_fn(const struct dirent64 **a, const struct dirent64 **b);

/* clang-format off */
WRAP(FILE *, fopen, (const char *path, const char *mode), NULL, (path, mode))
WRAP(FILE *, fopen64, (const char *path, const char *mode), NULL, (path, mode))
WRAP(DIR *, opendir, (const char *path), NULL, (path))
WRAP(int, scandir, (const char *path, struct dirent ***list, select_fn *chosen, order_fn *order), -1,
     (path, list, chosen, order))
WRAP(int, scandir64,
     (const char *path, struct dirent64 ***list, select64_fn *chosen, order64_fn *order), -1,
     (path, list, chosen, order))
WRAP(int, chdir, (const char *path), -1, (path))

WRAP(int, stat, (const char *path, struct stat *st), -1, (path, st))
WRAP(int, stat64, (const char *path, struct stat64 *st), -1, (path, st))
WRAP(int, lstat, (const char *path, struct stat *st), -1, (path, st))
WRAP(int, lstat64, (const char *path, struct stat64 *st), -1, (path, st))
WRAP(int, fstatat, (int dir, const char *path, struct stat *st, int flags), -1,
     (dir, path, st, flags))
WRAP(int, fstatat64, (int dir, const char *path, struct stat64 *st, int flags), -1,
     (dir, path, st, flags))
WRAP(int, statx, (int dir, const char *path, int flags, unsigned mask, struct statx *stx), -1,
     (dir, path, flags, mask, stx))
WRAP(int, __xstat, (int version, const char *path, struct stat *st), -1, (version, path, st))
WRAP(int, __xstat64, (int version, const char *path, struct stat64 *st), -1, (version, path, st))
WRAP(int, __lxstat, (int version, const char *path, struct stat *st), -1, (version, path, st))
WRAP(int, __lxstat64, (int version, const char *path, struct stat64 *st), -1, (version, path, st))
WRAP(int, __fxstatat, (int version, int dir, const char *path, struct stat *st, int flags), -1,
     (version, dir, path, st, flags))
WRAP(int, __fxstatat64, (int version, int dir, const char *path, struct stat64 *st, int flags), -1,
     (version, dir, path, st, flags))

WRAP(int, access, (const char *path, int mode), -1, (path, mode))
WRAP(int, eaccess, (const char *path, int mode), -1, (path, mode))
WRAP(int, euidaccess, (const char *path, int mode), -1, (path, mode))
WRAP(int, faccessat, (int dir, const char *path, int mode, int flags), -1, (dir, path, mode, flags))

WRAP(ssize_t, readlink, (const char *path, char *buf, size_t count), -1, (path, buf, count))
WRAP(ssize_t, readlinkat, (int dir, const char *path, char *buf, size_t count), -1,
     (dir, path, buf, count))
WRAP(ssize_t, __readlink_chk, (const char *path, char *buf, size_t count, size_t room), -1,
     (path, buf, count, room))
WRAP(ssize_t, __readlinkat_chk, (int dir, const char *path, char *buf, size_t count, size_t room), -1,
     (dir, path, buf, count, room))
WRAP(char *, realpath, (const char *path, char *resolved), NULL, (path, resolved))
WRAP(char *, __realpath_chk, (const char *path, char *resolved, size_t room), NULL,
     (path, resolved, room))
WRAP(char *, canonicalize_file_name, (const char *path), NULL, (path))
WRAP(ssize_t, getxattr, (const char *path, const char *name, void *value, size_t size), -1,
     (path, name, value, size))
WRAP(ssize_t, lgetxattr, (const char *path, const char *name, void *value, size_t size), -1,
     (path, name, value, size))
/* clang-format on */
