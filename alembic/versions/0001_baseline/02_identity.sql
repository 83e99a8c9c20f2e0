-- identity/: projects, people, tokens, sign-in, SSH keys, the audit log.

CREATE TABLE audit_log_start (
    id boolean DEFAULT true NOT NULL CONSTRAINT ck_audit_log_start_one CHECK (id),
    seq bigint NOT NULL,
    hash bytea NOT NULL,
    removed_at timestamptz DEFAULT app_now() NOT NULL,
    CONSTRAINT pk_audit_log_start PRIMARY KEY (id)
);
COMMENT ON TABLE audit_log_start IS 'the last entry that was removed because of its age: the chain begins after it';
GRANT SELECT ON audit_log_start TO ipucloud_app;

CREATE TABLE projects (
    id uuid NOT NULL,
    number bigint GENERATED ALWAYS AS IDENTITY,
    slug text NOT NULL,
    name text NOT NULL,
    version bigint DEFAULT '1' NOT NULL,
    created_at timestamptz DEFAULT app_now() NOT NULL,
    deleted_at timestamptz,
    CONSTRAINT pk_projects PRIMARY KEY (id),
    CONSTRAINT uq_projects_number UNIQUE (number)
);
CREATE UNIQUE INDEX uq_projects_slug ON projects (slug);
GRANT SELECT, INSERT, UPDATE ON projects TO ipucloud_app;

CREATE TABLE provider_sign_ins (
    id uuid NOT NULL,
    provider text NOT NULL,
    state_hash bytea NOT NULL,
    browser_hash bytea NOT NULL,
    invitation_hash bytea,
    redirect_uri text NOT NULL,
    created_at timestamptz DEFAULT app_now() NOT NULL,
    expires_at timestamptz NOT NULL,
    used_at timestamptz,
    CONSTRAINT pk_provider_sign_ins PRIMARY KEY (id),
    CONSTRAINT ck_provider_sign_ins_state_hash CHECK (octet_length(state_hash) = 32),
    CONSTRAINT ck_provider_sign_ins_browser_hash CHECK (octet_length(browser_hash) = 32)
);
COMMENT ON TABLE provider_sign_ins IS 'sign-ins on their way through a provider; each is finished once';
COMMENT ON COLUMN provider_sign_ins.state_hash IS 'SHA-256 of `state`, which the provider returns';
COMMENT ON COLUMN provider_sign_ins.browser_hash IS
    'SHA-256 of the cookie of the browser that began, of which nonce and code verifier are made';
COMMENT ON COLUMN provider_sign_ins.invitation_hash IS 'of the invitation to accept; NULL: none';
CREATE INDEX ix_provider_sign_ins_expires ON provider_sign_ins (expires_at);
CREATE UNIQUE INDEX uq_provider_sign_ins_state_hash ON provider_sign_ins (state_hash);
GRANT SELECT, INSERT, UPDATE (used_at), DELETE ON provider_sign_ins TO ipucloud_app;

CREATE UNLOGGED TABLE rate_limits (
    key bytea NOT NULL,
    taken bigint NOT NULL,
    at timestamptz DEFAULT app_now() NOT NULL,
    CONSTRAINT pk_rate_limits PRIMARY KEY (key),
    CONSTRAINT ck_rate_limits_taken CHECK (taken > 0)
);
COMMENT ON TABLE rate_limits IS
    'unlogged: a crash of the server forgets it, and every process goes on with what it counted itself';
COMMENT ON COLUMN rate_limits.key IS 'digest of the limit and its caller';
COMMENT ON COLUMN rate_limits.taken IS 'by all processes together';
CREATE INDEX ix_rate_limits_at ON rate_limits (at);
GRANT SELECT, INSERT, UPDATE, DELETE ON rate_limits TO ipucloud_app;

