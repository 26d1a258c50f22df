/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Sends any MAD from a port of the fabric, well-formed or not, for the attacks of tests/system. It
 * uses libibumad only, so no code of weft changes its MADs.
 *
 *	attacker [-v] [-q] [-n COUNT] [-r PER_SECOND] [-t TIMEOUT_MS]
 *	         DLID CLASS METHOD ATTR MODIFIER [WORD]...
 *
 * DLID is a number, or `sm` for the master's LID of the port. All numbers are C numbers. A MAD is
 * zero except for its header and the WORDs:
 *
 *	mask:HEX        component mask of an SA request
 *	key:HEX         SM_Key field of an SA request
 *	mkey:HEX        M_Key of an SMP
 *	tid:HEX         lower half of the transaction ID
 *	qp:N            destination QP (0 for SMPs, else 1)
 *	pkey_index:N    P_Key index of the sender
 *	path:1,3,4      directed route of class 0x81
 *	OFFSET=HEX      bytes at OFFSET of the MAD
 *	OFFSET=HEX,HEX  the same; each MAD has the next value, and the first after the last
 *	OFFSET+SIZE     the number of the MAD, in SIZE bytes in network order
 *
 * Sends COUNT MADs, one after the other; default: 1. Each answer is a line, "status 0x0000 method
 * 0x81 attr 0x0035", or "no answer". With -v the line also has "data" and the bytes from offset 56
 * on (64 for SMPs) as hex digits. With -q no answer is expected. -r limits how many MADs are sent
 * in a second, and a line "sent N" follows at the end. The exit status is 0 if all MADs were sent
 * and, without -q, each was answered.
 */
#include <endian.h>
#include <errno.h>
#include <infiniband/umad.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	CLASS_SMP = 0x01,
	CLASS_SA = 0x03,
	CLASS_SMP_DIRECTED = 0x81,
	CLASS_INBAND = 0x37, /* of weft, with an OUI */
	MAD = 256,
	ANSWER_MAX = 1 << 20,
	HOP_COUNT_AT = 7,
	TID_AT = 12, /* the kernel uses the upper half */
	SM_KEY_AT = 36,
	M_KEY_AT = 24,
	DR_SLID_AT = 32,
	DR_DLID_AT = 34,
	MASK_AT = 48,
	PATH_AT = 128,
	PATH_MAX_HOPS = 63,
	SA_DATA = 56,
	SMP_DATA = 64,
	GMP_Q_KEY = (int)0x80010000,
	NSEC = 1000000000,
};

static struct {
	bool verbose, quiet;
	unsigned long count, rate;
	int timeout_ms, qp, pkey_index, port, agent;
	uint8_t mgmt_class;
	void *umad;
	uint8_t *mad;
} run = {.count = 1, .timeout_ms = 1000, .qp = -1};

static void die(const char *what)
{
	fprintf(stderr, "attacker: %s\n", what);
	exit(2);
}

/* Decodes hex digits up to the end or a comma. Returns the number of bytes, at most room. */
static size_t bytes_of(const char *digits, uint8_t *out, size_t room)
{
	size_t size = 0;

	for (; digits[0] && digits[0] != ','; digits += 2) {
		const char byte[3] = {digits[0], digits[1], 0};
		char *end;

		if (size == room)
			die("the bytes do not fit into a MAD");
		out[size++] = (uint8_t)strtoul(byte, &end, 16);
		if (end != byte + 2)
			die("bytes are pairs of hex digits");
	}
	return size;
}

static void put_number(unsigned long offset, uint64_t number, size_t size)
{
	uint64_t wire = htobe64(number);

	if (size > sizeof(wire) || offset > MAD - size)
		die("the number does not fit into a MAD");
	memcpy(run.mad + offset, (uint8_t *)&wire + sizeof(wire) - size, size);
}

static void put_path(const char *ports)
{
	unsigned hops = 0;
	char *end;

	do {
		if (++hops > PATH_MAX_HOPS)
			die("a path has at most 63 hops");
		run.mad[PATH_AT + hops] = (uint8_t)strtoul(ports, &end, 0);
		ports = end + 1;
	} while (*end == ',');
	run.mad[HOP_COUNT_AT] = (uint8_t)hops;
}

/* OFFSET=HEX[,HEX...] or OFFSET+SIZE, for MAD number n. */
static void put_bytes(const char *word, unsigned long n)
{
	char *end;
	unsigned long offset = strtoul(word, &end, 0), values = 1;

	if (end == word || offset >= MAD || !*end)
		die("a word is NAME:VALUE, OFFSET=BYTES or OFFSET+SIZE");
	if (*end == '+') {
		put_number(offset, n, strtoul(end + 1, NULL, 0));
		return;
	}
	for (const char *at = end; *at; at++)
		values += *at == ',';
	for (n %= values; n; n--)
		end = strchr(end, ',');
	bytes_of(end + 1, run.mad + offset, MAD - offset);
}

static void put_word(const char *word, unsigned long n)
{
	static const struct {
		const char *name;
		unsigned offset, size;
	} numbers[] = {
		{"mask:", MASK_AT, 8},
		{"key:", SM_KEY_AT, 8},
		{"mkey:", M_KEY_AT, 8},
		{"tid:", TID_AT, 4},
	};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		size_t length = strlen(numbers[i].name);

		if (strncmp(word, numbers[i].name, length))
			continue;
		put_number(numbers[i].offset, strtoull(word + length, NULL, 16), numbers[i].size);
		return;
	}
	if (!strncmp(word, "path:", 5))
		put_path(word + 5);
	else if (!strncmp(word, "qp:", 3))
		run.qp = atoi(word + 3);
	else if (!strncmp(word, "pkey_index:", 11))
		run.pkey_index = atoi(word + 11);
	else
		put_bytes(word, n);
}

