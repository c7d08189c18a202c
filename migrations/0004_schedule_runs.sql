CREATE TABLE `schedule_runs` (
	`schedule` text PRIMARY KEY NOT NULL,
	`ran_at` integer NOT NULL,
	`succeeded_at` integer,
	`failure` text
);
