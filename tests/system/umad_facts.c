/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The facts of a umad device: `umad_facts FOLDER NUMBER PEER_LID` prints the result of each call
 * that a program can make, of the kernel or of weftsim's imitation of it. FOLDER has the device
 * nodes umadNUMBER and issmNUMBER, such as /dev/infiniband. tests/golden/umad-newest.golden has the
 * results of a Debian kernel 7.3 with the module vhca, and umad.golden those of kernels that do not
 * limit requests under way: 6.1 and 6.12. tests/system/umad-facts.sh compares those of weftsim
 * with it, and tests/system/kernel.sh those of the kernel. So both use the same fabric: this node
 * is host-0003, weftd manages it from host-0001, and no program runs at the peer.
 *
 * It judges nothing. A line is a fact: a name, and the values of one call. Values that differ from
 * run to run are not printed, nor those of ib_cm and of the device's vendor.
 */
#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <rdma/ib_user_mad.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum {
	HEADER = sizeof(struct ib_user_mad_hdr),
	OLD_HEADER = sizeof(struct ib_user_mad_hdr_old),
	MAD = 256,
	SMP_LID = 0x01,
	SMP_DIRECTED = 0x81,
	SA = 0x03,
	PERF = 0x04,
	VENDOR = 0x0A,
	VENDOR_OUI = 0x32,
	GET = 0x01,
	SET = 0x02,
	GET_TABLE = 0x12,
	NODE_INFO = 0x11,
	PORT_INFO = 0x15,
	QP1_KEY = 0x80010000u,
	CM = 0x07,
	UNKNOWN_LID = 0xBFFF,
	STEP_MS = 400,
	ANSWER_MS = 5000,
	QUIET_MS = 300,
	ANY = 1 << 16,
};

struct umad {
	struct ib_user_mad_hdr header;
	uint8_t mad[1 << 16];
};

static const char *folder, *number;
static uint16_t own_lid, peer_lid, sm_lid;

static const char *name_of(int error)
{
	switch (error) {
	case 0:
		return "ok";
	case ETIMEDOUT:
		return "ETIMEDOUT";
	case EAGAIN:
		return "EAGAIN";
	case EINVAL:
		return "EINVAL";
	case ENOMEM:
		return "ENOMEM";
	case ENOSPC:
		return "ENOSPC";
	case ENOTTY:
		return "ENOTTY";
	case EFAULT:
		return "EFAULT";
	case EBUSY:
		return "EBUSY";
	case ESPIPE:
		return "ESPIPE";
	default:
		return strerror(error);
	}
}

static void __attribute__((format(printf, 2, 3))) fact(const char *name, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	printf("%s: ", name);
	vprintf(format, values);
	putchar('\n');
	fflush(stdout);
	va_end(values);
}

/* The result of a system call. */
static const char *outcome(int result)
{
	return name_of(result < 0 ? errno : 0);
}

/* Devices */

static int open_device(const char *kind, int flags)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s%s", folder, kind, number);
	return open(path, flags);
}

static int open_umad(int flags)
{
	int fd = open_device("umad", O_RDWR | flags);

	if (fd < 0) {
		fprintf(stderr, "umad_facts: cannot open %s/umad%s: %m\n", folder, number);
		exit(1);
	}
	ioctl(fd, IB_USER_MAD_ENABLE_PKEY);
	return fd;
}

static struct ib_user_mad_reg_req2 request_of(unsigned qpn, unsigned mgmt_class, unsigned version,
					      uint64_t methods)
{
	return (struct ib_user_mad_reg_req2){
		.qpn = qpn,
		.mgmt_class = mgmt_class,
		.mgmt_class_version = version,
		.method_mask = {methods},
	};
}

/* The number of the agent, or -1 with errno. */
static int enlist(int fd, struct ib_user_mad_reg_req2 request)
{
	return ioctl(fd, IB_USER_MAD_REGISTER_AGENT2, &request) ? -1 : (int)request.id;
}

static int enlist_plain(int fd, unsigned qpn, unsigned mgmt_class, unsigned version)
{
	return enlist(fd, request_of(qpn, mgmt_class, version, 0));
}

/* MADs */

static void put16(uint8_t *at, uint16_t value)
{
	at[0] = value >> 8;
	at[1] = value;
}

