CREATE TABLE `secret_copies` (
	`hash` text PRIMARY KEY NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `store_formats` (
	`store` text PRIMARY KEY NOT NULL,
	`number` integer NOT NULL
);
