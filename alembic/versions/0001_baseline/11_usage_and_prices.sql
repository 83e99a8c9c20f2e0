-- billing/metering/ and billing/pricing/, and what reads the facts and prices of clusters.

CREATE TABLE price_corrections (
    id uuid NOT NULL,
    account_id uuid,
    sku text NOT NULL,
    region text NOT NULL,
    currency text NOT NULL,
    unit_price numeric(20, 10) NOT NULL,
    valid_from timestamptz NOT NULL,
    valid_to timestamptz,
    version_id uuid NOT NULL,
    reason text NOT NULL,
    requested_by uuid NOT NULL,
    effects jsonb DEFAULT '[]' NOT NULL,
    created_at timestamptz DEFAULT app_now() NOT NULL,
    finished_at timestamptz,
    CONSTRAINT pk_price_corrections PRIMARY KEY (id),
    CONSTRAINT ck_price_corrections_valid CHECK (valid_to > valid_from),
    CONSTRAINT fk_price_corrections_account_id FOREIGN KEY (account_id) REFERENCES billing_accounts (id)
);
COMMENT ON TABLE price_corrections IS
    'past prices that were corrected; finished when every closed hour was rated again';
COMMENT ON COLUMN price_corrections.account_id IS 'of a contract price; NULL: the list price';
COMMENT ON COLUMN price_corrections.version_id IS
    'the version of prices or contract_prices that holds the correction';
COMMENT ON COLUMN price_corrections.effects IS 'what it changes for whom, as computed when it was accepted';
CREATE INDEX ix_price_corrections_account ON price_corrections (account_id);
GRANT SELECT, INSERT, UPDATE (effects, finished_at) ON price_corrections TO ipucloud_app;

CREATE TABLE prices (
    id uuid NOT NULL,
    sku text NOT NULL,
    region text NOT NULL,
    currency text NOT NULL,
    unit_price numeric(20, 10) NOT NULL,
    valid_from timestamptz NOT NULL,
    valid_to timestamptz,
    source text NOT NULL,
    follows uuid,
    follows_end timestamptz,
    restores uuid,
    corrected_by uuid,
    CONSTRAINT pk_prices PRIMARY KEY (id),
    CONSTRAINT ck_prices_unit_price CHECK (unit_price >= 0),
    CONSTRAINT ck_prices_valid CHECK (valid_to > valid_from OR valid_to = valid_from AND corrected_by IS NOT NULL),
    CONSTRAINT ck_prices_whole_seconds CHECK (date_trunc('second', valid_from, 'UTC') = valid_from AND
        date_trunc('second', valid_to, 'UTC') = valid_to),
    CONSTRAINT ex_prices_no_overlap EXCLUDE USING gist (textrange(sku || ' ' || region || ' ' || currency, sku || ' '
        || region || ' ' || currency, '[]') WITH &&, tstzrange(valid_from, valid_to) WITH &&),
    CONSTRAINT fk_prices_follows FOREIGN KEY (follows) REFERENCES prices (id),
    CONSTRAINT fk_prices_restores FOREIGN KEY (restores) REFERENCES prices (id),
    CONSTRAINT fk_prices_corrected_by FOREIGN KEY (corrected_by) REFERENCES price_corrections (id)
);
COMMENT ON COLUMN prices.unit_price IS 'per minute of the article''s unit, mostly a machine';
COMMENT ON COLUMN prices.follows IS 'the version that gives way to this one, which had the end follows_end';
COMMENT ON COLUMN prices.restores IS
    'the version whose price comes back with this one, because the one between has an end';
COMMENT ON COLUMN prices.corrected_by IS 'the correction that took all of its time';
CREATE INDEX ix_prices_corrected_by ON prices (corrected_by);
CREATE INDEX ix_prices_follows ON prices (follows);
CREATE INDEX ix_prices_key ON prices (sku, region, currency, valid_from);
CREATE INDEX ix_prices_restores ON prices (restores);
GRANT SELECT, INSERT, UPDATE (valid_to) ON prices TO ipucloud_app;

