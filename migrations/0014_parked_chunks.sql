CREATE TABLE `parked_chunks` (
	`message_id` text NOT NULL,
	`number` integer NOT NULL,
	`application_id` text NOT NULL,
	`body` text NOT NULL,
	PRIMARY KEY(`message_id`, `number`)
);
