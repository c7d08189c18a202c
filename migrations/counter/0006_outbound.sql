CREATE TABLE `outbound_parts` (
	`part` integer PRIMARY KEY NOT NULL,
	`run` integer NOT NULL,
	`destination_id` text NOT NULL,
	`id` text NOT NULL,
	`payload` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `outbound_rules` (
	`id` integer PRIMARY KEY NOT NULL,
	`rules` text NOT NULL
);
