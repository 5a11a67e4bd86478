-- The change feed has a trigger per statement. These functions recorded it by a trigger per row, of which none exists.
DROP FUNCTION record_changed_row();
--> statement-breakpoint
-- Returned at once where `providers` has its statement triggers.
DROP FUNCTION record_school(bigint, text);
--> statement-breakpoint
DROP FUNCTION record_event(bigint, text, text, bigint, boolean);
