CREATE TABLE `sent_parts` (
	`sequence` integer PRIMARY KEY NOT NULL,
	`payload` text NOT NULL,
	`oldest_at` integer NOT NULL,
	`sent_at` integer NOT NULL
);
