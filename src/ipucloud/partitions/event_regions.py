"""The region of an event: that of its subject, recorded by the database with the event, whoever writes it."""

from __future__ import annotations

SET_REGION_OF_EVENT = """
CREATE FUNCTION set_region_of_event() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  cluster uuid;
BEGIN
  CASE NEW.subject_type
    WHEN 'cluster' THEN cluster := NEW.subject_id;
    WHEN 'partition' THEN
      SELECT cluster_id INTO cluster FROM partitions WHERE project_id = NEW.project_id AND id = NEW.subject_id;
    WHEN 'job' THEN
      SELECT cluster_id INTO cluster FROM jobs WHERE project_id = NEW.project_id AND id = NEW.subject_id;
    WHEN 'service' THEN
      SELECT cluster_id INTO cluster FROM services WHERE project_id = NEW.project_id AND id = NEW.subject_id;
    WHEN 'terminal' THEN
      SELECT cluster_id INTO cluster FROM terminals WHERE project_id = NEW.project_id AND id = NEW.subject_id;
    WHEN 'fault_report' THEN
      SELECT cluster_id INTO cluster FROM fault_reports WHERE project_id = NEW.project_id AND id = NEW.subject_id;
    WHEN 'volume' THEN
      SELECT region INTO NEW.region FROM volumes WHERE project_id = NEW.project_id AND id = NEW.subject_id;
    WHEN 'snapshot' THEN
      SELECT region INTO NEW.region FROM snapshots WHERE project_id = NEW.project_id AND id = NEW.subject_id;
    WHEN 'address' THEN
      SELECT region INTO NEW.region FROM addresses WHERE project_id = NEW.project_id AND id = NEW.subject_id;
    WHEN 'reservation' THEN
      SELECT region INTO NEW.region FROM reservations WHERE project_id = NEW.project_id AND id = NEW.subject_id;
    ELSE
      NEW.region := NEW.data ->> 'region';
  END CASE;
  IF cluster IS NOT NULL THEN
    SELECT region INTO NEW.region FROM clusters WHERE project_id = NEW.project_id AND id = cluster;
  END IF;
  RETURN NEW;
END $$
"""
EVENT_REGION = """
CREATE TRIGGER event_region BEFORE INSERT ON events FOR EACH ROW
  WHEN (NEW.region IS NULL AND NEW.project_id IS NOT NULL AND NEW.subject_type IN (
    'cluster', 'partition', 'job', 'service', 'terminal', 'fault_report', 'volume', 'snapshot', 'address',
    'reservation', 'quota_request'))
  EXECUTE FUNCTION set_region_of_event()
"""
"""The only `subject_type` that reaches the ELSE is `quota_request`, whose data name the region."""
