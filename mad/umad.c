/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The transport over libibumad; no other file of the manager uses it. There are four descriptors:
 * SMPs, general MADs, counters and the replication. The loop reads each in batches, SMPs first and
 * counters last.
 * The kernel does not retry for us, except for long RMPP answers, whose segments it sends by
 * itself. A thread hands over messages that take long to copy.
 *
 * Where epoll refuses a descriptor, as with those of ibsim's preload library, a thread only
 * receives, and hands over through a queue and an eventfd. That library also allows only one waiter
 * in poll(), has no way to wake it, and must not see its descriptors closed while it may still
 * receive. So the thread waits in short turns, and the descriptors stay open until the process
 * ends.
 */
#include "mad/umad.h"

#include <errno.h>
#include <fcntl.h>
#include <infiniband/umad.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "lib/list.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "lib/work.h"
#include "mad/inband.h"
#include "mad/mad.h"

enum {
	AGENTS_MAX = 2,		/* of one descriptor */
	BATCH = 32,		/* MADs read in one turn: an SMP's answer, or a request to the SA,
				 * is up to 50 us of work */
	LOOK_AGAIN_US = 500000, /* for a removed device */
	READER_TURN_MS = 100,	/* how often a reader thread checks whether to stop */
	RMPP_RETRIES = 3,
	WHY_SIZE = 512,
	BUFFER_KEPT = 1 << 20,	   /* a larger one is given back after use */
	SEND_JOB_BYTES = 32 << 10, /* a thread sends longer messages: this is 164 segments */
	RECEIVE_MAX = 64 << 20,	   /* longer messages are dropped */
	TURN_BYTES = 256 << 10,	   /* then the next turn continues: 8 MB take 4 ms */
};

/* One registration: the requests that we receive, by bit of the method. */
struct agent_row {
	uint8_t mgmt_class, class_version, rmpp_version;
	uint8_t methods[6]; /* ends with 0 */
	uint32_t oui;	    /* of a vendor class; 0: none */
};

static const struct agent_row smp_agents[] = {
	{CLASS_SUBN_DIRECTED, 1, 0, {METHOD_GET, METHOD_SET, METHOD_TRAP, METHOD_TRAP_REPRESS}, 0},
	{CLASS_SUBN_LID, 1, 0, {METHOD_GET, METHOD_SET, METHOD_TRAP, METHOD_TRAP_REPRESS}, 0},
};

/* Reports are our requests in a class with a registration, of which kernels allow only 16 under
 * way: an agent without receive methods may have 128. */
enum { CLASS_SENDS_ONLY = 0 };

static const struct agent_row gmp_agents[] = {
	{CLASS_SUBN_ADM,
	 2,
	 1,
	 {METHOD_GET, METHOD_SET, METHOD_GET_TABLE, METHOD_GET_MULTI, METHOD_DELETE},
	 0},
	{CLASS_SENDS_ONLY, 0, 0, {0}, 0},
};

/* Many counters are read at a time, and no bring-up waits for them: they have a queue of their own,
 * which is read last. */
static const struct agent_row perf_agents[] = {
	{CLASS_PERF, 1, 0, {0}, 0},
};

/* The replication over the fabric. If another program has registered the class, weftd runs without
 * the replication. */
static const struct agent_row inband_agents[] = {
	{INBAND_CLASS, INBAND_CLASS_VERSION, 1, {METHOD_SET}, INBAND_OUI},
};

struct received { /* handed from the reader thread to the loop */
	struct list link;
	int error;
	struct ib_user_mad *umad; /* NULL for an error */
	size_t size;		  /* of the MAD */
};

/* The purpose of a descriptor. */
struct channel_kind {
	const char *name;
	const struct agent_row *rows;
	unsigned num_rows;
	int batch; /* MADs read in one turn */
	enum loop_priority priority;
	bool optional;	/* weftd also runs without it */
	size_t longest; /* messages that are longer are dropped */
};

static const struct channel_kind channel_kinds[] = {
	{"SMPs received", smp_agents, ARRAY_SIZE(smp_agents), BATCH, LOOP_FIRST, false,
	 RECEIVE_MAX},
	{"general MADs received", gmp_agents, ARRAY_SIZE(gmp_agents), BATCH, LOOP_NORMAL, false,
	 RECEIVE_MAX},
	{"counters received", perf_agents, ARRAY_SIZE(perf_agents), BATCH, LOOP_LATER, false,
	 RECEIVE_MAX},
	{"replication received", inband_agents, ARRAY_SIZE(inband_agents), BATCH, LOOP_NORMAL, true,
	 INBAND_RECEIVED_MAX},
};

