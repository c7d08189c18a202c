CREATE TABLE `external_ids` (
	`application_id` text NOT NULL,
	`network` text NOT NULL,
	`external_id` text NOT NULL,
	`creative_id` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`application_id`, `network`, `external_id`)
);
--> statement-breakpoint
CREATE INDEX `external_ids_by_creative` ON `external_ids` (`application_id`,`creative_id`);--> statement-breakpoint
ALTER TABLE `applications` ADD `meta_referrer_key` text;