CREATE TABLE users (
    id uuid NOT NULL,
    email text NOT NULL,
    password_hash text,
    password_set_at timestamptz DEFAULT app_now(),
    created_at timestamptz DEFAULT app_now() NOT NULL,
    language text DEFAULT 'en' NOT NULL,
    external_id text,
    display_name text,
    formatted_name text,
    given_name text,
    family_name text,
    updated_at timestamptz DEFAULT app_now() NOT NULL,
    deactivated_at timestamptz,
    deleted_at timestamptz,
    CONSTRAINT pk_users PRIMARY KEY (id),
    CONSTRAINT ck_users_email CHECK (email = lower(email)),
    CONSTRAINT ck_users_language CHECK (language IN ('en', 'de')),
    CONSTRAINT ck_users_deleted CHECK (deleted_at IS NULL OR deactivated_at IS NOT NULL)
);
COMMENT ON TABLE users IS 'people; where they are members, they have a token of the kind `member`';
COMMENT ON COLUMN users.email IS 'normalised; whoever accepted an invitation to it';
COMMENT ON COLUMN users.password_hash IS 'Argon2id, with its parameters; NULL: signs in through a provider only';
COMMENT ON COLUMN users.external_id IS 'id at the identity provider that provisions people';
CREATE INDEX ix_users_email ON users (email);
CREATE INDEX ix_users_external_id ON users (external_id) WHERE external_id IS NOT NULL;
CREATE UNIQUE INDEX uq_users_email ON users (email) WHERE deleted_at IS NULL;
GRANT SELECT, INSERT, UPDATE ON users TO ipucloud_app;

CREATE TABLE audit_log (
    id uuid NOT NULL,
    operation text NOT NULL,
    method text NOT NULL,
    project_id uuid,
    account_id uuid,
    token_id uuid,
    actor text,
    address text NOT NULL,
    agent text NOT NULL,
    request_id text NOT NULL,
    created_at timestamptz DEFAULT app_now() NOT NULL,
    completed_at timestamptz,
    status smallint,
    code text,
    objects jsonb DEFAULT '{}' NOT NULL,
    seq bigint,
    previous_hash bytea,
    hash bytea,
    CONSTRAINT pk_audit_log PRIMARY KEY (id),
    CONSTRAINT fk_audit_log_project_id FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT ck_audit_log_sealed CHECK (num_nulls(seq, previous_hash, hash) IN (0, 3)),
    CONSTRAINT ck_audit_log_completed CHECK (seq IS NULL OR completed_at IS NOT NULL)
);
COMMENT ON TABLE audit_log IS 'a row is written before the call and completed after it; sealed rows never change';
COMMENT ON COLUMN audit_log.operation IS 'operation id of the API';
COMMENT ON COLUMN audit_log.project_id IS 'NULL: of none that the caller has access to';
COMMENT ON COLUMN audit_log.account_id IS 'of a payer; NULL: others';
COMMENT ON COLUMN audit_log.token_id IS 'NULL: whoever signs in, and did not';
COMMENT ON COLUMN audit_log.actor IS 'e-mail of the person, or name of the token';
COMMENT ON COLUMN audit_log.status IS 'NULL of a completed entry: abandoned, and its outcome is unknown';
COMMENT ON COLUMN audit_log.code IS 'of the problem';
COMMENT ON COLUMN audit_log.objects IS 'ids that the request concerned';
COMMENT ON COLUMN audit_log.seq IS 'place in the chain; NULL: not sealed yet';
COMMENT ON COLUMN audit_log.hash IS 'SHA-256 of the previous hash and the entry';
CREATE INDEX ix_audit_log_created ON audit_log (created_at, id);
CREATE INDEX ix_audit_log_open ON audit_log (created_at) WHERE seq IS NULL;
CREATE INDEX ix_audit_log_project ON audit_log (project_id, created_at, id);
CREATE UNIQUE INDEX uq_audit_log_seq ON audit_log (seq);
GRANT SELECT, INSERT, UPDATE (token_id, actor, completed_at, status, code, objects, seq, previous_hash, hash) ON
    audit_log TO ipucloud_app;

