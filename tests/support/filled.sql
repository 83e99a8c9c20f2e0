-- Rows of a filled database, in the order in which they refer to each other; `filled.py` runs the parts.

-- part: cluster
INSERT INTO poplar_servers (id, project_id, cluster_id, ordinal, name, state, ssh_user)
VALUES (gen_random_uuid(), :project, :cluster, 0, CAST(:name AS text) || '-p0', 'running', 'ubuntu');
INSERT INTO allocations (id, project_id, cluster_id, ordinal, machine_id, created_at)
VALUES (gen_random_uuid(), :project, :cluster, 0, :machine, :created);
INSERT INTO allocations (id, project_id, cluster_id, ordinal, host_id, created_at)
VALUES (gen_random_uuid(), :project, :cluster, 0, :host, :created);
INSERT INTO hardware_cleanings (allocation_id, external_name) SELECT id, :name FROM allocations WHERE host_id = :host;
UPDATE quotas SET used = 1 WHERE project_id = :project AND region = 'luxembourg-2';

-- part: operations
INSERT INTO partitions (id, project_id, cluster_id, origin, name, external_name, desired_state, state, observed,
                        observed_at, created_at)
VALUES (gen_random_uuid(), :project, :cluster, 'cluster', :name, :name, 'unmanaged', 'active',
        '{"size": 4, "gcds": 1, "ipus": []}', :ready, :ready);
INSERT INTO vipu_access_keys (project_id, cluster_id, name, number, sha256, ends_server_key)
VALUES (:project, :cluster, CAST(:name AS text) || '-k1', 1, repeat('0', 64), false);
INSERT INTO vipu_links (project_id, cluster_id, links) VALUES (:project, :cluster, '[["next", ["m-0", "m-1"], "up"]]');
INSERT INTO resizes (project_id, cluster_id, operation_id, from_flavor, from_machines, from_ipus, from_sku, to_flavor,
                     to_machines, to_ipus, to_sku, moves)
VALUES (:project, :cluster, :finished, 'm2000-pod4', 1, 4, 'ipu-m2000', 'm2000-pod8', 2, 8, 'ipu-m2000', false);
INSERT INTO cluster_rebuilds (project_id, cluster_id, operation_id, disk, image, keys_revision)
VALUES (:project, :cluster, :finished, 'keep', 'ubuntu-20.04-x64-poplar-1.18.0-3.0.0', 1);
INSERT INTO capacity_waits (project_id, cluster_id, operation_id, kind, machines, region, machine_type, since, until,
                            granted_at)
VALUES (:project, :cluster, :finished, 'cluster.create', 1, 'luxembourg-2', 'm2000', :ready, '2026-05-02 10:00Z',
        :ready);
-- Plans: a repair and a preemption that ended, a schedule, and the token whose costs are limited.
INSERT INTO scheduled_repairs (id, project_id, cluster_id, reason, hardware, starts_at, latest_at, ended_at, outcome)
VALUES (gen_random_uuid(), :project, :cluster, 'fault', '{}', :ready, :ready, :ready, 'not_needed');
INSERT INTO token_clusters (token_id, project_id, cluster_id) VALUES (:token, :project, :cluster);
INSERT INTO cluster_schedules (project_id, cluster_id, time_zone, computed_at)
VALUES (:project, :cluster, 'UTC', :ready);
INSERT INTO preemptions (id, project_id, cluster_id, noticed_at, preempt_at, ended_at, outcome)
VALUES (gen_random_uuid(), :project, :cluster, :ready, :deleted, :deleted, 'not_in_use');
-- What was observed, and a fault that the customer reported.
INSERT INTO server_uses (server_id, project_id, observed_at) SELECT id, project_id, :ready FROM poplar_servers;
INSERT INTO cluster_samples (project_id, cluster_id, minute, observed_at, machines, machines_answered, partitions,
                             partitions_active, utilisation)
