-- Edited by hand after `drizzle-kit generate`: WITHOUT ROWID and STRICT for the reasons in ../0000_initial.sql, and the keys that were packed:
-- 16 bytes of hash, 16 of the event's id, and the day as a little-endian number, of which two bytes are used.
CREATE TABLE `purchase_keys` (
	`hash` blob PRIMARY KEY NOT NULL,
	`event_id` blob NOT NULL,
	`taken_day` integer NOT NULL
) WITHOUT ROWID, STRICT;
--> statement-breakpoint
CREATE TABLE `transactions` (
	`hash` blob NOT NULL,
	`event_id` blob NOT NULL,
	`step` text NOT NULL,
	`nanos` real NOT NULL,
	`currency` text NOT NULL,
	`second` integer NOT NULL,
	`day` text NOT NULL,
	`acquired_day` text NOT NULL,
	`creative_id` text NOT NULL,
	`event_segment` integer NOT NULL,
	`cohort_segment` integer NOT NULL,
	`taken_day` integer NOT NULL,
	PRIMARY KEY(`hash`, `event_id`)
) WITHOUT ROWID, STRICT;
--> statement-breakpoint
INSERT INTO `purchase_keys` (`hash`, `event_id`, `taken_day`)
WITH RECURSIVE `entries` (`packed`, `at`) AS (
	SELECT `hashes`, 1 FROM `key_blocks` WHERE `day` = -2 AND length(`hashes`) > 0
	UNION ALL SELECT `hashes`, 1 FROM `recent_keys` WHERE `day` = -2 AND length(`hashes`) > 0
	UNION ALL SELECT `packed`, `at` + 36 FROM `entries` WHERE `at` + 36 < length(`packed`)
), `digits` AS (
	SELECT `packed`, `at`, hex(substr(`packed`, `at` + 32, 2)) AS `day` FROM `entries`
)
SELECT substr(`packed`, `at`, 16), substr(`packed`, `at` + 16, 16),
	16 * instr('123456789ABCDEF', substr(`day`, 1, 1)) + instr('123456789ABCDEF', substr(`day`, 2, 1))
	+ 4096 * instr('123456789ABCDEF', substr(`day`, 3, 1)) + 256 * instr('123456789ABCDEF', substr(`day`, 4, 1))
FROM `digits` WHERE true ON CONFLICT DO NOTHING;
--> statement-breakpoint
DELETE FROM `key_blocks` WHERE `day` = -2;
--> statement-breakpoint
DELETE FROM `recent_keys` WHERE `day` = -2;
--> statement-breakpoint
DELETE FROM `key_generations` WHERE `day` = -2;
