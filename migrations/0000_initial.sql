-- Edited by hand after `drizzle-kit generate`, which knows neither of these:
-- WITHOUT ROWID, because a text key on a rowid table writes two rows for one, and rows written are most of the bill
-- (parked_messages keeps its rowid: its rows are large);
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
	PRIMARY KEY(`application_id`, `day`, `source`, `media_source`, `placement`, `creative_id`, `currency`)
) WITHOUT ROWID, STRICT;
--> statement-breakpoint
CREATE TABLE `rollup_custom` (
	`application_id` text NOT NULL,
	`day` text NOT NULL,
	`event_name` text NOT NULL,
	`creative_id` text NOT NULL,
	`custom_events` integer DEFAULT 0 NOT NULL,
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
	PRIMARY KEY(`application_id`, `day`, `creative_id`, `currency`)
) WITHOUT ROWID, STRICT;
--> statement-breakpoint
CREATE TABLE `rollup_hours` (
	`application_id` text NOT NULL,
	`day` text NOT NULL,
	`creative_id` text NOT NULL,
	`currency` text NOT NULL,
	`hours` text NOT NULL,
	`hour_parts` integer DEFAULT 1 NOT NULL,
	PRIMARY KEY(`application_id`, `day`, `creative_id`, `currency`)
) WITHOUT ROWID, STRICT;
--> statement-breakpoint
CREATE TABLE `segment_blocks` (
	`application_id` text NOT NULL,
	`rollup` text NOT NULL,
	`bucket` integer NOT NULL,
	`from_day` text NOT NULL,
	`shard` integer NOT NULL,
	`sequence` integer NOT NULL,
	`number` integer NOT NULL,
	`bytes` integer NOT NULL,
	`data` text NOT NULL,
	PRIMARY KEY(`application_id`, `rollup`, `bucket`, `from_day`, `shard`, `sequence`, `number`)
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
--> statement-breakpoint
CREATE TABLE `clicks` (
	`application_id` text NOT NULL,
	`id` text NOT NULL,
	`creative_id` text NOT NULL,
	`clicked_at` integer NOT NULL,
	`os_family` text NOT NULL,
	`os_version` text,
	`device_model` text,
	`ip_hash` text,
	`timezone` text,
	`screen_width` real,
	`screen_height` real,
	`pixel_ratio` real,
	`country` text,
	`params` text,
	`device_id` text,
	`claimed_by` text,
	`named_installs` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`application_id`, `id`)
) WITHOUT ROWID, STRICT;
--> statement-breakpoint
CREATE INDEX `clicks_by_timezone` ON `clicks` (`application_id`,`os_family`,`timezone`,`id`);--> statement-breakpoint
CREATE INDEX `clicks_by_ip` ON `clicks` (`application_id`,`ip_hash`,`id`) WHERE ip_hash IS NOT NULL;--> statement-breakpoint
CREATE INDEX `clicks_with_ip` ON `clicks` (`application_id`,`id`) WHERE ip_hash IS NOT NULL;--> statement-breakpoint
CREATE TABLE `creative_requests` (
	`team_id` text NOT NULL,
	`key` text NOT NULL,
	`request_hash` text NOT NULL,
	`answer` text NOT NULL,
	`campaign_id` text NOT NULL,
	`adset_id` text NOT NULL,
	`creative_id` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`team_id`, `key`)
) WITHOUT ROWID, STRICT;
--> statement-breakpoint
CREATE INDEX `creative_requests_by_age` ON `creative_requests` (`created_at`);
--> statement-breakpoint
CREATE TABLE `costs` (
	`application_id` text NOT NULL,
	`day` text NOT NULL,
	`campaign` text NOT NULL,
	`adset` text DEFAULT '' NOT NULL,
	`creative` text DEFAULT '' NOT NULL,
	`currency` text NOT NULL,
	`amount` integer NOT NULL,
	`impressions` integer,
	`clicks` integer,
	`updated_at` integer NOT NULL,
	PRIMARY KEY(`application_id`, `day`, `campaign`, `adset`, `creative`)
) WITHOUT ROWID, STRICT;
--> statement-breakpoint
CREATE TABLE `exchange_rates` (
	`team_id` text NOT NULL,
	`currency` text NOT NULL,
	`base` text NOT NULL,
	`day` text NOT NULL,
	`units` text NOT NULL,
	`worth` text NOT NULL,
	`updated_at` integer NOT NULL,
	PRIMARY KEY(`team_id`, `currency`, `base`, `day`)
) WITHOUT ROWID, STRICT;
--> statement-breakpoint
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
