CREATE TABLE `connectors` (
	`id` text PRIMARY KEY NOT NULL,
	`application_id` text NOT NULL,
	`kind` text NOT NULL,
	`settings` text NOT NULL,
	`credentials` text NOT NULL,
	`next_run_at` integer NOT NULL,
	`last_run_at` integer,
	`last_success_at` integer,
	`last_error` text,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `connectors_by_application` ON `connectors` (`application_id`,`id`);--> statement-breakpoint
CREATE INDEX `connectors_by_due` ON `connectors` (`next_run_at`);--> statement-breakpoint
CREATE TABLE `reported_ad_revenue` (
	`application_id` text NOT NULL,
	`connector_id` text NOT NULL,
	`day` text NOT NULL,
	`network` text NOT NULL,
	`impressions` integer NOT NULL,
	`revenue` integer NOT NULL,
	PRIMARY KEY(`application_id`, `connector_id`, `day`, `network`)
);
