-- Which rows of each cleanup target have expired: conditions for expired and removeWindow of cleanup-step.sql. {cutoff}
-- is the instant, {month} the first kept month and {snapshot} the snapshot up to which the change feed is
-- processed (NULL: unknown, and nothing compares true with it); cleanup-targets.ts fills in their values.

-- name: cleanup_targets.expired
-- Rows of a target, for bounded-count.ts.
SELECT FROM {table} WHERE {expired}

-- name: cleanup_targets.usage_records
month < {month} OR (month = {month} AND recorded_at < {cutoff})

-- name: cleanup_targets.usage_records_rows
-- Rows removed one by one, from the partition that the cutoff falls into.
recorded_at < {cutoff}

-- name: cleanup_targets.card_usage
month < {month}

-- name: cleanup_targets.alert_history
resolved_at IS NOT NULL AND fired_at < {cutoff}

-- name: cleanup_targets.webhook_outbox
status <> 'pending' AND settled_at < {cutoff}

-- name: cleanup_targets.manual_triggers
finished_at < {cutoff} AND NOT feeding

-- name: cleanup_targets.card_stops
requested_at < {cutoff} AND month < {month}

-- name: cleanup_targets.card_removals
removed_at < {cutoff} AND pg_visible_in_snapshot(changed_xid, {snapshot})

-- name: cleanup_targets.cleanup_runs
finished_at < {cutoff}

-- name: cleanup_targets.audit
month < {month}

-- name: cleanup_targets.card_resumes
-- All cards of a run expire at once, when none of them waits. The run itself is removed with the next one (resumes.sql).
run_id IN (
  SELECT run.id FROM resume_runs run
  WHERE run.created_at < {cutoff}
    AND NOT EXISTS (SELECT FROM card_resumes w WHERE w.run_id = run.id AND w.state = 'waiting'))