static uint16_t get16(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

static void put32(uint8_t *at, uint32_t value)
{
	put16(at, value >> 16);
	put16(at + 2, value);
}

static uint32_t get32(const uint8_t *at)
{
	return (uint32_t)get16(at) << 16 | get16(at + 2);
}

/* A request with an address; qpn follows from the class. */
static void compose(struct umad *umad, int agent, uint16_t lid, uint8_t mgmt_class, uint8_t version,
		    uint8_t method, uint16_t attribute, uint32_t tid)
{
	bool is_smp = mgmt_class == SMP_LID || mgmt_class == SMP_DIRECTED;

	memset(umad, 0, HEADER + MAD);
	umad->header.id = agent;
	umad->header.qpn = htobe32(is_smp ? 0 : 1);
	umad->header.qkey = htobe32(is_smp ? 0 : QP1_KEY);
	umad->header.lid = htobe16(lid);
	umad->header.timeout_ms = 1000;
	umad->mad[0] = 1;
	umad->mad[1] = mgmt_class;
	umad->mad[2] = version;
	umad->mad[3] = method;
	put32(umad->mad + 12, tid);
	put16(umad->mad + 16, attribute);
}

/* A directed SMP over so many hops, first by port 1. */
static void compose_directed(struct umad *umad, int agent, uint8_t hops, uint16_t attribute,
			     uint32_t tid)
{
	compose(umad, agent, 0xFFFF, SMP_DIRECTED, 1, GET, attribute, tid);
	umad->mad[7] = hops;
	memset(umad->mad + 32, 0xFF, 4);
	umad->mad[128 + 1] = 1;
	umad->mad[128 + 2] = 1;
}

static ssize_t put(int fd, const struct umad *umad)
{
	return write(fd, umad, HEADER + MAD);
}

/* Bytes read within the time; 0: none; -1 with errno. */
static ssize_t get(int fd, struct umad *umad, size_t room, int wait_ms)
{
	struct pollfd ready = {.fd = fd, .events = POLLIN};

	if (poll(&ready, 1, wait_ms) <= 0)
		return 0;
	return read(fd, umad, room);
}

static const char *lid_name(uint16_t lid)
{
	static char text[8];

	if (lid == own_lid || lid == peer_lid || lid == sm_lid)
		return lid == own_lid ? "own" : lid == peer_lid ? "peer" : "sm";
	snprintf(text, sizeof(text), "%u", lid);
	return text;
}

/* The facts of a received MAD. The upper half of a TID is the number of an agent. */
static void fact_of(const char *name, ssize_t got, const struct umad *umad)
{
	const struct ib_user_mad_hdr *header = &umad->header;
	const uint8_t *mad = umad->mad;

	if (got <= 0) {
		fact(name, "%s", got ? outcome(-1) : "no MAD");
		return;
	}
	fact(name, "%zd bytes, id %u status %s timeout %u retries %u length %u", got, header->id,
	     name_of(header->status), header->timeout_ms, header->retries, header->length);
	fact(name, "  qpn %u qkey 0x%x lid %s sl %u path_bits %u pkey_index %u",
	     be32toh(header->qpn), be32toh(header->qkey), lid_name(be16toh(header->lid)),
	     header->sl, header->path_bits, header->pkey_index);
	if (header->grh_present)
		fact(name, "  grh gid_index %u hop_limit %u class %u flow 0x%x gid %02x%02x..%02x",
		     header->gid_index, header->hop_limit, header->traffic_class,
		     be32toh(header->flow_label), header->gid[0], header->gid[1], header->gid[15]);
	else
		fact(name, "  no grh, gid_index %u hop_limit %u", header->gid_index,
		     header->hop_limit);
	fact(name,
	     "  class 0x%02x method 0x%02x status 0x%04x hops %u/%u tid %s:%x attribute 0x%04x",
	     mad[1], mad[3], get16(mad + 4), mad[1] == SMP_DIRECTED ? mad[6] : 0,
	     mad[1] == SMP_DIRECTED ? mad[7] : 0, get32(mad + 8) ? "agent" : "0", get32(mad + 12),
	     get16(mad + 16));
}

static void ask(const char *name, int fd, struct umad *umad)
{
	struct umad answer = {0};

	if (put(fd, umad) < 0) {
		fact(name, "write %s", outcome(-1));
		return;
	}
	fact_of(name, get(fd, &answer, sizeof(answer), ANSWER_MS), &answer);
}

/* The facts, by topic */

static void facts_open(void)
{
	int fd = open_device("umad", O_RDWR), other = open_device("umad", O_RDWR), r;
	char byte;

	fact("open twice", "%s", outcome(other));
	fact("open to read", "%s", outcome(open_device("umad", O_RDONLY)));
	fact("seek", "%s", outcome(lseek(fd, 0, SEEK_SET)));
	fact("unknown ioctl", "%s", outcome(ioctl(fd, _IO(IB_IOCTL_MAGIC, 99))));
	fact("read without room", "%s", outcome(read(fd, &byte, 1)));
	fact("write of a byte", "%s", outcome(write(fd, &byte, 1)));
	r = ioctl(fd, IB_USER_MAD_ENABLE_PKEY);
	fact("enable pkey", "%s", outcome(r));
	r = ioctl(fd, IB_USER_MAD_ENABLE_PKEY);
	fact("enable pkey twice", "%s", outcome(r));
	r = enlist_plain(other, 1, SA, 2);
	fact("register before enable pkey", "%s %d", outcome(r), r);
	r = ioctl(other, IB_USER_MAD_ENABLE_PKEY);
	fact("enable pkey after register", "%s", outcome(r));
	close(fd);
	close(other);
}

static void facts_register(void)
{
	static const struct {
		const char *name;
		struct ib_user_mad_reg_req2 request;
	} rows[] = {
		{"sends only", {.qpn = 1}},
		{"sends only, qp 0", {.qpn = 0}},
		{"qp 2", {.qpn = 2, .mgmt_class = SA, .mgmt_class_version = 2}},
		{"smp at qp 1", {.qpn = 1, .mgmt_class = SMP_LID, .mgmt_class_version = 1}},
		{"gmp at qp 0", {.qpn = 0, .mgmt_class = SA, .mgmt_class_version = 2}},
		{"directed", {.qpn = 0, .mgmt_class = SMP_DIRECTED, .mgmt_class_version = 1}},
		{"class 0x50", {.qpn = 1, .mgmt_class = 0x50, .mgmt_class_version = 1}},
		{"class 0x02", {.qpn = 1, .mgmt_class = 0x02, .mgmt_class_version = 1}},
		{"class 0x4f", {.qpn = 1, .mgmt_class = 0x4F, .mgmt_class_version = 1}},
		{"version 0", {.qpn = 1, .mgmt_class = VENDOR}},
		{"version 0x83", {.qpn = 1, .mgmt_class = VENDOR, .mgmt_class_version = 0x83}},
		{"version 0x82", {.qpn = 1, .mgmt_class = VENDOR, .mgmt_class_version = 0x82}},
		{"vendor 2 without oui", {.qpn = 1, .mgmt_class = 0x32, .mgmt_class_version = 1}},
		{"vendor 2",
		 {.qpn = 1, .mgmt_class = 0x32, .mgmt_class_version = 1, .oui = 0x1405}},
		{"vendor 2, long oui",
		 {.qpn = 1, .mgmt_class = 0x32, .mgmt_class_version = 1, .oui = 0x1001405}},
		{"rmpp without rmpp class",
		 {.qpn = 1, .mgmt_class = PERF, .mgmt_class_version = 1, .rmpp_version = 1}},
		{"rmpp 1",
		 {.qpn = 1, .mgmt_class = SA, .mgmt_class_version = 2, .rmpp_version = 1}},
		{"rmpp 2",
		 {.qpn = 1, .mgmt_class = SA, .mgmt_class_version = 2, .rmpp_version = 2}},
		{"user rmpp",
		 {.qpn = 1,
		  .mgmt_class = SA,
		  .mgmt_class_version = 2,
		  .rmpp_version = 1,
		  .flags = IB_USER_MAD_USER_RMPP}},
		{"user rmpp, no version",
		 {.qpn = 1, .mgmt_class = SA, .mgmt_class_version = 2, .flags = 1}},
		{"unknown flag", {.qpn = 1, .mgmt_class = SA, .mgmt_class_version = 2, .flags = 6}},
		{"flag of a sender", {.qpn = 1, .flags = 1}},
	};
	int fd, other, first, r, count = 0;
	uint32_t none = 31;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct ib_user_mad_reg_req2 request = rows[i].request;

		fd = open_umad(0);
		r = ioctl(fd, IB_USER_MAD_REGISTER_AGENT2, &request);
		printf("register %s: %s id %u flags %u\n", rows[i].name, outcome(r), request.id,
		       request.flags);
		close(fd);
	}
	fd = open_umad(0);
	other = open_umad(0);
	first = enlist(fd, request_of(1, VENDOR, 1, 1 << GET | 1 << SET));
	fact("register methods", "%d", first);
	r = enlist(other, request_of(1, VENDOR, 1, 1 << SET));
	fact("register a taken method", "%s", outcome(r));
	r = enlist(other, request_of(1, VENDOR, 2, 1 << SET));
	fact("register a taken method of another version", "%s", outcome(r));
	r = enlist(other, request_of(1, VENDOR, 1, 1 << 5));
	fact("register another method", "%s", outcome(r));
	fact("unregister none", "%s", outcome(ioctl(fd, IB_USER_MAD_UNREGISTER_AGENT, &none)));
	none = ANY;
	fact("unregister a large number", "%s",
	     outcome(ioctl(fd, IB_USER_MAD_UNREGISTER_AGENT, &none)));
	none = first;
	fact("unregister", "%s", outcome(ioctl(fd, IB_USER_MAD_UNREGISTER_AGENT, &none)));
	fact("unregister twice", "%s", outcome(ioctl(fd, IB_USER_MAD_UNREGISTER_AGENT, &none)));
	fact("register the freed method", "%s",
	     outcome(enlist(other, request_of(1, VENDOR, 1, 1 << SET))));
	while ((r = enlist_plain(fd, 1, 0, 0)) >= 0)
		count++;
	fact("agents of a file", "%d, then %s", count, outcome(r));
	close(fd);
	close(other);
}

