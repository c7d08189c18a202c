CREATE TABLE `cube_parts` (
	`application_id` text NOT NULL,
	`rollup` text NOT NULL,
	`grain` text NOT NULL,
	`from_day` text NOT NULL,
	`to_day` text NOT NULL,
	`shard` integer NOT NULL,
	`sequence` integer NOT NULL,
	`number` integer NOT NULL,
	`level` integer NOT NULL,
	`rows` integer NOT NULL,
	`replaced_at` integer,
	`bytes` integer NOT NULL,
	`data` text NOT NULL,
	PRIMARY KEY(`application_id`, `rollup`, `grain`, `to_day`, `shard`, `sequence`, `number`)
);
