/* SPDX-License-Identifier: GPL-2.0 */
/* The lines of a story that a time line is made of: formats of machine_say(). */
#ifndef SIM_STORY_H
#define SIM_STORY_H

/* thread, kind, first sector, sectors */
#define STORY_SENT	"thread %llu: kind %llu at %llu + %llu"
/* thread, kind, first sector, status */
#define STORY_ENDED	"thread %llu: kind %llu at %llu ends with %llu"
/* operation, first sector, sectors, flags */
#define STORY_BELOW	"drive: op %llu at %llu + %llu, flags %#llx"
/* operation, first sector, sectors */
#define STORY_DONE	"drive: op %llu at %llu + %llu is done"
/* block, touches, enum rmw_how */
#define STORY_RESOLVED	"block %llu: %llu touches resolved as %llu"
/* blocks */
#define STORY_HELD	"%llu blocks are held"
/* event, mode */
#define STORY_EVENT	"administrator: event %llu, mode %llu"

#endif
