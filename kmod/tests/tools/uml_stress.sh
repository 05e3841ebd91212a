#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The stress under a kernel with KASAN and lockdep: sixteen threads on null_blk and on scsi_debug, in each mode, alone
# and while tables and modes change. Runs as root inside that kernel, which has null_blk and scsi_debug as modules.
#
#   uml_stress.sh TOOLS MODULE SECONDS LINES
#
# TOOLS is the folder of sectorstress and dmioctl, MODULE the target's .ko, SECONDS the total time, LINES the number of
# hostile table lines. Exit status 0 if every sector was right, every ledger balanced and, where kmemleak is on, no memory
# leaked by the unloaded module; the caller checks the kernel log.
set -eu
tools=$1 module=$2 seconds=$3 lines=$4
export DM_DISABLE_UDEV=1	# dmsetup makes its nodes itself
rounds=17
each=$((seconds / rounds))
[ "$each" -ge 1 ] || { echo "SECONDS must be $rounds or more, not $seconds" >&2; exit 2; }

say() { echo "uml_stress: $*"; }
die() { say "$*" >&2; exit 1; }

# Make a memory-backed null_blk of two regions that completes requests by a timer after $1 nanoseconds. Sets $disk.
null_blk()
{
	mkdir /sys/kernel/config/nullb/stress
	for setting in size=128 memory_backed=1 blocksize=512 irqmode=2 "completion_nsec=$1" discard=1 power=1; do
		echo "${setting#*=}" >"/sys/kernel/config/nullb/stress/${setting%%=*}"
	done
	# newer kernels name the disk after its folder, older ones number it
	for disk in /dev/stress "/dev/nullb$(cat /sys/kernel/config/nullb/stress/index)"; do
		[ ! -b "$disk" ] || return 0
	done
	die "null_blk makes no disk"
}

drop_null_blk()
{
	rmdir /sys/kernel/config/nullb/stress
}

# Make a disk of scsi_debug with its first boundary at 512 * $1 bytes. Sets $disk.
scsi_debug()
{
	modprobe scsi_debug dev_size_mb=32 sector_size=512 physblk_exp=3 "lowest_aligned=$1" ndelay=200000
	tries=0
	while :; do
		# shellcheck disable=SC2012	# the kernel's names, without special characters
		disk=$(ls -d /sys/bus/pseudo/drivers/scsi_debug/adapter0/host*/target*/*/block/* 2>/dev/null | head -1)
		disk=/dev/${disk##*/}
		[ "$disk" = /dev/ ] || [ ! -b "$disk" ] || return 0
		tries=$((tries + 1))
		[ "$tries" -lt 1200 ] || die "scsi_debug makes no disk"
		sleep 0.1
	done
}

drop_scsi_debug()
{
	tries=0
	until rmmod scsi_debug; do
		tries=$((tries + 1))
		[ "$tries" -lt 600 ] || die "scsi_debug stays in use"
		sleep 0.2
	done
}

counter() { cat "/sys/block/$align/align/$1"; }

# Fail unless the ledger balances with no touch pending.
check_ledger()
{
	sum=0
	for part in avoided host drive lost; do
		sum=$((sum + $(counter "rmw_$part")))
	done
	[ "$(counter rmw_pending)" = 0 ] || die "$1: rmw_pending is $(counter rmw_pending) and nothing is in flight"
	[ "$(counter rmw_expected)" = "$sum" ] || die "$1: rmw_expected is $(counter rmw_expected), the parts make $sum"
}

