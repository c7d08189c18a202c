-- Edited by hand after `drizzle-kit generate`: WITHOUT ROWID and STRICT, for the reasons that 0000 gives.
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
