-- Edited by hand: WITHOUT ROWID and STRICT like every table (see 0000), and stored ids are of creatives.
PRAGMA foreign_keys=OFF;--> statement-breakpoint
CREATE TABLE `__new_external_ids` (
	`application_id` text NOT NULL,
	`network` text NOT NULL,
	`kind` text NOT NULL,
	`external_id` text NOT NULL,
	`item_id` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`application_id`, `network`, `kind`, `external_id`)
) WITHOUT ROWID, STRICT;
--> statement-breakpoint
INSERT INTO `__new_external_ids`("application_id", "network", "kind", "external_id", "item_id", "created_at") SELECT "application_id", "network", 'creative', "external_id", "creative_id", "created_at" FROM `external_ids`;--> statement-breakpoint
DROP TABLE `external_ids`;--> statement-breakpoint
ALTER TABLE `__new_external_ids` RENAME TO `external_ids`;--> statement-breakpoint
PRAGMA foreign_keys=ON;--> statement-breakpoint
CREATE INDEX `external_ids_by_item` ON `external_ids` (`item_id`);
