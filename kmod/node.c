// SPDX-License-Identifier: GPL-2.0
#include <linux/slab.h>

#include "node.h"

static LIST_HEAD(nodes);
/* Guards nodes and the references of each. */
static DEFINE_MUTEX(nodes_lock);

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
	/* What a table before the first one with this target has. */
	node_note_cache(node);
	return node;
}

/**
 * node_join - give a new target its mapped device's node
 * @at: the target
 *
 * Return: 0 or -ENOMEM.
 */
int node_join(struct align_target *at)
{
	struct mapped_device *md = dm_table_get_md(at->ti->table);
	struct align_node *node;
	struct align_target *other;

	mutex_lock(&nodes_lock);
	list_for_each_entry(node, &nodes, list) {
		if (node->md != md)
			continue;
		/* A second table may have another P, and begins an epoch then. */
		if (!ledger_prepare(&node->ledger))
			goto found;
		mutex_unlock(&nodes_lock);
		return -ENOMEM;
	}
	node = node_new(md);
	if (!node) {
		mutex_unlock(&nodes_lock);
		return -ENOMEM;
	}
	list_add(&node->list, &nodes);
found:
	node->refs++;
	mutex_unlock(&nodes_lock);

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
		/* What the table has that took its place. */
		node_note_cache(node);
	}
	spin_unlock(&node->lock);
	mutex_unlock(&node->leave_lock);

	mutex_lock(&nodes_lock);
	if (!--node->refs) {
		list_del(&node->list);
		/*
		 * Waits for readers, who take none of what is held here. The
		 * files must be gone before the same device can have another
		 * node.
		 */
		sysfs_withdraw(node);
		ledger_exit(&node->ledger);
		kfree(node);
	}
	mutex_unlock(&nodes_lock);
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
