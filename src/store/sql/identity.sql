-- Which database answers.

-- name: identity.read
-- Its system identifier, and its timeline, which changes when a standby is promoted.
SELECT system_identifier::text || '/' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AS identity
FROM pg_control_system()