enum { CHANNELS = ARRAY_SIZE(channel_kinds) };

struct channel { /* one descriptor */
	struct umad *owner;
	const struct channel_kind *kind;
	int port_id; /* libibumad's number of the descriptor, -1 when closed */
	int agent_id[AGENTS_MAX];
	struct ib_user_mad *buffer; /* for the receiver */
	size_t buffer_size;	    /* room for a MAD in it */
	struct loop_fd *watch;

	/* The reader thread, only where epoll refused. */
	bool threaded;
	pthread_t thread;
	atomic_bool stop;
	int wake_fd;
	pthread_mutex_t lock;
	struct list queue; /* under lock */
};

struct send_job { /* a long message for the sender's thread */
	struct work_job job;
	struct list link; /* in send jobs */
	struct umad *umad;
	const struct channel *channel;
	unsigned agent;
	struct mad_addr to;
	uint8_t *mad; /* owned */
	size_t size;
	int error;
};

struct umad {
	struct transport transport;
	struct loop *loop;
	struct channel channels[CHANNELS];
	bool open;
	bool sends_only;		   /* as in umad_choice */
	guid_t ports[1 + UMAD_OTHERS_MAX]; /* allowed ports, in order of preference */
	unsigned num_ports;
	struct loop_timer again; /* looks for one of them while the device is removed */
	struct log_limit again_limit;
	unsigned refusals;	 /* failed attempts to open, in a row */
	struct ib_user_mad *out; /* for sends */
	size_t out_size;
	struct work_pool *sender; /* NULL until the first long message */
	struct list send_jobs;
	struct log_limit send_job_limit, drop_limit;
	int issm_fd;
};

static struct ib_user_mad *buffer_new(size_t mad_size)
{
	return mem_zalloc(umad_size() + mad_size);
}

/* Sending */

static struct channel *channel_for(struct umad *umad, const struct mad_header *header,
				   unsigned *agent)
{
	uint8_t mgmt_class =
		header->method == METHOD_REPORT ? (uint8_t)CLASS_SENDS_ONLY : header->mgmt_class;

	for (size_t i = 0; i < CHANNELS; i++) {
		const struct channel_kind *kind = &channel_kinds[i];

		for (*agent = 0; *agent < kind->num_rows; ++*agent) {
			if (kind->rows[*agent].mgmt_class == mgmt_class)
				return &umad->channels[i];
		}
	}
	return NULL;
}

static void address_out(const struct mad_addr *to, ib_mad_addr_t *addr)
{
	memset(addr, 0, sizeof(*addr));
	addr->qpn = htobe32(to->qpn);
	addr->qkey = to->qpn ? htobe32(to->q_key ? to->q_key : QP1_Q_KEY) : 0;
	addr->lid = htobe16(to->lid);
	addr->sl = to->sl;
	addr->path_bits = to->path_bits;
	addr->pkey_index = to->pkey_index;
	if (!to->has_grh)
		return;
	addr->grh_present = 1;
	addr->gid_index = to->grh.sgid_index;
	addr->hop_limit = to->grh.hop_limit;
	addr->traffic_class = to->grh.traffic_class;
	addr->flow_label = htobe32(to->grh.flow_label);
	memcpy(addr->gid, to->grh.sgid, sizeof(addr->gid));
}

/* A MAD on its way out through a registration of a descriptor; also on the sender's thread. */
static int channel_send(const struct channel *channel, unsigned agent, struct ib_user_mad *buffer,
			const struct mad_addr *to, const uint8_t *mad, size_t size,
			unsigned timeout_ms)
{
	int status;

	address_out(to, &buffer->addr);
	memcpy(umad_get_mad(buffer), mad, size);
	/* The sender of a request repeats it if no answer comes. */
	status = umad_send(channel->port_id, channel->agent_id[agent], buffer, (int)size,
			   (int)timeout_ms, rmpp_is_active(mad) && !timeout_ms ? RMPP_RETRIES : 0);
	return status < 0 ? status : 0;
}

