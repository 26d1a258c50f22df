/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A preload library that counts the MADs that a program writes to its umad descriptors, by class,
 * method and attribute. It prints them to the file $COUNT_MADS when the program ends. It stands
 * before ibsim's library in LD_PRELOAD and recognizes umad descriptors by the numbers of that
 * library, which begin at 1024. So two managers are counted in the same way, independent of their
 * own counters.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { FIRST_UMAD_FD = 1024, UMAD_HEADER = 64, MAD_HEADER = 24, ROWS = 256 };

static struct row {
	unsigned mgmt_class, method, attr_id;
	unsigned long count;
} rows[ROWS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void count(const unsigned char *mad)
{
	unsigned attr_id = mad[16] << 8 | mad[17];

	pthread_mutex_lock(&lock);
	for (struct row *row = rows; row < rows + ROWS; row++) {
		if (!row->count)
			*row = (struct row){mad[1], mad[3], attr_id, 0};
		if (row->mgmt_class == mad[1] && row->method == mad[3] && row->attr_id == attr_id) {
			row->count++;
			break;
		}
	}
	pthread_mutex_unlock(&lock);
}

ssize_t write(int fd, const void *data, size_t size)
{
	static ssize_t (*next)(int, const void *, size_t);

	if (!next)
		next = (ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
	if (fd >= FIRST_UMAD_FD && size >= UMAD_HEADER + MAD_HEADER)
		count((const unsigned char *)data + UMAD_HEADER);
	return next(fd, data, size);
}

__attribute__((destructor)) static void print_counts(void)
{
	const char *path = getenv("COUNT_MADS");
	FILE *file = path ? fopen(path, "we") : NULL;

	if (!file)
		return;
	for (const struct row *row = rows; row < rows + ROWS && row->count; row++)
		fprintf(file, "0x%02x 0x%02x 0x%04x %lu\n", row->mgmt_class, row->method,
			row->attr_id, row->count);
	fclose(file);
}