static void facts_write(void)
{
	int fd = open_umad(0), smi = enlist_plain(fd, 0, SMP_DIRECTED, 1);
	int gsi = enlist_plain(fd, 1, SA, 2);
	struct umad umad;

	compose_directed(&umad, smi, 0, NODE_INFO, 1);
	fact("write header only", "%s", outcome(write(fd, &umad, HEADER)));
	fact("write 35 bytes", "%s", outcome(write(fd, &umad, HEADER + 35)));
	compose(&umad, gsi, sm_lid, SA, 2, GET, 1, 2);
	umad.header.timeout_ms = 0;
	fact("write 55 bytes to the SA", "%s", outcome(write(fd, &umad, HEADER + 55)));
	fact("write 257 bytes", "%s", outcome(write(fd, &umad, HEADER + MAD + 1)));
	umad.header.id = 20;
	fact("write of no agent", "%s", outcome(put(fd, &umad)));
	umad.header.id = 32;
	fact("write of agent 32", "%s", outcome(put(fd, &umad)));
	compose_directed(&umad, smi, 1, NODE_INFO, 3);
	umad.mad[128 + 1] = 2;
	fact("write a wrong first port", "%s", outcome(put(fd, &umad)));
	compose_directed(&umad, smi, 1, NODE_INFO, 4);
	umad.mad[6] = 1;
	fact("write a hop pointer of 1", "%s", outcome(put(fd, &umad)));
	compose_directed(&umad, smi, 64, NODE_INFO, 5);
	fact("write 64 hops", "%s", outcome(put(fd, &umad)));
	compose(&umad, gsi, peer_lid, SA, 2, GET, 1, 6);
	umad.header.grh_present = 1;
	umad.header.gid_index = 200;
	fact("write a gid index of 200", "%s", outcome(put(fd, &umad)));
	umad.header.gid_index = 3;
	fact("write an empty gid index", "%s", outcome(put(fd, &umad)));
	compose(&umad, gsi, peer_lid, SA, 2, GET, 1, 7);
	fact("write a request", "%s", outcome(put(fd, &umad)));
	fact("write its TID again", "%s", outcome(put(fd, &umad)));
	umad.mad[1] = PERF;
	fact("write its TID in another class", "%s", outcome(put(fd, &umad)));
	umad.mad[1] = SA;
	umad.mad[3] = 0x81;
	fact("write its TID as an answer", "%s", outcome(put(fd, &umad)));
	umad.mad[1] = SMP_LID;
	fact("write an SMP at qp 1", "%s", outcome(put(fd, &umad)));
	close(fd);
}

