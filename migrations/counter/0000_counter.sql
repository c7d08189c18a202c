-- Edited by hand after `drizzle-kit generate`: WITHOUT ROWID and STRICT for the reasons in ../0000_initial.sql, and the single
-- row of `progress`.
CREATE TABLE `aliases` (
	`alias` text PRIMARY KEY NOT NULL,
	`device_id` text NOT NULL
) WITHOUT ROWID, STRICT;
--> statement-breakpoint
CREATE TABLE `device_days` (
	`day` integer PRIMARY KEY NOT NULL,
	`pages` integer NOT NULL,
	`bytes` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `device_pages` (
	`id` integer PRIMARY KEY NOT NULL,
	`facts` blob NOT NULL,
	`histories` blob NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `devices` (
	`id` text PRIMARY KEY NOT NULL,
	`acquired_day` text NOT NULL,
	`acquired_at` integer NOT NULL,
	`creative_id` text NOT NULL,
	`description` text NOT NULL,
	`attribution` text NOT NULL
) WITHOUT ROWID, STRICT;
--> statement-breakpoint
CREATE TABLE `erasures` (
	`id` text PRIMARY KEY NOT NULL,
	`through_batch` integer NOT NULL,
	`export_batch` integer NOT NULL,
	`click_event_id` text
) WITHOUT ROWID, STRICT;
--> statement-breakpoint
CREATE INDEX `erasures_by_batch` ON `erasures` (`through_batch`);--> statement-breakpoint
CREATE TABLE `file_erasures` (
	`key` text NOT NULL,
	`id` text NOT NULL,
	PRIMARY KEY(`key`, `id`)
) WITHOUT ROWID, STRICT;
--> statement-breakpoint
CREATE INDEX `file_erasures_by_id` ON `file_erasures` (`id`);--> statement-breakpoint
CREATE TABLE `files` (
	`key` text PRIMARY KEY NOT NULL,
	`first_event_id` text NOT NULL,
	`last_event_id` text NOT NULL,
	`last_received_at` integer NOT NULL,
	`first_day` text NOT NULL,
	`last_day` text NOT NULL,
	`event_count` integer NOT NULL,
	`bytes` integer NOT NULL,
	`exported_at` integer NOT NULL,
	`through_batch` integer NOT NULL,
	`entry` text NOT NULL,
	`device_filter` blob NOT NULL
) STRICT;
--> statement-breakpoint
CREATE INDEX `files_by_time` ON `files` (`last_event_id`);--> statement-breakpoint
CREATE TABLE `key_blocks` (
	`day` integer NOT NULL,
	`week` integer NOT NULL,
	`block` integer NOT NULL,
	`hashes` blob NOT NULL,
	PRIMARY KEY(`day`, `week`, `block`)
) WITHOUT ROWID, STRICT;
--> statement-breakpoint
CREATE TABLE `key_generations` (
	`day` integer NOT NULL,
	`week` integer NOT NULL,
	`bits` integer NOT NULL,
	`blocked` integer NOT NULL,
	`recent` integer NOT NULL,
	PRIMARY KEY(`day`, `week`)
) WITHOUT ROWID, STRICT;
--> statement-breakpoint
CREATE TABLE `log` (
	`batch` integer PRIMARY KEY NOT NULL,
	`event_count` integer NOT NULL,
	`appended_at` integer NOT NULL,
	`received_at` integer NOT NULL,
	`first_event_id` text NOT NULL,
	`last_event_id` text NOT NULL,
	`keys` blob NOT NULL,
	`devices` blob NOT NULL,
	`events` text NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `log_outcomes` (
	`batch` integer PRIMARY KEY NOT NULL,
	`outcomes` text NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `orphaned_objects` (
	`key` text PRIMARY KEY NOT NULL
) WITHOUT ROWID, STRICT;
--> statement-breakpoint
CREATE TABLE `outbox` (
	`sequence` integer PRIMARY KEY NOT NULL,
	`payload` text NOT NULL,
	`oldest_at` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `prepared_writes` (
	`part` integer PRIMARY KEY NOT NULL,
	`run` integer NOT NULL,
	`kind` text NOT NULL,
	`payload` text NOT NULL,
	`oldest_at` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `progress` (
	`id` integer PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`counted_batch` integer NOT NULL,
	`counted_at` integer NOT NULL,
	`sequence` integer NOT NULL,
	`run` integer NOT NULL,
	`shards` integer NOT NULL,
	`export_batch` integer NOT NULL,
	`pruned_at` integer NOT NULL,
	`raised_bytes` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `recent_keys` (
	`day` integer NOT NULL,
	`week` integer NOT NULL,
	`run` integer NOT NULL,
	`hashes` blob NOT NULL,
	PRIMARY KEY(`day`, `week`, `run`)
) WITHOUT ROWID, STRICT;
--> statement-breakpoint
CREATE TABLE `revoked_tokens` (
	`token_id` text PRIMARY KEY NOT NULL,
	`revoked_at` integer NOT NULL
) WITHOUT ROWID, STRICT;
--> statement-breakpoint
CREATE TABLE `seen_ids` (
	`minute` integer NOT NULL,
	`batch` integer NOT NULL,
	`tails` blob NOT NULL,
	PRIMARY KEY(`minute`, `batch`)
) WITHOUT ROWID, STRICT;
--> statement-breakpoint
CREATE TABLE `segments` (
	`segment_id` integer PRIMARY KEY NOT NULL
) STRICT;
--> statement-breakpoint
INSERT INTO `progress` (`id`, `name`, `counted_batch`, `counted_at`, `sequence`, `run`, `shards`, `export_batch`, `pruned_at`, `raised_bytes`)
VALUES (1, '', 0, 0, 0, 0, 1, 0, 0, 0);
