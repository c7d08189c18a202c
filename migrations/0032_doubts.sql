ALTER TABLE `rollup_daily` ADD `doubted_installs` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `applications` ADD `install_doubts` text DEFAULT '{}' NOT NULL;