static void facts_timeout(void)
{
	int fd = open_umad(O_NONBLOCK), agent = enlist_plain(fd, 1, SA, 2);
	struct timespec begin, end;
	struct umad umad;
	ssize_t got;
	long ms;

	fact("read of nothing", "%s", outcome(read(fd, &umad, sizeof(umad))));
	compose(&umad, agent, peer_lid, SA, 2, GET, 1, 0x77);
	umad.header.timeout_ms = 200;
	umad.header.retries = 2;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	put(fd, &umad);
	got = get(fd, &umad, HEADER + MAD, ANSWER_MS);
	clock_gettime(CLOCK_MONOTONIC, &end);
	ms = (end.tv_sec - begin.tv_sec) * 1000 + (end.tv_nsec - begin.tv_nsec) / 1000000;
	fact_of("time-out", got, &umad);
	fact("time-out", "  after %s attempts",
	     ms >= 590 && ms < 1500 ? "3"
	     : ms < 590		    ? "few"
				    : "many");
	compose(&umad, agent, 0xBFFF, SA, 2, GET, 1, 0x78);
	umad.header.timeout_ms = 50;
	ask("time-out of an unknown LID", fd, &umad);
	compose(&umad, agent, 0, SA, 2, GET, 1, 0x79);
	umad.header.timeout_ms = 50;
	ask("time-out of LID 0", fd, &umad);
	compose(&umad, agent, peer_lid, SA, 2, GET, 1, 0x7A);
	umad.header.timeout_ms = 50;
	put(fd, &umad);
	usleep(QUIET_MS * 1000);
	fact("read a time-out of 24 bytes into 87", "%s", outcome(read(fd, &umad, HEADER + 23)));
	fact("read it into 88", "%s", outcome(read(fd, &umad, HEADER + 24)));
	close(fd);
}

