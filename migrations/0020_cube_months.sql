CREATE TABLE `cube_months` (
	`application_id` text NOT NULL,
	`rollup` text NOT NULL,
	`grain` text NOT NULL,
	`month` text NOT NULL,
	`number` integer NOT NULL,
	`version` text NOT NULL,
	`from_day` text NOT NULL,
	`to_day` text NOT NULL,
	`rows` integer NOT NULL,
	`bytes` integer NOT NULL,
	`footer_bytes` integer NOT NULL,
	`merged_at` integer NOT NULL,
	`replaced_at` integer,
	`published_at` integer,
	PRIMARY KEY(`application_id`, `rollup`, `grain`, `month`, `number`, `version`)
);
--> statement-breakpoint
CREATE TABLE `new_cube_parts` (
	`application_id` text NOT NULL,
	`rollup` text NOT NULL,
	`grain` text NOT NULL,
	`month` text NOT NULL,
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
--> statement-breakpoint
INSERT INTO `new_cube_parts` (`application_id`, `rollup`, `grain`, `month`, `from_day`, `to_day`, `shard`, `sequence`, `number`, `level`, `rows`, `replaced_at`, `bytes`, `data`)
	SELECT `application_id`, `rollup`, `grain`, substr(`to_day`, 1, 7), `from_day`, `to_day`, `shard`, `sequence`, `number`, `level`, `rows`, `replaced_at`, `bytes`, `data` FROM `cube_parts`;
--> statement-breakpoint
DROP TABLE `cube_parts`;
--> statement-breakpoint
ALTER TABLE `new_cube_parts` RENAME TO `cube_parts`;