# Change tables, modes and settings in turn until the process $1 ends.
shake()
{
	while kill -0 "$1" 2>/dev/null; do
		dmsetup suspend stress
		dmsetup resume stress
		dmsetup message stress 0 mode report
		dmsetup message stress 0 mode pad
		dmsetup message stress 0 hold_ms 1
		case $features in *coalesce*) dmsetup message stress 0 mode coalesce ;; esac
		held=$((held + $(counter touches_held)))	# a table of linear ends the counters
		dmsetup load stress --table "0 $length linear $disk 0"
		dmsetup suspend --noflush stress
		dmsetup resume stress
		dmsetup message stress 0 mode pad 2>/dev/null || :	# linear takes none
		dmsetup load stress --table "0 $length align $disk 0 $features"
		dmsetup suspend stress
		dmsetup resume stress
		dmsetup message stress 0 max_blocks 2
		dmsetup message stress 0 hold_ms 60000
		dmsetup message stress 0 max_blocks 1024
		dmsetup message stress 0 reset_stats
		dmsetup message stress 0 flush
		cat /sys/block/dm-*/align/* >/dev/null 2>&1 || :	# the group may just be removed
	done
}

# fail_memory yes|no: let one in four allocations fail, of those that may not wait, as the engine's.
fail_memory()
{
	for kind in failslab fail_page_alloc; do
		knobs=/sys/kernel/debug/$kind
		[ -d "$knobs" ] || die "this kernel has no $knobs"
		echo Y >"$knobs/ignore-gfp-wait"
		echo 0 >"$knobs/verbose"
		echo -1 >"$knobs/times"
		[ "$1" = yes ] && echo 25 >"$knobs/probability" || echo 0 >"$knobs/probability"
	done
	[ "$1" = no ] || echo 0 >/sys/kernel/debug/fail_page_alloc/min-order
}

# round NAME FEATURES STRESS_OPTIONS...: run one stress of the disk; with a name "changes ..." under changes.
round()
{
	name=$1 features=$2 held=0
	shift 2
	length=$(blockdev --getsz "$disk")
	dmsetup create stress --table "0 $length align $disk 0 $features"
	align=$(basename "$(readlink -f "/sys/dev/block/$(dmsetup info -c --noheadings -o major,minor stress)")")
	say "$disk, $name: $features"
	case $name in *memory\ fails*) fail_memory yes ;; esac
	"$tools/sectorstress" /dev/mapper/stress --beneath "$disk" --torn-reads --seconds "$each" "$@" &
	stress=$!
	case $name in changes*) shake "$stress" ;; esac
	wait "$stress" || die "$disk, $name: sectorstress ended with status $?"
	case $name in
	*memory\ fails*)
		fail_memory no
		[ "$(counter rmw_drive_no_memory)" -gt 0 ] || die "$disk, $name: no allocation failed"
		;;
	esac
	case $name in
	changes*) ;;
	*) held=$(counter touches_held) ;;
	esac
	case $name in
	*coalesce*) [ "$held" -gt 0 ] || die "$disk, $name: nothing was held" ;;
	*) [ "$held" = 0 ] || die "$disk, $name: $held touches were held" ;;
	esac
	[ ! -d "/sys/block/$align/align" ] || check_ledger "$disk, $name"
	dmsetup remove --retry stress
}

# Scan for leaked memory, twice, as the first scan may find a stale pointer in a register.
scan() { echo scan >/sys/kernel/debug/kmemleak && echo scan >/sys/kernel/debug/kmemleak; } 2>/dev/null

mount -t configfs configfs /sys/kernel/config 2>/dev/null || :
mount -t debugfs debugfs /sys/kernel/debug 2>/dev/null || :
mkdir -p /dev/mapper
! scan || echo clear >/sys/kernel/debug/kmemleak	# drop the reports from the boot
insmod "$module"
modprobe null_blk nr_devices=0

pad="6 mode pad physical_block_size 4096 alignment_offset 0"
null_blk 100000
round "report" "6 mode report physical_block_size 4096 alignment_offset 0" --flush 1 --fua 5
round "pad" "$pad" --flush 1 --fua 5
round "changes in pad" "$pad" --flush 1
round "discards and zeroes" "$pad" --discard 10 --zeroes 10 --region 512 --max-run 40
round "one block of memory" "8 mode pad physical_block_size 4096 alignment_offset 0 max_blocks 1" --region 256
round "few blocks in two regions" "8 mode pad physical_block_size 4096 alignment_offset 0 max_blocks 4" \
	--offset $((131072 - 128)) --region 256
round "large blocks" "6 mode pad physical_block_size 65536 alignment_offset 512" --region 4096
round "memory fails" "$pad"
coalesce="6 mode coalesce physical_block_size 4096 alignment_offset 0"
round "coalesce" "$coalesce" --flush 1 --fua 5 --zeroes 5
round "coalesce, held for a moment" "8 mode coalesce physical_block_size 4096 alignment_offset 0 hold_ms 1" --flush 30
round "memory fails in coalesce" "$coalesce" --flush 1
drop_null_blk

scsi_debug 7
round "report" "2 mode report" --flush 1 --fua 5
round "pad" "2 mode pad" --flush 1 --fua 5
round "changes in pad" "2 mode pad" --flush 1
round "coalesce" "2 mode coalesce" --flush 1 --fua 5
round "changes in coalesce" "2 mode coalesce" --flush 1
round "one block for all" "2 mode pad" --region 16 --max-run 8 --offset 7
say "hostile table lines and messages"
"$tools/dmioctl" --lines "$lines" "$disk" || die "dmioctl ended with status $?"
drop_scsi_debug

rmmod dm_align
sleep 6	# kmemleak does not report objects younger than 5 s
if scan && grep . /sys/kernel/debug/kmemleak; then
	die "kmemleak reports leaked memory"
fi
say "clean"
