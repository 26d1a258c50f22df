/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Connections to the virtual machines of `weftsim vm`: the frames of vhca/frame.h on a stream
 * socket, as qemu sends and receives them. A connection is a virtual HCA (sim/hca.h), and its end
 * is the end of the machine.
 *
 * Nothing from the guest is trusted. A frame that is malformed, or that the protocol does not allow
 * at this time, is counted and dropped. A turn reads READ_BYTES from each connection, so that a
 * flood of short frames delays the other connections little. If the guest does not read, packets
 * for it are dropped when PACKETS_BYTES wait. States and answers are never dropped, and need no
 * queue: only the last state of each port and the last answer count, so each is written when the
 * socket has room.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/be.h"
#include "lib/buffer.h"
#include "sim/find.h"
#include "sim/hca.h"
#include "sim/ib_packet.h"
#include "sim/server.h"
#include "vhca/frame.h"

enum {
	ETHERNET_HEADER = 14,
	ETHERNET_LEAST = 60,
	ADDRESS = 6,
	LENGTH = 4,		   /* before each frame */
	LENGTH_MAX = 4096 + 65536, /* of qemu's frames */
	IN_BYTES = 2 * (LENGTH + LENGTH_MAX),
	READ_BYTES = 16 << 10, /* in a turn: some hundred of the shortest frames */
	HEADERS = LENGTH + ETHERNET_HEADER + (int)sizeof(struct vhca_head),
	FRAME_MAX = HEADERS + IB_PACKET_MAX,
	OUT_BYTES = 64 << 10,	   /* in one send() */
	PACKETS_BYTES = 512 << 10, /* that wait for the guest */
};

_Static_assert((int)IB_PACKET_MAX == (int)VHCA_PACKET_MAX, "vhca/frame.h has all packets");
_Static_assert((int)MAD_SIZE == (int)VHCA_MAD_SIZE, "vhca/frame.h has all MADs");

/* The last state of a port. */
struct port_state_frame {
	bool due;
	uint32_t before; /* ClientReregister commands, when the driver started */
	uint8_t *bytes;	 /* a struct vhca_state with its tables */
};

struct vm_link {
	struct hca *hca;
	struct device *device;
	struct connection *connection;
	struct hca_counts *counts;
	uint8_t guest[ADDRESS]; /* of the guest's interface; from its last VHCA_HELLO */
	/* The last request: it is executed once, and answered as often as it arrives. */
	struct {
		bool valid, due;
		uint8_t type, port;
		uint32_t id;
		size_t size;
		uint8_t mad[MAD_SIZE];
	} answer;
	uint32_t hello_id;
	bool hello_last; /* no other frame has arrived since */
	bool welcome_due, changed;
	unsigned p_keys, guids;
	size_t state_size;
	struct port_state_frame *ports; /* by number */
	struct buffer out;
	size_t have;
	uint8_t in[IN_BYTES];
};

/* Frames for the guest */

static const uint8_t own_address[ADDRESS] = {0x02, 's', 'i', 'm', 0, 0};

/* The headers of a frame with a body of size bytes; returns the frame's size without padding. */
static size_t write_headers(const struct vm_link *link, enum vhca_type type, uint8_t port,
			    uint32_t id, size_t size, uint8_t *out)
{
	const struct vhca_head head = {
		.version = VHCA_VERSION,
		.type = type,
		.port = port,
		.size = htobe16((uint16_t)size),
		.id = htobe32(id),
	};
	size_t frame = ETHERNET_HEADER + sizeof(head) + size;
	size_t padded = frame < ETHERNET_LEAST ? ETHERNET_LEAST : frame;

	be32_store(out, (uint32_t)padded);
	memcpy(out + LENGTH, link->guest, ADDRESS);
	memcpy(out + LENGTH + ADDRESS, own_address, ADDRESS);
	be16_store(out + LENGTH + 2 * ADDRESS, VHCA_ETHERTYPE);
	memcpy(out + LENGTH + ETHERNET_HEADER, &head, sizeof(head));
	return LENGTH + padded;
}

