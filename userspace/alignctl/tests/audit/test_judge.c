// SPDX-License-Identifier: GPL-2.0
/* Stacks made up of descriptions, and what the judgement must say of each. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "audit/judge.h"
#include "audit/judge_cause.h"
#include "base/message.h"
#include "tests/tap.h"

#define DISK_BYTES	(INT64_C(64) << 20)
#define START		(INT64_C(1) << 20)
#define PART_BYTES	(INT64_C(8) << 20)

static struct stack stack;

#define COUNT_RULE(name) + 1
#define NR_RULES	(0 FOR_EACH_RULE(COUNT_RULE))

/* What the tests have found by each rule. */
static struct {
	bool fault;
	bool note;
	bool mended[RULE_REMEDIES];
} seen[NR_RULES];

static void see(const struct finding *finding)
{
	const struct rule *rule = finding->rule;
	size_t i, k;

	for (i = 0; check_rules[i] != rule; i++)
		;
	*(finding->note ? &seen[i].note : &seen[i].fault) = true;
	for (k = 0; k < RULE_REMEDIES; k++)
		seen[i].mended[k] |= finding->remedy == rule->remedies[k];
	CHECK(rule->note != (finding->note ? RULE_FAULT : RULE_NOTE),
	      "%s is %sa note", rule->name, finding->note ? "" : "not ");
	CHECK(!finding->remedy || rule_has_remedy(rule, finding->remedy),
	      "%s has not the remedy %s", rule->name,
	      remedy_of(finding->remedy)->name);
}

static void figures(struct stack_layer *layer, enum stack_source source,
		    int64_t logical, int64_t physical, int64_t io_min,
		    int64_t offset)
{
	layer->view[source] = (struct stack_view) {
		{ maybe_of(logical), maybe_of(physical), maybe_of(io_min),
		  maybe_of(offset) },
	};
}

/* Say what the ATA drive itself does. */
static void identify(struct stack_layer *layer, int64_t physical,
		     int64_t offset)
{
	figures(layer, STACK_IDENTIFY, 512, physical, 0, offset);
	layer->view[STACK_IDENTIFY].figure[STACK_IO_MIN] = MAYBE_UNKNOWN;
}

/* Begin a stack with a rotating disk. */
static struct stack_layer *disk(int64_t logical, int64_t physical,
				int64_t offset)
{
	struct stack_layer *layer = stack_add(&stack, STACK_DISK, "sda",
					      "/dev/sda");

	figures(layer, STACK_SYSFS, logical, physical, physical, offset);
	layer->bytes = maybe_of(DISK_BYTES);
	layer->max_io = maybe_of(1280 << 10);
	layer->rotational = true;
	layer->content.table = strdup("gpt");
	return layer;
}

static struct stack_layer *partition(int64_t number, int64_t start,
				     int64_t bytes)
{
	struct stack_layer *layer = stack_add(&stack, STACK_PARTITION, "sda1",
					      "/dev/sda1");

	stack_lies_on(&stack, 0);
	layer->view[STACK_SYSFS] = stack.layer[0].view[STACK_SYSFS];
	layer->view[STACK_SYSFS].figure[STACK_OFFSET] = MAYBE_UNKNOWN;
	layer->partition = number;
	layer->start = maybe_of(start);
	layer->bytes = maybe_of(bytes);
	return layer;
}

/* Add a device on the last one, with what device-mapper would say. */
static struct stack_layer *above(enum stack_kind kind, int64_t offset)
{
	size_t below = stack.nr - 1;
	struct stack_layer *layer = stack_add(&stack, kind, "dm-0",
					      "/dev/mapper/a b");

	stack_lies_on(&stack, below);
	figures(layer, STACK_SYSFS, 512, 4096, 4096, offset);
	layer->bytes = maybe_of(PART_BYTES);
	return layer;
}

static void carries(struct stack_layer *layer, const char *type)
{
	layer->content.type = strdup(type);
}

/* Judge, and return the findings as "DEVICE:CODE DEVICE:(NOTE)". */
static char *codes(const struct judgement *judgement)
{
	char *all = message_format("%s", "");
	size_t i;

	for (i = 0; i < judgement->nr; i++) {
		const struct finding *f = &judgement->finding[i];
		char *longer = message_format(
			"%s%s%zu:%s%s%s", all, i ? " " : "", f->layer,
			f->note ? "(" : "", f->rule->name,
			f->note ? ")" : "");

		/* each says what it costs, and one workaround */
		CHECK(f->text && f->cost && !f->command != !f->reason,
		      "%s is not whole", f->rule->name);
		see(f);
		free(all);
		all = longer;
	}
	return all;
}

/* Check the findings; all commands among them must be @command, if given. */
static void expect(const char *wanted, const char *command)
{
	struct judgement judgement;
	bool found = !command;
	char *got;
	size_t i;

	judge_stack(&stack, &judgement);
	got = codes(&judgement);
	CHECK(!strcmp(got, wanted), "'%s', not '%s'", got, wanted);
	for (i = 0; i < judgement.nr; i++) {
		const char *c = judgement.finding[i].command;

		found |= c && command && !strcmp(c, command);
		CHECK(!c || !command || !strcmp(c, command), "command: %s", c);
	}
	CHECK(found, "no command '%s'", command);
	free(got);
	judgement_free(&judgement);
	stack_free(&stack);
}

/* Return the place of a device's first byte in a block; -1: unknown. */
static int64_t shift_of(size_t index)
{
	struct judgement judgement;
	int64_t shift;

	judge_stack(&stack, &judgement);
	shift = maybe_or(judgement.position[index].shift, -1);
	judgement_free(&judgement);
	return shift;
}

static void aligned(void)
{
	static const int64_t blocks[][2] = {
		{ 512, 512 }, { 512, 4096 }, { 4096, 4096 }, { 512, 65536 },
	};
	size_t i;

	for (i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
		disk(blocks[i][0], blocks[i][1], 0);
		partition(1, START, PART_BYTES);
		expect("", NULL);
	}
}

