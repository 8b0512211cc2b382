-- Which folder a watched one was: where a disk is not mounted, another is in its place, and empty.

ALTER TABLE watched_folder ADD COLUMN identity text;
