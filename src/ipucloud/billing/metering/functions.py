"""Database functions and triggers of usage intervals, as created by migrations."""

from __future__ import annotations

MINUTES_BEFORE = """
CREATE FUNCTION minutes_before(origin timestamptz, instant timestamptz) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN instant <= origin THEN 0 ELSE ceil(date_part('epoch', instant - origin) / 60)::integer END
$$
"""
"""How many minutes of a life that began at `origin` started before `instant`.

Minute n starts at origin + n x 60 s. Instants are whole seconds; a quotient by 60 that is whole is exact.
"""

MINUTES_BETWEEN = """
CREATE FUNCTION minutes_between(origin timestamptz, since timestamptz, until timestamptz) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT greatest(0, minutes_before(origin, until) - minutes_before(origin, since))
$$
"""
"""How many minutes of a lifetime from `origin` started in [since, until).

The parts of a divided lifetime therefore sum to exactly ceil(lifetime / 60 s) minutes.
"""

FINAL_INTERVAL = """
CREATE FUNCTION refuse_change_of_ended_interval() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM billed_clusters
              WHERE project_id = OLD.project_id AND id = OLD.of_cluster AND ready_at IS NULL) THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'usage interval % has ended and never changes', OLD.id
    USING ERRCODE = 'integrity_constraint_violation';
END $$
"""
"""An interval that has ended is final, once its cluster was ready: what one costs that never is comes to nothing."""

FINAL_INTERVAL_TRIGGER = """
CREATE TRIGGER usage_intervals_final BEFORE UPDATE ON usage_intervals FOR EACH ROW
WHEN (OLD.ended_at IS NOT NULL) EXECUTE FUNCTION refuse_change_of_ended_interval()
"""
NOTE_LATE_USAGE = """
CREATE FUNCTION note_late_usage() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    PERFORM note_dirty_hours('usage', NEW.started_at, NEW.ended_at);
  ELSE
    PERFORM note_dirty_hours('usage', least(OLD.ended_at, NEW.ended_at),
                             greatest(coalesce(OLD.ended_at, 'infinity'), coalesce(NEW.ended_at, 'infinity')));
  END IF;
  RETURN NULL;
END $$
"""
NOTE_LATE_USAGE_TRIGGER = """
CREATE TRIGGER usage_intervals_late AFTER INSERT OR UPDATE ON usage_intervals FOR EACH ROW
EXECUTE FUNCTION note_late_usage()
"""
