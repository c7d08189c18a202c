CREATE TABLE `delayed_messages` (
	`application_id` text NOT NULL,
	`message_id` text NOT NULL,
	`events` integer NOT NULL,
	`received_at` integer NOT NULL,
	PRIMARY KEY(`application_id`, `message_id`)
) WITHOUT ROWID, STRICT;