static void facts_smp(void)
{
	int fd = open_umad(0), directed = enlist_plain(fd, 0, SMP_DIRECTED, 1);
	int by_lid = enlist_plain(fd, 0, SMP_LID, 1);
	struct umad umad;

	compose_directed(&umad, directed, 0, NODE_INFO, 0x11);
	ask("directed to itself", fd, &umad);
	compose_directed(&umad, directed, 1, NODE_INFO, 0x12);
	ask("directed to the switch", fd, &umad);
	compose_directed(&umad, directed, 1, 0xFF, 0x13);
	ask("directed, unknown attribute", fd, &umad);
	compose_directed(&umad, directed, 0, 0xFF, 0x14);
	ask("directed to itself, unknown attribute", fd, &umad);
	compose(&umad, by_lid, own_lid, SMP_LID, 1, GET, NODE_INFO, 0x15);
	ask("by LID to itself", fd, &umad);
	compose(&umad, by_lid, peer_lid, SMP_LID, 1, GET, NODE_INFO, 0x16);
	ask("by LID to the peer", fd, &umad);
	compose(&umad, by_lid, sm_lid, SMP_LID, 1, GET, 0x20, 0x17);
	ask("SMInfo of the manager", fd, &umad);
	compose(&umad, by_lid, peer_lid, SMP_LID, 1, GET, 0x20, 0x18);
	umad.header.timeout_ms = 100;
	ask("SMInfo of a host", fd, &umad);
	compose(&umad, by_lid, own_lid, SMP_LID, 1, GET, 0x20, 0x19);
	umad.header.timeout_ms = 100;
	ask("SMInfo of itself", fd, &umad);
	compose_directed(&umad, directed, 0, 0x20, 0x1A);
	umad.header.timeout_ms = 100;
	ask("SMInfo of itself, directed", fd, &umad);
	compose(&umad, by_lid, 0xFFFF, SMP_LID, 1, GET, NODE_INFO, 0x1B);
	umad.header.timeout_ms = 100;
	ask("by the permissive LID", fd, &umad);
	close(fd);
}

static void facts_gmp(void)
{
	int fd = open_umad(0), perf = enlist_plain(fd, 1, PERF, 1), sa = enlist_plain(fd, 1, SA, 2);
	struct umad umad;

	compose(&umad, perf, own_lid, PERF, 1, GET, 1, 0x21);
	ask("ClassPortInfo of the own PMA", fd, &umad);
	compose(&umad, perf, peer_lid, PERF, 1, GET, 1, 0x22);
	ask("ClassPortInfo of a PMA", fd, &umad);
	compose(&umad, sa, sm_lid, SA, 2, GET, 1, 0x23);
	ask("ClassPortInfo of the SA", fd, &umad);
	compose(&umad, sa, sm_lid, SA, 2, GET, 0x7777, 0x24);
	ask("an unknown record of the SA", fd, &umad);
	compose(&umad, sa, sm_lid, SA, 2, GET, 1, 0x25);
	umad.header.qkey = 0;
	ask("a Q_Key of 0", fd, &umad);
	compose(&umad, sa, sm_lid, SA, 2, GET, 1, 0x26);
	umad.header.pkey_index = 5;
	umad.header.timeout_ms = 100;
	ask("an empty P_Key index", fd, &umad);
	compose(&umad, sa, sm_lid, SA, 2, GET, 1, 0x27);
	umad.header.qpn = htobe32(0);
	umad.header.timeout_ms = 100;
	ask("a GMP to qp 0", fd, &umad);
	close(fd);
}

/* A server at the own port: requests to it, and its answers. */
static void facts_server(void)
{
	int server = open_umad(0), client = open_umad(0), agent, sender;
	struct ib_user_mad_reg_req2 request = request_of(1, VENDOR_OUI, 1, 1 << GET);
	struct umad umad, received;
	ssize_t got;

	request.oui = 0x1405;
	agent = enlist(server, request);
	request.method_mask[0] = 0;
	sender = enlist(client, request);
	compose(&umad, sender, own_lid, VENDOR_OUI, 1, GET, 0x10, 0x31);
	umad.header.sl = 3;
	put32(umad.mad + 36, 0x1405);
	put(client, &umad);
	got = get(server, &received, sizeof(received), ANSWER_MS);
	fact_of("a request to the own server", got, &received);
	if (got > 0) {
		received.header.id = agent;
		received.header.timeout_ms = 0;
		received.mad[3] = 0x81;
		fact("its answer", "%s", outcome(put(server, &received)));
		fact_of("its answer", get(client, &umad, sizeof(umad), ANSWER_MS), &umad);
		fact("its answer again", "%s", outcome(put(server, &received)));
		fact_of("its answer again", get(client, &umad, sizeof(umad), QUIET_MS), &umad);
	}
	compose(&umad, sender, own_lid, VENDOR_OUI, 1, SET, 0x10, 0x32);
	put32(umad.mad + 36, 0x1405);
	ask("a method without an agent", client, &umad);
	compose(&umad, sender, own_lid, VENDOR_OUI, 1, GET, 0x10, 0x33);
	put32(umad.mad + 36, 0x1406);
	ask("another OUI", client, &umad);
	compose(&umad, sender, own_lid, VENDOR_OUI, 2, GET, 0x10, 0x34);
	put32(umad.mad + 36, 0x1405);
	ask("another version", client, &umad);
	compose(&umad, sender, own_lid, VENDOR_OUI, 1, 0x05, 0x10, 0x35);
	put32(umad.mad + 36, 0x1405);
	umad.header.timeout_ms = 100;
	ask("a Trap without an agent", client, &umad);
	close(server);
	close(client);
}