static int transport_umad_send(struct transport *transport, const struct mad_addr *to,
			       const uint8_t *mad, size_t size, unsigned timeout_ms)
{
	struct umad *umad = container_of(transport, struct umad, transport);
	struct mad_header header;
	struct channel *channel;
	unsigned agent;

	if (transport->gone)
		return -ENODEV;
	header_decode(mad, &header);
	channel = channel_for(umad, &header, &agent);
	if (!channel || channel->port_id < 0)
		return -EPROTONOSUPPORT;
	if (size > umad->out_size) {
		free(umad->out);
		umad->out = buffer_new(size);
		umad->out_size = size;
	}
	return channel_send(channel, agent, umad->out, to, mad, size, timeout_ms);
}

/* Long messages: copying 28 MB, which the kernel copies once more, takes as long as most of a
 * sweep. A worker does that, one after the other. */

static void send_job_free(struct send_job *send_job)
{
	list_del(&send_job->link);
	free(send_job->mad);
	free(send_job);
}

static void send_job_run(struct work_job *job)
{
	struct send_job *send_job = container_of(job, struct send_job, job);
	struct ib_user_mad *buffer = buffer_new(send_job->size);

	send_job->error = channel_send(send_job->channel, send_job->agent, buffer, &send_job->to,
				       send_job->mad, send_job->size, 0);
	free(buffer);
	free(send_job->mad);
	send_job->mad = NULL;
}

static void send_job_done(struct work_job *job)
{
	struct send_job *send_job = container_of(job, struct send_job, job);

	if (send_job->error)
		log_limited(&send_job->umad->send_job_limit, LOG_WARNING,
			    (&(struct log_subject){.lid = send_job->to.lid}),
			    "cannot send a message of %zu bytes to LID %u: %s (the client has to "
			    "repeat its request)",
			    send_job->size, send_job->to.lid, strerror(-send_job->error));
	send_job_free(send_job);
}

static int transport_umad_give(struct transport *transport, const struct mad_addr *to, uint8_t *mad,
			       size_t size)
{
	struct umad *umad = container_of(transport, struct umad, transport);
	struct send_job *send_job;
	struct mad_header header;
	int error;

	if (transport->gone || size < SEND_JOB_BYTES) {
		error = transport_umad_send(transport, to, mad, size, 0);
		free(mad);
		return error;
	}
	send_job = mem_zalloc(sizeof(*send_job));
	*send_job = (struct send_job){.umad = umad, .to = *to, .mad = mad, .size = size};
	list_init(&send_job->link);
	list_push(&umad->send_jobs, &send_job->link);
	header_decode(mad, &header);
	send_job->channel = channel_for(umad, &header, &send_job->agent);
	if (!send_job->channel) {
		send_job_free(send_job);
		return -EPROTONOSUPPORT;
	}
	send_job->job = (struct work_job){
		.name = "a long message", .run = send_job_run, .done = send_job_done};
	if (!umad->sender)
		umad->sender = work_pool_new(umad->loop, 1);
	work_submit(umad->sender, &send_job->job);
	return 0;
}

/* Receiving */

static void address_in(const ib_mad_addr_t *addr, struct mad_addr *from)
{
	*from = (struct mad_addr){
		.lid = be16toh(addr->lid),
		.qpn = be32toh(addr->qpn),
		.sl = addr->sl,
		.path_bits = addr->path_bits,
		.pkey_index = addr->pkey_index,
		.has_grh = addr->grh_present,
	};
	if (!addr->grh_present)
		return;
	from->grh.sgid_index = addr->gid_index;
	from->grh.hop_limit = addr->hop_limit;
	from->grh.traffic_class = addr->traffic_class;
	from->grh.flow_label = be32toh(addr->flow_label);
	memcpy(from->grh.sgid, addr->gid, sizeof(from->grh.sgid));
}

static void buffer_resize(struct channel *channel, size_t mad_size)
{
	free(channel->buffer);
	channel->buffer = buffer_new(mad_size);
	channel->buffer_size = mad_size;
}

/* Waits at most timeout_ms for a MAD; returns -EAGAIN if there is none, else 0 with the MAD in the
 * channel's buffer. A message longer than the buffer stays queued while the buffer grows. A message
 * that is too long is also read, else it would block the queue: -EMSGSIZE, with its size. */
