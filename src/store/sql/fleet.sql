-- Which fleet the database is.

-- name: fleet.read
SELECT fleet_id::text AS id, name FROM fleet