/* A table of several segments: NodeRecords. */
static void facts_rmpp(void)
{
	struct ib_user_mad_reg_req2 request = request_of(1, SA, 2, 0);
	static struct umad umad;
	int fd = open_umad(0), agent;
	ssize_t got;

	request.rmpp_version = 1;
	agent = enlist(fd, request);
	compose(&umad, agent, sm_lid, SA, 2, GET_TABLE, NODE_INFO, 0x41);
	umad.mad[24] = 1;
	put(fd, &umad);
	got = get(fd, &umad, HEADER + MAD - 1, ANSWER_MS);
	fact("read a table into 319 bytes", "%s", outcome(got));
	got = get(fd, &umad, HEADER + MAD, ANSWER_MS);
	fact("read a table into 320 bytes", "%s, length %u", outcome(got), umad.header.length);
	got = get(fd, &umad, sizeof(umad), ANSWER_MS);
	fact_of("read a table", got, &umad);
	fact("read a table", "  rmpp version %u type %u flags %u segment %u length %u",
	     umad.mad[24], umad.mad[25], umad.mad[26], get32(umad.mad + 28), get32(umad.mad + 32));
	request.flags = IB_USER_MAD_USER_RMPP;
	agent = enlist(fd, request);
	compose(&umad, agent, sm_lid, SA, 2, GET_TABLE, NODE_INFO, 0x42);
	umad.mad[24] = 1;
	put(fd, &umad);
	got = get(fd, &umad, sizeof(umad), ANSWER_MS);
	fact_of("first segment of a table", got, &umad);
	fact("first segment of a table", "  rmpp version %u type %u flags %u segment %u length %u",
	     umad.mad[24], umad.mad[25], umad.mad[26], get32(umad.mad + 28), get32(umad.mad + 32));
	close(fd);
}

/* Tables of two segments from a server at the own port: one that a request waits for, and one that
 * comes after its time-out. */
static void facts_rmpp_server(void)
{
	static const struct {
		const char *name;
		uint32_t request_ms;
	} rows[] = {{"a table in time", ANSWER_MS}, {"a late table", 100}};
	struct ib_user_mad_reg_req2 request = request_of(1, SA, 2, 1 << GET_TABLE);
	static struct umad umad, received;
	int server = open_umad(0), client = open_umad(0), agent, sender;

	request.rmpp_version = 1;
	agent = enlist(server, request);
	request.method_mask[0] = 0;
	sender = enlist(client, request);
	compose(&umad, sender, own_lid, PERF, 1, GET, 1, 0x60);
	fact("write another class by an agent with rmpp", "%s", outcome(put(client, &umad)));
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		compose(&umad, sender, own_lid, SA, 2, GET_TABLE, NODE_INFO, 0x61 + i);
		umad.header.timeout_ms = rows[i].request_ms;
		put(client, &umad);
		get(server, &received, sizeof(received), ANSWER_MS);
		if (i)
			get(client, &umad, sizeof(umad), ANSWER_MS);
		received.header.id = agent;
		received.header.timeout_ms = 0;
		received.mad[3] = GET_TABLE | 0x80;
		memcpy(received.mad + 24, "\1\1\1", 3);
		memset(received.mad + MAD, 0, MAD);
		fact(rows[i].name, "write %s",
		     outcome(write(server, &received, HEADER + 56 + 300)));
		fact_of(rows[i].name, get(client, &umad, sizeof(umad), QUIET_MS), &umad);
	}
	close(server);
	close(client);
}

/* Requests under way: newer kernels limit them. */

