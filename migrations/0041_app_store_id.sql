ALTER TABLE `applications` ADD `app_store_id` text;--> statement-breakpoint
-- `appStoreIdOf` in SQL, for the URLs of earlier releases: the last segment of the path that is an id, of a URL whose host is the App Store's.
UPDATE `applications` SET `app_store_id` = (
  SELECT substr(`segment`.`value`, 3)
  FROM json_each('[' || replace(json_quote(
    substr(`ios_store_url`, 1, min(instr(`ios_store_url` || '?', '?'), instr(`ios_store_url` || '#', '#')) - 1)
  ), '/', '","') || ']') AS `segment`
  WHERE `segment`.`key` > 2 AND `segment`.`value` GLOB 'id[0-9]*' AND `segment`.`value` NOT GLOB 'id*[^0-9]*' AND length(`segment`.`value`) <= 21
  ORDER BY `segment`.`key` DESC LIMIT 1
)
WHERE lower(`ios_store_url`) GLOB 'https://apps.apple.com/*' OR lower(`ios_store_url`) GLOB 'https://itunes.apple.com/*'
  OR lower(`ios_store_url`) GLOB 'https://geo.itunes.apple.com/*';--> statement-breakpoint
-- Earlier releases allowed several applications with one id, and routed postbacks to the oldest.
UPDATE `applications` SET `app_store_id` = NULL WHERE EXISTS (
  SELECT 1 FROM `applications` AS `older` WHERE `older`.`app_store_id` = `applications`.`app_store_id` AND `older`.`id` < `applications`.`id`
);--> statement-breakpoint
CREATE UNIQUE INDEX `applications_by_app_store_id` ON `applications` (`app_store_id`);