CREATE TABLE usage_intervals (
    id uuid NOT NULL,
    project_id uuid NOT NULL,
    resource_id uuid NOT NULL,
    sku text NOT NULL,
    region text NOT NULL,
    currency text NOT NULL,
    quantity integer NOT NULL,
    anchor_at timestamptz NOT NULL,
    started_at timestamptz NOT NULL,
    ended_at timestamptz,
    credited integer DEFAULT '0' NOT NULL,
    flavor text NOT NULL,
    resource_kind text DEFAULT 'cluster' NOT NULL,
    dimension text DEFAULT 'machine' NOT NULL,
    of_cluster uuid GENERATED ALWAYS AS (CASE WHEN resource_kind = 'cluster' THEN resource_id END) STORED,
    reservation_id uuid GENERATED ALWAYS AS (CASE WHEN resource_kind = 'reservation' THEN resource_id END) STORED,
    volume_id uuid GENERATED ALWAYS AS (CASE WHEN resource_kind = 'volume' THEN resource_id END) STORED,
    snapshot_id uuid GENERATED ALWAYS AS (CASE WHEN resource_kind = 'snapshot' THEN resource_id END) STORED,
    address_id uuid GENERATED ALWAYS AS (CASE WHEN resource_kind = 'address' THEN resource_id END) STORED,
    CONSTRAINT pk_usage_intervals PRIMARY KEY (id),
    CONSTRAINT fk_usage_intervals_project_id FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT fk_usage_intervals_project_id_of_cluster FOREIGN KEY (project_id, of_cluster)
        REFERENCES clusters (project_id, id),
    CONSTRAINT fk_usage_intervals_project_id_reservation_id FOREIGN KEY (project_id, reservation_id)
        REFERENCES reservations (project_id, id),
    CONSTRAINT fk_usage_intervals_project_id_volume_id FOREIGN KEY (project_id, volume_id)
        REFERENCES volumes (project_id, id),
    CONSTRAINT fk_usage_intervals_project_id_snapshot_id FOREIGN KEY (project_id, snapshot_id)
        REFERENCES snapshots (project_id, id),
    CONSTRAINT fk_usage_intervals_project_id_address_id FOREIGN KEY (project_id, address_id)
        REFERENCES addresses (project_id, id),
    CONSTRAINT ck_usage_intervals_resource_kind
        CHECK (resource_kind IN ('cluster', 'reservation', 'volume', 'snapshot', 'address')),
    CONSTRAINT ck_usage_intervals_dimension CHECK (dimension = CASE WHEN resource_kind IN ('volume', 'snapshot') THEN
        'gib' WHEN resource_kind = 'address' THEN 'address' ELSE 'machine' END),
    CONSTRAINT ck_usage_intervals_quantity CHECK (quantity > 0),
    CONSTRAINT ck_usage_intervals_credited CHECK (credited BETWEEN 0 AND quantity),
    CONSTRAINT uq_usage_intervals_project_id_id UNIQUE (project_id, id),
    CONSTRAINT ck_usage_intervals_order CHECK (anchor_at <= started_at AND started_at <= ended_at),
    CONSTRAINT ck_usage_intervals_whole_seconds CHECK (date_trunc('second', anchor_at, 'UTC') = anchor_at AND
        date_trunc('second', started_at, 'UTC') = started_at AND date_trunc('second', ended_at, 'UTC') = ended_at),
    CONSTRAINT ex_usage_intervals_no_overlap EXCLUDE USING gist (textrange(resource_id::text, resource_id::text, '[]')
        WITH &&, tstzrange(started_at, ended_at) WITH &&)
);
COMMENT ON COLUMN usage_intervals.resource_id IS 'the resource that is billed';
COMMENT ON COLUMN usage_intervals.quantity IS 'of the dimension';
COMMENT ON COLUMN usage_intervals.credited IS 'machines of them that are not billed';
COMMENT ON COLUMN usage_intervals.flavor IS 'of a cluster or reservation, at that time; otherwise the SKU';
COMMENT ON COLUMN usage_intervals.dimension IS 'what the quantity counts';
COMMENT ON COLUMN usage_intervals.of_cluster IS 'the resource, if it is a cluster';
COMMENT ON COLUMN usage_intervals.reservation_id IS 'the resource, if it is a reservation';
COMMENT ON COLUMN usage_intervals.volume_id IS 'the resource, if it is a volume';
COMMENT ON COLUMN usage_intervals.snapshot_id IS 'the resource, if it is a snapshot';
COMMENT ON COLUMN usage_intervals.address_id IS 'the resource, if it is an address';
CREATE INDEX ix_usage_intervals_address ON usage_intervals (project_id, address_id) WHERE address_id IS NOT NULL;
CREATE INDEX ix_usage_intervals_credited ON usage_intervals (id) WHERE credited > 0;
CREATE INDEX ix_usage_intervals_ended ON usage_intervals (ended_at);
CREATE INDEX ix_usage_intervals_of_cluster ON usage_intervals (project_id, of_cluster);
CREATE INDEX ix_usage_intervals_reservation ON usage_intervals (project_id, reservation_id)
    WHERE reservation_id IS NOT NULL;
