-- Which database answers.

-- name: identity.read
-- Its system identifier and its timeline, which a standby that is promoted begins anew.
SELECT system_identifier::text || '/' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AS identity
FROM pg_control_system()
