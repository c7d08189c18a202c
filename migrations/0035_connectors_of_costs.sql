-- Edited by hand: WITHOUT ROWID and STRICT like every table (see 0000), and stored costs were uploaded.
PRAGMA foreign_keys=OFF;--> statement-breakpoint
CREATE TABLE `__new_costs` (
	`application_id` text NOT NULL,
	`day` text NOT NULL,
	`campaign` text NOT NULL,
	`adset` text DEFAULT '' NOT NULL,
	`creative` text DEFAULT '' NOT NULL,
	`country` text DEFAULT '' NOT NULL,
	`os` text DEFAULT '' NOT NULL,
	`network` text DEFAULT '' NOT NULL,
	`connector_id` text DEFAULT '' NOT NULL,
	`currency` text NOT NULL,
	`amount` integer NOT NULL,
	`impressions` integer,
	`clicks` integer,
	`updated_at` integer NOT NULL,
	PRIMARY KEY(`application_id`, `day`, `campaign`, `adset`, `creative`, `country`, `os`, `network`, `connector_id`)
) WITHOUT ROWID, STRICT;
--> statement-breakpoint
INSERT INTO `__new_costs`("application_id", "day", "campaign", "adset", "creative", "country", "os", "network", "connector_id", "currency", "amount", "impressions", "clicks", "updated_at") SELECT "application_id", "day", "campaign", "adset", "creative", "country", "os", "network", '', "currency", "amount", "impressions", "clicks", "updated_at" FROM `costs`;--> statement-breakpoint
DROP TABLE `costs`;--> statement-breakpoint
ALTER TABLE `__new_costs` RENAME TO `costs`;--> statement-breakpoint
PRAGMA foreign_keys=ON;--> statement-breakpoint
ALTER TABLE `connectors` ADD `failures` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `connectors` ADD `started_at` integer;--> statement-breakpoint
ALTER TABLE `connectors` ADD `job` text;--> statement-breakpoint
ALTER TABLE `connectors` ADD `backfill` text;--> statement-breakpoint
ALTER TABLE `connectors` ADD `last_change` text;--> statement-breakpoint
ALTER TABLE `connectors` ADD `account` text;--> statement-breakpoint
ALTER TABLE `connectors` ADD `credentials_expire_at` integer;
