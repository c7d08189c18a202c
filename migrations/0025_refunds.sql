ALTER TABLE `cohort_revenue` ADD `returned_revenue` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `cohort_revenue` ADD `returned_revenue_high` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `rollup_daily` ADD `refunds` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `rollup_daily` ADD `refunded_revenue` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `rollup_daily` ADD `refunded_revenue_high` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `rollup_daily` ADD `returned_revenue` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `rollup_daily` ADD `returned_revenue_high` integer DEFAULT 0 NOT NULL;