static void shifted(void)
{
	static const char *const mapped =
		"kpartx -d /dev/sda && echo '+7,' | sfdisk --move-data /dev/sda -N 1 && kpartx -a /dev/sda";

	disk(512, 4096, 0);
	partition(1, START + 512, PART_BYTES - 512);
	expect("1:partition-start",
	       "echo '+7,' | sfdisk --move-data /dev/sda -N 1");
	disk(512, 4096, 0);
	partition(1, START + 5 * 512, PART_BYTES - 5 * 512);
	expect("1:partition-start",
	       "echo '+3,' | sfdisk --move-data /dev/sda -N 1");
	/* 63 sectors, of old partition tables, and of P 512 no fault */
	disk(512, 4096, 0);
	partition(1, 63 * 512, PART_BYTES + 512);
	expect("1:partition-start",
	       "echo '+1,' | sfdisk --move-data /dev/sda -N 1");
	disk(512, 512, 0);
	partition(1, 63 * 512, PART_BYTES);
	expect("", NULL);
	disk(512, 4096, 0);
	partition(1, START + 512, PART_BYTES - 512)->mapped = true;
	expect("1:partition-start", mapped);
}

static void offsets(void)
{
	struct stack_layer *layer;

	/* physical blocks begin at byte 3584: sector 7, 15, 63 */
	disk(512, 4096, 3584);
	partition(1, 63 * 512, PART_BYTES);
	CHECK(shift_of(1) == 0, "%" PRId64, shift_of(1));
	expect("0:split", NULL);
	/* the kernel cuts at its own blocks: no harm where those are smaller */
	layer = disk(512, 512, 0);
	identify(layer, 4096, 3584);
	CHECK(shift_of(0) == 512, "%" PRId64, shift_of(0));
	expect("0:disagree 0:disagree",
	       "alignctl attach /dev/sda --physical 4096 --offset 3584");
	disk(512, 4096, 3584);
	partition(1, START, PART_BYTES);
	CHECK(shift_of(1) == 512, "%" PRId64, shift_of(1));
	expect("0:split 1:partition-start", NULL);
}

static void no_room(void)
{
	struct judgement judgement;

	/* the neighbours touch it on both sides: no command can move it */
	disk(512, 4096, 0);
	partition(1, START, 513 * 512);
	partition(2, START + 513 * 512, PART_BYTES - 512);
	partition(3, START + 512 * 512 + PART_BYTES, PART_BYTES);
	expect("1:(partition-end) 2:partition-start", "echo ',512' | sfdisk /dev/sda -N 1");
	/* room before it only */
	disk(512, 4096, 0);
	partition(1, 2 * START + 512, PART_BYTES - 512);
	partition(2, 2 * START + PART_BYTES, PART_BYTES);
	expect("1:partition-start",
	       "echo '-1,' | sfdisk --move-data /dev/sda -N 1");
	/* GPT has a table of its own at the end */
	disk(512, 4096, 0)->bytes = maybe_of(2 * START + PART_BYTES + 34 * 512);
	partition(1, 2 * START + 512, PART_BYTES - 512);
	expect("1:partition-start",
	       "echo '-1,' | sfdisk --move-data /dev/sda -N 1");
	/* and sfdisk moves nothing to the first MiB */
	disk(512, 4096, 0)->bytes = maybe_of(START + PART_BYTES + 34 * 512);
	partition(1, START + 512, PART_BYTES - 512);
	judge_stack(&stack, &judgement);
	CHECK(judgement.nr == 1 && !judgement.finding[0].command,
	      "a command that sfdisk refuses");
	judgement_free(&judgement);
	stack_free(&stack);
}

/* Check that the last finding has no command, for a reason with @words. */
static void expect_fixed(const char *words)
{
	struct judgement judgement;
	const struct finding *last;

	judge_stack(&stack, &judgement);
	last = &judgement.finding[judgement.nr - 1];
	CHECK(judgement.nr && !last->command && strstr(last->reason, words),
	      "a command, or not for '%s'", words);
	judgement_free(&judgement);
	stack_free(&stack);
}

static void table_unread(void)
{
	static const struct {
		enum stack_unread why;
		const char *words;
	} reasons[] = {
		{ UNREAD_ORDINARY, "check it as root" },
		{ UNREAD_SEVERAL, "as the note about its disk says" },
		{ UNREAD_FORBIDDEN, "as the note about its disk says" },
	};
	size_t i;

	for (i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		struct stack_content *content = &disk(512, 4096, 0)->content;

		free(content->table);
		content->table = NULL;
		stack_not_read(content, reasons[i].why, strdup("x"));
		partition(1, START + 512, PART_BYTES - 512);
		expect_fixed(reasons[i].words);
	}
}

static void known_elsewhere(void)
{
	/* the boot catalogue of a live system, the other half of an array */
	static const char *const types[] = { "iso9660", "linux_raid_member" };
	size_t i;

	disk(512, 4096, 0)->content.hybrid = true;
	partition(1, START + 512, PART_BYTES - 512);
	expect_fixed("hybrid MBR");
	disk(512, 4096, 0)->content.hybrid = true;
	partition(1, START, PART_BYTES + 512);
	expect("1:(partition-end)", NULL);
	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		carries(disk(512, 4096, 0), types[i]);
		partition(2, START + 512, PART_BYTES - 512);
		expect_fixed("more than the table");
	}
}

static void logical_partition(void)
{
	struct stack_layer *layer = disk(512, 4096, 0);
	struct judgement judgement;

	free(layer->content.table);
	layer->content.table = strdup("dos");
	partition(5, START + 512, PART_BYTES - 512);
	judge_stack(&stack, &judgement);
	CHECK(judgement.nr == 1 && !judgement.finding[0].command &&
	      strstr(judgement.finding[0].reason, "logical partition"),
	      "a command, although the partition's own table lies before it");
	judgement_free(&judgement);
	stack_free(&stack);
	/* sysfs shows an extended partition so; it has no data of its own */
	disk(512, 4096, 0);
	partition(4, START + 512, 1024);
	expect("", NULL);
	/* with larger sectors one of these, and kpartx maps it likewise */
	disk(4096, 16384, 0);
	partition(4, START + 4096, 4096);
	expect("", NULL);
	disk(512, 4096, 0);
	layer = above(STACK_DM, 512);
	layer->partition = 2;
	layer->bytes = maybe_of(1024);
	expect("", NULL);
	/* a partition as small that is none, by its type */
	disk(512, 4096, 0);
	partition(4, START + 512, 1024)->type = strdup("0x83");
	expect("1:partition-start",
	       "echo '+7,' | sfdisk --move-data /dev/sda -N 4");
	disk(512, 4096, 0);
	partition(4, START + 512, 1024)->type = strdup("0x05");
	expect("", NULL);
}