static void put_frame(struct vm_link *link, enum vhca_type type, uint8_t port, uint32_t id,
		      const void *body, size_t size)
{
	uint8_t bytes[FRAME_MAX] = {0};
	size_t length = write_headers(link, type, port, id, size, bytes);

	if (size)
		memcpy(bytes + HEADERS, body, size);
	buffer_append(&link->out, (const char *)bytes, length);
}

static bool on_packet(void *ctx, uint8_t port, const uint8_t *packet, size_t size)
{
	struct vm_link *link = ctx;
	struct outbox *outbox = &link->connection->outbox;
	uint8_t bytes[FRAME_MAX] = {0};
	size_t length = write_headers(link, VHCA_PACKET, port, 0, size, bytes);

	if (outbox->bytes + length > PACKETS_BYTES)
		return false;
	memcpy(bytes + HEADERS, packet, size);
	outbox_put(outbox, bytes, length);
	connection_unsent(link->connection);
	return true;
}

static void on_changed(void *ctx)
{
	struct vm_link *link = ctx;

	link->changed = true;
	connection_unsent(link->connection);
}

static void put_welcome(struct vm_link *link)
{
	const struct device *device = link->device;
	struct vhca_welcome welcome = {
		.node_guid = htobe64(device->node_guid),
		.system_image_guid = htobe64(device->system_image_guid),
		.vendor_id = htobe32(device->vendor_id),
		.device_id = htobe32(device->device_id),
		.ports = device->num_ports,
		.p_keys = htobe16((uint16_t)link->p_keys),
		.guids = htobe16((uint16_t)link->guids),
	};

	memcpy(welcome.description, device->description.text, sizeof(welcome.description));
	put_frame(link, VHCA_WELCOME, 0, link->hello_id, &welcome, sizeof(welcome));
}

/* The driver gets no M_Key. */
static void write_state(struct vm_link *link, unsigned num, uint8_t *out)
{
	const struct device_port *port = &link->device->port[num];
	struct port_info info = port->info;
	uint8_t *at = out + sizeof(struct vhca_state);

	info.m_key = 0;
	info.client_reregister = 0;
	info.local_port_num = num;
	memset(out, 0, link->state_size);
	be32_store(out, port->reregistrations_ever - link->ports[num].before);
	format_encode(&port_info_format, &info, out + offsetof(struct vhca_state, port_info));
	for (unsigned i = 0; i < link->guids; i++, at += sizeof(guid_t))
		be64_store(at, device_guid(port, i));
	for (unsigned i = 0; i < link->p_keys; i++, at += sizeof(pkey_t))
		be16_store(at, device_p_key(port, i));
}

/* Finds the ports whose state differs from the last one, or all. */
static void find_changes(struct vm_link *link, bool all)
{
	uint8_t *bytes = mem_alloc(link->state_size);

	link->changed = false;
	for (unsigned p = 1; p <= link->device->num_ports; p++) {
		struct port_state_frame *last = &link->ports[p];

		write_state(link, p, bytes);
		last->due |= all || memcmp(last->bytes, bytes, link->state_size);
		memcpy(last->bytes, bytes, link->state_size);
	}
	free(bytes);
}

/* The welcome comes first, and a packet after the state with which it arrived. */
static void put_due(struct vm_link *link)
{
	if (!hca_is_started(link->hca))
		link->changed = false;
	if (link->welcome_due)
		put_welcome(link);
	if (link->changed)
		find_changes(link, false);
	link->welcome_due = false;
	for (unsigned p = 1; p <= link->device->num_ports; p++) {
		if (link->ports[p].due)
			put_frame(link, VHCA_STATE, (uint8_t)p, 0, link->ports[p].bytes,
				  link->state_size);
		link->ports[p].due = false;
	}
	if (link->answer.due)
		put_frame(link, VHCA_ANSWER, link->answer.port, link->answer.id, link->answer.mad,
			  link->answer.size);
	link->answer.due = false;
}

