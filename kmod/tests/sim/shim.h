/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The shim's interface to the simulation, beside the kernel's interfaces: devices to
 * be made, and faults.
 */
#ifndef SIM_SHIM_H
#define SIM_SHIM_H

#include <linux/device-mapper.h>

/**
 * struct shim_faults - failing allocations
 * @nowait_one_in: of so many allocations that may not sleep one fails; 0: none
 * @nowait_nth: the allocation that may not sleep that fails, from 1 on; 0: none
 * @nth: the allocation of a set-up that fails, from 1 on; 0: none
 */
struct shim_faults {
	unsigned int nowait_one_in;
	unsigned int nowait_nth;
	unsigned int nth;
};

extern struct shim_faults shim_faults;
/* Allocations of set-ups so far. */
extern unsigned int shim_nr_allocations;
/* Bios that a target has taken in part so far. */
extern unsigned int shim_nr_partial;
/* Log lines of the engine so far; and the @nr-th, from 0 on, or "" if it is not kept. */
extern unsigned int shim_nr_logged;
const char *shim_logged(unsigned int nr);
/* Events of tables that dm_table_event() has told userspace of. */
extern unsigned int shim_nr_events;

/* Devices of which trace events are counted, by number. */
#define SHIM_DEVICES	8U

/**
 * struct shim_traced - sums over the trace events of a device
 * @writes: writes
 * @zeroes: write-zeroes
 * @sectors: sectors of both
 * @touches: partial touches of both
 * @how: touches that were resolved, by enum rmw_how
 * @lowest: the lowest block that was read for touches, and for how many
 * @highest: the highest, the same
 */
struct shim_traced {
	u64 writes, zeroes, sectors, touches, how[16];
	struct shim_read_block {
		u64 block, touches;
	} lowest, highest;
};

extern struct shim_traced shim_traced[SHIM_DEVICES];

/* Whether the module has left a notifier or a target type behind. */
bool shim_is_registered(void);

/* device-mapper, as an administrator uses it; all in process context. */
struct mapped_device *shim_md_new(const char *name, unsigned int number);
/* Remove a device that has no opener, and no bio in flight. */
void shim_md_remove(struct mapped_device *md);
/*
 * Load a table of one target of the whole device into the inactive slot. Return: 0
 * or an error, and *@error says why.
 */
int shim_md_load(struct mapped_device *md, sector_t sectors, unsigned int argc,
		 char **argv, char **error);

/**
 * struct shim_target - a target of a table
 * @linear: the target passes all on; else it is the module's
 * @sectors: its sectors
 * @argc: number of @argv
 * @argv: its arguments; of a linear one the device below, and its first sector
 */
struct shim_target {
	bool linear;
	sector_t sectors;
	unsigned int argc;
	char **argv;
};

/* As shim_md_load(), with @nr targets, one behind the other. */
int shim_md_load_targets(struct mapped_device *md,
			 const struct shim_target *target, unsigned int nr,
			 char **error);
/* Suspend; -ERESTARTSYS if the caller was killed meanwhile: nothing is changed. */
int shim_md_suspend(struct mapped_device *md);
/* Resume, with the table of the inactive slot if there is one. */
int shim_md_resume(struct mapped_device *md);
/* To the target that has a sector. */
int shim_md_message(struct mapped_device *md, sector_t sector, unsigned int argc,
		    char **argv);
/* The live table's first target, and the one that has a sector. */
struct dm_target *shim_md_target(struct mapped_device *md);
struct dm_target *shim_md_target_of(struct mapped_device *md, sector_t sector);

/* Asked of the simulation: touches of a block of a device are lost. */
void world_lost(dev_t dev, u64 block);

/*
 * Asked of the simulation: a target has ended a part of a bio, or all of it. The end
 * of the bio is device-mapper's, which may come later.
 */
void world_target_ended(struct bio *bio);

/* The most events align_rmw that one hard interrupt has sent in a row. */
extern unsigned int shim_most_resolved;

/* Buffers of blocks that were allocated with a spin lock held. */
extern unsigned int shim_nr_locked;

/* Whether a bio is a clone that device-mapper made of one from above. */
bool shim_is_clone(const struct bio *bio);

/* Devices have files in sysfs. */
extern bool shim_files;
/* From now on all files are being read, which their removal waits for, or none is. */
void shim_files_read(bool reads);
/* Read one of a disk's files into a page, if there are some. Return: as its show(). */
ssize_t shim_file_read(struct gendisk *disk, char *buf);

/* Devices by name, for dm_get_device(). */
void shim_disk_add(const char *name, struct gendisk *disk);
void shim_disk_remove(struct gendisk *disk);

#endif
