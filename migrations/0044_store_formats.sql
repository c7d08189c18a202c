CREATE TABLE `store_formats` (
	`store` text PRIMARY KEY NOT NULL,
	`number` integer NOT NULL
);