static int channel_receive(struct channel *channel, int timeout_ms, size_t *size)
{
	for (;;) {
		int length = (int)channel->buffer_size;
		int status = umad_recv(channel->port_id, channel->buffer, &length, timeout_ms);

		if (status >= 0) {
			if (length < 0 || (size_t)length > channel->buffer_size)
				return -EBADMSG;
			*size = (size_t)length;
			return *size > channel->kind->longest ? -EMSGSIZE : 0;
		}
		/* Some paths of the library return -EIO with the cause in errno. */
		if (status == -ENOSPC || (status == -EIO && errno == ENOSPC)) {
			if (length <= (int)channel->buffer_size)
				return -EBADMSG;
			buffer_resize(channel, (size_t)length);
			continue;
		}
		if (status == -ETIMEDOUT || status == -EWOULDBLOCK || status == -EINTR ||
		    (status == -EIO && errno == EAGAIN))
			return -EAGAIN;
		return status;
	}
}

static void umad_deliver(struct umad *umad, struct ib_user_mad *buffer, size_t size)
{
	const struct transport_user *user = &umad->transport.user;
	const uint8_t *mad = umad_get_mad(buffer);
	struct mad_addr from;

	if (umad_status(buffer)) {
		/* Only ETIMEDOUT is documented; with any other error no answer will arrive,
		 * either. */
		if (user->timed_out && size >= MAD_HEADER_SIZE)
			user->timed_out(user->ctx, mad);
		return;
	}
	address_in(&buffer->addr, &from);
	if (user->received)
		user->received(user->ctx, &from, mad, size);
}

/* Also from within a channel's function: its descriptor is closed by the timer. */
static void umad_device_gone(struct umad *umad, int error)
{
	const struct transport_user *user = &umad->transport.user;

	if (umad->transport.gone)
		return;
	umad->transport.gone = true;
	for (size_t i = 0; i < CHANNELS; i++) {
		loop_fd_remove(umad->channels[i].watch);
		umad->channels[i].watch = NULL;
	}
	loop_timer_arm(&umad->again, 1);
	if (user->gone)
		user->gone(user->ctx, error);
}

/* The message is dropped; the next message can be read. */
static bool is_bad_message(int error)
{
	return error == -EBADMSG || error == -EMSGSIZE;
}

/* Any port can send such messages, so each ends the turn. */
static void channel_drop(struct channel *channel, size_t size)
{
	struct mad_addr from;

	address_in(&channel->buffer->addr, &from);
	log_limited(&channel->owner->drop_limit, LOG_WARNING,
		    (&(struct log_subject){.lid = from.lid}),
		    "dropped a message of %zu bytes from LID %u (%s): it may have at most %zu",
		    size, from.lid, channel->kind->name, channel->kind->longest);
}

static void channel_readable(void *arg, uint32_t events)
{
	struct channel *channel = arg;
	size_t size = 0, bytes = 0;
	int error = 0;

	(void)events;
	for (int i = 0; i < channel->kind->batch && bytes < TURN_BYTES && !error &&
			!channel->owner->transport.gone;
	     i++) {
		error = channel_receive(channel, 0, &size);
		if (!error)
			umad_deliver(channel->owner, channel->buffer, size);
		bytes += error ? 0 : size;
		if (error == -EMSGSIZE)
			channel_drop(channel, size);
		if (channel->buffer_size > BUFFER_KEPT)
			buffer_resize(channel, MAD_SIZE);
	}
	if (error && error != -EAGAIN && !is_bad_message(error))
		umad_device_gone(channel->owner, error);
}

/* The reader thread and the loop's end of it */

static void channel_hand_over(struct channel *channel, struct received *item)
{
	bool first;

	pthread_mutex_lock(&channel->lock);
	first = list_empty(&channel->queue);
	list_push(&channel->queue, &item->link);
	pthread_mutex_unlock(&channel->lock);
	if (first)
		eventfd_write(channel->wake_fd, 1);
}

static void *reader(void *arg)
{
	struct channel *channel = arg;
	struct received *item;
	size_t size = 0;
	int error = 0;

	while (!atomic_load(&channel->stop) &&
	       (!error || error == -EAGAIN || is_bad_message(error))) {
		error = channel_receive(channel, READER_TURN_MS, &size);
		if (error == -EAGAIN || is_bad_message(error))
			continue;
		item = mem_zalloc(sizeof(*item));
		item->error = error;
		if (!error) {
			item->umad = channel->buffer;
			item->size = size;
			channel->buffer = buffer_new(MAD_SIZE);
			channel->buffer_size = MAD_SIZE;
		}
		channel_hand_over(channel, item);
	}
	return NULL;
}