static void ends(void)
{
	struct stack_layer *layer;

	disk(512, 4096, 0);
	partition(1, START, PART_BYTES + 512);
	expect("1:(partition-end)", "echo ',16384' | sfdisk /dev/sda -N 1");
	disk(512, 4096, 0);
	partition(1, START, PART_BYTES + 512)->mapped = true;
	expect("1:(partition-end)",
	       "kpartx -d /dev/sda && echo ',16384' | sfdisk /dev/sda -N 1 && kpartx -a /dev/sda");
	/* a file system of whole blocks leaves the last one alone */
	disk(512, 4096, 0);
	layer = partition(1, START, PART_BYTES + 512);
	carries(layer, "ext4");
	layer->content.block = maybe_of(4096);
	layer->content.bytes = maybe_of(PART_BYTES);
	expect("", NULL);
	/* one of smaller blocks does not */
	disk(512, 4096, 0);
	layer = partition(1, START, PART_BYTES + 1024);
	carries(layer, "ext4");
	layer->content.block = maybe_of(1024);
	layer->content.bytes = maybe_of(PART_BYTES + 1024);
	expect("1:partition-end 1:fs-block", NULL);
	/* what is inside LUKS is not known */
	disk(512, 4096, 0);
	carries(partition(1, START, PART_BYTES + 512), "crypto_LUKS");
	expect("1:(partition-end)", NULL);
	/* nor need a swap area's last page be whole */
	disk(512, 4096, 0);
	layer = partition(1, START, PART_BYTES + 512);
	carries(layer, "swap");
	layer->content.block = maybe_of(4096);
	expect("", NULL);
}

static void headers(void)
{
	static const struct {
		const char *type;
		enum stack_kind kind;
	} kinds[] = {
		{ "crypto_LUKS", STACK_CRYPT },
		{ "LVM2_member", STACK_LVM },
		{ "linux_raid_member", STACK_MD },
	};
	struct stack_layer *layer;
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		disk(512, 4096, 0);
		layer = partition(1, START, PART_BYTES);
		carries(layer, kinds[i].type);
		layer->content.start = maybe_of(START + 512);
		above(kinds[i].kind, 0);
		CHECK(shift_of(2) == 512, "%" PRId64, shift_of(2));
		/* once, where it comes from, and not again above */
		expect("1:data-start", NULL);
	}
	/* two wrongs: the header puts the data where they belong */
	disk(512, 4096, 0);
	layer = partition(1, START + 512, PART_BYTES - 512);
	carries(layer, "crypto_LUKS");
	layer->content.start = maybe_of(START - 512);
	above(STACK_CRYPT, 0);
	expect("", NULL);
	/* a header that only passes the shift on is not to blame */
	disk(512, 4096, 0);
	layer = partition(1, START + 512, PART_BYTES - 512);
	carries(layer, "LVM2_member");
	layer->content.start = maybe_of(START);
	above(STACK_LVM, 3584);
	CHECK(shift_of(2) == 512, "%" PRId64, shift_of(2));
	expect("1:partition-start", NULL);
}

static void mapped(void)
{
	/* by hand, and all that is known is what the kernel has stacked */
	disk(512, 4096, 0);
	above(STACK_DM, 3584);
	expect("1:mapped-start", NULL);
	disk(512, 4096, 0);
	above(STACK_DM, 0);
	expect("", NULL);
	/* the kernel's figure is of blocks too small for the one judged */
	disk(512, 16384, 0);
	above(STACK_DM, 3584);
	CHECK(shift_of(1) == -1, "%" PRId64, shift_of(1));
	expect("", NULL);
}

static void transparent(void)
{
	static const enum stack_kind kinds[] = {
		STACK_ALIGN, STACK_MULTIPATH, STACK_DM,
	};
	struct stack_layer *layer;
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		disk(512, 4096, 0);
		layer = partition(1, START, PART_BYTES);
		carries(layer, "LVM2_member");
		layer->content.start = maybe_of(START + 512);
		layer->content.extent = maybe_of(2048);
		layer = above(kinds[i], 0);
		carries(layer, "LVM2_member");
		layer->content.start = maybe_of(START + 512);
		layer->content.extent = maybe_of(2048);
		above(STACK_LVM, 3584);
		/* the device is where the partition is, and not its data */
		CHECK(shift_of(2) == 0 && shift_of(3) == 512,
		      "%" PRId64 ", %" PRId64, shift_of(2), shift_of(3));
		expect("2:data-start 2:extent", NULL);
	}
}

static void array(void)
{
	struct stack_layer *layer;

	disk(512, 4096, 0);
	layer = partition(1, START, PART_BYTES);
	carries(layer, "linux_raid_member");
	layer->content.start = maybe_of(START);
	layer = partition(2, START + PART_BYTES, PART_BYTES);
	carries(layer, "linux_raid_member");
	layer->content.start = maybe_of(START + 512);
	layer->content.chunk = maybe_of(6144);
	above(STACK_MD, -1);
	stack_lies_on(&stack, 1);
	CHECK(shift_of(3) == -1, "%" PRId64, shift_of(3));
	expect("2:data-start 2:chunk 3:misaligned", NULL);
}

