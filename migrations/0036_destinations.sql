CREATE TABLE `destinations` (
	`id` text PRIMARY KEY NOT NULL,
	`application_id` text NOT NULL,
	`kind` text NOT NULL,
	`settings` text NOT NULL,
	`credentials` text NOT NULL,
	`events` text NOT NULL,
	`filter` text NOT NULL,
	`off_since` integer,
	`off_reason` text,
	`version` integer NOT NULL,
	`told_version` integer NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `destinations_by_application` ON `destinations` (`application_id`,`id`);--> statement-breakpoint
CREATE INDEX `destinations_untold` ON `destinations` (`id`) WHERE told_version < version;