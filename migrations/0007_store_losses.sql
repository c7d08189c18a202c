CREATE TABLE `store_losses` (
	`application_id` text NOT NULL,
	`store` text NOT NULL,
	`lost_from` integer,
	`noticed_at` integer NOT NULL,
	PRIMARY KEY(`application_id`, `store`)
);
