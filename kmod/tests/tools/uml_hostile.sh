#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Hostile users under a kernel with KASAN and lockdep: an ordinary user who reads every file of sysfs while the device changes,
# tries to control the device, and looks for the data of others. Runs as root inside that kernel, which has scsi_debug as a
# module.
#
#   uml_hostile.sh TOOLS MODULE SECONDS
#
# TOOLS is the folder of sysfsread, findsecret, sectorstress and alignctl, MODULE the target's .ko, SECONDS the total time of
# reading. Exit status 0 if there is no finding; the caller checks the kernel log.
set -eu
tools=$1 module=$2 seconds=$3
export DM_DISABLE_UDEV=1	# dmsetup makes its nodes itself
changes="reload linear suspend mode remove"
each=$((seconds / 5))
[ "$each" -ge 1 ] || { echo "SECONDS must be 5 or more, not $seconds" >&2; exit 2; }
trace=/sys/kernel/tracing
user="setpriv --reuid 65534 --regid 65534 --clear-groups"

say() { echo "uml_hostile: $*"; }
die() { say "$*" >&2; exit 1; }

# refused WHAT COMMAND...: fail if the command succeeds.
refused()
{
	what=$1
	shift
	if "$@" >/run/tmp/said 2>&1; then
		die "$what was not refused: $*: $(cat /run/tmp/said)"
	fi
}

# Make a disk of scsi_debug of 32 MiB with a volatile write cache. Sets $disk, $length.
scsi_debug()
{
	modprobe scsi_debug dev_size_mb=32 sector_size=512 physblk_exp=3 ndelay=20000
	tries=0
	while :; do
		# shellcheck disable=SC2012	# the kernel's names, without special characters
		disk=$(ls -d /sys/bus/pseudo/drivers/scsi_debug/adapter0/host*/target*/*/block/* 2>/dev/null | head -1)
		disk=/dev/${disk##*/}
		[ "$disk" = /dev/ ] || [ ! -b "$disk" ] || break
		tries=$((tries + 1))
		[ "$tries" -lt 1200 ] || die "scsi_debug makes no disk"
		sleep 0.1
	done
	length=$(blockdev --getsz "$disk")
}

# create NAME FEATURES: create an align device over $below. Sets $align to its name in /sys/block.
create()
{
	dmsetup create "$1" --table "0 $length align $below 0 $2"
	align=$(basename "$(readlink -f "/sys/dev/block/$(dmsetup info -c --noheadings -o major,minor "$1")")")
}

# Each process takes a tenth of a second here: resume suspends the device by itself to change its table.
reload()
{
	dmsetup load hostile --table "$1"
	dmsetup resume hostile
}

# Repeat one kind of change for its share of the time, at least five times.
keep_changing()
{
	until=$(($(date +%s) + each))
	while [ "$(date +%s)" -lt "$until" ] || [ "$rounds" -lt 5 ]; do
		rounds=$((rounds + 1))
		case $1 in
		reload)
			reload "0 $length align $disk 0 2 mode pad"
			reload "0 $length align $disk 0 2 mode report"
			;;
		linear)
			reload "0 $length linear $disk 0"
			reload "0 $length align $disk 0"
			;;
		suspend)
			dmsetup suspend hostile
			dmsetup resume hostile
			;;
		mode)
			for mode in report pad coalesce; do
				dmsetup message hostile 0 mode $mode
				dmsetup message hostile 0 reset_stats
			done
			;;
		remove)
			dmsetup remove --retry hostile
			create hostile "2 mode pad"
			;;
		esac
	done
}

# Read every file of sysfs, in a tight loop, under one kind of change and, unless the device is removed, under writes.
read_during()
{
	create hostile "2 mode coalesce"
	rounds=0 writer=
	folder=/sys/block/$align/align
	if [ "$1" != remove ]; then
		"$tools/sectorstress" /dev/mapper/hostile --seconds $((each + 1)) --region 512 --torn-reads >/dev/null &
		writer=$!
	fi
	"$tools/sysfsread" "$folder" >/run/tmp/read &
	reader=$!
	keep_changing "$1"
	kill "$reader"
	wait "$reader" || die "$1: sysfsread ended with status $?: $(cat /run/tmp/read)"
	[ -z "$writer" ] || wait "$writer" || die "$1: sectorstress ended with status $?"
	say "$1: changes=$rounds $(cat /run/tmp/read)"
	dmsetup remove --retry hostile
}

