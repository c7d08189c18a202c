ALTER TABLE `applications` ADD `confirmed_app_store_id` text;--> statement-breakpoint
ALTER TABLE `applications` ADD `app_store_id_from` text;--> statement-breakpoint
-- Postbacks that waited for these applications are theirs already.
UPDATE `applications` SET `confirmed_app_store_id` = `app_store_id`;
