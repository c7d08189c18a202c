CREATE TABLE `store_notifications` (
	`application_id` text NOT NULL,
	`store` text NOT NULL,
	`notification_id` text NOT NULL,
	`type` text NOT NULL,
	`kind` text NOT NULL,
	`environment` text NOT NULL,
	`event_id` text,
	`reason` text,
	`transaction_id` text,
	`content_hash` text NOT NULL,
	`repeats` integer DEFAULT 0 NOT NULL,
	`conflicts` integer DEFAULT 0 NOT NULL,
	`received_at` integer NOT NULL,
	PRIMARY KEY(`application_id`, `store`, `notification_id`)
);
--> statement-breakpoint
CREATE INDEX `store_notifications_by_time` ON `store_notifications` (`application_id`,`received_at`);--> statement-breakpoint
CREATE TABLE `intake_secrets` (
	`hash` text PRIMARY KEY NOT NULL,
	`application_id` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer
);
--> statement-breakpoint
CREATE INDEX `intake_secrets_by_application` ON `intake_secrets` (`application_id`);--> statement-breakpoint
ALTER TABLE `rollup_daily` ADD `trials` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `rollup_daily` ADD `renewals` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `applications` ADD `google_push_account` text;--> statement-breakpoint
ALTER TABLE `applications` ADD `revenuecat_authorization_hash` text;--> statement-breakpoint
ALTER TABLE `applications` ADD `store_fee_basis_points` integer DEFAULT 0 NOT NULL;