static void filesystems(void)
{
	struct stack_layer *layer;

	disk(512, 4096, 0);
	layer = partition(1, START, PART_BYTES);
	carries(layer, "xfs");
	layer->content.sector = maybe_of(512);
	layer->content.block = maybe_of(4096);
	expect("1:fs-sector", NULL);
	disk(512, 4096, 0);
	layer = partition(1, START, PART_BYTES);
	carries(layer, "xfs");
	layer->content.sector = maybe_of(1024);
	layer->content.block = maybe_of(1024);
	expect("1:fs-sector 1:fs-block", NULL);
	disk(512, 4096, 0);
	layer = partition(1, START, PART_BYTES);
	carries(layer, "ext4");
	layer->content.block = maybe_of(1024);
	expect("1:fs-block", NULL);
	disk(512, 512, 0);
	layer = partition(1, START, PART_BYTES);
	carries(layer, "ext4");
	layer->content.block = maybe_of(1024);
	expect("", NULL);
	disk(512, 4096, 0);
	layer = partition(1, START, PART_BYTES);
	carries(layer, "LVM2_member");
	layer->content.extent = maybe_of(2048);
	expect("1:extent", NULL);
	disk(512, 4096, 0);
	layer = partition(1, START, PART_BYTES);
	carries(layer, "crypto_LUKS");
	layer->content.sector = maybe_of(512);
	layer->content.version = 2;
	layer = above(STACK_CRYPT, 0);
	carries(layer, "ext4");
	layer->content.block = maybe_of(4096);
	expect("1:(luks-sector)",
	       "cryptsetup reencrypt --sector-size 4096 /dev/sda1");
	disk(512, 4096, 0);
	layer = partition(1, START, PART_BYTES);
	carries(layer, "crypto_LUKS");
	layer->content.sector = maybe_of(512);
	layer->content.version = 1;
	expect("1:(luks-sector)", NULL);
}

static void sources(void)
{
	struct stack_layer *layer = disk(512, 4096, 0);

	figures(layer, STACK_IOCTL, 512, 4096, 4096, 0);
	figures(layer, STACK_LIBBLKID, 512, 4096, 4096, 0);
	identify(layer, 4096, 0);
	expect("", NULL);
	/* a bridge hides the drive's blocks; the partition is judged by them */
	layer = disk(512, 512, 0);
	identify(layer, 4096, 0);
	partition(1, 63 * 512, PART_BYTES + 512);
	free(stack.layer[0].content.table);
	stack.layer[0].content.table = NULL;
	stack.layer[1].partition = 5;
	expect("0:disagree 1:partition-start",
	       "alignctl attach /dev/sda --physical 4096 --offset 0");
	/* libblkid shows the kernel's -1 as 0 */
	layer = disk(512, 4096, -1);
	figures(layer, STACK_IOCTL, 512, 4096, 4096, -1);
	figures(layer, STACK_LIBBLKID, 512, 4096, 4096, 0);
	expect("0:(disagree) 0:misaligned", NULL);
	layer = disk(512, 4096, 0);
	figures(layer, STACK_IOCTL, 512, 512, 4096, 0);
	expect("0:disagree", NULL);
}

/* Begin a stack with a disk that was probed. */
static struct stack_layer *probed_disk(int64_t says, int64_t says_offset,
				       int64_t block, int64_t offset)
{
	struct stack_layer *layer = disk(512, says, says_offset);

	layer->view[STACK_PROBED].figure[STACK_PHYSICAL] = maybe_of(block);
	layer->view[STACK_PROBED].figure[STACK_OFFSET] = maybe_of(offset);
	return layer;
}

static void probed(void)
{
	struct judgement judgement;
	struct stack_layer *layer;

	/* what confirms the drive is no finding */
	probed_disk(4096, 0, 4096, 0);
	partition(1, START, PART_BYTES);
	expect("", NULL);
	/* an offset may be relative to a larger unit */
	probed_disk(4096, 8192 + 3584, 4096, 3584);
	expect("0:split", NULL);
	/* a bridge that claims 512/512 and is 4096, 7 sectors off */
	probed_disk(512, 0, 4096, 3584);
	partition(1, 63 * 512, PART_BYTES);
	CHECK(shift_of(0) == 512 && shift_of(1) == 0, "%" PRId64 ", %" PRId64,
	      shift_of(0), shift_of(1));
	expect("0:probed", "alignctl attach /dev/sda --physical 4096 --offset 3584");
	/* what lies on it is judged by what was found */
	probed_disk(512, 0, 4096, 3584);
	partition(1, START, PART_BYTES);
	judge_stack(&stack, &judgement);
	CHECK(judgement.nr == 2 &&
	      judgement.finding[1].rule == &rule_partition_start &&
	      !strcmp(judgement.finding[1].command,
		      "echo '+7,' | sfdisk --move-data /dev/sda -N 1"),
	      "%zu findings", judgement.nr);
	CHECK(!strcmp(judgement.finding[0].text,
		      "probe measured blocks of 4096 bytes from byte 3584, which check judges by; the kernel says 512 from byte 0"),
	      "%s", judgement.finding[0].text);
	judgement_free(&judgement);
	stack_free(&stack);
	/* the offset alone */
	probed_disk(4096, 0, 4096, 3584);
	expect("0:probed 0:split", "alignctl attach /dev/sda --physical 4096 --offset 3584");
	/* the kernel places a mapped device by the offset that is not the drive's */
	probed_disk(4096, 0, 4096, 3584);
	partition(1, 63 * 512, PART_BYTES)->view[STACK_SYSFS].figure[STACK_OFFSET] =
		maybe_of(512);
	above(STACK_DM, 512);
	CHECK(shift_of(1) == 0 && shift_of(2) == 0, "%" PRId64 ", %" PRId64,
	      shift_of(1), shift_of(2));
	expect("0:probed 0:split", "alignctl attach /dev/sda --physical 4096 --offset 3584");
	/* smaller blocks than it says cost nothing, unless they are elsewhere */
	probed_disk(4096, 0, 512, 0);
	partition(1, START + 512, PART_BYTES);
	expect("0:(probed)", "alignctl attach /dev/sda --physical 512 --offset 0");
	probed_disk(8192, 0, 4096, 512);
	expect("0:probed 0:split", "alignctl attach /dev/sda --physical 4096 --offset 512");
	/* a hint of the drive is answered by a measurement */
	layer = probed_disk(4096, 0, 4096, 0);
	layer->view[STACK_SYSFS].figure[STACK_IO_MIN] =
		maybe_of(16384);
	layer->rotational = false;
	expect("", NULL);
	/* and what other sources say of the block */
	layer = probed_disk(512, 0, 4096, 3584);
	identify(layer, 4096, 0);
	CHECK(shift_of(0) == 512, "%" PRId64, shift_of(0));
	expect("0:disagree 0:probed",
	       "alignctl attach /dev/sda --physical 4096 --offset 3584");
}

