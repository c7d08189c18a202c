ALTER TABLE `alerts` ADD `rule` text;--> statement-breakpoint
ALTER TABLE `alerts` ADD `firing_groups` text;