CREATE INDEX ix_usage_intervals_resource ON usage_intervals (project_id, resource_id);
CREATE INDEX ix_usage_intervals_snapshot ON usage_intervals (project_id, snapshot_id) WHERE snapshot_id IS NOT NULL;
CREATE INDEX ix_usage_intervals_started ON usage_intervals (started_at);
CREATE INDEX ix_usage_intervals_volume ON usage_intervals (project_id, volume_id) WHERE volume_id IS NOT NULL;
CREATE UNIQUE INDEX uq_usage_intervals_open ON usage_intervals (resource_id) WHERE ended_at IS NULL;
GRANT SELECT, INSERT, UPDATE (ended_at) ON usage_intervals TO ipucloud_app;

CREATE TABLE contract_prices (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    sku text NOT NULL,
    region text NOT NULL,
    currency text NOT NULL,
    unit_price numeric(20, 10) NOT NULL,
    valid_from timestamptz NOT NULL,
    valid_to timestamptz,
    source text NOT NULL,
    follows uuid,
    follows_end timestamptz,
    restores uuid,
    corrected_by uuid,
    CONSTRAINT pk_contract_prices PRIMARY KEY (id),
    CONSTRAINT ck_contract_prices_unit_price CHECK (unit_price >= 0),
    CONSTRAINT ck_contract_prices_valid
        CHECK (valid_to > valid_from OR valid_to = valid_from AND corrected_by IS NOT NULL),
    CONSTRAINT ck_contract_prices_whole_seconds CHECK (date_trunc('second', valid_from, 'UTC') = valid_from AND
        date_trunc('second', valid_to, 'UTC') = valid_to),
    CONSTRAINT ex_contract_prices_no_overlap EXCLUDE USING gist (textrange(account_id::text || ' ' || sku || ' ' ||
        region || ' ' || currency, account_id::text || ' ' || sku || ' ' || region || ' ' || currency, '[]') WITH &&,
        tstzrange(valid_from, valid_to) WITH &&),
    CONSTRAINT fk_contract_prices_account_id FOREIGN KEY (account_id) REFERENCES billing_accounts (id),
    CONSTRAINT fk_contract_prices_follows FOREIGN KEY (follows) REFERENCES contract_prices (id),
    CONSTRAINT fk_contract_prices_restores FOREIGN KEY (restores) REFERENCES contract_prices (id),
    CONSTRAINT fk_contract_prices_corrected_by FOREIGN KEY (corrected_by) REFERENCES price_corrections (id)
);
COMMENT ON TABLE contract_prices IS 'what an account pays instead of the list price';
COMMENT ON COLUMN contract_prices.unit_price IS 'per minute of the article''s unit, mostly a machine';
COMMENT ON COLUMN contract_prices.follows IS 'the version that gives way to this one, which had the end follows_end';
COMMENT ON COLUMN contract_prices.restores IS
    'the version whose price comes back with this one, because the one between has an end';
COMMENT ON COLUMN contract_prices.corrected_by IS 'the correction that took all of its time';
CREATE INDEX ix_contract_prices_corrected_by ON contract_prices (corrected_by);
CREATE INDEX ix_contract_prices_follows ON contract_prices (follows);
CREATE INDEX ix_contract_prices_key ON contract_prices (account_id, sku, region, currency, valid_from);
CREATE INDEX ix_contract_prices_restores ON contract_prices (restores);
GRANT SELECT, INSERT, UPDATE (valid_to) ON contract_prices TO ipucloud_app;

