-- Edited by hand after `drizzle-kit generate`, as 0000 is and for its reasons: WITHOUT ROWID, STRICT.
CREATE TABLE `rejections` (
	`application_id` text NOT NULL,
	`endpoint` text NOT NULL,
	`status` integer NOT NULL,
	`error` text NOT NULL,
	`count` integer NOT NULL,
	`first_at` integer NOT NULL,
	`last_at` integer NOT NULL,
	`sample` text NOT NULL,
	PRIMARY KEY(`application_id`, `endpoint`, `status`, `error`)
) WITHOUT ROWID, STRICT;
--> statement-breakpoint
CREATE TABLE `accounts` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`provider_id` text NOT NULL,
	`user_id` text NOT NULL,
	`access_token` text,
	`refresh_token` text,
	`id_token` text,
	`access_token_expires_at` integer,
	`refresh_token_expires_at` integer,
	`scope` text,
	`password` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
) WITHOUT ROWID, STRICT;
--> statement-breakpoint
CREATE INDEX `accounts_by_user` ON `accounts` (`user_id`);--> statement-breakpoint
CREATE TABLE `audit_log` (
	`team_id` text NOT NULL,
	`id` text NOT NULL,
	`at` integer NOT NULL,
	`actor` text NOT NULL,
	`action` text NOT NULL,
	`subject` text NOT NULL,
	PRIMARY KEY(`team_id`, `id`)
) WITHOUT ROWID, STRICT;
--> statement-breakpoint
CREATE TABLE `invitations` (
	`hash` text PRIMARY KEY NOT NULL,
	`team_id` text NOT NULL,
	`role` text NOT NULL,
	`created_by` text NOT NULL,
	`note` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL
) WITHOUT ROWID, STRICT;
--> statement-breakpoint
CREATE TABLE `members` (
	`user_id` text PRIMARY KEY NOT NULL,
	`team_id` text NOT NULL,
	`role` text NOT NULL,
	`created_at` integer NOT NULL
) WITHOUT ROWID, STRICT;
--> statement-breakpoint
CREATE INDEX `members_by_team` ON `members` (`team_id`);--> statement-breakpoint
CREATE TABLE `sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`token` text NOT NULL,
	`expires_at` integer NOT NULL,
	`ip_address` text,
	`user_agent` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
) WITHOUT ROWID, STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `sessions_by_token` ON `sessions` (`token`);--> statement-breakpoint
CREATE INDEX `sessions_by_user` ON `sessions` (`user_id`);--> statement-breakpoint
CREATE TABLE `users` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`email` text NOT NULL,
	`email_verified` integer DEFAULT false NOT NULL,
	`image` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
) WITHOUT ROWID, STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `users_by_email` ON `users` (`email`);
--> statement-breakpoint
CREATE TABLE `password_resets` (
	`user_id` text PRIMARY KEY NOT NULL,
	`hash` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL
) WITHOUT ROWID, STRICT;
--> statement-breakpoint
CREATE TABLE `cost_names` (
	`application_id` text NOT NULL,
	`campaign` text NOT NULL,
	`adset` text DEFAULT '' NOT NULL,
	`creative` text DEFAULT '' NOT NULL,
	`to_campaign` text NOT NULL,
	`to_adset` text DEFAULT '' NOT NULL,
	`to_creative` text DEFAULT '' NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`application_id`, `campaign`, `adset`, `creative`)
) WITHOUT ROWID, STRICT;
--> statement-breakpoint
CREATE TABLE `alerts` (
	`id` text PRIMARY KEY NOT NULL,
	`application_id` text NOT NULL,
	`kind` text NOT NULL,
	`threshold` real NOT NULL,
	`next_check_at` integer NOT NULL,
	`firing_since` integer,
	`finding` text,
	`created_at` integer NOT NULL
) WITHOUT ROWID, STRICT;
--> statement-breakpoint
CREATE INDEX `alerts_by_application` ON `alerts` (`application_id`,`id`);--> statement-breakpoint
CREATE INDEX `alerts_by_check` ON `alerts` (`next_check_at`);--> statement-breakpoint
CREATE TABLE `channels` (
	`id` text PRIMARY KEY NOT NULL,
	`application_id` text NOT NULL,
	`kind` text NOT NULL,
	`target` text NOT NULL,
	`digest` text NOT NULL,
	`next_digest_at` integer,
	`origin` text NOT NULL,
	`failure` text,
	`failed_at` integer,
	`created_at` integer NOT NULL
) WITHOUT ROWID, STRICT;
--> statement-breakpoint
CREATE INDEX `channels_by_application` ON `channels` (`application_id`,`id`);--> statement-breakpoint
CREATE INDEX `channels_by_digest` ON `channels` (`next_digest_at`);--> statement-breakpoint
CREATE TABLE `notices` (
	`channel_id` text NOT NULL,
	`id` text NOT NULL,
	`subject` text NOT NULL,
	`body` text NOT NULL,
	`attempts` integer DEFAULT 0 NOT NULL,
	`next_attempt_at` integer NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`channel_id`, `id`)
) WITHOUT ROWID, STRICT;
--> statement-breakpoint
CREATE INDEX `notices_by_attempt` ON `notices` (`next_attempt_at`);--> statement-breakpoint
CREATE TABLE `saved_views` (
	`team_id` text NOT NULL,
	`id` text NOT NULL,
	`name` text NOT NULL,
	`path` text NOT NULL,
	`query` text NOT NULL,
	`created_by` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`team_id`, `id`)
) WITHOUT ROWID, STRICT;
--> statement-breakpoint
CREATE TABLE `share_links` (
	`hash` text PRIMARY KEY NOT NULL,
	`team_id` text NOT NULL,
	`path` text NOT NULL,
	`query` text NOT NULL,
	`note` text NOT NULL,
	`created_by` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL
) WITHOUT ROWID, STRICT;
--> statement-breakpoint
CREATE INDEX `share_links_by_team` ON `share_links` (`team_id`);