VALUES (:project, :cluster, :ready, :ready, 1, 1, 1, 1, 80.0);
INSERT INTO fault_reports (id, project_id, cluster_id, created_by, machine_id, name, category, description)
VALUES (gen_random_uuid(), :project, :cluster, gen_random_uuid(), :machine, 'm0', 'ipu', 'it hangs');
-- What the project has beside its cluster: limits, storage, an address, a reservation, and what has a secret.
INSERT INTO quota_requests (id, project_id, created_by, region, machine_type, wanted_limit, reason)
VALUES (gen_random_uuid(), :project, gen_random_uuid(), 'luxembourg-2', 'm2000', 9000, 'more');
INSERT INTO volume_quotas (project_id, region, gib_limit) VALUES (:project, 'luxembourg-2', 1000);
INSERT INTO address_quotas (project_id, region, address_limit) VALUES (:project, 'luxembourg-2', 7);
INSERT INTO volumes (id, project_id, created_by, region, external_name, size_gib, sku, currency, name, state)
VALUES (:volume, :project, gen_random_uuid(), 'luxembourg-2', CAST(:name AS text) || '-volume', 10, 'volume-gib',
        'EUR', 'data', 'creating');
INSERT INTO snapshots (id, project_id, created_by, region, external_name, size_gib, sku, currency, name, state,
                       volume_id)
VALUES (gen_random_uuid(), :project, gen_random_uuid(), 'luxembourg-2', CAST(:name AS text) || '-snapshot', 10,
        'snapshot-gib', 'EUR', 'data', 'creating', :volume);
INSERT INTO addresses (id, project_id, created_by, region, external_name, sku, currency, name, state)
VALUES (gen_random_uuid(), :project, gen_random_uuid(), 'luxembourg-2', CAST(:name AS text) || '-address', 'address',
        'EUR', 'data', 'creating');
INSERT INTO volume_origins (volume_id, snapshot_id, project_id) SELECT volume_id, id, project_id FROM snapshots;
INSERT INTO reservations (id, project_id, created_by, blocks, machines, ipus, servers, own_hosts, flavor, region,
                          machine_type, sku, currency, starts_at, ends_at, state, name)
VALUES (gen_random_uuid(), :project, gen_random_uuid(), 1, 1, 4, 1, false, 'm2000-pod4', 'luxembourg-2', 'm2000',
        'ipu-m2000-reserved', 'EUR', :ready, :deleted, 'cancelled', 'may');
INSERT INTO webhooks (id, project_id, url, secret, after_transaction, after_id, event_types)
VALUES (gen_random_uuid(), :project, 'https://hooks.example.com/', 'sealed', 1, 0, '{cluster.*}');
INSERT INTO ssh_authorities (id, project_id, public_key, private_key)
VALUES (gen_random_uuid(), :project, 'ssh-ed25519 AAAA', 'sealed');
INSERT INTO webhook_deliveries (id, project_id, webhook_id, type, payload, state, delivered_at)
SELECT gen_random_uuid(), project_id, id, 'webhook.ping', '{}', 'delivered', :ready FROM webhooks;
-- What ran on the cluster's server: a job, a service, a terminal, and its console.
INSERT INTO console_boots (project_id, server_id, boot_id, number, started_at, text, dropped, written, observed_at)
SELECT project_id, id, 'b', 1, :ready, 'up', 0, 2, :ready FROM poplar_servers;
INSERT INTO jobs (id, project_id, cluster_id, server_id, number, command, retries, currency, created_by, state,
                  ended_by, exit_status, log_bytes, log_parts, sent_at, started_at, ended_at, observed_at)
SELECT gen_random_uuid(), project_id, cluster_id, id, 1, '["true"]', 0, 'EUR', gen_random_uuid(), 'succeeded',
       'program', 0, 3, 1, :ready, :ready, :ready, :ready
  FROM poplar_servers;
INSERT INTO job_logs (project_id, job_id, number, attempt, text) SELECT project_id, id, 1, 1, E'ok\n' FROM jobs;
INSERT INTO services (id, project_id, cluster_id, server_id, name, command, port, max_restarts, created_by,
                      health_check, checked_at)
SELECT gen_random_uuid(), project_id, cluster_id, id, 'chat', '["serve"]', 8000, 10, gen_random_uuid(),
       '{"path": "/healthz", "interval_seconds": 9, "timeout_seconds": 9, "failures": 9, "start_seconds": 9}',
       app_now()
  FROM poplar_servers;
INSERT INTO service_logs (project_id, service_id, number, attempt, text)
SELECT project_id, id, 1, 1, E'up\n' FROM services;
INSERT INTO service_request_totals (project_id, service_id, requests, errors, seconds, buckets)
SELECT project_id, id, 1, 0, 0.1, '{1,0,0,0,0,0,0,0,0,0,0,0}' FROM services;
INSERT INTO service_requests (project_id, service_id, minute, requests, errors, seconds, buckets)
SELECT project_id, service_id, '2026-03-01 12:00Z', requests, errors, seconds, buckets FROM service_request_totals;
INSERT INTO terminals (id, project_id, cluster_id, server_id, public_key, created_by, ended_by, key_until, alive_at,
                       connected_at, ended_at)