static long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void put_silent(int fd, int agent, uint8_t mgmt_class, unsigned count, unsigned retries,
		       bool active)
{
	struct umad umad;

	for (unsigned i = 0; i < count; i++) {
		if (mgmt_class == SMP_DIRECTED) {
			compose_directed(&umad, agent, 2, NODE_INFO, 0x1000 + i);
			umad.mad[128 + 2] = 200; /* the switch has no such port */
		} else {
			compose(&umad, agent, UNKNOWN_LID, mgmt_class,
				mgmt_class == CM || mgmt_class == SA ? 2 : 1, GET, NODE_INFO,
				0x1000 + i);
		}
		umad.header.timeout_ms = STEP_MS;
		umad.header.retries = retries;
		if (active)
			memcpy(umad.mad + 24, "\1\1\1", 3);
		if (put(fd, &umad) < 0)
			fact("write of many", "%u: %s", i, outcome(-1));
	}
}

/* When the results arrive: in which multiples of the time-out, and how many. */
static void fact_steps(const char *name, int fd, unsigned count)
{
	long begin = now_ms(), last = begin, step = 0;
	unsigned in_step = 0;
	struct umad umad;

	printf("%s:", name);
	for (unsigned i = 0; i <= count; i++) {
		bool end = i == count || get(fd, &umad, HEADER + MAD, ANSWER_MS) <= 0;
		long now = now_ms();

		if (in_step && (end || now - last > STEP_MS / 2)) {
			printf(" %u after %ld", in_step, step);
			in_step = 0;
		}
		if (!in_step++)
			step = (now - begin + STEP_MS / 4) / STEP_MS;
		last = now;
	}
	putchar('\n');
	fflush(stdout);
}

static void facts_limit(void)
{
	static const struct {
		const char *name;
		uint8_t qpn, own_class, version, rmpp, flags; /* of the agent */
		uint8_t mgmt_class, count, retries;	      /* of the requests */
		bool active;				      /* RMPP */
	} rows[] = {
		{"40 to an SA", 1, SA, 2, 0, 0, SA, 40, 0, false},
		{"40 to an SA, retried", 1, SA, 2, 0, 0, SA, 40, 1, false},
		{"20 to an SA, retried", 1, SA, 2, 0, 0, SA, 20, 1, false},
		{"40 to an SA, with rmpp", 1, SA, 2, 1, 0, SA, 40, 0, false},
		{"40 messages to an SA", 1, SA, 2, 1, 0, SA, 40, 0, true},
		{"40 segments to an SA", 1, SA, 2, 1, 1, SA, 40, 0, true},
		{"140 of a sender to an SA", 1, 0, 0, 0, 0, SA, 140, 0, false},
		{"140 of a vendor agent to an SA", 1, VENDOR, 1, 0, 0, SA, 140, 0, false},
		{"140 of an SA agent to a PMA", 1, SA, 2, 0, 0, PERF, 140, 0, false},
		{"140 of a vendor", 1, VENDOR, 1, 0, 0, VENDOR, 140, 0, false},
		{"140 of the CM", 1, CM, 2, 0, 0, CM, 140, 0, false},
		{"140 SMPs", 0, SMP_LID, 1, 0, 0, SMP_LID, 140, 0, false},
		{"140 directed SMPs", 0, SMP_DIRECTED, 1, 0, 0, SMP_DIRECTED, 140, 0, false},
	};
	uint32_t agent;
	int fd;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct ib_user_mad_reg_req2 request =
			request_of(rows[i].qpn, rows[i].own_class, rows[i].version, 0);

		request.rmpp_version = rows[i].rmpp;
		request.flags = rows[i].flags;
		fd = open_umad(0);
		put_silent(fd, enlist(fd, request), rows[i].mgmt_class, rows[i].count,
			   rows[i].retries, rows[i].active);
		fact_steps(rows[i].name, fd, rows[i].count);
		close(fd);
	}
	fd = open_umad(0);
	agent = enlist_plain(fd, 1, SA, 2);
	put_silent(fd, (int)agent, SA, 40, 0, false);
	ioctl(fd, IB_USER_MAD_UNREGISTER_AGENT, &agent);
	put_silent(fd, enlist_plain(fd, 1, SA, 2), SA, 20, 0, false);
	fact_steps("20 after an agent with 40", fd, 20);
	close(fd);
}

/* A request to the manager behind many to a silent port: whether its answer waits. */
static void facts_limit_answer(void)
{
	int fd = open_umad(0), agent = enlist_plain(fd, 1, SA, 2);
	struct umad umad;

	put_silent(fd, agent, SA, 16, 0, false);
	compose(&umad, agent, sm_lid, SA, 2, GET, 1, 0x70);
	put(fd, &umad);
	get(fd, &umad, HEADER + MAD, ANSWER_MS);
	fact("first result, of a request behind 16", "%s", name_of(umad.header.status));
	close(fd);
}

