-- Row-level security: which rows the platform, a tenant and a change reach.

DO $$
DECLARE
  own constant text := 'project_id = (SELECT tenant_id())';
  payers constant text :=
    'SELECT paying.account_id FROM project_accounts AS paying WHERE paying.project_id = (SELECT tenant_id())';
  paid constant text := 'account_id IN (' || payers || ') OR account_id = (SELECT payer_id())';
  shown text;
  name text;
BEGIN
  FOR shown, name IN
    SELECT condition, unnest(tables::text[]) FROM (VALUES
      (own,
       '{address_quotas, capacity_waits, cluster_rebuilds, cluster_s3_connections, cluster_samples,
        cluster_schedules, console_boots, fault_reports, job_logs, jobs, mails, notification_subscriptions,
        partitions, poplar_servers, preemptions, quota_requests, quotas, repairs, resizes, scheduled_repairs,
        server_uses, service_logs, service_request_totals, service_requests, services, site_findings,
        ssh_authorities, ssh_keys, terminals, token_clusters, vipu_access_keys, vipu_links, volume_origins,
        volume_quotas, work}'),
      (own || ' OR project_id IS NULL AND ' || paid,
       '{audit_log, budgets, create_holds, events, export_limits, export_schedules, exports, invitations,
        operation_steps, operations, s3_connections, usage_charges, usage_days, webhook_deliveries, webhooks}'),
      (paid,
       '{bill_proofs, billed_facts, contract_prices, dunning_policies, invoices, payment_methods, payments,
        prepaid_accounts, price_corrections, promo_credits, top_up_policies, unpriced_minutes}'),
      (own || ' OR (SELECT payer_id()) IS NOT NULL AND project_id IN (SELECT payees())',
       '{addresses, allocations, clusters, project_accounts, reservations, snapshots, usage_credits,
        usage_intervals, volumes}'),
      ('EXISTS (SELECT FROM invoices WHERE invoices.id = invoice_id)',
       '{credit_notes, invoice_lines, invoice_settlements, invoice_taxes}'),
      ('EXISTS (SELECT FROM budgets WHERE budgets.id = budget_id)',
       '{budget_alerts, budget_thresholds}'),
      ('id IN (' || payers || ') OR id = (SELECT payer_id())',
       '{billing_accounts}'),
      ('token_id = (SELECT tenant_token())',
       '{browser_sessions}'),
      ('owner_id = (SELECT payer_id())',
       '{ledger_accounts}'),
      ('id = (SELECT tenant_id()) OR (SELECT payer_id()) IS NOT NULL AND id IN (SELECT payees())',
       '{projects}'),
      ('EXISTS (SELECT FROM promo_credits WHERE promo_credits.id = credit_id)',
       '{promo_credit_uses}'),
      (own || ' OR id = (SELECT tenant_token()) OR account_id = (SELECT payer_id())',
       '{tokens}'),
      ('EXISTS (SELECT FROM tokens WHERE tokens.owner_id = users.id)',
       '{users}')
    ) AS listed (condition, tables)
  LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY platform ON %I TO ipucloud_app, CURRENT_USER USING (true) WITH CHECK (true)', name);
    EXECUTE format('CREATE POLICY tenant ON %I FOR SELECT TO ipucloud_tenant USING (%s)', name, shown);
    EXECUTE format('GRANT SELECT ON %I TO ipucloud_tenant', name);
  END LOOP;
END $$;

-- Without rows of tenants, or views of what they may see.
GRANT SELECT ON
    account_prices, billed_clusters, billing_months, cited_faults, day_rollups, dirty_hours, health_reports,
    hosts, hour_closes, invoiced_months, machines, observations, pods, prices, sellers, shown_partitions,
    shown_waits, tax_rates, vipu_controllers
TO ipucloud_tenant;

-- What a request that changes a project or a billing account may lock and write.
DO $$
DECLARE
  project constant text := '((SELECT changed_project()) IS NULL OR project_id = (SELECT changed_project()))';
  unowned constant text :=
    '((SELECT changed_project()) IS NULL OR project_id = (SELECT changed_project()) OR project_id IS NULL)';
  account constant text := '((SELECT changed_account()) IS NULL OR account_id = (SELECT changed_account()))';
  reached text;
  name text;
BEGIN
  FOR reached, name IN
    SELECT condition, unnest(tables::text[]) FROM (VALUES
      (project,
       '{address_quotas, cluster_rebuilds, cluster_s3_connections, cluster_samples, cluster_schedules,
        console_boots, fault_reports, job_logs, jobs, notification_subscriptions, partitions, quota_requests,
        quotas, scheduled_repairs, server_uses, service_logs, service_request_totals, service_requests,
        services, ssh_authorities, ssh_keys, terminals, token_clusters, vipu_access_keys, vipu_links,
        volume_origins, volume_quotas}'),
      (unowned || ' AND ' || account,
       '{audit_log, budgets, events, export_limits, export_schedules, exports, invitations, operation_steps,
        s3_connections, tokens, webhook_deliveries, webhooks}'),
      (account,
       '{bill_proofs, billed_facts, contract_prices, dunning_policies, invoices, payment_methods, payments,
        prepaid_accounts, price_corrections, promo_credits, top_up_policies, unpriced_minutes}'),
      (unowned,
       '{mails, repairs, site_findings}'),
      ('((SELECT changed_account()) IS NULL OR id = (SELECT changed_account()))',
       '{billing_accounts}')
    ) AS listed (condition, tables)
  LOOP
    EXECUTE format('CREATE POLICY changes ON %I AS RESTRICTIVE TO ipucloud_app USING (%s)', name, reached);
  END LOOP;
  -- A change reads rows of other projects of these, too, and judges them together.
  FOR reached, name IN
    SELECT condition, unnest(tables::text[]) FROM (VALUES
      (project,
       '{addresses, allocations, capacity_waits, clusters, invoice_lines, poplar_servers, preemptions,
        project_accounts, reservations, resizes, snapshots, usage_credits, usage_intervals, volumes}'),
      (project || ' AND ' || account,
       '{create_holds, usage_charges, usage_days}'),
      (unowned || ' AND ' || account,
       '{operations}'),
      ('((SELECT changed_project()) IS NULL OR id = (SELECT changed_project()))',
       '{projects}')
    ) AS listed (condition, tables)
  LOOP
    EXECUTE format(
      'CREATE POLICY inserts ON %I AS RESTRICTIVE FOR INSERT TO ipucloud_app WITH CHECK (%s)', name, reached);
    EXECUTE format('CREATE POLICY updates ON %I AS RESTRICTIVE FOR UPDATE TO ipucloud_app USING (%s)', name, reached);
    EXECUTE format('CREATE POLICY deletes ON %I AS RESTRICTIVE FOR DELETE TO ipucloud_app USING (%s)', name, reached);
  END LOOP;
END $$;