static void fill_with_packets(struct vm_link *link)
{
	struct outbox *outbox = &link->connection->outbox;
	const uint8_t *bytes;
	size_t size;

	while (buffer_length(&link->out) < OUT_BYTES && (bytes = outbox_first(outbox, &size))) {
		buffer_append(&link->out, (const char *)bytes, size);
		outbox_drop_first(outbox);
	}
}

static void hca_flush(struct connection *connection)
{
	struct vm_link *link = connection->vm;
	size_t left;

	for (;;) {
		ssize_t sent;

		if (!buffer_length(&link->out)) {
			put_due(link);
			fill_with_packets(link);
		}
		left = buffer_length(&link->out);
		if (!left)
			break;
		sent = send(connection->fd, link->out.bytes + link->out.begin, left,
			    MSG_DONTWAIT | MSG_NOSIGNAL);
		if (sent < 0 && errno != EAGAIN && errno != EINTR && errno != ENOBUFS &&
		    errno != ENOMEM) {
			/* The machine is gone; frames that it sent before are still to be read. */
			buffer_consume(&link->out, left);
			outbox_done(&connection->outbox);
			break;
		}
		if (sent < 0)
			break;
		buffer_consume(&link->out, sent);
	}
	connection_blocked(connection, buffer_length(&link->out) > 0);
}

/* Frames of the guest */

struct frame {
	uint8_t type, port;
	uint32_t id;
	const uint8_t *source; /* the hardware address */
	const uint8_t *body;
	size_t size;
};

/* A repeated VHCA_HELLO is answered again. After other frames it is another driver, even if it has
 * the same id. */
static bool take_hello(struct vm_link *link, const struct frame *frame)
{
	bool repeated =
		link->hello_last && hca_is_started(link->hca) && link->hello_id == frame->id;

	memcpy(link->guest, frame->source, ADDRESS);
	link->hello_id = frame->id;
	if (!repeated) {
		link->answer.valid = link->answer.due = false;
		for (unsigned p = 1; p <= link->device->num_ports; p++)
			link->ports[p].before = link->device->port[p].reregistrations_ever;
		outbox_done(&link->connection->outbox);
		hca_start(link->hca);
	}
	link->welcome_due = true;
	find_changes(link, true);
	return true;
}

static bool take_bye(struct vm_link *link, const struct frame *frame)
{
	(void)frame;
	hca_stop(link->hca);
	link->answer.valid = link->answer.due = false;
	for (unsigned p = 1; p <= link->device->num_ports; p++)
		link->ports[p].due = false;
	return true;
}

static void begin_answer(struct vm_link *link, const struct frame *frame)
{
	link->answer.valid = true;
	link->answer.type = frame->type;
	link->answer.port = frame->port;
	link->answer.id = frame->id;
	link->answer.size = 0;
}

static bool take_mad(struct vm_link *link, const struct frame *frame)
{
	begin_answer(link, frame);
	memcpy(link->answer.mad, frame->body, MAD_SIZE);
	if (hca_mad(link->hca, frame->port, link->answer.mad))
		link->answer.size = MAD_SIZE;
	link->counts->requests++;
	return true;
}

static bool take_modify(struct vm_link *link, const struct frame *frame)
{
	struct vhca_modify modify;

	memcpy(&modify, frame->body, sizeof(modify));
	begin_answer(link, frame);
	if (frame->port)
		hca_modify(link->hca, frame->port, be32toh(modify.set), be32toh(modify.clear));
	if (modify.has_description)
		hca_describe(link->hca, modify.description);
	return true;
}

static bool take_violation(struct vm_link *link, const struct frame *frame)
{
	uint8_t key = frame->body[0];

	return (key == VHCA_BAD_P_KEY || key == VHCA_BAD_Q_KEY) &&
	       hca_violation(link->hca, frame->port, key == VHCA_BAD_Q_KEY,
			     frame->body + sizeof(struct vhca_violation),
			     frame->size - sizeof(struct vhca_violation));
}

/* The hardware counts what it refuses. */
static bool take_packet(struct vm_link *link, const struct frame *frame)
{
	hca_send(link->hca, frame->port, frame->body, frame->size);
	return true;
}

