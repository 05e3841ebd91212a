// SPDX-License-Identifier: GPL-2.0
/* The list of findings: their words, adding one, and freeing all of them. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "audit/judgement.h"
#include "base/message.h"

const char *finding_name(enum finding_code code)
{
	static const char *const names[] = {
		[FINDING_PARTITION_START] = "partition-start",
		[FINDING_PARTITION_END] = "partition-end",
		[FINDING_LOOP_START] = "loop-start",
		[FINDING_DATA_START] = "data-start",
		[FINDING_MAPPED_START] = "mapped-start",
		[FINDING_MISALIGNED] = "misaligned",
		[FINDING_EXTENT] = "extent",
		[FINDING_CHUNK] = "chunk",
		[FINDING_FS_BLOCK] = "fs-block",
		[FINDING_FS_SECTOR] = "fs-sector",
		[FINDING_LUKS_SECTOR] = "luks-sector",
		[FINDING_SPLIT] = "split",
		[FINDING_HIDDEN] = "hidden",
		[FINDING_LARGE_UNIT] = "large-unit",
		[FINDING_DISAGREE] = "disagree",
		[FINDING_PROBED] = "probed",
		[FINDING_UNIT] = "unit",
		[FINDING_ROTATION] = "rotation",
		[FINDING_UNREAD] = "unread",
		[FINDING_UNJUDGED] = "unjudged",
		[FINDING_TABLE_SECTOR] = "table-sector",
		[FINDING_CLAIM] = "claim",
		[FINDING_MD_LOGICAL] = "md-logical",
		[FINDING_MD_SUPERBLOCK] = "md-superblock",
		[FINDING_CAUSE] = "cause",
	};

	return names[code];
}

struct finding *judgement_add(struct judgement *judgement, size_t layer,
			      enum finding_code code, char *text, char *cost)
{
	struct finding *finding;

	finding = ARRAY_APPEND(judgement->finding, judgement->nr);
	*finding = (struct finding) {
		.code = code,
		.layer = layer,
		.text = text,
		.cost = cost,
	};
	return finding;
}

void finding_mend(struct finding *finding, enum remedy_id remedy,
		  const struct remedy_words *words)
{
	static const char mark[] = "{command}";
	const char *text = remedy_of(remedy)->text, *at;
	char *command = remedy_command(remedy, words);

	if (!command) {
		finding->reason = message_format(
			"its path has characters that a terminal does not show: give the device another name, and check again");
		return;
	}
	finding->remedy = remedy;
	if (!text) {
		finding->command = command;
		return;
	}
	at = strstr(text, mark);
	finding->reason = message_format("%.*s%s%s", (int)(at - text), text,
					 command, at + strlen(mark));
	finding->inner = command;
}

size_t judgement_faults(const struct judgement *judgement)
{
	size_t i, faults = 0;

	for (i = 0; i < judgement->nr; i++)
		faults += !judgement->finding[i].note;
	return faults;
}

void judgement_free(struct judgement *judgement)
{
	while (judgement->nr) {
		struct finding *finding = &judgement->finding[--judgement->nr];

		free(finding->text);
		free(finding->cost);
		free(finding->command);
		free(finding->inner);
		free(finding->reason);
		free(finding->advice.text);
	}
	free(judgement->finding);
	free(judgement->position);
}