SELECT gen_random_uuid(), project_id, cluster_id, id, 'ssh-ed25519 AAAA', gen_random_uuid(), 'shell', :ready, :ready,
       :ready, :ready
  FROM poplar_servers;
-- What the operations left: a work item, events, a stored answer, and a repair by the audit.
INSERT INTO work (kind, key, project_id, run_at) VALUES ('cluster', CAST(:cluster AS text), :project, :deleted);
INSERT INTO events (project_id, type, subject_type, subject_id, operation_id, request_id)
SELECT CAST(:project AS uuid), type, 'cluster', :cluster, operation, 'req-filled'
  FROM (VALUES (1, 'cluster.created', NULL), (2, 'operation.created', CAST(:finished AS uuid)),
               (3, 'operation.succeeded', :finished), (4, 'cluster.deleting', NULL),
               (5, 'operation.created', :opened)) AS told (place, type, operation) ORDER BY place;
INSERT INTO idempotency_keys (scope, key, fingerprint, status, body, subject_id)
VALUES (:project, 'filled', decode(repeat('00', 32), 'hex'), 202, '{}', :cluster);
INSERT INTO repairs (id, rule, object_type, object_id, detail, action, requested_by, project_id, operation_id, state,
                     finished_at)
VALUES (gen_random_uuid(), 'cluster_being_deleted_has_its_operation', 'cluster', CAST(:cluster AS text),
        'nothing deletes the cluster', 'has a worker delete the cluster again', 'operator@console', :project, :opened,
        'succeeded', :deleted);
-- People: one who is there, one who is gone, one who is invited; their sessions, sign-ins and e-mails.
INSERT INTO browser_sessions (id, token_id, secret_hash, expires_at, idle_until, issuer, subject, sid)
VALUES (gen_random_uuid(), :token, decode(repeat('00', 32), 'hex'), :far, :far, 'https://sso.example.com', 'ann', 's');
INSERT INTO provider_logouts (token_hash, issuer, subject, sid)
VALUES (decode(repeat('00', 32), 'hex'), 'https://sso.example.com', 'ann', 's');
INSERT INTO sign_in_links (id, token_id, secret_hash, expires_at)
VALUES (gen_random_uuid(), :token, decode(repeat('00', 32), 'hex'), :far);
INSERT INTO users (id, email, password_hash, external_id, display_name, formatted_name, given_name, family_name)
VALUES (:ann, 'ann@example.com', '$argon2id$', 'Ann', 'Ann', 'Ann', 'Ann', 'Ann');
INSERT INTO users (id, email, deactivated_at, deleted_at)
VALUES (gen_random_uuid(), 'ann@example.com', :deleted, :deleted);
INSERT INTO user_identities (issuer, subject, user_id) VALUES ('https://sso.example.com', 'ann', :ann);
INSERT INTO notification_subscriptions (user_id, project_id, event_types, after_transaction, after_id)
VALUES (:ann, :project, '{cluster.*}', 0, 0);
INSERT INTO mails (id, user_id, project_id, type, recipient, language, event_transaction, event_id, next_at)
VALUES (gen_random_uuid(), :ann, :project, 'cluster.active', 'ann@example.com', 'en', 1, 1, '2126-01-01Z');
INSERT INTO provider_sign_ins (id, expires_at, provider, state_hash, browser_hash, redirect_uri)
VALUES (gen_random_uuid(), '2126-01-01Z', 'sso', decode(repeat('00', 32), 'hex'), decode(repeat('00', 32), 'hex'),
        'https://ipucloud.example.com/sign-in/callback');
INSERT INTO device_logins (id, expires_at, device_hash, user_code, name, address)
VALUES (gen_random_uuid(), '2126-01-01Z', decode(repeat('00', 32), 'hex'), 'WDJBMJHT', 'ann-laptop', '203.0.113.7');
INSERT INTO invitations (id, project_id, email, role, secret_hash, expires_at)
VALUES (gen_random_uuid(), :project, 'bob@example.com', 'viewer', decode(repeat('00', 32), 'hex'), :far);
-- An open entry of the audit log, and two sealed ones, of which the older is removed; one who took of a shared limit.
INSERT INTO audit_log (id, operation, method, address, agent, request_id)
VALUES (gen_random_uuid(), 'createToken', 'POST', '', '', 'req-filled');
INSERT INTO audit_log (id, operation, method, address, agent, request_id, seq, previous_hash, hash, completed_at,
                       created_at)