CREATE TABLE ssh_authorities (
    id uuid NOT NULL,
    project_id uuid NOT NULL,
    public_key text NOT NULL,
    private_key text,
    serial bigint DEFAULT '0' NOT NULL,
    created_at timestamptz DEFAULT app_now() NOT NULL,
    ended_at timestamptz,
    CONSTRAINT pk_ssh_authorities PRIMARY KEY (id),
    CONSTRAINT fk_ssh_authorities_project_id FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT uq_ssh_authorities_project_id_id UNIQUE (project_id, id),
    CONSTRAINT ck_ssh_authorities_private_key CHECK ((ended_at IS NULL) = (private_key IS NOT NULL)),
    CONSTRAINT ck_ssh_authorities_public_key CHECK (public_key ~ '^ssh-ed25519 [A-Za-z0-9+/]+={0,2}$'),
    CONSTRAINT ck_ssh_authorities_serial CHECK (serial >= 0)
);
COMMENT ON TABLE ssh_authorities IS 'each signs SSH certificates of a project''s members until it is rotated';
COMMENT ON COLUMN ssh_authorities.private_key IS 'encrypted; NULL: it ended, and its key is gone';
COMMENT ON COLUMN ssh_authorities.serial IS 'of the certificate that was issued last';
CREATE INDEX ix_ssh_authorities_ended ON ssh_authorities (project_id) WHERE ended_at IS NOT NULL;
CREATE UNIQUE INDEX uq_ssh_authorities_current ON ssh_authorities (project_id) WHERE ended_at IS NULL;
GRANT SELECT, INSERT, UPDATE ON ssh_authorities TO ipucloud_app;

CREATE TABLE ssh_keys (
    id uuid NOT NULL,
    project_id uuid NOT NULL,
    name text NOT NULL,
    key_type text NOT NULL,
    public_key text NOT NULL,
    fingerprint text NOT NULL,
    created_at timestamptz DEFAULT app_now() NOT NULL,
    CONSTRAINT pk_ssh_keys PRIMARY KEY (id),
    CONSTRAINT fk_ssh_keys_project_id FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT uq_ssh_keys_project_id_id UNIQUE (project_id, id),
    CONSTRAINT uq_ssh_keys_project_id_name UNIQUE (project_id, name)
);
COMMENT ON COLUMN ssh_keys.public_key IS 're-serialised: type and base64, no comment';
GRANT SELECT, INSERT, DELETE ON ssh_keys TO ipucloud_app;