CREATE TABLE usage_credits (
    interval_id uuid NOT NULL,
    report_id uuid NOT NULL,
    project_id uuid NOT NULL,
    cited_at timestamptz DEFAULT app_now() NOT NULL,
    CONSTRAINT pk_usage_credits PRIMARY KEY (interval_id, report_id),
    CONSTRAINT fk_usage_credits_project_id FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT fk_usage_credits_project_id_interval_id FOREIGN KEY (project_id, interval_id)
        REFERENCES usage_intervals (project_id, id),
    CONSTRAINT fk_usage_credits_report_id FOREIGN KEY (report_id) REFERENCES health_reports (id)
);
COMMENT ON TABLE usage_credits IS 'append-only; the health reports for which an interval''s machines are not billed';
CREATE INDEX ix_usage_credits_project ON usage_credits (project_id, interval_id);
CREATE INDEX ix_usage_credits_report ON usage_credits (report_id);
GRANT SELECT, INSERT ON usage_credits TO ipucloud_app;

CREATE FUNCTION note_late_price() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- A correction notes the hours of its own period: those of the versions that it cuts may be many more.
  IF coalesce(current_setting('ipucloud.correction', true), '') <> '' THEN
    RETURN NULL;
  END IF;
  IF TG_OP = 'INSERT' THEN
    PERFORM note_dirty_hours('price', NEW.valid_from, NEW.valid_to);
  ELSE
    PERFORM note_dirty_hours('price', least(OLD.valid_to, NEW.valid_to),
                             greatest(coalesce(OLD.valid_to, 'infinity'), coalesce(NEW.valid_to, 'infinity')));
  END IF;
  RETURN NULL;
END $$;

CREATE FUNCTION refuse_change_of_price() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  times text[] := '{valid_to}';
BEGIN
  IF EXISTS (SELECT FROM price_corrections c
              WHERE c.id::text = current_setting('ipucloud.correction', true) AND c.finished_at IS NULL) THEN
    times := '{valid_from,valid_to,follows,corrected_by}';
  ELSIF OLD.valid_to <= app_now() OR NEW.valid_to <= app_now() THEN
    RAISE EXCEPTION 'price % can only end in the future', OLD.id USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  IF to_jsonb(NEW) - times <> to_jsonb(OLD) - times THEN
    RAISE EXCEPTION 'price % never changes but for its end', OLD.id USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;

CREATE FUNCTION guard_withdrawal() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_WHEN = 'BEFORE' THEN
    IF OLD.valid_from <= app_now() THEN
      RAISE EXCEPTION 'price % has begun and stays', OLD.id USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN OLD;
  END IF;
  -- Who withdraws it at its last moment may commit after an hour of it was closed.
  PERFORM note_dirty_hours('price', OLD.valid_from, OLD.valid_to);
  -- Up to the next version, if there is one within the time that is given back.
  EXECUTE format('UPDATE %1$I p SET valid_to = least($1, (
                    SELECT min(n.valid_from) FROM %1$I n
                     WHERE (n.sku, n.region, n.currency) = (p.sku, p.region, p.currency) AND n.valid_from >= p.valid_to
                       AND to_jsonb(n) -> ''account_id'' IS NOT DISTINCT FROM to_jsonb(p) -> ''account_id''))
                   WHERE p.id = $2 AND p.valid_to = $3', TG_TABLE_NAME)
    USING OLD.follows_end, OLD.follows, OLD.valid_from;
  RETURN NULL;
END $$;

CREATE TRIGGER prices_late AFTER INSERT OR UPDATE ON prices FOR EACH ROW EXECUTE FUNCTION note_late_price();
CREATE TRIGGER prices_final BEFORE UPDATE ON prices FOR EACH ROW EXECUTE FUNCTION refuse_change_of_price();
CREATE TRIGGER prices_begun BEFORE DELETE ON prices FOR EACH ROW EXECUTE FUNCTION guard_withdrawal();
CREATE TRIGGER prices_withdrawn AFTER DELETE ON prices FOR EACH ROW EXECUTE FUNCTION guard_withdrawal();

