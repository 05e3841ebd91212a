# SPDX-License-Identifier: GPL-2.0
"""KCSAN's reports about the target are told from reports about the rest of the kernel."""

from lab.proof import races

OURS = """\
[   42.100001] ==================================================================
[   42.100002] BUG: KCSAN: data-race in align_engine_map [dm_align] / blocks_end_range [dm_align]
[   42.100003]
[   42.100004] write to 0xffff888005a1c0a8 of 4 bytes by task 211 on cpu 1:
[   42.100005]  align_engine_map+0x1b2/0x9f0 [dm_align]
[   42.100006]  align_map+0x8a/0x120 [dm_align]
[   42.100007]
[   42.100008] read to 0xffff888005a1c0a8 of 4 bytes by interrupt on cpu 0:
[   42.100009]  blocks_end_range+0x52/0x1f0 [dm_align]
[   42.100010]
[   42.100011] value changed: 0x00000001 -> 0x00000002
[   42.100012] ==================================================================
"""
THEIRS = OURS.replace("align_engine_map [dm_align] / blocks_end_range [dm_align]", "tick_sched_timer / tick_sched_timer") \
    .replace("align_engine_map", "tick_sched_timer").replace("blocks_end_range", "tick_do_update") \
    .replace("align_map", "hrtimer_run").replace(" [dm_align]", "")
BOOT = "[    0.000000] Linux version 6.12\n"


def test_a_race_of_the_target_is_a_finding_and_another_is_counted():
    ours, others = races.judge(BOOT + OURS + THEIRS + THEIRS)
    assert (len(ours), others) == (1, 2)
    assert "BUG: KCSAN: data-race in align_engine_map [dm_align]" in next(iter(ours))


def test_an_access_in_a_helper_that_the_target_called_is_the_targets():
    called = THEIRS.replace(" hrtimer_run+0x8a/0x120", " run_write+0x8a/0x120 [dm_align]")
    assert races.judge(called)[1] == 0


def test_a_race_far_inside_the_kernel_is_not_the_targets_because_it_sent_the_request():
    below = THEIRS.replace(" hrtimer_run+0x8a/0x120", " hrtimer_run+0x8a/0x120\n[   42.1]  run_write+0x8a/0x120 [dm_align]")
    assert "run_write" in below and races.judge(below) == ({}, 1)


def test_one_race_is_one_finding_however_often_it_is_seen():
    again = OURS.replace("align_engine_map+0x1b2/0x9f0", "align_engine_map+0x1c2/0x9f0")
    assert [len(same) for same in races.judge(OURS + again)[0].values()] == [2]


def test_a_report_that_the_log_cuts_off_counts():
    assert len(races.judge(OURS.rsplit("[   42.100010]", 1)[0])[0]) == 1


def test_other_faults_are_no_races():
    log = OURS + "[   50.0] WARNING: CPU: 1 PID: 2 at block/bio.c:1 bio_put+0x1/0x2\n"
    assert races.other_faults(log) == ["[   50.0] WARNING: CPU: 1 PID: 2 at block/bio.c:1 bio_put+0x1/0x2"]
