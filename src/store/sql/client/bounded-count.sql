-- Counting rows for a bounded time. {rows} is the statement that selects them, with its parameters.

-- name: bounded_count.count
SELECT count(*) AS rows FROM (
{rows}
) AS counted

-- name: bounded_count.estimate
-- The planner knows the parameters' values here, unlike in a statement that is carried out.
EXPLAIN (FORMAT JSON)
{rows}
