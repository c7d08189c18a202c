CREATE TABLE `held_events` (
	`id` text PRIMARY KEY NOT NULL,
	`device_id` text NOT NULL,
	`event` text NOT NULL,
	`held_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `held_events_by_device` ON `held_events` (`device_id`);--> statement-breakpoint
CREATE INDEX `held_events_by_time` ON `held_events` (`held_at`);--> statement-breakpoint
CREATE TABLE `open_credits` (
	`device_id` text PRIMARY KEY NOT NULL,
	`token` text NOT NULL,
	`install` text NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `open_credits_by_time` ON `open_credits` (`created_at`);