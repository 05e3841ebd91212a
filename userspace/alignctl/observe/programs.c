// SPDX-License-Identifier: GPL-2.0
/*
 * Open, load and attach BPF objects, with one message for each way in which a
 * kernel refuses.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "observe/programs.h"

#define BTF_FILE		"/sys/kernel/btf/vmlinux"
#define PREEMPTIBLE_SINCE	7	/* Linux 7.0 */

/* The first complaint of libbpf, to be part of our own. */
static char complaint[160];

static int keep_complaint(enum libbpf_print_level level, const char *format,
			  va_list arguments)
{
	if (level == LIBBPF_WARN && !*complaint) {
		vsnprintf(complaint, sizeof(complaint), format, arguments);
		complaint[strcspn(complaint, "\n")] = '\0';
	}
	return 0;
}

int programs_refuse(const char *verb, const char *what)
{
	message_error("%s: %s: %s%s%s", verb, what, strerror(errno),
		      *complaint ? "; " : "", complaint);
	return ALIGNCTL_IO;
}

int programs_check_block(const struct device *device)
{
	if (device->block)
		return ALIGNCTL_FINE;
	message_error("%s: is a regular file, not a block device; name its disk, or attach the file with losetup",
		      device->path);
	return ALIGNCTL_USAGE;
}

int programs_check_disk(const struct device *device, const char *option)
{
	CLEANUP_FREE char *queues = message_format("%s/mq",
						   device->sys.disk_dir);

	if (!access(queues, F_OK))
		return ALIGNCTL_FINE;
	message_error("%s: a stacked device has no requests of its own; leave out --%s, or name a disk below it",
		      device->path, option);
	return ALIGNCTL_USAGE;
}

int programs_check_kernel(const char *verb, const char *what,
			  const char *else_where)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };
	CLEANUP_FREE char *btf = sysfs_path("%s", BTF_FILE);
	static const struct { unsigned int number; const char *name; } needs[] = {
		{ CAP_BPF, "CAP_BPF" }, { CAP_PERFMON, "CAP_PERFMON" },
	};
	size_t i;

	if (access(btf, R_OK)) {
		message_error("%s: %s; %s needs CONFIG_DEBUG_INFO_BTF, %s does not",
			      btf, strerror(errno), what, else_where);
		return ALIGNCTL_IO;
	}
	if (syscall(SYS_capget, &header, data))
		return ALIGNCTL_FINE;
	if (data[CAP_TO_INDEX(CAP_SYS_ADMIN)].effective &
	    CAP_TO_MASK(CAP_SYS_ADMIN))
		return ALIGNCTL_FINE;
	for (i = 0; i < sizeof(needs) / sizeof(needs[0]); i++) {
		unsigned int n = needs[i].number;

		if (data[CAP_TO_INDEX(n)].effective & CAP_TO_MASK(n))
			continue;
		message_error("%s: %s is missing; counting in the kernel needs CAP_BPF and CAP_PERFMON, or root",
			      verb, needs[i].name);
		return ALIGNCTL_IO;
	}
	return ALIGNCTL_FINE;
}

/* Return whether a task can be preempted in a program at a tracepoint. */
static bool is_preemptible(void)
{
	struct utsname kernel;

	return uname(&kernel) ||
	       strtoul(kernel.release, NULL, 10) >= PREEMPTIBLE_SINCE;
}

/*
 * Return the bit of a bio's bi_flags that is set when its arrival has been traced,
 * from the kernel's BTF: it is a value of an enumeration without a name, and has
 * been another one in other kernels. Return 0 if it is not found.
 */
static uint32_t find_traced_flag(void)
{
	struct btf *btf = btf__load_vmlinux_btf();
	uint32_t id, flag = 0, i;

	for (id = 1; !flag && btf && id < btf__type_cnt(btf); id++) {
		const struct btf_type *type = btf__type_by_id(btf, id);
		const struct btf_enum *value = btf_enum(type);

		if (!btf_is_enum(type))
			continue;
		for (i = 0; i < btf_vlen(type); i++)
			if (value[i].val >= 0 && value[i].val < 16 &&
			    !strcmp(btf__name_by_offset(btf, value[i].name_off),
				    "BIO_TRACE_COMPLETION"))
				flag = 1U << value[i].val;
	}
	btf__free(btf);
	return flag;
}

void programs_find_kernel(struct observed_range *range)
{
	range->preemptible = is_preemptible();
	range->traced = range->preemptible ? find_traced_flag() : 0;
}

int programs_find_range(const struct device *device,
			struct observed_range *range,
			struct align_geometry *geometry)
{
	const struct sysfs_device *sys = &device->sys;
	const char *wrong = NULL;
	int64_t start = 0;
	uint32_t offset;
	dev_t disk;

