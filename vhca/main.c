// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The life of HCAs. An interface whose hardware address begins with VHCA_ADDRESS_PREFIX is an HCA:
 * it appears with the interface and disappears with it. Notifiers run under rtnl, which the RDMA
 * core's clients take, too. So a work item opens the interface, greets weftsim, and registers the
 * device; it also unregisters the device when the interface goes away, whose removal waits for our
 * reference.
 */
#include <linux/module.h>
#include <linux/rtnetlink.h>

#include "vhca.h"

MODULE_DESCRIPTION("Virtual InfiniBand HCA on a port of weftsim");
MODULE_LICENSE("Dual BSD/GPL");

enum { GREET_AGAIN_MS = 2000, STATE_MS = 2000, STATE_LOOK_MS = 20 };

static LIST_HEAD(hcas); /* written under hcas_lock, read under RCU */
static DEFINE_MUTEX(hcas_lock);
static DECLARE_WAIT_QUEUE_HEAD(hca_removed);
static struct workqueue_struct *manager;
static bool unloading;

struct vhca *vhca_of_netdev(const struct net_device *netdev)
{
	struct vhca *vhca;

	list_for_each_entry_rcu (vhca, &hcas, link) {
		if (vhca->netdev == netdev)
			return vhca;
	}
	return NULL;
}

static bool is_hca(const struct net_device *netdev)
{
	return netdev->type == ARPHRD_ETHER && netdev->dev.parent && /* which a VLAN lacks */
	       !memcmp(netdev->dev_addr, VHCA_ADDRESS_PREFIX, sizeof(VHCA_ADDRESS_PREFIX) - 1);
}

/* Registration */

static int open_interface(struct vhca *vhca)
{
	struct net_device *netdev = vhca->netdev;
	int r = -ENODEV;

	rtnl_lock();
	if (!READ_ONCE(vhca->gone)) {
		if (netdev->mtu < VHCA_FRAME_MTU)
			dev_set_mtu(netdev, VHCA_FRAME_MTU);
		r = dev_open(netdev, NULL);
	}
	rtnl_unlock();
	if (!r && netdev->mtu < VHCA_FRAME_MTU)
		netdev_warn(netdev,
			    "vhca: an MTU of %u does not carry an InfiniBand MTU of 4096; it "
			    "needs %u (host_mtu of the emulated interface)\n",
			    netdev->mtu, VHCA_FRAME_MTU);
	return r;
}

static bool all_ports_known(struct vhca *vhca)
{
	for (u8 i = 0; i < vhca->welcome.ports; i++) {
		if (!READ_ONCE(vhca->port[i].known))
			return false;
	}
	return true;
}

static int greet(struct vhca *vhca)
{
	int r = vhca_request(vhca, VHCA_HELLO, 0, NULL, 0, NULL);

	if (r < 0)
		return r;
	for (u32 ms = 0; ms < STATE_MS && !all_ports_known(vhca); ms += STATE_LOOK_MS)
		msleep(STATE_LOOK_MS);
	return all_ports_known(vhca) ? 0 : -ETIMEDOUT;
}

/* What changed while the device was registered is announced now. */
static void announce_all(struct vhca *vhca)
{
	static const enum ib_event_type types[] = {IB_EVENT_GID_CHANGE, IB_EVENT_PKEY_CHANGE,
						   IB_EVENT_LID_CHANGE};
	struct ib_event event = {.device = &vhca->ib};

	for (u8 port = 1; port <= vhca->ib.phys_port_cnt; port++) {
		for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
			event.element.port_num = port;
			event.event = types[i];
			ib_dispatch_event(&event);
		}
	}
}

/* Without mapped memory programs post and poll by commands. */
#define USER_COMMANDS                                                                      \
	(BIT_ULL(IB_USER_VERBS_CMD_POLL_CQ) | BIT_ULL(IB_USER_VERBS_CMD_POST_RECV) |       \
	 BIT_ULL(IB_USER_VERBS_CMD_POST_SEND) | BIT_ULL(IB_USER_VERBS_CMD_POST_SRQ_RECV) | \
	 BIT_ULL(IB_USER_VERBS_CMD_REQ_NOTIFY_CQ))

static int register_hca(struct vhca *vhca)
{
	struct ib_device *ib = &vhca->ib;
	int r;

	ib->node_type = RDMA_NODE_IB_CA;
	ib->phys_port_cnt = vhca->welcome.ports;
	ib->num_comp_vectors = num_possible_cpus();
	ib->node_guid = vhca->welcome.node_guid;
	ib->dev.parent = vhca->netdev->dev.parent;
	memcpy(ib->node_desc, vhca->welcome.description, sizeof(vhca->welcome.description));
	ib_set_device_ops(ib, &vhca_ops);
	ib->uverbs_cmd_mask |= USER_COMMANDS;
	r = ib_register_device(ib, "vhca%d", NULL);
	vhca->refused = r;
	if (r)
		return r;
	smp_store_release(&vhca->registered, true);
	announce_all(vhca);
	return 0;
}

/* Makes the HCA usable; harmless if it is. The core does not register a device that it refused. */
static int start_hca(struct vhca *vhca)
{
	int r = 0;

	if (vhca->refused)
		return 0;
	if (!vhca->registered)
		r = open_interface(vhca);
	if (!r && !vhca->greeted && netif_running(vhca->netdev)) {
		r = greet(vhca);
		vhca->greeted = !r;
	}
	if (!r && vhca->greeted && !vhca->registered)
		r = register_hca(vhca);
	return r;
}

