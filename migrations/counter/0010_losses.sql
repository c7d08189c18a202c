CREATE TABLE `erased_devices` (
	`id` text PRIMARY KEY NOT NULL,
	`erased_at` integer NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
INSERT INTO `erased_devices` SELECT `id`, unixepoch() * 1000 FROM `erasures` WHERE `id` GLOB 'dev_*';
--> statement-breakpoint
ALTER TABLE `progress` ADD `opened_at` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `progress` ADD `lost_at` integer;--> statement-breakpoint
ALTER TABLE `progress` ADD `unknown_events` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `progress` ADD `is_restoring` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `progress` ADD `restored_at` integer;--> statement-breakpoint
ALTER TABLE `progress` ADD `format` integer DEFAULT 1 NOT NULL;