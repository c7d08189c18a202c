CREATE TABLE `secret_copies` (
	`hash` text PRIMARY KEY NOT NULL,
	`expires_at` integer NOT NULL
);