/* Put an align device on the last one. */
static void align_above(int64_t physical, int64_t io_min, int64_t offset)
{
	figures(above(STACK_ALIGN, offset), STACK_SYSFS, 512, physical, io_min,
		offset);
}

/* Add a claim about the unit of the first disk. */
static void claim(enum unit_source source, int64_t bytes)
{
	struct unit *unit = &stack.layer[0].unit;

	unit_claim(unit, source, "figure", maybe_of(bytes), UNIT_HIGH, NULL);
	unit_judge(unit);
}

/* Begin a stack with a disk that says 512, and a partition at 1 MiB. */
static void claimed_disk(enum unit_source source, int64_t bytes)
{
	disk(512, 512, 0);
	claim(UNIT_KERNEL, 512);
	claim(source, bytes);
	partition(1, START, PART_BYTES);
}

static void unit_sources(void)
{
	claimed_disk(UNIT_HWDB, 512);
	expect("", NULL);
	claimed_disk(UNIT_HWDB, 4096);
	expect("0:(unit)", "alignctl attach /dev/sda --physical 4096 --offset 0");
	/* a drive is judged by what is known better, not by its hints */
	claimed_disk(UNIT_OVERRIDE, INT64_C(1) << 20);
	stack.layer[1].start = maybe_of(START / 2);
	expect("0:(unit) 1:partition-start", NULL);
	claimed_disk(UNIT_DRIVE, 4096);
	stack.layer[1].start = maybe_of(START + 512);
	expect("0:(unit)", NULL);
	claimed_disk(UNIT_HWDB, 4096);
	claim(UNIT_GIVEN, 512);
	expect("", NULL);
}

/* Say of the first disk how fast it rotates. */
static void rotates(enum unit_source source, int64_t rpm)
{
	struct unit *unit = &stack.layer[0].unit;

	unit->rotation[unit->nr_rotations++] = (struct unit_rotation) {
		.rpm = maybe_of(rpm), .least = maybe_of(rpm),
		.most = maybe_of(rpm), .source = source, .figure = "figure",
	};
}

static void rotation_sources(void)
{
	disk(512, 4096, 0);
	rotates(UNIT_MEASURED, 7200);
	rotates(UNIT_DRIVE, 7200);
	expect("", NULL);
	disk(512, 4096, 0);
	rotates(UNIT_MEASURED, 5400);
	rotates(UNIT_DRIVE, 7200);
	expect("0:(rotation)", NULL);
}

static void probed_and_attached(void)
{
	static const char *const command =
		"alignctl attach /dev/sda --physical 4096 --offset 3584";
	struct stack_layer *layer;

	/* as check has it done */
	probed_disk(512, 0, 4096, 3584);
	align_above(4096, 4096, 3584);
	expect("0:(probed)", NULL);
	/* with other figures */
	probed_disk(512, 0, 4096, 3584);
	align_above(512, 512, 0);
	expect("0:probed", command);
	probed_disk(512, 0, 4096, 3584);
	align_above(4096, 4096, 0);
	expect("0:probed", command);
	/* which say nothing of where it and its partitions lie */
	probed_disk(4096, 0, 4096, 3584);
	align_above(4096, 4096, 0);
	stack.layer[1].bytes = maybe_of(DISK_BYTES);
	layer = above(STACK_PARTITION, 0);
	layer->partition = 1;
	layer->start = maybe_of(START);
	CHECK(shift_of(1) == 512 && shift_of(2) == 512, "%" PRId64 ", %" PRId64,
	      shift_of(1), shift_of(2));
	expect("0:probed 0:split 2:partition-start", NULL);
	/* but are all that is known where nothing was measured */
	disk(512, 4096, 0);
	align_above(4096, 4096, 3584);
	stack.layer[1].bytes = maybe_of(DISK_BYTES);
	layer = above(STACK_PARTITION, 0);
	layer->partition = 1;
	layer->start = maybe_of(63 * 512);
	CHECK(shift_of(1) == 512 && shift_of(2) == 0, "%" PRId64 ", %" PRId64,
	      shift_of(1), shift_of(2));
	expect("", NULL);
	/* a block above a page is told as minimum_io_size */
	probed_disk(4096, 0, 16384, 0);
	align_above(4096, 16384, 0);
	expect("0:(probed)", NULL);
	/* unless that is the disk's own */
	probed_disk(4096, 0, 16384, 0)->view[STACK_SYSFS].figure[STACK_IO_MIN] =
		maybe_of(16384);
	align_above(4096, 16384, 0);
	expect("0:probed", "alignctl attach /dev/sda --physical 16384 --offset 0");
	/* on all partitions, or on one of them */
	probed_disk(512, 0, 4096, 3584);
	partition(1, 63 * 512, PART_BYTES);
	align_above(4096, 4096, 0);
	expect("0:(probed)", NULL);
	probed_disk(512, 0, 4096, 3584);
	partition(1, 63 * 512, PART_BYTES);
	align_above(4096, 4096, 0);
	partition(2, 63 * 512 + PART_BYTES, PART_BYTES);
	expect("0:probed", command);
}

static void units(void)
{
	struct stack_layer *layer = disk(4096, 4096, 0);

	layer->view[STACK_SYSFS].figure[STACK_IO_MIN] =
		maybe_of(16384);
	layer->rotational = false;
	expect("0:(large-unit)", "alignctl attach /dev/sda --physical auto");
	layer = disk(4096, 4096, 0);
	layer->view[STACK_SYSFS].figure[STACK_IO_MIN] =
		maybe_of(16384);
	expect("", NULL);
}

