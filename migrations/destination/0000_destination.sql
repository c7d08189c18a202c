CREATE TABLE `deliveries` (
	`event_id` text PRIMARY KEY NOT NULL,
	`device_id` text NOT NULL,
	`type` text NOT NULL,
	`status` text NOT NULL,
	`reason` text,
	`due_at` integer,
	`tries` integer NOT NULL,
	`item` text NOT NULL,
	`attempts` text NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `deliveries_by_device` ON `deliveries` (`device_id`);--> statement-breakpoint
CREATE INDEX `deliveries_by_due` ON `deliveries` (`due_at`) WHERE due_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `deliveries_by_status` ON `deliveries` (`status`,`event_id`) WHERE status <> 'delivered';--> statement-breakpoint
CREATE TABLE `state` (
	`id` integer PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`failures_in_row` integer NOT NULL,
	`failing_since` integer,
	`last_success_at` integer,
	`told` integer NOT NULL,
	`hour` integer NOT NULL,
	`attempts` integer NOT NULL,
	`failed` integer NOT NULL,
	`attempts_before` integer NOT NULL,
	`failed_before` integer NOT NULL,
	`pruned_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `waiting_parts` (
	`sequence` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`payload` text NOT NULL,
	`accepted_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `waiting_parts_by_id` ON `waiting_parts` (`id`);