static const struct frame_kind {
	size_t least, most; /* bytes of the body */
	bool (*take)(struct vm_link *link, const struct frame *frame);
	bool any_time; /* also before the driver has started */
	bool needs_port;
	bool is_request; /* with an answer */
} kinds[] = {
	[VHCA_HELLO] = {0, 0, take_hello, true, false, false},
	[VHCA_BYE] = {0, 0, take_bye, true, false, false},
	[VHCA_MAD] = {MAD_SIZE, MAD_SIZE, take_mad, false, true, true},
	[VHCA_MODIFY] = {sizeof(struct vhca_modify), sizeof(struct vhca_modify), take_modify, false,
			 false, true},
	[VHCA_VIOLATION] = {sizeof(struct vhca_violation) + IB_LRH_SIZE + IB_BTH_SIZE,
			    sizeof(struct vhca_violation) + IB_PACKET_MAX, take_violation, false,
			    true, false},
	[VHCA_PACKET] = {IB_LRH_SIZE + IB_BTH_SIZE, IB_PACKET_MAX, take_packet, false, true, false},
};

/* NULL: no frame may be like this now. */
static const struct frame_kind *kind_of(const struct vm_link *link, const struct frame *frame)
{
	const struct frame_kind *kind =
		frame->type < sizeof(kinds) / sizeof(*kinds) ? &kinds[frame->type] : NULL;

	if (!kind || !kind->take || frame->size < kind->least || frame->size > kind->most ||
	    frame->port > link->device->num_ports || (kind->needs_port && !frame->port) ||
	    (!kind->any_time && !hca_is_started(link->hca)))
		return NULL;
	return kind;
}

static bool read_frame(const uint8_t *bytes, size_t size, struct frame *out)
{
	struct vhca_head head;

	if (size < ETHERNET_HEADER + sizeof(head))
		return false;
	memcpy(&head, bytes + ETHERNET_HEADER, sizeof(head));
	*out = (struct frame){
		.type = head.type,
		.port = head.port,
		.id = be32toh(head.id),
		.source = bytes + ADDRESS,
		.body = bytes + ETHERNET_HEADER + sizeof(head),
		.size = be16toh(head.size),
	};
	return head.version == VHCA_VERSION && out->size <= size - ETHERNET_HEADER - sizeof(head);
}

/* The interface may also send frames of its own, such as those of IPv6. */
static bool is_foreign(const uint8_t *bytes, size_t size)
{
	return size >= ETHERNET_HEADER && be16_load(bytes + 2 * ADDRESS) != VHCA_ETHERTYPE;
}

static void take_frame(struct vm_link *link, const uint8_t *bytes, size_t size)
{
	const struct frame_kind *kind;
	struct frame frame;

	if (is_foreign(bytes, size)) {
		link->counts->foreign++;
		return;
	}
	kind = read_frame(bytes, size, &frame) ? kind_of(link, &frame) : NULL;
	if (!kind) {
		link->counts->malformed++;
		return;
	}
	if (kind->is_request && link->answer.valid && link->answer.id == frame.id &&
	    link->answer.type == frame.type)
		link->counts->repeated++;
	else if (!kind->take(link, &frame))
		link->counts->malformed++;
	link->hello_last = frame.type == VHCA_HELLO;
	link->answer.due |= kind->is_request;
	connection_unsent(link->connection);
}

/* Takes all whole frames; false: these are no frames, because no emulator has such lengths. */
static bool take_frames(struct vm_link *link)
{
	size_t at = 0;

	while (link->have - at >= LENGTH) {
		size_t length = be32_load(link->in + at);

		if (length > LENGTH_MAX)
			return false;
		if (link->have - at - LENGTH < length)
			break;
		take_frame(link, link->in + at + LENGTH, length);
		at += LENGTH + length;
	}
	link->have -= at;
	memmove(link->in, link->in + at, link->have);
	return true;
}