	if (!sysfs_devno(sys->disk_dir, "dev", &disk) ||
	    (sys->partition && (!sysfs_number(sys->dir, "start", &start) ||
				start < 0 || !device->sectors))) {
		message_error("%s: cannot read the start of the device", sys->dir);
		return ALIGNCTL_IO;
	}
	if (!device_offset_for(device, device->physical, &offset))
		wrong = "alignment_offset is not known";
	else
		wrong = align_geometry_init(geometry, device->physical,
					    device->logical, offset, 0,
					    device->sectors);
	if (wrong) {
		message_error("%s: %s; name the disk below this device", device->path,
			      wrong);
		return ALIGNCTL_USAGE;
	}
	*range = (struct observed_range) {
		.start = (uint64_t)start,
		.end = sys->partition ? (uint64_t)start + device->sectors :
					UINT64_MAX >> ALIGN_SECTOR_SHIFT,
		.disk_major = major(disk),
		.disk_minor = minor(disk),
	};
	programs_find_kernel(range);
	return ALIGNCTL_FINE;
}

static bool ends_in(const char *name, const char *end)
{
	size_t length = strlen(name), rest = strlen(end);

	return length > rest && !strcmp(name + length - rest, end);
}

/* Return whether a program is of use on this kernel. */
static bool is_needed(const char *name, const struct observed_range *range)
{
	if (ends_in(name, PROGRAMS_PROBE))
		return range->preemptible && range->traced;
	return range->preemptible || !ends_in(name, PROGRAMS_FURTHER);
}

bool programs_open(struct programs *programs, const char *name,
		   const void *object, size_t bytes,
		   const struct observed_range *range)
{
	LIBBPF_OPTS(bpf_object_open_opts, open, .object_name = name);
	struct bpf_program *program;

	libbpf_set_print(keep_complaint);
	*complaint = '\0';
	programs->turns = range->preemptible;
	programs->object = bpf_object__open_mem(object, bytes, &open);
	if (!programs->object)
		return false;
	bpf_object__for_each_program(program, programs->object)
		if (!is_needed(bpf_program__name(program), range))
			bpf_program__set_autoload(program, false);
	return !bpf_map__set_initial_value(
			bpf_object__find_map_by_name(programs->object,
						     ".rodata.range"),
			range, sizeof(*range));
}

void programs_detach(struct programs *programs)
{
	while (programs->nr_links)
		bpf_link__destroy(programs->link[--programs->nr_links]);
}

void programs_close(struct programs *programs)
{
	programs_detach(programs);
	bpf_object__close(programs->object);
	programs->object = NULL;
}

bool programs_attach(struct programs *programs)
{
	struct bpf_program *program = NULL;

	while ((program = bpf_object__prev_program(programs->object,
						   program))) {
		struct bpf_link *link;

		if (!bpf_program__autoload(program))
			continue;
		if (programs->nr_links == PROGRAMS_MAX_LINKS) {
			errno = E2BIG;
			return false;
		}
		link = bpf_program__attach(program);
		/* the programs at the tracepoint do what a kprobe would have */
		if (!link && ends_in(bpf_program__name(program), PROGRAMS_PROBE))
			continue;
		if (!link)
			return false;
		programs->link[programs->nr_links++] = link;
	}
	return true;
}

int programs_map_fd(const struct programs *programs, const char *name)
{
	return bpf_object__find_map_fd_by_name(programs->object, name);
}

void programs_set_room(const struct programs *programs, const char *map,
		       uint32_t room)
{
	bpf_map__set_max_entries(bpf_object__find_map_by_name(programs->object,
							      map), room);
}

uint64_t programs_skipped(const struct programs *programs, const char *name)
{
	const struct bpf_program *program =
		bpf_object__find_program_by_name(programs->object, name);
	struct bpf_prog_info info = { 0 };
	uint32_t length = sizeof(info);

	if (!bpf_program__autoload(program) ||
	    bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &length))
		return 0;
	return info.recursion_misses;
}

/* Read how programs took turns at an event, on all processors together. */
static struct observed_count count_turns(const struct programs *programs,
					 enum observed_event event)
{
	const int processors = libbpf_num_possible_cpus();
	const uint32_t index = event;
	struct observed_count sum = { 0 };
	CLEANUP_FREE struct observed_count *each = NULL;
	int i;

	if (processors <= 0)
		return sum;
	each = memory_or_exit(calloc((size_t)processors, sizeof(*each)));
	if (bpf_map_lookup_elem(programs_map_fd(programs, "counts"), &index,
				each))
		return sum;
	for (i = 0; i < processors; i++) {
		sum.runs += each[i].runs;
		sum.taken += each[i].taken;
	}
	return sum;
}

uint64_t programs_missed(const struct programs *programs, const char *name,
			 enum observed_event event)
{
	/* in this order, as each event is taken before it is counted as a run */
	uint64_t skipped = programs_skipped(programs, name);
	uint64_t all = skipped + count_turns(programs, event).runs;
	uint64_t taken = count_turns(programs, event).taken;

	if (!programs->turns)
		return skipped;
	return all > taken ? all - taken : 0;
}

uint64_t programs_raise(uint64_t *most, uint64_t now)
{
	uint64_t more = now > *most ? now - *most : 0;

	*most += more;
	return more;
}

uint64_t programs_missed_by_both(const struct programs *programs,
				 const char *first, const char *second)
{
	const struct bpf_program *program =
		bpf_object__find_program_by_name(programs->object, second);
	uint64_t one = programs_skipped(programs, first), other;

	if (!bpf_program__autoload(program))
		return one;
	other = programs_skipped(programs, second);
	return one < other ? one : other;
}