CREATE TABLE tokens (
    id uuid NOT NULL,
    project_id uuid,
    name text NOT NULL,
    role text NOT NULL,
    display_prefix text NOT NULL,
    secret_hash bytea NOT NULL,
    created_by uuid,
    created_at timestamptz DEFAULT app_now() NOT NULL,
    expires_at timestamptz,
    revoked_at timestamptz,
    last_used_at timestamptz,
    account_id uuid,
    kind text DEFAULT 'service' NOT NULL,
    owner_id uuid,
    cost_limit numeric,
    cost_currency text,
    scopes text[],
    CONSTRAINT pk_tokens PRIMARY KEY (id),
    CONSTRAINT fk_tokens_project_id FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT ck_tokens_role CHECK (role IN ('viewer', 'operator', 'billing', 'owner', 'admin', 'support', 'payer')),
    CONSTRAINT ck_tokens_kind CHECK (kind IN ('service', 'member', 'login', 'personal')),
    CONSTRAINT ck_tokens_owner CHECK ((owner_id IS NULL) = (kind = 'service')),
    CONSTRAINT ck_tokens_owner_home CHECK (owner_id IS NULL OR num_nonnulls(project_id, account_id) = 1),
    CONSTRAINT ck_tokens_platform_role
        CHECK ((project_id IS NULL AND account_id IS NULL) = (role IN ('admin', 'support'))),
    CONSTRAINT ck_tokens_account_role CHECK ((account_id IS NOT NULL) = (role = 'payer')),
    CONSTRAINT ck_tokens_one_home CHECK (num_nonnulls(project_id, account_id) <= 1),
    CONSTRAINT ck_tokens_secret_hash CHECK (octet_length(secret_hash) = 32),
    CONSTRAINT ck_tokens_scopes CHECK (cardinality(scopes) > 0 AND array_position(scopes, NULL) IS NULL),
    CONSTRAINT ck_tokens_scopes_kind CHECK (scopes IS NULL OR kind IN ('service', 'personal')),
    CONSTRAINT ck_tokens_cost_limit CHECK (cost_limit > 0),
    CONSTRAINT ck_tokens_cost_currency CHECK (num_nulls(cost_limit, cost_currency) IN (0, 2)),
    CONSTRAINT ck_tokens_cost_limit_role CHECK (cost_limit IS NULL OR role = 'operator'),
    CONSTRAINT uq_tokens_project_id_id UNIQUE (project_id, id),
    CONSTRAINT fk_tokens_owner_id FOREIGN KEY (owner_id) REFERENCES users (id)
);
COMMENT ON COLUMN tokens.project_id IS 'NULL: of the platform, or of an account';
COMMENT ON COLUMN tokens.secret_hash IS 'SHA-256 of the whole token';
COMMENT ON COLUMN tokens.account_id IS 'whose payers have it';
COMMENT ON COLUMN tokens.owner_id IS 'whose it is; NULL: a service token';
COMMENT ON COLUMN tokens.cost_limit IS 'of the clusters of token_clusters, together; NULL: none';
COMMENT ON COLUMN tokens.scopes IS 'those that it is narrowed to; NULL: all that the role has';
CREATE INDEX ix_tokens_account ON tokens (account_id);
CREATE INDEX ix_tokens_owner ON tokens (owner_id) WHERE owner_id IS NOT NULL;
CREATE UNIQUE INDEX uq_tokens_account_member ON tokens (account_id, owner_id)
    WHERE kind = 'member' AND revoked_at IS NULL;
CREATE UNIQUE INDEX uq_tokens_project_member ON tokens (project_id, owner_id)
    WHERE kind = 'member' AND revoked_at IS NULL;
CREATE UNIQUE INDEX uq_tokens_secret_hash ON tokens (secret_hash);
GRANT SELECT, INSERT, UPDATE ON tokens TO ipucloud_app;

CREATE TABLE user_identities (
    issuer text NOT NULL,
    subject text NOT NULL,
    user_id uuid NOT NULL,
    created_at timestamptz DEFAULT app_now() NOT NULL,
    CONSTRAINT pk_user_identities PRIMARY KEY (issuer, subject),
    CONSTRAINT uq_user_identities_user_id_issuer UNIQUE (user_id, issuer),
    CONSTRAINT fk_user_identities_user_id FOREIGN KEY (user_id) REFERENCES users (id)
);
COMMENT ON TABLE user_identities IS 'who a person is to OpenID Connect providers, one subject of each';
GRANT SELECT, INSERT, DELETE ON user_identities TO ipucloud_app;

CREATE TABLE browser_sessions (
    id uuid NOT NULL,
    token_id uuid NOT NULL,
    secret_hash bytea NOT NULL,
    created_at timestamptz DEFAULT app_now() NOT NULL,
    expires_at timestamptz NOT NULL,
    idle_until timestamptz NOT NULL,
    CONSTRAINT pk_browser_sessions PRIMARY KEY (id),
    CONSTRAINT ck_browser_sessions_secret_hash CHECK (octet_length(secret_hash) = 32),
    CONSTRAINT fk_browser_sessions_token_id FOREIGN KEY (token_id) REFERENCES tokens (id)
);
COMMENT ON TABLE browser_sessions IS 'people signed in with a token; a row is deleted when they sign out';
COMMENT ON COLUMN browser_sessions.secret_hash IS 'SHA-256 of the cookie''s value';
CREATE INDEX ix_browser_sessions_expires ON browser_sessions (expires_at);
CREATE INDEX ix_browser_sessions_token ON browser_sessions (token_id, created_at);
CREATE UNIQUE INDEX uq_browser_sessions_secret_hash ON browser_sessions (secret_hash);
GRANT SELECT, INSERT, UPDATE (token_id, idle_until), DELETE ON browser_sessions TO ipucloud_app;

