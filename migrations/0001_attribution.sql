-- Edited by hand after `drizzle-kit generate`: WITHOUT ROWID and STRICT, for the reasons that 0000 gives.
CREATE TABLE `clicks` (
	`application_id` text NOT NULL,
	`id` text NOT NULL,
	`creative_id` text NOT NULL,
	`clicked_at` integer NOT NULL,
	`os_family` text NOT NULL,
	`os_version` text,
	`device_model` text,
	`ip_hash` text,
	`timezone` text,
	`screen_width` real,
	`screen_height` real,
	`pixel_ratio` real,
	`country` text,
	`params` text,
	`device_id` text,
	`claimed_by` text,
	`named_installs` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`application_id`, `id`)
) WITHOUT ROWID, STRICT;
--> statement-breakpoint
CREATE INDEX `clicks_by_timezone` ON `clicks` (`application_id`,`os_family`,`timezone`,`id`);--> statement-breakpoint
CREATE INDEX `clicks_by_ip` ON `clicks` (`application_id`,`ip_hash`,`id`) WHERE ip_hash IS NOT NULL;--> statement-breakpoint
CREATE INDEX `clicks_with_ip` ON `clicks` (`application_id`,`id`) WHERE ip_hash IS NOT NULL;--> statement-breakpoint
CREATE TABLE `creative_requests` (
	`team_id` text NOT NULL,
	`key` text NOT NULL,
	`request_hash` text NOT NULL,
	`answer` text NOT NULL,
	`campaign_id` text NOT NULL,
	`adset_id` text NOT NULL,
	`creative_id` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`team_id`, `key`)
) WITHOUT ROWID, STRICT;
--> statement-breakpoint
CREATE INDEX `creative_requests_by_age` ON `creative_requests` (`created_at`);