static struct received *channel_take_all(struct channel *channel)
{
	struct list *link;

	pthread_mutex_lock(&channel->lock);
	link = list_pop(&channel->queue);
	pthread_mutex_unlock(&channel->lock);
	return link ? container_of(link, struct received, link) : NULL;
}

static void channel_woken(void *arg, uint32_t events)
{
	struct channel *channel = arg;
	struct received *item = NULL;
	eventfd_t count;

	(void)events;
	eventfd_read(channel->wake_fd, &count);
	for (int i = 0; i < channel->kind->batch && (item = channel_take_all(channel)); i++) {
		if (item->umad)
			umad_deliver(channel->owner, item->umad, item->size);
		else
			umad_device_gone(channel->owner, item->error);
		free(item->umad);
		free(item);
	}
	if (item)
		eventfd_write(channel->wake_fd, 1); /* there may be more: next turn */
}

static int channel_start_thread(struct channel *channel)
{
	int error;

	list_init(&channel->queue);
	pthread_mutex_init(&channel->lock, NULL);
	channel->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (channel->wake_fd < 0)
		return -errno;
	error = loop_fd_add(channel->owner->loop, channel->wake_fd, EPOLLIN,
			    channel->kind->priority, channel->kind->name, channel_woken, channel,
			    &channel->watch);
	if (error)
		return error;
	error = pthread_create(&channel->thread, NULL, reader, channel);
	channel->threaded = !error;
	return -error;
}

static void channel_close(struct channel *channel)
{
	struct received *item;

	loop_fd_remove(channel->watch);
	if (channel->threaded) {
		atomic_store(&channel->stop, true);
		pthread_join(channel->thread, NULL);
		while ((item = channel_take_all(channel))) {
			free(item->umad);
			free(item);
		}
		pthread_mutex_destroy(&channel->lock);
	} else if (channel->port_id >= 0) {
		umad_close_port(channel->port_id);
	}
	if (channel->wake_fd >= 0)
		close(channel->wake_fd);
	free(channel->buffer);
}

/* Opening */

