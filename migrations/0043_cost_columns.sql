CREATE TABLE `cost_columns` (
	`application_id` text NOT NULL,
	`headings` text NOT NULL,
	`map` text NOT NULL,
	`updated_at` integer NOT NULL,
	PRIMARY KEY(`application_id`, `headings`)
);
