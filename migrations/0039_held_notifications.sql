ALTER TABLE `store_notifications` ADD `shard` integer;--> statement-breakpoint
ALTER TABLE `store_notifications` ADD `held` text;--> statement-breakpoint
CREATE INDEX `store_notifications_held` ON `store_notifications` (`received_at`) WHERE held IS NOT NULL;