CREATE TABLE device_logins (
    id uuid NOT NULL,
    device_hash bytea NOT NULL,
    user_code text NOT NULL,
    name text NOT NULL,
    project text,
    address text NOT NULL,
    created_at timestamptz DEFAULT app_now() NOT NULL,
    expires_at timestamptz NOT NULL,
    polled_at timestamptz,
    decided_at timestamptz,
    member_id uuid,
    used_at timestamptz,
    CONSTRAINT pk_device_logins PRIMARY KEY (id),
    CONSTRAINT ck_device_logins_device_hash CHECK (octet_length(device_hash) = 32),
    CONSTRAINT ck_device_logins_approved CHECK (member_id IS NULL OR decided_at IS NOT NULL),
    CONSTRAINT ck_device_logins_used CHECK (used_at IS NULL OR member_id IS NOT NULL),
    CONSTRAINT fk_device_logins_member_id FOREIGN KEY (member_id) REFERENCES tokens (id)
);
COMMENT ON TABLE device_logins IS 'command lines that wait for a person to approve them in the panel';
COMMENT ON COLUMN device_logins.device_hash IS 'SHA-256 of the device code';
COMMENT ON COLUMN device_logins.user_code IS 'what the person compares and enters; without its hyphen';
COMMENT ON COLUMN device_logins.member_id IS 'the membership that approved; NULL: nobody yet, or denied';
CREATE INDEX ix_device_logins_expires ON device_logins (expires_at);
CREATE INDEX ix_device_logins_member ON device_logins (member_id);
CREATE UNIQUE INDEX uq_device_logins_device_hash ON device_logins (device_hash);
CREATE UNIQUE INDEX uq_device_logins_user_code ON device_logins (user_code);
GRANT SELECT, INSERT, UPDATE (polled_at, decided_at, member_id, used_at), DELETE ON device_logins TO ipucloud_app;

CREATE TABLE invitations (
    id uuid NOT NULL,
    project_id uuid,
    account_id uuid,
    email text NOT NULL,
    role text NOT NULL,
    secret_hash bytea NOT NULL,
    invited_by text,
    created_at timestamptz DEFAULT app_now() NOT NULL,
    expires_at timestamptz NOT NULL,
    accepted_at timestamptz,
    revoked_at timestamptz,
    member_id uuid,
    CONSTRAINT pk_invitations PRIMARY KEY (id),
    CONSTRAINT fk_invitations_project_id FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT fk_invitations_project_id_member_id FOREIGN KEY (project_id, member_id)
        REFERENCES tokens (project_id, id),
    CONSTRAINT uq_invitations_project_id_id UNIQUE (project_id, id),
    CONSTRAINT ck_invitations_one_home CHECK (num_nonnulls(project_id, account_id) = 1),
    CONSTRAINT ck_invitations_role CHECK (role IN ('viewer', 'operator', 'billing', 'owner', 'payer') AND (account_id
        IS NOT NULL) = (role = 'payer')),
    CONSTRAINT ck_invitations_email CHECK (email = lower(email)),
    CONSTRAINT ck_invitations_accepted CHECK ((accepted_at IS NULL) = (member_id IS NULL)),
    CONSTRAINT ck_invitations_ended_once CHECK (num_nonnulls(accepted_at, revoked_at) <= 1),
    CONSTRAINT ck_invitations_secret_hash CHECK (octet_length(secret_hash) = 32)
);
COMMENT ON COLUMN invitations.project_id IS 'NULL: of an account';
COMMENT ON COLUMN invitations.account_id IS 'NULL: of a project';
COMMENT ON COLUMN invitations.secret_hash IS 'SHA-256 of the secret in the link';
COMMENT ON COLUMN invitations.invited_by IS 'e-mail of the person, or name of the token';
COMMENT ON COLUMN invitations.member_id IS 'the membership that came of it';
CREATE INDEX ix_invitations_account ON invitations (account_id, created_at, id);
CREATE INDEX ix_invitations_member ON invitations (project_id, member_id);
CREATE INDEX ix_invitations_project ON invitations (project_id, created_at, id);
CREATE UNIQUE INDEX uq_invitations_account_open ON invitations (account_id, email)
    WHERE accepted_at IS NULL AND revoked_at IS NULL;