CREATE FUNCTION minutes_before(origin timestamptz, instant timestamptz) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN instant <= origin THEN 0 ELSE ceil(date_part('epoch', instant - origin) / 60)::integer END
$$;

CREATE FUNCTION minutes_between(origin timestamptz, since timestamptz, until timestamptz) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT greatest(0, minutes_before(origin, until) - minutes_before(origin, since))
$$;

CREATE FUNCTION refuse_change_of_ended_interval() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'usage interval % has ended and never changes', OLD.id
    USING ERRCODE = 'integrity_constraint_violation';
END $$;

CREATE TRIGGER usage_intervals_final BEFORE UPDATE ON usage_intervals FOR EACH ROW
WHEN (OLD.ended_at IS NOT NULL) EXECUTE FUNCTION refuse_change_of_ended_interval();

CREATE FUNCTION note_late_usage() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    PERFORM note_dirty_hours('usage', NEW.started_at, NEW.ended_at);
  ELSE
    PERFORM note_dirty_hours('usage', least(OLD.ended_at, NEW.ended_at),
                             greatest(coalesce(OLD.ended_at, 'infinity'), coalesce(NEW.ended_at, 'infinity')));
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER usage_intervals_late AFTER INSERT OR UPDATE ON usage_intervals FOR EACH ROW
EXECUTE FUNCTION note_late_usage();

CREATE VIEW billed_clusters WITH (security_invoker = true) AS
SELECT id, project_id, name, tags, region, flavor, machine_type, machines, ipus, sku, currency, state, state_entered_at,
       delete_protection, expires_at, created_at, delete_requested_at,
       EXISTS (SELECT FROM allocations a JOIN reservations r ON (r.project_id, r.id) = (a.project_id, a.reservation_id)
                WHERE a.project_id = clusters.project_id AND a.cluster_id = clusters.id AND a.freed_at IS NULL
                  AND a.machine_id IS NOT NULL AND r.state = 'active') AS reserved,
       (SELECT max(r.ends_at)
          FROM allocations a JOIN reservations r ON (r.project_id, r.id) = (a.project_id, a.reservation_id)
         WHERE a.project_id = clusters.project_id AND a.cluster_id = clusters.id AND a.freed_at IS NULL
           AND a.machine_id IS NOT NULL AND r.state = 'active' AND r.ends_at <= app_now()) AS unreserved_at,
       'cluster' AS kind
  FROM clusters
UNION ALL
SELECT id, project_id, name, '{}', region, flavor, machine_type, blocks * machines, blocks * ipus, sku, currency,
       CASE WHEN state IN ('ended', 'cancelled') THEN 'deleted' ELSE 'reserved' END, state_entered_at, false, ends_at,
       created_at, NULL, true, NULL, 'reservation'
  FROM reservations
UNION ALL
SELECT id, project_id, name, tags, region, sku, 'volume', size_gib, size_gib, sku, currency,
       CASE WHEN state = 'deleted' THEN 'deleted' ELSE 'stored' END, state_entered_at, false, NULL,
       created_at, delete_requested_at, true, NULL, 'volume'
  FROM volumes
UNION ALL
SELECT id, project_id, name, tags, region, sku, 'snapshot', size_gib, size_gib, sku, currency,
       CASE WHEN state = 'deleted' THEN 'deleted' ELSE 'stored' END, state_entered_at, false, NULL,
       created_at, delete_requested_at, true, NULL, 'snapshot'
  FROM snapshots WHERE size_gib IS NOT NULL
UNION ALL
SELECT id, project_id, name, tags, region, sku, 'address', 1, 1, sku, currency,
       CASE WHEN state = 'deleted' THEN 'deleted' ELSE 'stored' END, state_entered_at, false, NULL,
       created_at, delete_requested_at, true, NULL, 'address'
  FROM addresses;
GRANT SELECT ON billed_clusters TO ipucloud_app;