static void contents(void)
{
	static const struct {
		const char *type;
		int64_t block, start;
		const char *wanted;
	} all[] = {
		{ "vfat", 4096, 231936, "1:data-start" },
		{ "vfat", 2048, 231936, "1:data-start 1:fs-block" },
		{ "vfat", 4096, 233472, "" },
		{ "exfat", 512, 1 << 20, "1:fs-block" },
		{ "zfs_member", 512, -1, "1:fs-block" },
		{ "zfs_member", 4096, -1, "" },
		{ "zfs_member", -1, -1, "1:(unjudged)" },
		{ "minix", 1024, -1, "1:fs-block" },
		{ "hfsplus", 6144, -1, "1:fs-block" },
		{ "hfsplus", 8192, -1, "" },
		{ "bcache", 512, 8192, "1:fs-block" },
		{ "bcache", 4096, 8192 + 512, "1:data-start" },
		{ "drbd", -1, -1, "1:(unjudged)" },
		{ "iso9660", -1, -1, "" },
		{ "crypto_LUKS", -1, 1 << 20, "" },
		{ "a type of tomorrow", -1, -1, "1:(unjudged)" },
	};
	struct stack_layer *layer;
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		disk(512, 4096, 0);
		layer = partition(1, START, PART_BYTES);
		carries(layer, all[i].type);
		if (all[i].block >= 0)
			layer->content.block = maybe_of(all[i].block);
		if (all[i].start >= 0)
			layer->content.start = maybe_of(all[i].start);
		expect(all[i].wanted, NULL);
	}
	/* a card whose clusters, and not its partition, begin at a block */
	disk(512, 4096, 0);
	layer = partition(1, 63 * 512, PART_BYTES + 512);
	carries(layer, "vfat");
	layer->content.block = maybe_of(32768);
	layer->content.start = maybe_of((8192 - 63) * 512);
	expect("", NULL);
	/* only updates write to an EFI system partition */
	disk(512, 4096, 0);
	layer = partition(1, START, PART_BYTES);
	layer->type = strdup("c12a7328-f81f-11d2-ba4b-00c04fc93ec9");
	carries(layer, "vfat");
	layer->content.block = maybe_of(512);
	layer->content.start = maybe_of(1024);
	expect("1:(data-start) 1:(fs-block)", NULL);
	/* what was not read has one note, and not two */
	disk(512, 4096, 0);
	layer = partition(1, START, PART_BYTES);
	carries(layer, "drbd");
	stack_not_read(&layer->content, UNREAD_ORDINARY, strdup("x"));
	expect("1:(unread)", NULL);
	disk(512, 4096, 0);
	layer = partition(1, START, PART_BYTES);
	carries(layer, "linux_raid_member");
	layer->content.start = maybe_of(START);
	layer->content.sector = maybe_of(512);
	expect("1:(md-superblock)", NULL);
	/* which md rounds up to logical blocks */
	disk(4096, 4096, 0);
	layer = partition(1, START, PART_BYTES);
	carries(layer, "linux_raid_member");
	layer->content.start = maybe_of(START);
	layer->content.sector = maybe_of(512);
	expect("", NULL);
}

static void types(void)
{
	static const char *const unused[] = {
		"21686148-6449-6E6F-744E-656564454649",
		"e3c9e316-0b5c-4db8-817d-f92df00215ae", "0x41",
	};
	struct stack_layer *layer;
	size_t i;

	for (i = 0; i < sizeof(unused) / sizeof(unused[0]); i++) {
		disk(512, 4096, 0);
		layer = partition(1, 34 * 512, 2014 * 512);
		layer->type = strdup(unused[i]);
		expect("1:(partition-start)", NULL);
		/* nor does its end matter */
		disk(512, 4096, 0);
		layer = partition(1, START, 2014 * 512);
		layer->type = strdup(unused[i]);
		expect("", NULL);
		/* a disk of any type that carries something is written */
		disk(512, 4096, 0);
		layer = partition(1, 34 * 512, 2014 * 512);
		layer->type = strdup(unused[i]);
		carries(layer, "ext4");
		layer->content.block = maybe_of(4096);
		expect("1:partition-start", NULL);
	}
	disk(512, 4096, 0);
	layer = partition(1, 34 * 512, 2014 * 512);
	layer->type = strdup("0fc63daf-8483-4772-8e79-3d69d8477de4");
	expect("1:partition-start", NULL);
}

/* Put a mapped device on the first partition. */
static struct stack_layer *leg(int64_t offset)
{
	struct stack_layer *layer = above(STACK_LVM, offset);

	stack.layer[stack.nr - 1].below[0] = 1;
	return layer;
}

static void legs(void)
{
	static const int64_t offsets[] = { 0, 3584 };
	struct judgement judgement;
	size_t i;

	for (i = 0; i < 2; i++) {
		disk(512, 4096, 0);
		carries(partition(1, START, PART_BYTES), "LVM2_member");
		stack.layer[1].content.start =
			maybe_of(START - (offsets[i] ? 3584 : 0));
		leg(offsets[i]);
		leg(offsets[i]);
		above(STACK_LVM, -1);
		stack_lies_on(&stack, 2);
		judge_stack(&stack, &judgement);
		CHECK(judgement.nr && !strstr(
			judgement.finding[judgement.nr - 1].reason,
			"mend the devices below") == !offsets[i], "%s",
		      judgement.finding[judgement.nr - 1].reason);
		judgement_free(&judgement);
		expect(offsets[i] ? "1:data-start 4:misaligned" :
				    "4:(misaligned)", NULL);
	}
}

static void unusable(void)
{
	struct stack_layer *layer = disk(4096, 4096, 0);

	carries(layer, "xfs");
	layer->content.sector = maybe_of(512);
	layer->content.block = maybe_of(4096);
	expect("0:fs-sector", "alignctl attach /dev/sda --logical 512");
	layer = disk(4096, 4096, 0);
	carries(layer, "ext4");
	layer->content.block = maybe_of(1024);
	expect("0:fs-block", "alignctl attach /dev/sda --logical 512");
	/* judged there, where it is mounted */
	layer = disk(4096, 4096, 0);
	carries(layer, "ext4");
	layer->content.block = maybe_of(1024);
	layer = above(STACK_ALIGN, 0);
	layer->bytes = maybe_of(DISK_BYTES);
	carries(layer, "ext4");
	layer->content.block = maybe_of(1024);
	expect("1:fs-block", NULL);
}

