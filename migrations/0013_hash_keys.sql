CREATE TABLE `hash_keys` (
	`id` text PRIMARY KEY NOT NULL,
	`encrypted` text NOT NULL
);