/* The header of programs that did not enable pkey_index. */
static void facts_old_header(void)
{
	struct ib_user_mad_reg_req request = {
		.qpn = 0, .mgmt_class = SMP_DIRECTED, .mgmt_class_version = 1};
	int fd = open_device("umad", O_RDWR);
	static struct umad umad;
	uint8_t bytes[OLD_HEADER + MAD];
	struct ib_user_mad_hdr_old header;
	ssize_t got;

	fact("register by the older call", "%s",
	     outcome(ioctl(fd, IB_USER_MAD_REGISTER_AGENT, &request)));
	compose_directed(&umad, (int)request.id, 0, NODE_INFO, 0x51);
	memcpy(bytes, &umad, OLD_HEADER);
	memcpy(bytes + OLD_HEADER, umad.mad, MAD);
	fact("write with the old header", "%s", outcome(write(fd, bytes, sizeof(bytes))));
	got = get(fd, (struct umad *)bytes, sizeof(bytes), ANSWER_MS);
	memcpy(&header, bytes, sizeof(header));
	fact("read with the old header", "%zd bytes, length %u, class 0x%02x method 0x%02x", got,
	     header.length, bytes[OLD_HEADER + 1], bytes[OLD_HEADER + 3]);
	close(fd);
}

static void facts_poll(void)
{
	int fd = open_umad(0);
	struct pollfd ready = {.fd = fd, .events = POLLIN | POLLOUT};
	int r = poll(&ready, 1, 0);

	fact("poll", "%d events 0x%x", r, ready.revents);
	close(fd);
}

static void facts_issm(void)
{
	int first = open_device("issm", O_RDONLY | O_NONBLOCK), second;

	fact("open issm", "%s", outcome(first));
	second = open_device("issm", O_RDONLY | O_NONBLOCK);
	fact("open issm twice", "%s", outcome(second));
	fact("read issm", "%s", outcome(read(first, &second, sizeof(second))));
	close(first);
	second = open_device("issm", O_RDWR | O_NONBLOCK);
	fact("open issm after its end", "%s", outcome(second));
	close(second);
}

/* Files of sysfs */

static void fact_file(const char *device, const char *file)
{
	char path[512], text[128] = "", *end;
	FILE *stream;

	snprintf(path, sizeof(path), "/sys/class/%s/%s", device, file);
	stream = fopen(path, "r");
	if (!stream || !fgets(text, sizeof(text), stream))
		snprintf(text, sizeof(text), "%s", stream ? "empty" : name_of(errno));
	if (stream)
		fclose(stream);
	end = strchr(text, '\n');
	if (end)
		*end = 0;
	fact("file", "%s \"%s\"%s", file, text, end ? "" : " without newline");
}

static void facts_files(const char *device)
{
	static const char *const files[] = {
		"node_type",	      "node_guid",
		"sys_image_guid",     "node_desc",

		"ports/1/state",      "ports/1/phys_state",
		"ports/1/rate",

		"ports/1/sm_sl",      "ports/1/lid_mask_count",

		"ports/1/link_layer", "ports/1/gids/0",
		"ports/1/gids/1",     "ports/1/pkeys/0",
		"ports/1/pkeys/1",    "ports/1/pkeys/127",
		"ports/1/pkeys/128",
	};
	char name[300];

	snprintf(name, sizeof(name), "infiniband/%s", device);
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		fact_file(name, files[i]);
	fact_file("infiniband_mad", "abi_version");
	snprintf(name, sizeof(name), "infiniband_mad/umad%s", number);
	fact_file(name, "port");
}

static unsigned number_in(const char *device, const char *file)
{
	char path[512];
	unsigned value = 0;
	FILE *stream;

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/%s", device, file);
	stream = fopen(path, "r");
	if (!stream || fscanf(stream, "%x", &value) != 1)
		fprintf(stderr, "umad_facts: no number in %s\n", path);
	if (stream)
		fclose(stream);
	return value;
}

int main(int argc, char **argv)
{
	char path[256], device[128] = "";
	FILE *stream;

	if (argc != 4) {
		fputs("umad_facts: needs FOLDER NUMBER PEER_LID\n", stderr);
		return 1;
	}
	folder = argv[1];
	number = argv[2];
	peer_lid = strtoul(argv[3], NULL, 0);
	snprintf(path, sizeof(path), "/sys/class/infiniband_mad/umad%s/ibdev", number);
	stream = fopen(path, "r");
	if (!stream || fscanf(stream, "%127s", device) != 1) {
		fprintf(stderr, "umad_facts: no device in %s\n", path);
		return 1;
	}
	fclose(stream);
	own_lid = number_in(device, "lid");
	sm_lid = number_in(device, "sm_lid");
	facts_files(device);
	facts_open();
	facts_register();
	facts_write();
	facts_timeout();
	facts_smp();
	facts_gmp();
	facts_server();
	facts_rmpp();
	facts_rmpp_server();
	facts_limit();
	facts_limit_answer();
	facts_old_header();
	facts_poll();
	facts_issm();
	return 0;
}