CREATE TRIGGER contract_prices_late AFTER INSERT OR UPDATE ON contract_prices FOR EACH ROW EXECUTE FUNCTION
    note_late_price();

CREATE TRIGGER contract_prices_final BEFORE UPDATE ON contract_prices FOR EACH ROW EXECUTE FUNCTION
    refuse_change_of_price();

CREATE TRIGGER contract_prices_begun BEFORE DELETE ON contract_prices FOR EACH ROW EXECUTE FUNCTION
    guard_withdrawal();

CREATE TRIGGER contract_prices_withdrawn AFTER DELETE ON contract_prices FOR EACH ROW EXECUTE FUNCTION
    guard_withdrawal();

CREATE VIEW account_prices WITH (security_invoker = true) AS
SELECT account_id, sku, region, currency, c.id AS price_id, c.unit_price, p.unit_price AS list_unit_price,
       greatest(c.valid_from, p.valid_from) AS valid_from, least(c.valid_to, p.valid_to) AS valid_to
  FROM contract_prices c JOIN prices p USING (sku, region, currency)
 WHERE tstzrange(c.valid_from, c.valid_to) && tstzrange(p.valid_from, p.valid_to)
UNION ALL
SELECT c.account_id, c.sku, c.region, c.currency, c.id, c.unit_price, c.unit_price, lower(alone), upper(alone)
  FROM contract_prices c
 CROSS JOIN LATERAL (
   SELECT range_agg(tstzrange(p.valid_from, p.valid_to)) AS held FROM prices p
    WHERE (p.sku, p.region, p.currency) = (c.sku, c.region, c.currency)) AS listed
 CROSS JOIN LATERAL unnest(tstzmultirange(tstzrange(c.valid_from, c.valid_to))
                           - coalesce(listed.held, tstzmultirange())) AS alone
UNION ALL
SELECT k.account_id, p.sku, p.region, p.currency, p.id, p.unit_price, p.unit_price, lower(rest), upper(rest)
  FROM (SELECT account_id, sku, region, currency, range_agg(tstzrange(valid_from, valid_to)) AS held
          FROM contract_prices GROUP BY account_id, sku, region, currency) AS k
  JOIN prices p USING (sku, region, currency)
 CROSS JOIN LATERAL unnest(tstzmultirange(tstzrange(p.valid_from, p.valid_to)) - k.held) AS rest;
GRANT SELECT ON account_prices TO ipucloud_app;

CREATE VIEW price_holes AS
SELECT book.sku, book.region, book.currency, lower(hole) AS begins, upper(hole) AS ends
  FROM (SELECT sku, region, currency, min(valid_from) AS first,
               coalesce(range_agg(tstzrange(valid_from, valid_to)) FILTER (WHERE listed), tstzmultirange()) AS held
          FROM (SELECT sku, region, currency, valid_from, valid_to, true AS listed FROM prices
                UNION ALL
                SELECT sku, region, currency, valid_from, valid_to, false FROM contract_prices) AS version
         GROUP BY sku, region, currency) AS book
 CROSS JOIN LATERAL unnest(tstzmultirange(tstzrange(book.first, NULL)) - book.held) AS hole;
GRANT SELECT ON price_holes TO ipucloud_app;

CREATE FUNCTION prices_paid(project uuid, article text, place text, money text)
RETURNS TABLE (account_id uuid, price_id uuid, unit_price numeric, list_unit_price numeric, valid_from timestamptz,
               valid_to timestamptz)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT payer.account_id, rate.price_id, rate.unit_price, rate.list_unit_price,
         greatest(rate.valid_from, payer.valid_from), least(rate.valid_to, payer.valid_to)
    FROM (SELECT a.account_id, a.valid_from, lead(a.valid_from, 1, 'infinity') OVER (ORDER BY a.valid_from) AS valid_to
            FROM project_accounts a WHERE a.project_id = project) AS payer
   CROSS JOIN LATERAL (
     SELECT p.id AS price_id, p.unit_price, p.unit_price AS list_unit_price, p.valid_from, p.valid_to
       FROM prices p
      WHERE p.sku = article AND p.region = place AND p.currency = money
        AND NOT EXISTS (SELECT FROM contract_prices c WHERE c.account_id = payer.account_id
                           AND c.sku = article AND c.region = place AND c.currency = money)
     UNION ALL
     SELECT k.price_id, k.unit_price, k.list_unit_price, k.valid_from, k.valid_to
       FROM account_prices k
      WHERE k.account_id = payer.account_id AND k.sku = article AND k.region = place AND k.currency = money
     OFFSET 0
   ) AS rate
   WHERE rate.valid_from < payer.valid_to AND (rate.valid_to IS NULL OR rate.valid_to > payer.valid_from)