static void tables(void)
{
	struct stack_layer *layer = disk(512, 4096, 0);

	layer->content.table_sector = maybe_of(4096);
	expect("0:(table-sector)", NULL);
	layer = disk(4096, 4096, 0);
	layer->content.table_sector = maybe_of(512);
	expect("0:(table-sector)", "alignctl attach /dev/sda --logical 512");
	/* only 512 can be offered */
	layer = disk(4096, 4096, 0);
	layer->content.table_sector = maybe_of(2048);
	expect("0:(table-sector)", NULL);
	layer = disk(4096, 4096, 0);
	layer->content.table_sector = maybe_of(512);
	above(STACK_ALIGN, 0)->bytes = maybe_of(DISK_BYTES);
	expect("", NULL);
	layer = disk(512, 4096, 0);
	carries(layer, "linux_raid_member");
	layer->content.start = maybe_of(START);
	layer->content.logical = maybe_of(512);
	expect("0:(md-logical)", NULL);
}

/* Keep what aligntab's line of a device has. */
static void claimed(struct stack_layer *layer, int64_t physical,
		    struct maybe offset)
{
	layer->tab_line = 3;
	layer->claimed_physical = maybe_of(physical);
	layer->claimed_offset = offset;
}

static void claims(void)
{
	struct stack_layer *layer;

	claimed(disk(512, 4096, 0), 4096, maybe_of(0));
	expect("", NULL);
	/* a block that shrank with a kernel, one that grew, another start */
	claimed(disk(512, 512, 0), 4096, maybe_of(0));
	expect("0:(claim)", NULL);
	claimed(disk(512, 4096, 0), 512, maybe_of(0));
	expect("0:(claim)", NULL);
	claimed(disk(512, 4096, 3584), 4096, maybe_of(0));
	expect("0:split 0:(claim)", NULL);
	/* the offset may be relative to a larger minimum_io_size */
	claimed(disk(512, 4096, 12288), 4096, maybe_of(0));
	expect("", NULL);
	/* what sysfs does not say is no change */
	layer = disk(512, 4096, 0);
	claimed(layer, 4096, maybe_of(3584));
	layer->view[STACK_SYSFS].figure[STACK_OFFSET] = MAYBE_UNKNOWN;
	expect("", NULL);
}

static void sizes(void)
{
	static const int64_t odd[] = { 0, 3072, 256, 2 << 20 };
	static const int64_t large[] = { 131072, 1 << 20 };
	struct stack_layer *layer;
	size_t i;

	for (i = 0; i < sizeof(large) / sizeof(large[0]); i++) {
		disk(512, large[i], 0);
		partition(1, 63 * 512, large[i]);
		CHECK(shift_of(1) == 63 * 512, "%" PRId64, shift_of(1));
		expect("1:partition-start", NULL);
		/* an align device has no blocks so large */
		disk(512, 512, 0);
		identify(&stack.layer[0], large[i], 0);
		expect("0:disagree", NULL);
		layer = disk(512, 4096, 0);
		layer->view[STACK_SYSFS].figure[STACK_IO_MIN] =
			maybe_of(large[i]);
		layer->rotational = false;
		expect("0:(large-unit)", NULL);
	}
	for (i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		disk(512, odd[i], 0);
		partition(1, 63 * 512, PART_BYTES);
		expect("0:(unjudged)", NULL);
		layer = disk(512, 512, 0);
		layer->view[STACK_SYSFS].figure[STACK_IO_MIN] =
			maybe_of(odd[i]);
		layer->rotational = false;
		expect(odd[i] > 512 ? "0:(unjudged)" : "", NULL);
		/* another source, or the user, knows better */
		identify(disk(512, odd[i], 0), 4096, 0);
		expect("0:disagree", NULL);
	}
	layer = disk(512, 4096, 0);
	layer->view[STACK_SYSFS].figure[STACK_PHYSICAL] = MAYBE_UNKNOWN;
	expect("0:(unjudged)", NULL);
}

static void loops(void)
{
	struct stack_layer *layer;

	disk(512, 4096, 0);
	partition(1, START, PART_BYTES);
	layer = above(STACK_LOOP, 0);
	figures(layer, STACK_SYSFS, 512, 512, 512, 0);
	layer->start = maybe_of(32256);
	CHECK(shift_of(2) == 3584, "%" PRId64, shift_of(2));
	expect("2:loop-start 2:(hidden)", NULL);
	disk(512, 4096, 0);
	partition(1, START, PART_BYTES);
	layer = above(STACK_LOOP, 0);
	figures(layer, STACK_SYSFS, 512, 512, 512, 0);
	layer->start = maybe_of(0);
	expect("2:(hidden)", "losetup --sector-size 4096 '/dev/mapper/a b'");
	/* one whose file is who knows where */
	layer = stack_add(&stack, STACK_LOOP, "loop0", "/dev/loop0");
	figures(layer, STACK_SYSFS, 512, 512, 512, 0);
	expect("", NULL);
}

static void unread(void)
{
	struct judgement judgement;
	struct stack_layer *layer;
	char *said[UNREAD_NR] = { NULL };
	size_t i, k;

	for (i = UNREAD_NOT + 1; i < UNREAD_NR; i++) {
		disk(512, 4096, 0);
		layer = partition(1, START, PART_BYTES);
		stack_not_read(&layer->content, i, strdup("a reason"));
		judge_stack(&stack, &judgement);
		CHECK(judgement.nr == 1 &&
		      !strcmp(judgement.finding[0].text,
			      "its headers were not read: a reason"),
		      "reason %zu", i);
		said[i] = strdup(judgement.finding[0].reason);
		CHECK(*said[i] && !strstr(said[i], "root") ==
		      (i != UNREAD_ORDINARY && i != UNREAD_FORBIDDEN),
		      "'%s' for reason %zu", said[i], i);
		for (k = UNREAD_NOT + 1; k < i; k++)
			CHECK(strcmp(said[i], said[k]), "'%s' twice", said[i]);
		judgement_free(&judgement);
		expect("1:(unread)", NULL);
	}
	for (i = 0; i < UNREAD_NR; i++)
		free(said[i]);
}

static void asked(void)
{
	const dev_t wanted[] = { 3 };
	size_t i;

	disk(512, 4096, 0)->devno = 1;
	partition(1, START + 512, 512 * 512)->devno = 2;
	partition(2, START + 513 * 512, PART_BYTES)->devno = 3;
	for (i = 0; i < 3; i++)
		stack_not_read(&stack.layer[i].content, UNREAD_GONE,
			       strdup("x"));
	stack_select(&stack, wanted, 1);
	/* sda1 is not judged, but still in the way: the command goes forward */
	expect("0:(unread) 2:partition-start 2:(unread)",
	       "echo '+7,' | sfdisk --move-data /dev/sda -N 2");
}

