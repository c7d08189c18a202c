-- Edited by hand after `drizzle-kit generate`, which knows neither of these:
-- WITHOUT ROWID, because a text key on a rowid table writes two rows for one, and rows written are the bill
-- (parked_messages keep their rowid: their rows are large);
-- STRICT, because a sum that leaves 64 bits must be an error and never silently become a rounded REAL.
CREATE TABLE `adsets` (
	`id` text PRIMARY KEY NOT NULL,
	`application_id` text NOT NULL,
	`campaign_id` text NOT NULL,
	`name` text NOT NULL,
	`created_at` integer NOT NULL
) WITHOUT ROWID, STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `adsets_by_name` ON `adsets` (`campaign_id`,`name`);--> statement-breakpoint
CREATE INDEX `adsets_by_application` ON `adsets` (`application_id`,`id`);--> statement-breakpoint
CREATE TABLE `campaigns` (
	`id` text PRIMARY KEY NOT NULL,
	`application_id` text NOT NULL,
	`name` text NOT NULL,
	`created_at` integer NOT NULL
) WITHOUT ROWID, STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `campaigns_by_name` ON `campaigns` (`application_id`,`name`);--> statement-breakpoint
CREATE TABLE `creatives` (
	`id` text PRIMARY KEY NOT NULL,
	`application_id` text NOT NULL,
	`adset_id` text NOT NULL,
	`name` text NOT NULL,
	`token` text NOT NULL,
	`archived_at` integer,
	`created_at` integer NOT NULL
) WITHOUT ROWID, STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `creatives_by_token` ON `creatives` (`token`);--> statement-breakpoint
CREATE INDEX `creatives_by_application` ON `creatives` (`application_id`,`id`);--> statement-breakpoint
CREATE TABLE `tokens` (
	`id` text NOT NULL,
	`application_id` text NOT NULL,
	`device_id` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`revoked_at` integer,
	PRIMARY KEY(`device_id`, `id`)
) WITHOUT ROWID, STRICT;
--> statement-breakpoint
CREATE TABLE `cohort_activity` (
	`application_id` text NOT NULL,
	`acquired_day` text NOT NULL,
	`creative_id` text NOT NULL,
	`age` integer NOT NULL,
	`active_devices` integer DEFAULT 0 NOT NULL,
	`last_active_devices` integer DEFAULT 0 NOT NULL,
	`segments` text NOT NULL,
	`segment_parts` integer DEFAULT 1 NOT NULL,
	PRIMARY KEY(`application_id`, `acquired_day`, `creative_id`, `age`)
) WITHOUT ROWID, STRICT;
--> statement-breakpoint
CREATE TABLE `cohort_revenue` (
	`application_id` text NOT NULL,
	`acquired_day` text NOT NULL,
	`creative_id` text NOT NULL,
	`day` text NOT NULL,
	`currency` text NOT NULL,
	`ad_revenue` integer DEFAULT 0 NOT NULL,
	`ad_revenue_high` integer DEFAULT 0 NOT NULL,
	`purchase_revenue` integer DEFAULT 0 NOT NULL,
	`purchase_revenue_high` integer DEFAULT 0 NOT NULL,
	`segments` text NOT NULL,
	`segment_parts` integer DEFAULT 1 NOT NULL,
	PRIMARY KEY(`application_id`, `acquired_day`, `creative_id`, `day`, `currency`)
) WITHOUT ROWID, STRICT;
--> statement-breakpoint
CREATE TABLE `counter_flushes` (
	`counter` text PRIMARY KEY NOT NULL,
	`sequence` integer NOT NULL
) WITHOUT ROWID, STRICT;
--> statement-breakpoint
CREATE TABLE `parked_messages` (
	`id` text PRIMARY KEY NOT NULL,
	`application_id` text NOT NULL,
	`body` text NOT NULL,
	`reason` text NOT NULL,
	`parked_at` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `rollup_ads` (
	`application_id` text NOT NULL,
	`day` text NOT NULL,
	`source` text NOT NULL,
	`media_source` text NOT NULL,
	`placement` text NOT NULL,
	`creative_id` text NOT NULL,
	`currency` text NOT NULL,
	`impressions` integer DEFAULT 0 NOT NULL,
	`ad_revenue` integer DEFAULT 0 NOT NULL,
	`ad_revenue_high` integer DEFAULT 0 NOT NULL,
	`ad_requests` integer DEFAULT 0 NOT NULL,
	`segments` text NOT NULL,
	`segment_parts` integer DEFAULT 1 NOT NULL,
	PRIMARY KEY(`application_id`, `day`, `source`, `media_source`, `placement`, `creative_id`, `currency`)
) WITHOUT ROWID, STRICT;
--> statement-breakpoint
CREATE TABLE `rollup_custom` (
	`application_id` text NOT NULL,
	`day` text NOT NULL,
	`event_name` text NOT NULL,
	`creative_id` text NOT NULL,
	`custom_events` integer DEFAULT 0 NOT NULL,
	`segments` text NOT NULL,
	`segment_parts` integer DEFAULT 1 NOT NULL,
	PRIMARY KEY(`application_id`, `day`, `event_name`, `creative_id`)
) WITHOUT ROWID, STRICT;
--> statement-breakpoint
CREATE TABLE `rollup_daily` (
	`application_id` text NOT NULL,
	`day` text NOT NULL,
	`creative_id` text NOT NULL,
	`currency` text NOT NULL,
	`clicks` integer DEFAULT 0 NOT NULL,
	`installs` integer DEFAULT 0 NOT NULL,
	`active_devices` integer DEFAULT 0 NOT NULL,
	`sessions` integer DEFAULT 0 NOT NULL,
	`session_seconds` integer DEFAULT 0 NOT NULL,
	`custom_events` integer DEFAULT 0 NOT NULL,
	`ad_requests` integer DEFAULT 0 NOT NULL,
	`payers` integer DEFAULT 0 NOT NULL,
	`impressions` integer DEFAULT 0 NOT NULL,
	`ad_revenue` integer DEFAULT 0 NOT NULL,
	`ad_revenue_high` integer DEFAULT 0 NOT NULL,
	`purchases` integer DEFAULT 0 NOT NULL,
	`failed_purchases` integer DEFAULT 0 NOT NULL,
	`purchase_revenue` integer DEFAULT 0 NOT NULL,
	`purchase_revenue_high` integer DEFAULT 0 NOT NULL,
	`segments` text NOT NULL,
	`segment_parts` integer DEFAULT 1 NOT NULL,
	PRIMARY KEY(`application_id`, `day`, `creative_id`, `currency`)
) WITHOUT ROWID, STRICT;
--> statement-breakpoint
CREATE TABLE `rollup_segments` (
	`application_id` text NOT NULL,
	`day` text NOT NULL,
	`paid` integer NOT NULL,
	`currency` text NOT NULL,
	`segments` text NOT NULL,
	`segment_parts` integer DEFAULT 1 NOT NULL,
	PRIMARY KEY(`application_id`, `day`, `paid`, `currency`)
) WITHOUT ROWID, STRICT;
--> statement-breakpoint
CREATE TABLE `rollup_items` (
	`application_id` text NOT NULL,
	`day` text NOT NULL,
	`item_id` text NOT NULL,
	`creative_id` text NOT NULL,
	`currency` text NOT NULL,
	`purchases` integer DEFAULT 0 NOT NULL,
	`failed_purchases` integer DEFAULT 0 NOT NULL,
	`purchase_revenue` integer DEFAULT 0 NOT NULL,
	`purchase_revenue_high` integer DEFAULT 0 NOT NULL,
	`segments` text NOT NULL,
	`segment_parts` integer DEFAULT 1 NOT NULL,
	PRIMARY KEY(`application_id`, `day`, `item_id`, `creative_id`, `currency`)
) WITHOUT ROWID, STRICT;
--> statement-breakpoint
CREATE TABLE `segments` (
	`application_id` text NOT NULL,
	`segment_id` integer NOT NULL,
	`country` text NOT NULL,
	`os` text NOT NULL,
	`app_version` text NOT NULL,
	PRIMARY KEY(`application_id`, `segment_id`)
) WITHOUT ROWID, STRICT;
--> statement-breakpoint
CREATE TABLE `access_tokens` (
	`hash` text PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`team_id` text NOT NULL,
	`name` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer,
	`revoked_at` integer
) WITHOUT ROWID, STRICT;
--> statement-breakpoint
CREATE INDEX `access_tokens_by_team` ON `access_tokens` (`team_id`,`id`);--> statement-breakpoint
CREATE TABLE `api_keys` (
	`hash` text PRIMARY KEY NOT NULL,
	`application_id` text NOT NULL,
	`encrypted` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer
) WITHOUT ROWID, STRICT;
--> statement-breakpoint
CREATE INDEX `api_keys_by_application` ON `api_keys` (`application_id`);--> statement-breakpoint
CREATE TABLE `applications` (
	`id` text PRIMARY KEY NOT NULL,
	`team_id` text NOT NULL,
	`name` text NOT NULL,
	`timezone` text DEFAULT 'UTC' NOT NULL,
	`currency` text DEFAULT 'usd' NOT NULL,
	`data_collection` integer DEFAULT true NOT NULL,
	`ios_store_url` text,
	`android_store_url` text,
	`fallback_url` text,
	`attribution_window_hours` integer DEFAULT 168 NOT NULL,
	`probabilistic_window_hours` integer DEFAULT 24 NOT NULL,
	`shards` integer DEFAULT 1 NOT NULL,
	`created_at` integer NOT NULL
) WITHOUT ROWID, STRICT;
--> statement-breakpoint
CREATE INDEX `applications_by_team` ON `applications` (`team_id`,`id`);--> statement-breakpoint
CREATE TABLE `application_deletions` (
	`deleted_id` text PRIMARY KEY NOT NULL,
	`team_id` text NOT NULL,
	`name` text NOT NULL,
	`shards` integer NOT NULL,
	`deleted_at` integer NOT NULL,
	`cleared_at` integer,
	`tokens_through` text NOT NULL
) WITHOUT ROWID, STRICT;
--> statement-breakpoint
CREATE TABLE `teams` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`created_at` integer NOT NULL
) WITHOUT ROWID, STRICT;
