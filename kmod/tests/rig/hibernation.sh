#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# First process of a machine that hibernates to misaligned swap on the target, and of the one that resumes it; see
# test_hibernation.py. The word lab.boot of the kernel's command line says which: first or second.
#
# Files of the initramfs: dm-align.ko; held/<sector>, what is written before, and later/<sector>, what is written after.
# What happens is told in the kernel log, in lines "hibernation: <what> <value>".
set -e
/bin/busybox --install -s /bin
export PATH=/bin DM_DISABLE_UDEV=1
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev

tell() { echo "hibernation: $*" >/dev/kmsg; }

# shellcheck disable=SC2013	# a list of words
for word in $(cat /proc/cmdline); do
	case $word in
	lab.boot=*) boot=${word#*=} ;;
	lab.token=*) token=${word#*=} ;;
	esac
done
# shellcheck disable=SC2013	# one name a line, and no spaces
for module in $(cat /modules/order); do
	insmod "/modules/$module"
done
insmod /dm-align.ko

# Print the name of the disk with a serial number. Disks are found in any order.
disk()
{
	until grep -l "$1" /sys/block/sd*/device/vpd_pg80 2>/dev/null | sed 's|/sys/block/||; s|/.*||' | grep .; do
		sleep 0.1
	done
}

# Make an align device $1 from the sector on where a first partition used to begin: sector 0 is the last one of its block.
attach()
{
	below=$(disk "$2")
	length=$(($(cat "/sys/block/$below/size") - 63))
	dmsetup create "$1" --table "0 $length align /dev/$below 63 6 mode coalesce hold_ms 600000 physical_block_size 4096"
}

held() { cat /sys/block/dm-1/align/held_blocks; }

write() { dd if="$1" of=/dev/mapper/data bs=512 seek="${1##*/}" oflag=direct 2>/dev/null; }

attach swap drive0
attach data drive1
echo platform >/sys/power/disk

if [ "$boot" = second ]; then
	# If there is an image, its system goes on, and nothing below is executed.
	cat /sys/block/dm-0/dev >/sys/power/resume || :
	tell resumed nothing
	poweroff -f
fi

mkswap /dev/mapper/swap >/dev/null
swapon /dev/mapper/swap
mount -t tmpfs tmpfs /tmp
head -c 16777216 /dev/urandom >/tmp/memory
sum=$(md5sum </tmp/memory)
# Of memory nothing is to stay that can be swapped out: then swap has more than the image.
echo 0 >/sys/power/image_size
for file in /held/*; do
	write "$file"
done
tell held "$(held)"
echo disk >/sys/power/state

tell resumed "$token"
tell held_after "$(held)"
tell swapped "$(awk 'NR == 2 { print $4 }' /proc/swaps)"
for file in /held/*; do
	dd if=/dev/mapper/data bs=512 skip="${file##*/}" count=$(($(stat -c %s "$file") / 512)) iflag=direct 2>/dev/null |
		cmp - "$file" || tell differs "$file"
done
for file in /later/*; do
	write "$file"
done
tell held_again "$(held)"
swapoff /dev/mapper/swap
tell memory "$([ "$(md5sum </tmp/memory)" = "$sum" ] && echo same || echo differs)"
dmsetup remove data
dmsetup remove swap
tell removed both
poweroff -f