SELECT gen_random_uuid(), operation, method, address, agent, request_id, number, decode(repeat('00', 32), 'hex'),
       decode(repeat('01', 32), 'hex'), '2020-01-01Z', '2020-01-01Z'
  FROM audit_log, generate_series(1, 2) AS number;
SELECT prune_audit_log(90, 10);
INSERT INTO rate_limits (key, taken) VALUES (decode(repeat('00', 32), 'hex'), 1);
-- What operators see: a validation, a reading, a freeze, a simulated fault, and a finding.
INSERT INTO hardware_validations (id, machine_id, reason, result, ended_at)
VALUES (gen_random_uuid(), :machine, 'release', 'abandoned', :ready);
INSERT INTO observations (region, source) VALUES ('luxembourg-2', 'bmc');
INSERT INTO freezes (id, reason, created_by, expires_at, ended_at, ended_by, end_reason)
VALUES (gen_random_uuid(), 'moving the rack', gen_random_uuid(), :far, :deleted, gen_random_uuid(), 'done');
INSERT INTO simulated_faults (id, region, kind, name, link, state, created_by)
VALUES (gen_random_uuid(), 'luxembourg-2', 'link', 'm0', 'next', 'ended', gen_random_uuid());
INSERT INTO site_findings (rule, region, object_id, detail)
VALUES ('network_belongs_to_a_cluster', 'luxembourg-2', 'operators-own', 'unowned');

-- part: usage
-- What the cluster is billed for: an hour, and an interval with a fault: the machine failed in the second in which the
-- deletion was requested, and was replaced, so that no minute is credited.
INSERT INTO usage_intervals (id, project_id, resource_id, flavor, sku, region, currency, quantity, anchor_at,
                             started_at, ended_at, credited)
SELECT gen_random_uuid(), CAST(:project AS uuid), :cluster, 'm2000-pod4', 'ipu-m2000', 'luxembourg-2', 'EUR', 1,
       :ready, started_at, :deleted, credited
  FROM (VALUES (CAST(:ready AS timestamptz), 0), (:deleted, 1)) AS used (started_at, credited);
INSERT INTO health_reports (id, region, machine_id, source, code, allocation, credited, detail, message, first_seen_at,
                            confirmed_at, last_seen_at, good_since, cleared_at)
VALUES (:fault, 'luxembourg-2', :machine, 'bmc', 'bmc_critical', 'prevented', true, 'Health: Critical',
        'The machine has failed.', :deleted, :deleted, :deleted, :deleted, :deleted);
INSERT INTO usage_credits (project_id, interval_id, report_id)
SELECT project_id, id, :fault FROM usage_intervals WHERE credited = 1;
-- The ledger: an account with a contract, whose hour is closed.
SELECT open_billing_month(CAST(:ready AS date));
INSERT INTO contract_prices (id, account_id, sku, region, currency, unit_price, valid_from, source)
VALUES (gen_random_uuid(), :project, 'ipu-m2000', 'luxembourg-2', 'EUR', 0.05, '2126-01-01Z', 'contract');
INSERT INTO hour_closes (hour) VALUES (:ready);

-- part: closed
INSERT INTO billed_facts VALUES ('2026-05-01', :project, 'EUR', 'price|x');
INSERT INTO month_proofs (month, root, bills, public_key, signature)
SELECT month, sha256(''), 1, 'x', 'x' FROM billed_facts;
INSERT INTO bill_proofs (month, place, account_id, currency, root, leaves)
SELECT month, 0, account_id, currency, sha256(''), 1 FROM billed_facts;
-- Something that came late.
INSERT INTO dirty_hours (hour, cause) VALUES (:ready, 'usage');
INSERT INTO price_corrections (id, sku, region, currency, unit_price, valid_from, valid_to, version_id, reason,
                               requested_by, finished_at)
SELECT gen_random_uuid(), sku, region, currency, unit_price, '2019-01-01Z', '2019-01-02Z', id, 'late',
       gen_random_uuid(), app_now() FROM prices LIMIT 1;