static void ledgers(void)
{
	struct stack_layer *layer;
	struct judgement judgement;

	disk(512, 4096, 0);
	layer = above(STACK_ALIGN, 0);
	layer->ledger = calloc(1, sizeof(*layer->ledger));
	*layer->ledger = (struct cause_ledger) {
		.report = true, .bin_bytes = 512, .writes = 1000,
		.misaligned = 900, .touches = 1800, .drive = 1800, .phase = { [1] = 900 },
	};
	layer = above(STACK_DM, 3584);
	judge_stack(&stack, &judgement);
	CHECK(judgement.nr == 2 && judgement.finding[1].layer == 1 &&
	      judgement.finding[1].cause == CAUSE_SHIFT &&
	      !judgement.finding[1].note, "%zu findings", judgement.nr);
	CHECK(!strcmp(judgement.finding[1].cost,
		      "900 of 1000 writes had 1800 touches, each an RMW in the drive"),
	      "%s", judgement.finding[1].cost);
	judgement_free(&judgement);
	/* what is being mended is a note */
	stack.layer[1].ledger->report = false;
	stack.layer[1].ledger->drive = 3;
	judge_stack(&stack, &judgement);
	CHECK(!strcmp(judgement.finding[1].cost,
		      "900 of 1000 writes had 1800 touches; 3 went to the drive, each an RMW there"),
	      "%s", judgement.finding[1].cost);
	judgement_free(&judgement);
	expect("2:mapped-start 1:(cause)", NULL);
	/* an align device that saw no touch has no cause */
	disk(512, 4096, 0);
	layer = above(STACK_ALIGN, 0);
	layer->ledger = calloc(1, sizeof(*layer->ledger));
	expect("", NULL);
}

static void recorded(void)
{
	const struct cause cut = {
		.kind = CAUSE_SPLIT, .writes = 100, .misaligned = 90,
		.touches = 180, .drive = 180, .explained = 180,
	};
	struct judgement judgement;
	char *got;

	disk(512, 4096, 0)->max_io = maybe_of(1280 * 1024 + 512);
	judge_stack(&stack, &judgement);
	judge_cause(&stack, &judgement, 0, &cut, NULL);
	got = codes(&judgement);
	CHECK(!strcmp(got, "0:cause"), "'%s'", got);
	CHECK(!strcmp(judgement.finding[0].command,
		      "echo 1280 > /sys/block/sda/queue/max_sectors_kb"),
	      "%s", judgement.finding[0].command);
	free(got);
	judgement_free(&judgement);
	stack_free(&stack);
}

static void hostile(void)
{
	struct stack_layer *layer = disk(512, 4096, 0);
	struct judgement judgement;

	free(layer->path);
	layer->path = strdup("/dev/a b;c");
	partition(1, START + 512, PART_BYTES - 512);
	judge_stack(&stack, &judgement);
	CHECK(judgement.nr == 1 &&
	      strstr(judgement.finding[0].command, "'/dev/a b;c'"),
	      "a path that a shell would take apart");
	judgement_free(&judgement);
	stack_free(&stack);
}

static void all_rules(void)
{
	const struct tap_test *test;
	size_t i, k;

	for (test = judge_tests; test->run; test++)
		if (test->run != all_rules)
			test->run();
	for (i = 0; i < NR_RULES; i++) {
		const struct rule *rule = check_rules[i];

		CHECK(seen[i].fault || rule->note == RULE_NOTE,
		      "no test finds %s", rule->name);
		CHECK(seen[i].note || rule->note == RULE_FAULT,
		      "no test notes %s", rule->name);
		for (k = 0; k < RULE_REMEDIES && rule->remedies[k]; k++)
			CHECK(seen[i].mended[k], "no test of %s has the remedy %s",
			      rule->name, remedy_of(rule->remedies[k])->name);
	}
}

const struct tap_test judge_tests[] = {
	{ "an aligned partition is no finding, of any block size", aligned },
	{ "a shifted partition is, with the command that moves it", shifted },
	{ "a disk's alignment offset counts", offsets },
	{ "a partition moves only where there is room", no_room },
	{ "a partition of a table that was not read has the reason", table_unread },
	{ "a partition whose place is known elsewhere, too, is not moved",
	  known_elsewhere },
	{ "a logical partition is not moved, an extended one not judged",
	  logical_partition },
	{ "an end inside a block counts if the file system reaches there", ends },
	{ "a header's data offset is found once, where it comes from", headers },
	{ "a mapping by hand is judged by the kernel's figure", mapped },
	{ "what an align device shows is judged there, and once", transparent },
	{ "members of an array that disagree are named", array },
	{ "file systems with small blocks or sectors are found", filesystems },
	{ "sources that disagree are named, and libblkid's 0 for -1", sources },
	{ "a disk that was probed is judged by what was found", probed },
	{ "a disk whose sources disagree is judged by the first",
	  unit_sources },
	{ "a disk whose sources disagree about its rotation is noted",
	  rotation_sources },
	{ "it is a note where align devices have the probed blocks",
	  probed_and_attached },
	{ "a large unit is a note for SSDs", units },
	{ "each content is judged by its blocks and where they begin, or not read",
	  contents },
	{ "what nothing writes in use is a note, by its type", types },
	{ "a device that the kernel calls misaligned on aligned ones is a note",
	  legs },
	{ "a table of other sectors is a note, and arrays of Linux 6.19",
	  tables },
	{ "a file system that the device's logical block refuses gets a smaller one",
	  unusable },
	{ "a device that says other blocks than its line of aligntab keeps is a note",
	  claims },
	{ "blocks of any size are judged, or said not to be", sizes },
	{ "a loop device is judged by its offset in the file", loops },
	{ "each reason why headers were not read has its own words", unread },
	{ "only what was asked about is judged", asked },
	{ "an align device's counters name the cause with what is above",
	  ledgers },
	{ "large writes that are cut inside a block get a largest request of whole blocks",
	  recorded },
	{ "a path in a command is quoted", hostile },
	{ "each rule is found, as a fault and a note if it can be both, with each of its remedies",
	  all_rules },
	{ 0 },
};