static void say_bye(struct vhca *vhca)
{
	u8 *body;
	struct sk_buff *skb = vhca_frame_new(vhca, VHCA_BYE, 0, 0, &body);

	if (skb)
		vhca_frame_send(vhca, skb);
	vhca_wire_flush(vhca);
	vhca->greeted = false;
}

/* The end: no frame finds the HCA any more, and no work item runs. Requests of connections end
 * first: IPoIB frees its queues while a work item of it still waits for such requests. */
static void remove_hca(struct vhca *vhca)
{
	synchronize_net(); /* a frame may be dispatching events */
	vhca_end_connections(vhca);
	if (vhca->registered)
		ib_unregister_device(&vhca->ib);
	vhca->registered = false;
	say_bye(vhca);
	mutex_lock(&hcas_lock);
	list_del_rcu(&vhca->link);
	mutex_unlock(&hcas_lock);
	synchronize_net();
	vhca_wire_flush(vhca);
	netdev_put(vhca->netdev, &vhca->tracker);
	xa_destroy(&vhca->qps);
	xa_destroy(&vhca->mrs);
	ib_dealloc_device(&vhca->ib);
	wake_up(&hca_removed);
}

static void manage(struct work_struct *work)
{
	struct vhca *vhca = container_of(to_delayed_work(work), struct vhca, manage);
	int r;

	if (READ_ONCE(vhca->leaving)) {
		remove_hca(vhca);
		return;
	}
	r = start_hca(vhca);
	if (!r || READ_ONCE(vhca->leaving))
		return;
	if (r == -ETIMEDOUT)
		netdev_info(vhca->netdev, "vhca: weftsim does not answer; trying again\n");
	else
		netdev_err(vhca->netdev, "vhca: no HCA: error %d\n", r);
	if (vhca->refused)
		say_bye(vhca);
	else
		queue_delayed_work(manager, &vhca->manage, msecs_to_jiffies(GREET_AGAIN_MS));
}

/* Interfaces */

static void add_hca(struct net_device *netdev)
{
	struct vhca *vhca = ib_alloc_device(vhca, ib);

	if (!vhca) {
		netdev_err(netdev, "vhca: no HCA: no memory\n");
		return;
	}
	vhca->netdev = netdev;
	netdev_hold(netdev, &vhca->tracker, GFP_KERNEL);
	vhca_wire_init(vhca);
	xa_init_flags(&vhca->qps, XA_FLAGS_ALLOC | XA_FLAGS_LOCK_IRQ);
	xa_init_flags(&vhca->mrs, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_IRQ);
	INIT_LIST_HEAD(&vhca->groups);
	INIT_DELAYED_WORK(&vhca->manage, manage);
	mutex_lock(&hcas_lock);
	list_add_tail_rcu(&vhca->link, &hcas);
	mutex_unlock(&hcas_lock);
	queue_delayed_work(manager, &vhca->manage, 0);
}

/* The notifier is also called when it is unregistered, while the interface stays. */
static void end_hca(struct vhca *vhca)
{
	if (vhca->netdev->reg_state != NETREG_REGISTERED)
		WRITE_ONCE(vhca->gone, true);
	WRITE_ONCE(vhca->leaving, true);
	mod_delayed_work(manager, &vhca->manage, 0);
}

static int on_netdev(struct notifier_block *block, unsigned long event, void *data)
{
	struct net_device *netdev = netdev_notifier_info_to_dev(data);
	struct vhca *vhca;
	bool leaving;

	if (!is_hca(netdev))
		return NOTIFY_DONE;
	/* Events alone add an HCA and let it leave, and rtnl serialises them. Once it leaves it may
	 * be gone behind rcu_read_unlock(). */
	rcu_read_lock();
	vhca = vhca_of_netdev(netdev);
	leaving = vhca && READ_ONCE(vhca->leaving);
	rcu_read_unlock();
	if (!vhca) {
		if (event == NETDEV_REGISTER && net_eq(dev_net(netdev), &init_net))
			add_hca(netdev);
	} else if (leaving) {
		return NOTIFY_DONE;
	} else if (event == NETDEV_GOING_DOWN && !unloading) {
		say_bye(vhca);
	} else if (event == NETDEV_UP) {
		mod_delayed_work(manager, &vhca->manage, 0);
	} else if (event == NETDEV_UNREGISTER) {
		end_hca(vhca);
	}
	return NOTIFY_DONE;
}

static struct notifier_block netdev_notifier = {.notifier_call = on_netdev};

static struct packet_type frame_type = {
	.type = cpu_to_be16(VHCA_ETHERTYPE),
	.func = vhca_frame_receive,
};

static int __init vhca_init(void)
{
	int r;

	manager = alloc_workqueue("vhca", WQ_UNBOUND, 0);
	if (!manager)
		return -ENOMEM;
	dev_add_pack(&frame_type);
	r = register_netdevice_notifier(&netdev_notifier);
	if (r) {
		dev_remove_pack(&frame_type);
		destroy_workqueue(manager);
	}
	return r;
}

/* Unregistering the notifier ends each HCA. */
static void __exit vhca_exit(void)
{
	unloading = true;
	unregister_netdevice_notifier(&netdev_notifier);
	wait_event(hca_removed, list_empty(&hcas));
	destroy_workqueue(manager);
	dev_remove_pack(&frame_type);
}
module_init(vhca_init);
module_exit(vhca_exit);