# Check that an ordinary user may only read the statistics. $words and $user are lists; $1 is for the inner shell.
# shellcheck disable=SC2016,SC2086
try_control()
{
	create hostile "2 mode pad"
	chmod 666 /dev/mapper/control	# so that the kernel has to refuse
	for words in "message hostile 0 mode report" "message hostile 0 flush" "message hostile 0 reset_stats" \
		     "message hostile 0 drop_failed" "message hostile 0 max_blocks 1" "suspend hostile" "remove hostile" \
		     "table hostile" "status hostile" "create mine --notable"; do
		refused "dmsetup $words" $user dmsetup $words
	done
	refused "a table" $user dmsetup load hostile --table "0 $length align $disk 0"
	refused "alignctl set" $user "$tools/alignctl" set hostile --mode report
	refused "alignctl attach" $user "$tools/alignctl" attach "$disk"
	refused "reading the device" $user dd if="/dev/mapper/hostile" of=/dev/null count=1
	[ "$(dmsetup table hostile)" = "0 $length align $(stat -c '%Hr:%Lr' "$disk") 0 2 mode pad" ] ||
		die "the table has changed: $(dmsetup table hostile)"
	# Few processes: User Mode Linux under KASAN takes a tenth of a second for each.
	set -- /sys/block/"$align"/align/*
	stat -c '%a %n' "$@" >/run/tmp/modes
	grep -v '^444 ' /run/tmp/modes && die "these modes are not 444"
	for file; do
		if { echo 1 >"$file"; } 2>/dev/null; then
			die "writing $file was not refused"
		fi
	done
	$user cat "$@" >/run/tmp/read || die "an ordinary user cannot read these files"
	[ "$(wc -l </run/tmp/read)" = $# ] || die "$# files have $(wc -l </run/tmp/read) lines"
	$user "$tools/alignctl" stats hostile >/run/tmp/stats || die "alignctl stats: status $?"
	grep -q rmw /run/tmp/stats || die "alignctl stats lacks rmw counters: $(cat /run/tmp/stats)"
	chmod 600 /dev/mapper/control
	dmsetup remove --retry hostile
	say "control is root's, statistics are for every user"
}

# Fail if the secret is in any file that an ordinary user may read, or in the output that root gets about the device.
# Searches everywhere at the end only; before, the device's own files are enough.
look_for_secret()
{
	case $1 in
	degraded | removed) places="/sys /proc /dev /dev/kmsg /run" ;;
	*) places="$(readlink -f "/sys/block/$align") /sys/module/dm_align /dev/mapper /dev/kmsg" ;;
	esac
	dmsetup status --target align >/run/tmp/told
	dmsetup table --target align >>/run/tmp/told
	"$tools/alignctl" list --json >>/run/tmp/told
	"$tools/alignctl" stats --json >>/run/tmp/told || [ $? -lt 2 ]
	cat "$trace/trace" >>/run/tmp/told
	dmesg >>/run/tmp/told
	"$tools/findsecret" /run/tmp/told <"$secret" >/run/tmp/found || die "$1: root is told: $(cat /run/tmp/found)"
	# shellcheck disable=SC2086
	"$tools/findsecret" --user $places <"$secret" >/run/tmp/found ||
		die "$1: readable: $(cat /run/tmp/found)"
	say "secret, $1: $(tail -1 /run/tmp/found)"
}

# write_secret SECTOR COUNT: write the secret, repeated, into COUNT sectors from SECTOR on.
write_secret()
{
	dd if="$secret.sectors" of=/dev/mapper/hostile bs=512 seek="$1" count="$2" conv=notrunc oflag=direct 2>/dev/null
}

keep_secret()
{
	mkdir -m 700 /run/private
	secret=/run/private/secret
	head -c 16 /dev/urandom >"$secret"
	# eight sectors full of it, by doubling
	cp "$secret" "$secret.sectors"
	for _ in 1 2 3 4 5 6 7 8; do
		cp "$secret.sectors" "$secret.half"
		cat "$secret.half" "$secret.half" >"$secret.sectors"
	done
	# prove that the search finds a secret that is readable
	cp "$secret.sectors" /run/tmp/public
	chmod 644 /run/tmp/public
	"$tools/findsecret" --user /run/tmp <"$secret" >/dev/null && die "findsecret does not find a readable secret"
	od -An -tx1 "$secret" | sed 's/^ //' >/run/tmp/public
	"$tools/findsecret" --user /run/tmp <"$secret" >/dev/null && die "findsecret does not find digits"
	rm /run/tmp/public

	dmsetup create beneath --table "0 $length linear $disk 0"
	below=/dev/mapper/beneath
	echo 1 >"$trace/events/align/enable"
	for mode in report pad coalesce; do
		create hostile "4 mode $mode hold_ms 600000"
		write_secret 3 2	# a part of a block
		write_secret 16 8	# a whole block
		write_secret 37 8	# across two
		[ "$mode" != coalesce ] || [ "$(cat /sys/block/"$align"/align/held_blocks)" -gt 0 ] || die "nothing is held"
		look_for_secret $mode
		[ "$mode" = coalesce ] || dmsetup remove --retry hostile
	done
	# held blocks that cannot be written and are dropped: the log names them
	dmsetup load beneath --table "0 $length error"
	dmsetup suspend --noflush beneath
	dmsetup resume beneath
	refused "a flush that must fail" dmsetup message hostile 0 flush
	[ "$(cat /sys/block/"$align"/align/degraded)" -gt 0 ] || die "nothing has failed"
	look_for_secret degraded
	dmsetup message hostile 0 drop_failed
	look_for_secret dropped
	grep -q align_write "$trace/trace" || die "there were no trace events"
	dmsetup remove --retry hostile
	look_for_secret removed
	dmsetup remove --retry beneath
	echo 0 >"$trace/events/align/enable"
}

mkdir -p /dev/mapper
insmod "$module"
scsi_debug
below=$disk
for change in $changes; do
	read_during "$change"
done
try_control
keep_secret
rmmod dm_align
say "clean"
