-- References to tables of a later file.

ALTER TABLE tokens ADD CONSTRAINT fk_tokens_account_id FOREIGN KEY (account_id) REFERENCES billing_accounts (id);
ALTER TABLE cluster_s3_connections ADD CONSTRAINT fk_cluster_s3_connections_project_id_connection_id FOREIGN KEY
    (project_id, connection_id) REFERENCES s3_connections (project_id, id);
ALTER TABLE invitations ADD CONSTRAINT fk_invitations_account_id FOREIGN KEY (account_id)
    REFERENCES billing_accounts (id);
ALTER TABLE money_requests ADD CONSTRAINT fk_money_requests_payment_id FOREIGN KEY (payment_id)
    REFERENCES payments (id);
ALTER TABLE money_requests ADD CONSTRAINT fk_money_requests_credit_id FOREIGN KEY (credit_id)
    REFERENCES promo_credits (id);
ALTER TABLE money_requests ADD CONSTRAINT fk_money_requests_credit_note_id FOREIGN KEY (credit_note_id)
    REFERENCES credit_notes (id);
ALTER TABLE operations ADD CONSTRAINT fk_operations_project_id_cluster_id FOREIGN KEY (project_id, cluster_id)
    REFERENCES clusters (project_id, id);
ALTER TABLE operations ADD CONSTRAINT fk_operations_project_id_partition_id FOREIGN KEY (project_id, partition_id)
    REFERENCES partitions (project_id, id);
ALTER TABLE operations ADD CONSTRAINT fk_operations_project_id_export_id FOREIGN KEY (project_id, export_id)
    REFERENCES exports (project_id, id);
ALTER TABLE operations ADD CONSTRAINT fk_operations_account_id_export_id FOREIGN KEY (account_id, export_id)
    REFERENCES exports (owner_account_id, id);
ALTER TABLE allocations ADD CONSTRAINT fk_allocations_project_id_cluster_id FOREIGN KEY (project_id, cluster_id)
    REFERENCES clusters (project_id, id);