static bool is_smp(void)
{
	return run.mgmt_class == CLASS_SMP || run.mgmt_class == CLASS_SMP_DIRECTED;
}

static void fill(char **words, unsigned long n)
{
	memset(run.umad, 0, umad_size() + MAD);
	run.mad[0] = 1;
	run.mad[1] = run.mgmt_class;
	run.mad[2] = run.mgmt_class == CLASS_SA ? 2 : 1;
	run.mad[3] = (uint8_t)strtoul(words[2], NULL, 0);
	put_number(TID_AT, (uint32_t)getpid() + n, 4);
	put_number(16, strtoul(words[3], NULL, 0), 2);
	put_number(20, strtoul(words[4], NULL, 0), 4);
	if (run.mgmt_class == CLASS_SMP_DIRECTED) {
		put_number(DR_SLID_AT, 0xFFFF, 2);
		put_number(DR_DLID_AT, 0xFFFF, 2);
	}
	for (char **word = words + 5; *word; word++)
		put_word(*word, n);
}

static void address(const char *dlid, const umad_port_t *port)
{
	int lid = strcmp(dlid, "sm") ? (int)strtol(dlid, NULL, 0) : (int)port->sm_lid;
	int qp = run.qp >= 0 ? run.qp : !is_smp();

	umad_set_addr(run.umad, run.mgmt_class == CLASS_SMP_DIRECTED ? 0xFFFF : lid, qp, 0,
		      qp ? GMP_Q_KEY : 0);
	umad_set_pkey(run.umad, run.pkey_index);
}

static bool answer(void)
{
	static uint8_t room[ANSWER_MAX];
	int length = (int)(sizeof(room) - umad_size());
	const uint8_t *mad = umad_get_mad(room);

	if (umad_recv(run.port, room, &length, 4 * run.timeout_ms) < 0 || umad_status(room)) {
		printf("no answer\n");
		return false;
	}
	/* D bit of directed SMPs is not part of the status. */
	printf("status 0x%02x%02x method 0x%02x attr 0x%02x%02x",
	       run.mgmt_class == CLASS_SMP_DIRECTED ? mad[4] & 0x7F : mad[4], mad[5], mad[3],
	       mad[16], mad[17]);
	if (run.verbose) {
		printf(" data ");
		for (int i = is_smp() ? SMP_DATA : SA_DATA; i < length; i++)
			printf("%02x", mad[i]);
	}
	printf("\n");
	return true;
}

static void wait_until(const struct timespec *start, unsigned long n)
{
	struct timespec due = *start;

	due.tv_sec += (time_t)(n / run.rate);
	due.tv_nsec += (long)(n % run.rate * NSEC / run.rate);
	due.tv_sec += due.tv_nsec / NSEC;
	due.tv_nsec %= NSEC;
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
}

static void begin(char **words, umad_port_t *port)
{
	static uint8_t oui[3] = {0x02, 0x77, 0x65};

	run.mgmt_class = (uint8_t)strtoul(words[1], NULL, 0);
	if (umad_init() < 0 || umad_get_port(NULL, 0, port) < 0)
		die("no port");
	run.port = umad_open_port(NULL, 0);
	if (run.mgmt_class == CLASS_INBAND)
		run.agent = umad_register_oui(run.port, run.mgmt_class, 0, oui, NULL);
	else
		run.agent =
			umad_register(run.port, run.mgmt_class, run.mgmt_class == CLASS_SA ? 2 : 1,
				      run.mgmt_class == CLASS_SA, NULL);
	run.umad = calloc(1, umad_size() + MAD);
	if (run.port < 0 || run.agent < 0 || !run.umad)
		die("no agent");
	run.mad = umad_get_mad(run.umad);
}

static int attack(char **words)
{
	struct timespec start;
	unsigned long answers = 0, n;
	umad_port_t port;

	begin(words, &port);
	clock_gettime(CLOCK_MONOTONIC, &start);
	for (n = 0; n < run.count; n++) {
		if (run.rate)
			wait_until(&start, n);
		fill(words, n);
		address(words[0], &port);
		while (umad_send(run.port, run.agent, run.umad, MAD, run.quiet ? 0 : run.timeout_ms,
				 0) < 0)
			if (errno != EAGAIN && errno != ENOMEM && errno != EINTR)
				die("cannot send");
		answers += !run.quiet && answer();
	}
	if (run.quiet)
		printf("sent %lu\n", n);
	return run.quiet || answers == run.count ? 0 : 1;
}

int main(int count, char **words)
{
	int option;

	setvbuf(stdout, NULL, _IOLBF, 0);
	while ((option = getopt(count, words, "+vqn:r:t:")) != -1)
		switch (option) {
		case 'v':
			run.verbose = true;
			break;
		case 'q':
			run.quiet = true;
			break;
		case 'n':
			run.count = strtoul(optarg, NULL, 0);
			break;
		case 'r':
			run.rate = strtoul(optarg, NULL, 0);
			break;
		case 't':
			run.timeout_ms = atoi(optarg);
			break;
		default:
			die("see the head of attacker.c");
		}
	if (count - optind < 5)
		die("DLID CLASS METHOD ATTR MODIFIER [WORD]...");
	return attack(words + optind);
}
