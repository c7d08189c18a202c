-- Edited by hand: WITHOUT ROWID and STRICT like every table (see 0000), and alerts of the kinds that a metric replaces become alerts on it.
CREATE TABLE `alert_changes` (
	`alert_id` text NOT NULL,
	`at` integer NOT NULL,
	`state` text NOT NULL,
	`application_id` text NOT NULL,
	`text` text NOT NULL,
	PRIMARY KEY(`alert_id`, `at`, `state`)
) WITHOUT ROWID, STRICT;
--> statement-breakpoint
CREATE INDEX `alert_changes_by_application` ON `alert_changes` (`application_id`);--> statement-breakpoint
ALTER TABLE `alerts` ADD `is_known` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `alerts` ADD `off_since` integer;--> statement-breakpoint
UPDATE `alerts` SET `firing_groups` = json_object('', json_object('name', '', 'since', `firing_since`, 'day', date(`firing_since` / 1000, 'unixepoch'))) WHERE `kind` <> 'metric' AND `firing_since` IS NOT NULL;--> statement-breakpoint
UPDATE `alerts` SET `kind` = 'metric', `rule` = json_object('metric', 'revenue', 'condition', 'changes', 'compared_with', 'weekdays', 'threshold', `threshold`, 'days', 1, 'filters', json('{}'), 'scope', json('[]')) WHERE `kind` = 'revenue_change';--> statement-breakpoint
UPDATE `alerts` SET `kind` = 'metric', `rule` = json_object('metric', 'installs', 'condition', 'changes', 'compared_with', 'weekdays', 'threshold', `threshold`, 'days', 1, 'filters', json('{}'), 'scope', json('[]')) WHERE `kind` = 'installs_change';--> statement-breakpoint
UPDATE `alerts` SET `kind` = 'metric', `rule` = json_object('metric', 'cpi', 'condition', 'above', 'threshold', `threshold`, 'days', 7, 'filters', json('{}'), 'scope', json('[]')) WHERE `kind` = 'cpi_above';--> statement-breakpoint
UPDATE `alerts` SET `kind` = 'metric', `rule` = json_object('metric', 'roas', 'condition', 'below', 'threshold', `threshold`, 'days', 7, 'filters', json('{}'), 'scope', json('[]')) WHERE `kind` = 'roas_below';--> statement-breakpoint
UPDATE `alerts` SET `kind` = 'metric', `rule` = json_object('metric', 'installs', 'condition', 'below', 'threshold', 1, 'days', 1, 'group_by', 'campaign', 'min_spend', `threshold`, 'filters', json('{}'), 'scope', json('[]')), `threshold` = 1, `firing_since` = NULL, `firing_groups` = NULL WHERE `kind` = 'spend_without_installs';
