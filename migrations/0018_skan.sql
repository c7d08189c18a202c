CREATE TABLE `skan_postbacks` (
	`transaction_id` text NOT NULL,
	`sequence` integer NOT NULL,
	`test` integer NOT NULL,
	`application_id` text NOT NULL,
	`app_id` text NOT NULL,
	`framework` text NOT NULL,
	`version` text,
	`network` text NOT NULL,
	`source_identifier` text NOT NULL,
	`source_app` text,
	`fidelity` integer,
	`conversion` text NOT NULL,
	`did_win` integer NOT NULL,
	`fine` integer,
	`coarse` text,
	`country` text,
	`interaction` text,
	`repeats` integer DEFAULT 0 NOT NULL,
	`conflicts` integer DEFAULT 0 NOT NULL,
	`received_at` integer NOT NULL,
	`day` text NOT NULL,
	PRIMARY KEY(`transaction_id`, `sequence`, `test`)
);
--> statement-breakpoint
CREATE INDEX `skan_postbacks_by_application` ON `skan_postbacks` (`application_id`,`test`,`received_at`);--> statement-breakpoint
CREATE INDEX `skan_postbacks_passing` ON `skan_postbacks` (`received_at`) WHERE application_id = '' OR test = 1;--> statement-breakpoint
CREATE TABLE `skan_schemas` (
	`application_id` text NOT NULL,
	`valid_from` text NOT NULL,
	`version` text NOT NULL,
	`updated_at` integer NOT NULL,
	PRIMARY KEY(`application_id`, `valid_from`)
);
