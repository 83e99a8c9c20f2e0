-- Makes the three roles and the database on a PostgreSQL server of your own, as its superuser, once:
--   IPUCLOUD_OWNER_PASSWORD=… IPUCLOUD_APP_PASSWORD=… psql -v ON_ERROR_STOP=1 -f deploy/roles.sql
-- docker-compose.yml runs it at the first start of its database.

\getenv owner_password IPUCLOUD_OWNER_PASSWORD
\getenv app_password IPUCLOUD_APP_PASSWORD

CREATE ROLE ipucloud_owner
    LOGIN CREATEROLE NOSUPERUSER NOCREATEDB NOREPLICATION NOBYPASSRLS PASSWORD :'owner_password';
CREATE ROLE ipucloud_app
    LOGIN NOCREATEROLE NOSUPERUSER NOCREATEDB NOREPLICATION NOBYPASSRLS PASSWORD :'app_password';
-- Nobody logs in as this one: the application takes it to read for a project, whose rows alone it sees.
CREATE ROLE ipucloud_tenant NOLOGIN NOCREATEROLE NOSUPERUSER NOCREATEDB NOREPLICATION NOBYPASSRLS;
GRANT ipucloud_tenant TO ipucloud_app;
CREATE DATABASE ipucloud OWNER ipucloud_owner ENCODING 'UTF8' TEMPLATE template0;

\connect ipucloud

ALTER SCHEMA public OWNER TO ipucloud_owner;
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
