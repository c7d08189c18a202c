CREATE TABLE `notes` (
	`team_id` text NOT NULL,
	`id` text NOT NULL,
	`application_id` text NOT NULL,
	`day` text NOT NULL,
	`text` text NOT NULL,
	`created_by` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	PRIMARY KEY(`team_id`, `id`)
);
--> statement-breakpoint
CREATE INDEX `notes_by_day` ON `notes` (`application_id`,`day`,`id`);