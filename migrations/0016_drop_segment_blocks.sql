DROP TABLE `segment_blocks`;--> statement-breakpoint
DROP TABLE `segments`;