static int umad_explain(char *why, size_t why_size, int error, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static int umad_explain(char *why, size_t why_size, int error, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(why, why_size, format, arguments);
	va_end(arguments);
	return error;
}

/* Why umad_register() failed. It returns -EPERM for all errors of the kernel; errno has the
 * kernel's error. Linux (drivers/infiniband/core/mad.c) returns EPROTONOSUPPORT if the port does
 * not have the queue pair, and EINVAL if another program has registered the class. */
static int register_failed(const struct channel *channel, const struct agent_row *row, int error,
			   char *why, size_t why_size)
{
	const struct transport_port *port = &channel->owner->transport.port;
	bool smi = row->mgmt_class == CLASS_SUBN_DIRECTED || row->mgmt_class == CLASS_SUBN_LID;
	const char *remedy = channel->kind->optional
				     ? "; another program on this port uses this class: stop it, "
				       "or set ha_listen and ha_peers"
				     : "; another subnet manager on this port? stop it first";

	if (error == EPROTONOSUPPORT)
		return umad_explain(
			why, why_size, -EPROTONOSUPPORT,
			"%s port %d has no %s interface (QP%d), which weftd needs; the port is a "
			"virtual function, or the adapter has QP%d at another device; set ca and "
			"port to a port with QP0 and QP1",
			port->ca, port->port, smi ? "subnet management" : "general services", !smi,
			!smi);
	if (error != EINVAL && error)
		remedy = "";
	return umad_explain(why, why_size, *remedy ? -EBUSY : -error,
			    "cannot register for management class 0x%02x on %s port %d: %s%s",
			    row->mgmt_class, port->ca, port->port,
			    error ? strerror(error) : "the kernel refuses it", remedy);
}

/* libibumad registers a vendor class with an OUI in its version 1. */
static int agent_register(const struct channel *channel, const struct agent_row *row,
			  long *method_mask)
{
	uint8_t oui[3] = {(uint8_t)(row->oui >> 16), (uint8_t)(row->oui >> 8), (uint8_t)row->oui};

	if (row->oui)
		return umad_register_oui(channel->port_id, row->mgmt_class, row->rmpp_version, oui,
					 method_mask);
	return umad_register(channel->port_id, row->mgmt_class, row->class_version,
			     row->rmpp_version, method_mask);
}

static int channel_register(struct channel *channel, char *why, size_t why_size)
{
	for (unsigned i = 0; i < channel->kind->num_rows; i++) {
		const struct agent_row *row = &channel->kind->rows[i];
		long method_mask[16 / sizeof(long)] = {0};

		for (const uint8_t *method = row->methods; *method && !channel->owner->sends_only;
		     method++)
			method_mask[*method / (8 * sizeof(long))] |=
				1L << *method % (8 * sizeof(long));
		errno = 0;
		channel->agent_id[i] = agent_register(channel, row, method_mask);
		if (channel->agent_id[i] < 0)
			return register_failed(channel, row, errno, why, why_size);
	}
	return 0;
}

static int channel_open(struct umad *umad, struct channel *channel, char *why, size_t why_size)
{
	const struct transport_port *port = &umad->transport.port;
	int error, fd;

	channel->port_id = umad_open_port(port->ca, port->port);
	if (channel->port_id < 0) {
		error = channel->port_id == -EIO && errno ? -errno : channel->port_id;
		return umad_explain(
			why, why_size, error, "cannot open the umad device of %s port %d: %s%s",
			port->ca, port->port, strerror(-error),
			error == -EACCES || error == -EPERM
				? "; run weftd as root or give its user rights on "
				  "/dev/infiniband/umad* and issm*"
			: error == -ENOENT ? "; load the kernel module: modprobe ib_umad"
					   : "");
	}
	error = channel_register(channel, why, why_size);
	if (error)
		return error;
	channel->buffer = buffer_new(MAD_SIZE);
	channel->buffer_size = MAD_SIZE;
	fd = umad_get_fd(channel->port_id);
	error = loop_fd_add(umad->loop, fd, EPOLLIN, channel->kind->priority, channel->kind->name,
			    channel_readable, channel, &channel->watch);
	if (error == -EPERM || error == -EBADF)
		error = channel_start_thread(channel);
	if (error)
		return umad_explain(why, why_size, error,
				    "cannot watch the umad device of %s port %d: %s", port->ca,
				    port->port, strerror(-error));
	return 0;
}

enum fits { FITS_NOT, FITS, FITS_WITH_LINK };

static enum fits port_fits(const umad_port_t *port, const struct umad_choice *choice)
{
	if (choice->port && port->portnum != choice->port)
		return FITS_NOT;
	if (choice->port_guid && be64toh(port->port_guid) != choice->port_guid)
		return FITS_NOT;
	if (strcmp(port->link_layer, "Ethernet") == 0)
		return FITS_NOT;
	return port->phys_state == PHYS_LINK_UP ? FITS_WITH_LINK : FITS;
}

/* How well the best port of this adapter fits, if better than the port in out. */
static enum fits choose_in_ca(const char *name, const struct umad_choice *choice, enum fits best,
			      struct transport_port *out)
{
	umad_ca_t ca;

	if (umad_get_ca(name, &ca) < 0)
		return best;
	for (int i = 0; i < UMAD_CA_MAX_PORTS; i++) {
		enum fits fits = ca.ports[i] ? port_fits(ca.ports[i], choice) : FITS_NOT;

		if (fits <= best)
			continue;
		best = fits;
		*out = (struct transport_port){
			.port = (uint8_t)ca.ports[i]->portnum,
			.port_guid = be64toh(ca.ports[i]->port_guid),
			.node_guid = be64toh(ca.node_guid),
		};
		snprintf(out->ca, sizeof(out->ca), "%.*s", (int)sizeof(out->ca) - 1, name);
	}
	umad_release_ca(&ca);
	return best;
}

/* How well a port fits. */
static enum fits umad_find_port(const struct umad_choice *choice, struct transport_port *out)
{
	char names[UMAD_MAX_DEVICES][UMAD_CA_NAME_LEN];
	int count = umad_get_cas_names(names, UMAD_MAX_DEVICES);
	enum fits best = FITS_NOT;

	for (int i = 0; i < count; i++) {
		if (!choice->ca || strcmp(choice->ca, names[i]) == 0)
			best = choose_in_ca(names[i], choice, best, out);
	}
	return best;
}

/* The first of them with a physical link, else the first that exists. */
static enum fits find_again(const struct umad *umad, struct transport_port *out)
{
	enum fits best = FITS_NOT;

	for (unsigned i = 0; i < umad->num_ports; i++) {
		const struct umad_choice choice = {.port_guid = umad->ports[i]};
		struct transport_port port;
		enum fits fits = umad_find_port(&choice, &port);

		if (fits <= best)
			continue;
		best = fits;
		*out = port;
	}
	return best;
}

/* The port with the chosen GUID exists, but does not match ca and port. */
static bool is_contradiction(const struct umad_choice *choice, struct transport_port *out)
{
	const struct umad_choice by_guid = {.port_guid = choice->port_guid};

	return choice->port_guid && (choice->ca || choice->port) && umad_find_port(&by_guid, out);
}

static int choose_port(struct umad *umad, const struct umad_choice *choice, char *why,
		       size_t why_size)
{
	struct transport_port *out = &umad->transport.port;
	bool found;

	if (umad_init() < 0)
		return umad_explain(
			why, why_size, -ENODEV,
			"no InfiniBand management devices on this machine (is the kernel module "
			"ib_umad loaded?)");
	found = umad_find_port(choice, out);
	if (!found && is_contradiction(choice, out))
		return umad_explain(
			why, why_size, -EINVAL,
			"port_guid 0x%016llx is port %d of %s, which the options ca and port "
			"do not name: leave out one or the others",
			(unsigned long long)choice->port_guid, out->port, out->ca);
	if (found || choice->port_guid)
		umad->ports[umad->num_ports++] = found ? out->port_guid : choice->port_guid;
	for (unsigned i = 0; i < UMAD_OTHERS_MAX && choice->others[i]; i++)
		umad->ports[umad->num_ports++] = choice->others[i];
	if (found || find_again(umad, out))
		return 0;
	if (choice->port_guid)
		return umad_explain(
			why, why_size, -ENODEV,
			"no InfiniBand port with GUID 0x%016llx on this machine; ibstat lists them",
			(unsigned long long)choice->port_guid);
	if (choice->ca && choice->port)
		return umad_explain(why, why_size, -ENODEV,
				    "no InfiniBand port %d on an adapter %s; ibstat lists them",
				    choice->port, choice->ca);
	if (choice->ca || choice->port)
		return umad_explain(
			why, why_size, -ENODEV,
			choice->ca ? "no InfiniBand adapter %s; ibstat lists them"
				   : "no adapter with an InfiniBand port %s; ibstat lists them",
			choice->ca ? choice->ca : "of that number");
	return umad_explain(
		why, why_size, -ENODEV,
		"no InfiniBand adapter on this machine; is its driver loaded? ibstat lists them");
}

bool transport_has_adapters(void)
{
	char names[UMAD_MAX_DEVICES][UMAD_CA_NAME_LEN];
	int count = umad_init() < 0 ? 0 : umad_get_cas_names(names, UMAD_MAX_DEVICES);
	umad_ca_t ca;

	/* Without adapters libibumad gives a name of its own. */
	if (count <= 0 || umad_get_ca(names[0], &ca) < 0)
		return false;
	umad_release_ca(&ca);
	return true;
}

int transport_check_umad(const struct umad_choice *choice, char *why, size_t why_size)
{
	struct umad *umad = mem_zalloc(sizeof(*umad));
	int error = choose_port(umad, choice, why, why_size);

	free(umad);
	return error;
}

static int transport_umad_set_issm(struct transport *transport, bool on)
{
	struct umad *umad = container_of(transport, struct umad, transport);
	char path[64];

	if (!on) {
		if (umad->issm_fd >= 0)
			close(umad->issm_fd);
		umad->issm_fd = -1;
		return 0;
	}
	if (umad->issm_fd >= 0)
		return 0;
	if (umad_get_issm_path(transport->port.ca, transport->port.port, path, sizeof(path)) < 0)
		return -ENODEV;
	umad->issm_fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (umad->issm_fd < 0)
		return errno == EAGAIN ? -EBUSY : -errno;
	return 0;
}

static void close_channels(struct umad *umad)
{
	transport_umad_set_issm(&umad->transport, false);
	if (umad->sender)
		work_pool_free(umad->sender);
	umad->sender = NULL;
	while (!list_empty(&umad->send_jobs))
		send_job_free(container_of(umad->send_jobs.next, struct send_job, link));
	for (size_t i = 0; i < CHANNELS && umad->open; i++)
		channel_close(&umad->channels[i]);
	umad->open = false;
}

/* Closes an optional channel that failed to open. */
static int channel_leave_out(struct channel *channel, const char *why)
{
	struct umad *umad = channel->owner;

	channel_close(channel);
	*channel = (struct channel){
		.owner = umad, .kind = channel->kind, .port_id = -1, .wake_fd = -1};
	log_notice("no replication over the fabric: %s", why);
	return 0;
}

static int open_channels(struct umad *umad, char *why, size_t why_size)
{
	int error = 0;

	umad->open = true;
	for (size_t i = 0; i < CHANNELS; i++)
		umad->channels[i] = (struct channel){
			.owner = umad, .kind = &channel_kinds[i], .port_id = -1, .wake_fd = -1};
	for (size_t i = 0; i < CHANNELS && !error; i++) {
		struct channel *channel = &umad->channels[i];

		if (channel->kind->optional && (umad->sends_only || umad->channels[0].threaded))
			continue; /* ibsim supports neither RMPP nor the answer for an unknown class
				   */
		error = channel_open(umad, channel, why, why_size);
		if (error && channel->kind->optional)
			error = channel_leave_out(channel, why);
	}
	if (error)
		close_channels(umad);
	umad->transport.message_max = umad->channels[CHANNELS - 1].watch ? INBAND_MESSAGE_MAX : 0;
	return error;
}

/* A device file may appear later than the device, and its rights later still. */
static void umad_look_again(void *arg)
{
	struct umad *umad = arg;
	struct transport *transport = &umad->transport;
	struct transport_port port;
	char why[WHY_SIZE];

	close_channels(umad);
	loop_timer_arm(&umad->again, LOOK_AGAIN_US);
	if (find_again(umad, &port) == FITS_NOT)
		return;
	transport->port = port;
	if (open_channels(umad, why, sizeof(why))) {
		if (umad->refusals++)
			log_limited(&umad->again_limit, LOG_WARNING, NULL, "%s", why);
		return;
	}
	umad->refusals = 0;
	loop_timer_disarm(&umad->again);
	transport->gone = false;
	if (transport->user.back)
		transport->user.back(transport->user.ctx);
}

static bool transport_umad_move(struct transport *transport)
{
	struct umad *umad = container_of(transport, struct umad, transport);
	struct transport_port port;

	if (transport->gone || umad->num_ports < 2 || find_again(umad, &port) < FITS_WITH_LINK ||
	    port.port_guid == transport->port.port_guid)
		return false;
	umad_device_gone(umad, -ENETDOWN);
	return true;
}

static void transport_umad_close(struct transport *transport)
{
	struct umad *umad = container_of(transport, struct umad, transport);

	loop_timer_disarm(&umad->again);
	close_channels(umad);
	free(umad->out);
	free(umad);
}

static const struct transport_ops umad_ops = {
	.send = transport_umad_send,
	.give = transport_umad_give,
	.set_issm = transport_umad_set_issm,
	.move = transport_umad_move,
	.close = transport_umad_close,
};

int transport_open_umad(struct loop *loop, const struct umad_choice *choice, struct transport **out,
			char *why, size_t why_size)
{
	struct umad *umad = mem_zalloc(sizeof(*umad));
	int error;

	umad->transport.ops = &umad_ops;
	umad->loop = loop;
	umad->sends_only = choice->sends_only;
	umad->issm_fd = -1;
	list_init(&umad->send_jobs);
	umad->send_job_limit = (struct log_limit){.burst = 5, .interval_us = 10000000};
	umad->drop_limit = umad->send_job_limit;
	umad->again_limit = (struct log_limit){.burst = 3, .interval_us = 60000000};
	loop_timer_init(&umad->again, loop, "device that has gone", umad_look_again, umad);
	error = choose_port(umad, choice, why, why_size);
	if (!error)
		error = open_channels(umad, why, why_size);
	if (error) {
		transport_umad_close(&umad->transport);
		return error;
	}
	umad->out = buffer_new(MAD_SIZE);
	umad->out_size = MAD_SIZE;
	*out = &umad->transport;
	return 0;
}
