CREATE TABLE `restores` (
	`id` integer PRIMARY KEY NOT NULL,
	`hash` text NOT NULL,
	`started_at` integer NOT NULL,
	`done` integer DEFAULT 0 NOT NULL,
	`busy_until` integer DEFAULT 0 NOT NULL,
	`summary` text DEFAULT '{}' NOT NULL,
	`finished_at` integer
);
