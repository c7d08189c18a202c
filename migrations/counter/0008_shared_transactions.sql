CREATE TABLE `untold_transactions` (
	`part` integer PRIMARY KEY NOT NULL,
	`transaction_id` text NOT NULL
);
--> statement-breakpoint
ALTER TABLE `transactions` ADD `counted_by` integer;