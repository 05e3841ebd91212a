// SPDX-License-Identifier: GPL-2.0
#include <linux/slab.h>
#include <linux/wait.h>

#include "node.h"

static LIST_HEAD(nodes);
/* Guards nodes and the references of each. */
static DEFINE_SPINLOCK(nodes_lock);
/* Woken when a node has left. */
static DECLARE_WAIT_QUEUE_HEAD(nodes_left);

static struct align_node *node_new(struct mapped_device *md)
{
	struct align_node *node = kzalloc(sizeof(*node), GFP_KERNEL);

	if (!node)
		return NULL;
	if (ledger_init(&node->ledger)) {
		kfree(node);
		return NULL;
	}
	node->md = md;
	node->disk = dm_disk(md);
	spin_lock_init(&node->lock);
	mutex_init(&node->leave_lock);
	mutex_init(&node->publish_lock);
	INIT_LIST_HEAD(&node->targets);
	node->epoch = 1;
	/* The cache below the table before the first one with this target. */
	node_note_cache(node);
	return node;
}

static void node_free(struct align_node *node)
{
	ledger_exit(&node->ledger);
	kfree(node);
}

/*
 * Get the node of a device, with a reference more. A device without one gets @fresh, if
 * that is not NULL. Return: false if the last node of the device still has files.
 */
static bool node_get(struct mapped_device *md, struct align_node *fresh,
		     struct align_node **got)
{
	struct align_node *node;
	bool leaves;

	spin_lock(&nodes_lock);
	list_for_each_entry(node, &nodes, list)
		if (node->md == md)
			break;
	if (list_entry_is_head(node, &nodes, list)) {
		node = fresh;
		leaves = false;
		if (fresh)
			list_add(&fresh->list, &nodes);
	} else {
		leaves = !node->refs;
	}
	if (node && !leaves)
		node->refs++;
	spin_unlock(&nodes_lock);
	*got = node;
	return !leaves;
}

/*
 * Give back a reference. With the last reference the node leaves, and its files must be
 * gone before the same device can have another node. Their removal waits for readers, who
 * may wait for memory, and that for a suspended device: no other device may wait for it.
 */
static void node_put(struct align_node *node)
{
	bool leaves;

	spin_lock(&nodes_lock);
	leaves = !--node->refs;
	spin_unlock(&nodes_lock);
	if (!leaves)
		return;
	sysfs_withdraw(node);
	spin_lock(&nodes_lock);
	list_del(&node->list);
	spin_unlock(&nodes_lock);
	wake_up_all(&nodes_left);
	node_free(node);
}

/**
 * node_join - give a new target its mapped device's node
 * @at: the target
 *
 * Holds no lock while memory is allocated: that may be had by writing to a suspended
 * device, the next table of which comes here, too. ledger_init() can still wait for such
 * an allocation of others, in alloc_percpu(), whose lock is one for the whole kernel.
 *
 * Return: 0 or -ENOMEM.
 */
int node_join(struct align_target *at)
{
	struct mapped_device *md = dm_table_get_md(at->ti->table);
	struct align_node *node, *fresh = NULL;
	struct align_target *other;

	wait_event(nodes_left, node_get(md, NULL, &node));
	if (!node) {
		fresh = node_new(md);
		if (!fresh)
			return -ENOMEM;
		wait_event(nodes_left, node_get(md, fresh, &node));
		if (node != fresh)
			node_free(fresh);
	}
	/* A second table may have another P, and begins an epoch then. */
	if (node != fresh && ledger_prepare(&node->ledger)) {
		node_put(node);
		return -ENOMEM;
	}

	mutex_lock(&node->leave_lock);
	spin_lock(&node->lock);
	list_for_each_entry(other, &node->targets, node_list)
		if (other->ti->table == at->ti->table)
			at->index++;
	list_add_tail(&at->node_list, &node->targets);
	spin_unlock(&node->lock);
	mutex_unlock(&node->leave_lock);

	at->node = node;
	at->ledger = &node->ledger;
	at->devt = disk_devt(dm_disk(md));

	/*
	 * A device that exists gets the files now, and not when it is suspended
	 * for the switch to this table: others who make files in sysfs may wait
	 * for memory, and that for the device.
	 */
	if (device_is_registered(disk_to_dev(dm_disk(md))))
		sysfs_publish(node, at->index);
	return 0;
}

/* Take a target off its node; the last target of a device frees the node. */
void node_leave(struct align_target *at)
{
	struct align_node *node = at->node;

	if (!node)
		return;
	mutex_lock(&node->leave_lock);
	spin_lock(&node->lock);
	list_del(&at->node_list);
	/* Another table may get the same address. */
	if (node->live == at->ti->table) {
		node->live = NULL;
		/* The cache below the table that took its place. */
		node_note_cache(node);
	}
	spin_unlock(&node->lock);
	mutex_unlock(&node->leave_lock);

	node_put(node);
}

/**
 * node_go_live - a target is about to be resumed
 * @at: the target
 *
 * Its table is the one that sysfs shows from now on. The files of a device that
 * is new are made here; without memory for them the target works all the same.
 */
void node_go_live(struct align_target *at)
{
	struct align_node *node = at->node;
	unsigned int physical = at->geometry.physical;
	bool changed = false;

	node_look_for_openers(node);
	spin_lock(&node->lock);
	node->live = at->ti->table;
	if (at->index < ALIGN_NODE_SLOTS) {
		struct align_slot *slot = &node->slots[at->index];

		changed = slot->physical && slot->physical != physical;
		slot->physical = physical;
		if (changed)
			node->epoch++;
	}
	spin_unlock(&node->lock);

	/* Bins of the phase histogram mean something else from here on. */
	if (changed)
		ledger_reset(&node->ledger);

	sysfs_publish(node, at->index);
}
