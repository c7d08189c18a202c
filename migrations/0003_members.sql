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