-- Renamed rather than added, and filled anew: no release wrote the former column.
ALTER TABLE `rollup_daily` RENAME COLUMN `creative_id` TO `attribution`;--> statement-breakpoint
ALTER TABLE `rollup_ads` RENAME COLUMN `creative_id` TO `attribution`;--> statement-breakpoint
ALTER TABLE `rollup_items` RENAME COLUMN `creative_id` TO `attribution`;--> statement-breakpoint
ALTER TABLE `rollup_custom` RENAME COLUMN `creative_id` TO `attribution`;--> statement-breakpoint
ALTER TABLE `cohort_activity` RENAME COLUMN `creative_id` TO `attribution`;--> statement-breakpoint
ALTER TABLE `cohort_revenue` RENAME COLUMN `creative_id` TO `attribution`;--> statement-breakpoint
UPDATE `rollup_daily` SET `attribution` = 'organic' WHERE `attribution` = '';--> statement-breakpoint
UPDATE `rollup_ads` SET `attribution` = 'organic' WHERE `attribution` = '';--> statement-breakpoint
UPDATE `rollup_items` SET `attribution` = 'organic' WHERE `attribution` = '';--> statement-breakpoint
UPDATE `rollup_custom` SET `attribution` = 'organic' WHERE `attribution` = '';--> statement-breakpoint
UPDATE `cohort_activity` SET `attribution` = 'organic' WHERE `attribution` = '';--> statement-breakpoint
UPDATE `cohort_revenue` SET `attribution` = 'organic' WHERE `attribution` = '';
