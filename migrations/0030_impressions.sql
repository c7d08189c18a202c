CREATE TABLE `impressions` (
	`application_id` text NOT NULL,
	`id` text NOT NULL,
	`creative_id` text NOT NULL,
	`shown_at` integer NOT NULL,
	`os_family` text NOT NULL,
	`os_version` text,
	`device_model` text,
	`ip_hash` text NOT NULL,
	`country` text,
	`network` text,
	`device_id` text,
	`claimed_by` text,
	PRIMARY KEY(`application_id`, `id`)
);
--> statement-breakpoint
CREATE INDEX `impressions_by_ip` ON `impressions` (`application_id`,`ip_hash`,`id`);--> statement-breakpoint
ALTER TABLE `rollup_daily` ADD `creative_impressions` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `applications` ADD `view_through_window_hours` integer DEFAULT 24 NOT NULL;