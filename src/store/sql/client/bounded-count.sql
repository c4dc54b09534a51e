-- Counts rows for a bounded time. {rows} is the statement that selects them, with its parameters.

-- name: bounded_count.count
SELECT count(*) AS rows FROM (
{rows}
) AS counted

-- name: bounded_count.estimate
-- Here the planner knows the parameters' values, unlike in a prepared statement.
EXPLAIN (FORMAT JSON)
{rows}
