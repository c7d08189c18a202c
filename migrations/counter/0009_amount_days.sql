CREATE TABLE `amount_days` (
	`day` integer PRIMARY KEY NOT NULL,
	`amounts` text NOT NULL
);
