#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# First process of a machine whose root was made for sectors of 512 bytes and lies on a disk of 4096; with the argument
# "root", the first process of that root, in which this file lies as well. See test_root_of_smaller_blocks.py.
#
# Files of the initramfs: dm-align.ko, etc/aligntab. What happens is told in the kernel log, in lines "root: <what> <value>".
set -e
export PATH=/bin DM_DISABLE_UDEV=1

tell() { echo "root: $*" >/dev/kmsg; }

if [ "$1" = root ]; then
	/bin/busybox mount -o remount,rw /
	/bin/busybox --install -s /bin
	tell from "$(awk '$2 == "/" { root = $1 } END { print root }' /proc/mounts)"
	tell logical "$(cat /sys/block/dm-0/queue/logical_block_size)"
	number=0
	while [ $number -lt 100 ]; do
		number=$((number + 1))
		echo "line $number" >>/lines
		sync
	done
	mount -o remount,ro /
	for counter in /sys/block/dm-0/align/rmw_*; do
		tell "${counter##*/}" "$(cat "$counter")"
	done
	poweroff -f
fi

/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
# shellcheck disable=SC2013	# one name a line, and no spaces
for module in $(cat /modules/order); do
	insmod "/modules/$module"
done
insmod /dm-align.ko
tell disk "$(cat /sys/block/vda/queue/logical_block_size)"
if mount -o ro -t ext4 /dev/vda1 /newroot; then
	tell found "without the target"
fi
alignctl boot initramfs
mount -o ro -t ext4 /dev/mapper/root1 /newroot
for folder in dev proc sys; do
	mount -o move "/$folder" "/newroot/$folder"
done
exec switch_root /newroot /init root
