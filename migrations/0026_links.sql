ALTER TABLE `creatives` ADD `deep_link` text;--> statement-breakpoint
ALTER TABLE `creatives` ADD `preview` text;--> statement-breakpoint
ALTER TABLE `applications` ADD `apple_app_id_prefix` text;--> statement-breakpoint
ALTER TABLE `applications` ADD `apple_bundle_id` text;--> statement-breakpoint
ALTER TABLE `applications` ADD `android_fingerprints` text DEFAULT '[]' NOT NULL;