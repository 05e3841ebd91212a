/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The profiles, one in each file of this folder: the parameters of a drive, each
 * with a letter of its source.
 *
 * Sources:
 *
 * [A] The measured disk: ST1000DM003-1ER162, 7200 rpm, 512/4096, 1953525168
 *     sectors, write cache on, and the five workloads measured on it (see
 *     Documentation/develop/drive512e.rst, which also says how each figure follows).
 * [B] The same disk: 2 MiB writes as four requests at once.  At 3584, over an
 *     existing file, 3000 of them took 38.954 s, at 0 27.311 s.
 * [C] The study's disk and SSD: mean random read 17.958 ms; full stroke 22.051
 *     ms and 10.666 ms a turn, track to track 1.5 ms and 11.179 ms a turn;
 *     sequential reads of 22 to 51 MB/s; SSD 0.129 ms.
 * [D] The database's NVMe drive: 8 KiB reads by 1 to 32 jobs, writes by 8.
 * [E] A disk under commits: 100 rounds of 4 bytes with fdatasync took 0.95 s in one
 *     place; in two places 0.96 to 0.99 s in 6 runs of 10, 1.81 to 1.88 s in 4.
 *     No parameter rests on it.
 * [F] Published mechanics of a 7200 rpm drive: seeks of 7.5 / 8.5 ms mean (read
 *     / write), 0.23 / 0.44 track to track, 17 / 18 full stroke; 175 MB/s outside, 83 inside. Published costs of misaligned
 *     writes: WD20EARS, a WD drive with 4 KiB blocks and its jumper set, 7200
 *     and 5400 rpm office drives, an NVMe drive, a WD20EARS behind USB 3.
 * [H] Hitachi 5K320 (HTS543280L9A300) OEM specification: a write's seek takes
 *     1 ms longer than a read's, on average and over the full stroke, 0.1 ms
 *     track to track.
 * [Q] Solidigm D5-P5336: 7400 MB/s read, 3200 MB/s written, 930000 random reads
 *     a second; PCIe 4.0 x4 (hwcooling.net, 122.88 TB model).  D5-P5316: an
 *     indirection unit of 64 KiB (aijishu.com, a/1060000000410205).
 * [S] Serial ATA 3.0: 6 Gb/s with 8b/10b coding; NCQ has 32 tags.
 * [P] PCI Express x4: 3.0 with 8 GT/s a lane, 4.0 with 16; 128b/130b coding.
 * [M] An assumption of this model; the document says what it rests on.
 */
#ifndef DRIVE512E_PROFILES_H
#define DRIVE512E_PROFILES_H

#include "../profile.h"

/* All profiles, in the order in which they are listed. */
#define FOR_EACH_PROFILE(apply)						\
	apply(instant)						\
	apply(fixed)						\
	apply(st1000dm003)					\
	apply(hdd_nocache)					\
	apply(hdd7200)						\
	apply(hdd5400)						\
	apply(wd20ears)						\
	apply(usb_liar)						\
	apply(nvme_512e)					\
	apply(qlc_16k)						\
	apply(qlc_64k)

#define DECLARE_PROFILE(name) extern const struct profile profile_##name;
FOR_EACH_PROFILE(DECLARE_PROFILE)

#endif