/* One piece; a frame always fits beside an incomplete one. */
static int hca_read(struct connection *connection, bool all)
{
	struct vm_link *link = connection->vm;
	size_t most = all ? sizeof(link->in) - link->have : READ_BYTES;
	ssize_t size = recv(connection->fd, link->in + link->have, most, MSG_DONTWAIT);

	if (size < 0)
		return errno == EAGAIN || errno == EINTR || errno == ECONNRESET ? -errno : -EPIPE;
	if (!size)
		return -EPIPE;
	link->have += size;
	return take_frames(link) ? 1 : -EPIPE;
}

/* Beginning and end */

static int fail(struct wire_welcome *welcome, int code, const char *format, const char *name)
{
	snprintf(welcome->text, sizeof(welcome->text), format, name);
	return -code;
}

static int find_adapter(struct connection *connection, const struct wire_hello *hello,
			struct wire_welcome *welcome)
{
	struct server *server = connection->server;
	struct device *device;
	int port;
	int r = find_place(server->world, hello->node, &device, &port, welcome->text);

	if (r)
		return r;
	if (device->type != NODE_CA)
		return fail(welcome, EINVAL, "%s is no adapter; name an adapter with -n",
			    find_name(device));
	if (port >= 0 && device->num_ports > 1)
		return fail(welcome, EINVAL,
			    "a virtual machine has all ports of an adapter; name %s without a port",
			    find_name(device));
	if (!kernel_has_device(server->kernel, device))
		return fail(welcome, ENXIO,
			    "the device of %s was removed; give it back with `weftsim do 'device "
			    "add NODE'`",
			    find_name(device));
	return connection_take_device(connection, device, true, welcome);
}

/* The client gets one end of a stream; the other becomes this connection. */
static int change_socket(struct connection *connection, struct wire_welcome *welcome)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
	int epoll_fd = connection->server->epoll_fd, ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) {
		snprintf(welcome->text, sizeof(welcome->text),
			 "the server has no descriptors left");
		return -errno;
	}
	connection_send_file(connection, welcome, sizeof(*welcome), ends[1]);
	if (connection->ended || epoll_ctl(epoll_fd, EPOLL_CTL_ADD, ends[0], &event)) {
		close(ends[0]);
		return -EPIPE;
	}
	close(connection->fd);
	connection->fd = ends[0];
	return 0;
}

static void vm_link_free(struct vm_link *link)
{
	hca_detach(link->hca);
	for (unsigned p = 0; link->ports && p <= link->device->num_ports; p++)
		free(link->ports[p].bytes);
	free(link->ports);
	if (buffer_length(&link->out))
		buffer_consume(&link->out, buffer_length(&link->out));
	free(link);
}

static struct vm_link *vm_link_new(struct connection *connection)
{
	struct vm_link *link = mem_zalloc(sizeof(*link));
	const struct hca_user user = {on_packet, on_changed, link};
	struct device *device = connection->device;

	link->connection = connection;
	link->device = device;
	link->p_keys = device_p_key_cap(&device->port[1]);
	link->guids = device->port[1].info.guid_cap;
	link->state_size = sizeof(struct vhca_state) + link->guids * sizeof(guid_t) +
			   link->p_keys * sizeof(pkey_t);
	link->ports = mem_array(device->num_ports + 1, sizeof(*link->ports));
	for (unsigned p = 1; p <= device->num_ports; p++)
		link->ports[p].bytes = mem_zalloc(link->state_size);
	link->hca = hca_attach(connection->server->world, device, &user);
	link->counts = hca_counts(link->hca);
	return link;
}

static int hca_connect(struct connection *connection, const struct wire_hello *hello,
		       struct wire_welcome *welcome)
{
	int r = find_adapter(connection, hello, welcome);

	if (!r)
		r = change_socket(connection, welcome);
	if (r)
		return r;
	connection->vm = vm_link_new(connection);
	return 1;
}

static void hca_end(struct connection *connection)
{
	vm_link_free(connection->vm);
	connection->vm = NULL;
}

void connection_device_changed(const struct device *device)
{
	struct hca *hca = hca_of(device);

	if (hca)
		hca_changed(hca);
}

const struct connection_kind connection_hca = {
	.start = hca_connect,
	.read = hca_read,
	.flush = hca_flush,
	.end = hca_end,
};
