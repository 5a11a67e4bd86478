-- Earlier versions of the service and statements typed by hand move changed_at alone; then every area may have changed.
CREATE FUNCTION move_area_clocks() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.catalog_changed_at := NEW.changed_at;
  NEW.dates_changed_at := NEW.changed_at;
  NEW.people_changed_at := NEW.changed_at;
  NEW.money_changed_at := NEW.changed_at;
  NEW.school_changed_at := NEW.changed_at;
  RETURN NEW;
END $$;--> statement-breakpoint
CREATE TRIGGER provider_state_area_clocks BEFORE UPDATE ON provider_state FOR EACH ROW
WHEN (
  NEW.changed_at IS DISTINCT FROM OLD.changed_at
  AND NEW.catalog_changed_at IS NOT DISTINCT FROM OLD.catalog_changed_at
  AND NEW.dates_changed_at IS NOT DISTINCT FROM OLD.dates_changed_at
  AND NEW.people_changed_at IS NOT DISTINCT FROM OLD.people_changed_at
  AND NEW.money_changed_at IS NOT DISTINCT FROM OLD.money_changed_at
  AND NEW.school_changed_at IS NOT DISTINCT FROM OLD.school_changed_at
) EXECUTE FUNCTION move_area_clocks();
