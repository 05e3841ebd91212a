// SPDX-License-Identifier: GPL-2.0
/*
 * Build a stack layer by layer, look up its figures by source, and select the part
 * that concerns some devices.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "audit/partition_type.h"
#include "audit/stack.h"
#include "base/message.h"

/* The kernel and kpartx show an extended partition with its first sectors only. */
#define EXTENDED_BYTES	1024

struct stack_layer *stack_add(struct stack *stack, enum stack_kind kind,
			      const char *name, const char *path)
{
	struct stack_layer *layer;

	layer = ARRAY_APPEND(stack->layer, stack->nr);
	*layer = (struct stack_layer) {
		.kind = kind,
		.name = memory_or_exit(strdup(name)),
		.path = memory_or_exit(strdup(path)),
	};
	return layer;
}

void stack_lies_on(struct stack *stack, size_t below)
{
	struct stack_layer *layer = &stack->layer[stack->nr - 1];

	*ARRAY_APPEND(layer->below, layer->nr_below) = below;
}

static bool is_on(const struct stack_layer *layer, size_t below)
{
	size_t i;

	for (i = 0; i < layer->nr_below; i++)
		if (layer->below[i] == below)
			return true;
	return false;
}

const struct stack_layer *stack_above(const struct stack *stack, size_t below,
				      const struct stack_layer *last)
{
	const struct stack_layer *layer = last ? last : &stack->layer[below];

	while (++layer < &stack->layer[stack->nr])
		if (is_on(layer, below))
			return layer;
	return NULL;
}

const struct stack_layer *stack_multipath(const struct stack *stack,
					  const struct stack_layer *layer)
{
	const struct stack_layer *above = NULL;
	size_t index = (size_t)(layer - stack->layer);

	while ((above = stack_above(stack, index, above)))
		if (above->kind == STACK_MULTIPATH)
			return above;
	return NULL;
}

void stack_add_mount(struct stack_layer *layer, const char *place)
{
	*ARRAY_APPEND(layer->mounts, layer->nr_mounts) =
		memory_or_exit(strdup(place));
}

void stack_not_read(struct stack_content *content, enum stack_unread why,
		    char *text)
{
	free(content->unread);
	content->unread = text;
	content->why = why;
}

static bool is_wanted(const struct stack_layer *layer, const dev_t *wanted,
		      size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (layer->devno == wanted[i])
			return true;
	return false;
}

void stack_select(struct stack *stack, const dev_t *wanted, size_t nr)
{
	size_t i, k;

	for (i = 0; i < stack->nr; i++)
		stack->layer[i].aside = !is_wanted(&stack->layer[i], wanted,
						   nr);
	/* up: each device is behind those that it lies on ... */
	for (i = 0; i < stack->nr; i++) {
		struct stack_layer *layer = &stack->layer[i];

		for (k = 0; k < layer->nr_below && layer->aside; k++)
			layer->aside = stack->layer[layer->below[k]].aside;
	}
	/* ... and down, from all these: the other members of an array, too */
	for (i = stack->nr; i-- > 0;) {
		const struct stack_layer *layer = &stack->layer[i];

		for (k = 0; k < layer->nr_below && !layer->aside; k++)
			stack->layer[layer->below[k]].aside = false;
	}
}

void stack_free(struct stack *stack)
{
	while (stack->nr) {
		struct stack_layer *layer = &stack->layer[--stack->nr];

		free(layer->name);
		free(layer->path);
		free(layer->label);
		free(layer->type);
		free(layer->file);
		while (layer->nr_mounts)
			free(layer->mounts[--layer->nr_mounts]);
		free(layer->mounts);
		free(layer->ledger);
		unit_free(&layer->unit);
		free(layer->content.type);
		free(layer->content.table);
		free(layer->content.unread);
		free(layer->below);
	}
	free(stack->layer);
	stack->layer = NULL;
}

const char *stack_kind_name(enum stack_kind kind)
{
	static const char *const names[] = {
		[STACK_DISK] = "disk",
		[STACK_FILE] = "file",
		[STACK_PARTITION] = "part",
		[STACK_LOOP] = "loop",
		[STACK_MD] = "md",
		[STACK_LVM] = "lvm",
		[STACK_CRYPT] = "crypt",
		[STACK_MULTIPATH] = "mpath",
		[STACK_ALIGN] = "align",
		[STACK_DM] = "dm",
	};

	return names[kind];
}

const char *stack_source_name(enum stack_source source)
{
	static const char *const names[] = {
		[STACK_SYSFS] = "sysfs",
		[STACK_IOCTL] = "ioctl",
		[STACK_LIBBLKID] = "libblkid",
		[STACK_IDENTIFY] = "identify",
		[STACK_PROBED] = "probed",
	};

	return names[source];
}

const char *stack_figure_key(enum stack_figure figure)
{
	static const char *const keys[] = {
		[STACK_LOGICAL] = "logical_block_size",
		[STACK_PHYSICAL] = "physical_block_size",
		[STACK_IO_MIN] = "minimum_io_size",
		[STACK_OFFSET] = "alignment_offset",
	};

	return keys[figure];
}

struct maybe stack_sysfs(const struct stack_layer *layer,
			 enum stack_figure figure)
{
	return layer->view[STACK_SYSFS].figure[figure];
}

struct maybe stack_probed(const struct stack_layer *layer,
			  enum stack_figure figure)
{
	return layer->view[STACK_PROBED].figure[figure];
}

bool stack_has_type(const struct stack_layer *layer, const char *type)
{
	return layer->content.type && !strcmp(layer->content.type, type);
}

/* Check for the place of a partition: of the kernel, of an image, or of kpartx. */
static bool is_part(const struct stack_layer *layer)
{
	return layer->kind == STACK_PARTITION ||
	       (layer->kind == STACK_DM && layer->partition);
}

bool stack_is_extended(const struct stack_layer *layer)
{
	int64_t sector = maybe_or(stack_sysfs(layer, STACK_LOGICAL), 0);

	if (layer->extended)
		return true;
	/* with larger sectors, one of them */
	if (sector < EXTENDED_BYTES)
		sector = EXTENDED_BYTES;
	return is_part(layer) && maybe_below(layer->bytes, sector + 1) &&
	       (!layer->type || partition_type_is_extended(layer->type));
}