$$;

CREATE FUNCTION priced_minutes(origin timestamptz, since timestamptz, until timestamptz, valid_from timestamptz,
                               valid_to timestamptz, quantity integer, unit_price numeric)
RETURNS TABLE (started_at timestamptz, ended_at timestamptz, first_minute integer, minutes integer, cost numeric)
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT span.started_at, span.ended_at, minutes_before(origin, span.started_at),
         minutes_between(origin, span.started_at, span.ended_at),
         minutes_between(origin, span.started_at, span.ended_at) * (quantity * unit_price)
    FROM (SELECT greatest(since, valid_from) AS started_at, least(until, valid_to) AS ended_at) AS span
$$;

CREATE FUNCTION withdraw_price(price uuid) RETURNS void LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  DELETE FROM prices WHERE id = price;
  DELETE FROM contract_prices WHERE id = price;
END $$;
REVOKE ALL ON FUNCTION withdraw_price(uuid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION withdraw_price(uuid) TO ipucloud_app;

CREATE FUNCTION cut_price(price uuid, correction uuid) RETURNS void LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  book text;
BEGIN
  FOREACH book IN ARRAY '{prices,contract_prices}'::text[] LOOP
    EXECUTE format('UPDATE %1$I p
       SET valid_from = CASE WHEN NOT part.before AND part.beyond THEN part.until ELSE p.valid_from END,
           valid_to = CASE WHEN part.before THEN part.since WHEN part.beyond THEN p.valid_to ELSE p.valid_from END,
           corrected_by = CASE WHEN NOT part.before AND NOT part.beyond THEN $2 END
      FROM (SELECT v.id, c.valid_from AS since, c.valid_to AS until, v.valid_from < c.valid_from AS before,
                   coalesce(v.valid_to, ''infinity'') > coalesce(c.valid_to, ''infinity'') AS beyond
              FROM %1$I v JOIN price_corrections c USING (sku, region, currency)
             WHERE v.id = $1 AND c.id = $2
               AND tstzrange(v.valid_from, v.valid_to) && tstzrange(c.valid_from, c.valid_to)) AS part
     WHERE p.id = part.id', book) USING price, correction;
  END LOOP;
END $$;

CREATE FUNCTION follow_price(version uuid, former uuid[]) RETURNS void LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  UPDATE prices n SET follows = v.id FROM prices v
   WHERE v.id = version AND n.follows = ANY (former) AND n.valid_from = v.valid_to;
  UPDATE contract_prices n SET follows = v.id FROM contract_prices v
   WHERE v.id = version AND n.follows = ANY (former) AND n.valid_from = v.valid_to;
END $$;

CREATE FUNCTION token_cost(project uuid, token uuid) RETURNS numeric
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT coalesce(sum(part.cost), 0)
    FROM token_clusters AS counted
    JOIN usage_intervals AS used ON used.project_id = counted.project_id AND used.resource_id = counted.cluster_id
   CROSS JOIN LATERAL (
     SELECT greatest(used.started_at, counted.since) AS since,
            least(used.ended_at, counted.stopped_at, date_trunc('second', app_now(), 'UTC')) AS until
     OFFSET 0) AS counting
   CROSS JOIN LATERAL prices_paid(used.project_id, used.sku, used.region, used.currency) AS price
   CROSS JOIN LATERAL priced_minutes(used.anchor_at, counting.since, counting.until, price.valid_from, price.valid_to,
                                     used.quantity - used.credited, price.unit_price) AS part
   WHERE counted.project_id = project AND counted.token_id = token AND counting.since < counting.until
     AND price.valid_from < counting.until AND price.valid_to > counting.since
$$;