INSERT INTO unpriced_minutes (hour, account_id, sku, region, currency, minutes)
VALUES (:ready, :project, 'ipu-bow-2000', 'luxembourg-2', 'EUR', 1);
INSERT INTO day_rollups (day, version, hours) VALUES (CAST(:ready AS date), 1, 1);
INSERT INTO usage_days (day, version, account_id, project_id, resource_id, flavor, sku, region, currency,
                        billing_month, price_id, unit_price, minutes, machine_minutes, credited_machine_minutes,
                        cost, list_cost)
SELECT CAST(:ready AS date), 1, account_id, project_id, resource_id, 'm2000-pod4', sku, region, currency,
       billing_month, price_id, unit_price, minutes, minutes * quantity, minutes * credited, cost,
       minutes * quantity * list_unit_price
  FROM usage_charges;
INSERT INTO budgets (id, project_id, name, amount, currency) VALUES (:project, :project, 'all', 100, 'EUR');
INSERT INTO budget_thresholds (budget_id, measure, percent) VALUES (:project, 'actual', 1);
INSERT INTO budget_alerts VALUES (:project, '2026-05-01', 'actual', 1, 3.75, 100);
INSERT INTO budget_suspensions SELECT :project, '2026-05-01', 'actual', 1, id FROM clusters LIMIT 1;
INSERT INTO events (project_id, type, subject_type, subject_id, data)
VALUES (:project, 'budget.threshold_reached', 'budget', :project, '{"month": "2026-05", "percent": 1}');
INSERT INTO prepaid_accounts (account_id, currency, when_empty) VALUES (:project, 'EUR', 'warn');
INSERT INTO top_up_policies (account_id, currency, amount, below_hours, month_limit, paused_at, pause_reason)
VALUES (:project, 'EUR', 10, 4, 100, app_now(), 'month_limit');
INSERT INTO payment_methods (account_id, customer, payment_method) VALUES (:project, 'cus_1', 'pm_1');
INSERT INTO create_holds (cluster_id, project_id, account_id, amount, currency, released_at, reason)
SELECT id, project_id, project_id, 3.75, currency, app_now(), 'posted' FROM clusters LIMIT 1;
-- Exports: one file that is kept, and one that is delivered every day.
INSERT INTO export_months (month) VALUES ('2026-05-01');
INSERT INTO export_names (month, kind, id, name, tags) SELECT '2026-05-01', 'cluster', id, name, tags FROM clusters;
INSERT INTO s3_connections (id, project_id, name, endpoint, region, bucket, prefix, access_key_id, secret)
VALUES (gen_random_uuid(), :project, 'lake', 'https://s3.example', 'eu', 'costs', '', 'key', 'v1.a.b');
INSERT INTO cluster_s3_connections (project_id, cluster_id, connection_id, place)
SELECT s.project_id, c.id, s.id, 1 FROM s3_connections s JOIN clusters c USING (project_id);
INSERT INTO export_schedules (id, project_id, connection_id, dataset, focus_version, format, every, next_at)
SELECT gen_random_uuid(), project_id, id, 'cost-and-usage', '1.4', 'csv', 'day', '2126-01-01Z' FROM s3_connections;
INSERT INTO exports (id, project_id, account_id, connection_id, schedule_id, scheduled_for, dataset, focus_version,
                     format, month, fence, manifest, built_at, delivered_at, expires_at)
SELECT gen_random_uuid(), project_id, project_id, connection_id, id, '2026-05-02', dataset, focus_version, format,
       '2026-05-01', 1, '{}', app_now(), app_now(), '2126-01-01Z' FROM export_schedules;
INSERT INTO exports (id, project_id, dataset, focus_version, format, since, until)
VALUES (gen_random_uuid(), :project, 'cost-and-usage', '1.4', 'csv', '2026-05-04', '2026-05-11');
INSERT INTO export_limits (project_id, per_day) VALUES (:project, 50);
INSERT INTO export_chunks (export_id, fence, ordinal, data) SELECT id, 1, 0, 'x' FROM exports;

-- part: billed
INSERT INTO payment_charges (payment_id, idempotency_key, customer, payment_method, amount, currency)
SELECT id, gen_random_uuid(), 'cus_1', 'pm_1', 100, currency FROM payments
 WHERE account_id = :project AND finished_at IS NULL;
INSERT INTO found_reversals (id, payment_id, amount, status, taken)
SELECT 're_' || id, id, 1, 'failed', false FROM payments WHERE account_id = :project;
INSERT INTO dunning_reminders (invoice_id, days) SELECT id, 1 FROM invoices WHERE account_id = :project;
INSERT INTO invoiced_months (month) VALUES ('2026-05-01');