CREATE UNIQUE INDEX uq_invitations_project_open ON invitations (project_id, email)
    WHERE accepted_at IS NULL AND revoked_at IS NULL;
CREATE UNIQUE INDEX uq_invitations_secret_hash ON invitations (secret_hash);
GRANT SELECT, INSERT, UPDATE ON invitations TO ipucloud_app;

CREATE TABLE sign_in_links (
    id uuid NOT NULL,
    token_id uuid NOT NULL,
    secret_hash bytea NOT NULL,
    created_at timestamptz DEFAULT app_now() NOT NULL,
    expires_at timestamptz NOT NULL,
    used_at timestamptz,
    CONSTRAINT pk_sign_in_links PRIMARY KEY (id),
    CONSTRAINT ck_sign_in_links_secret_hash CHECK (octet_length(secret_hash) = 32),
    CONSTRAINT fk_sign_in_links_token_id FOREIGN KEY (token_id) REFERENCES tokens (id)
);
COMMENT ON TABLE sign_in_links IS 'each signs one browser in, once';
COMMENT ON COLUMN sign_in_links.secret_hash IS 'SHA-256 of the code in the link';
CREATE INDEX ix_sign_in_links_expires ON sign_in_links (expires_at);
CREATE INDEX ix_sign_in_links_token ON sign_in_links (token_id);
CREATE UNIQUE INDEX uq_sign_in_links_secret_hash ON sign_in_links (secret_hash);
GRANT SELECT, INSERT, UPDATE (used_at), DELETE ON sign_in_links TO ipucloud_app;

CREATE FUNCTION prune_audit_log(days integer, at_most integer) RETURNS bigint LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  removed bigint;
BEGIN
  IF days < 90 THEN
    RAISE EXCEPTION 'the audit log keeps its entries for at least 90 days' USING ERRCODE = 'check_violation';
  END IF;
  PERFORM pg_advisory_xact_lock(7220601);
  INSERT INTO audit_log_start AS start (seq, hash)
  SELECT last.seq, last.hash
    FROM (SELECT seq, hash, lead(seq) OVER older AS next,
                 bool_and(created_at < app_now() - make_interval(days => days)) OVER older AS old
            FROM (SELECT * FROM audit_log WHERE seq IS NOT NULL ORDER BY seq LIMIT at_most + 1) AS oldest
          WINDOW older AS (ORDER BY seq)) AS last
   WHERE last.old AND last.next IS NOT NULL
   ORDER BY last.seq DESC LIMIT 1
      ON CONFLICT (id) DO UPDATE SET seq = excluded.seq, hash = excluded.hash, removed_at = app_now();
  DELETE FROM audit_log WHERE seq <= (SELECT seq FROM audit_log_start);
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN removed;
END $$;

CREATE FUNCTION refuse_change_of_audit_log() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND OLD.seq <= (SELECT seq FROM audit_log_start) THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION '% of % is refused: entries of the audit log stay as they were sealed', TG_OP, TG_TABLE_NAME
    USING ERRCODE = 'integrity_constraint_violation';
END $$;

CREATE TRIGGER audit_log_final BEFORE UPDATE ON audit_log FOR EACH ROW WHEN (OLD.seq IS NOT NULL) EXECUTE FUNCTION
    refuse_change_of_audit_log();

CREATE TRIGGER audit_log_kept BEFORE DELETE ON audit_log FOR EACH ROW EXECUTE FUNCTION refuse_change_of_audit_log();

CREATE TRIGGER audit_log_whole BEFORE TRUNCATE ON audit_log FOR EACH STATEMENT EXECUTE FUNCTION
    refuse_change_of_audit_log();
