// The migrations in order. A file that was released is never edited: its checksum is recorded where it was applied.
import cards from './0001_cards.sql';
import usage from './0002_usage.sql';
import stops from './0003_stops.sql';
import configs from './0004_configs.sql';
import alerts from './0005_alerts.sql';
import cleanup from './0006_cleanup.sql';
import triggers from './0007_triggers.sql';
import usageTruth from './0008_usage_truth.sql';
import audit from './0009_audit.sql';
import alertCare from './0010_alert_care.sql';
import openTriggers from './0011_open_triggers.sql';
import types from './0012_types.sql';
import fleet from './0013_fleet.sql';
import safeguards from './0014_safeguards.sql';
import usageJumps from './0015_usage_jumps.sql';
import outageRules from './0016_outage_rules.sql';
import madeChanges from './0017_made_changes.sql';
import resumeSteps from './0018_resume_steps.sql';
import webhookGroups from './0019_webhook_groups.sql';
import earlyPolls from './0020_early_polls.sql';

export interface Migration {
  readonly id: string;
  readonly sql: string;
}

export const MIGRATIONS: readonly Migration[] = [
  { id: '0001_cards', sql: cards },
  { id: '0002_usage', sql: usage },
  { id: '0003_stops', sql: stops },
  { id: '0004_configs', sql: configs },
  { id: '0005_alerts', sql: alerts },
  { id: '0006_cleanup', sql: cleanup },
  { id: '0007_triggers', sql: triggers },
  { id: '0008_usage_truth', sql: usageTruth },
  { id: '0009_audit', sql: audit },
  { id: '0010_alert_care', sql: alertCare },
  { id: '0011_open_triggers', sql: openTriggers },
  { id: '0012_types', sql: types },
  { id: '0013_fleet', sql: fleet },
  { id: '0014_safeguards', sql: safeguards },
  { id: '0015_usage_jumps', sql: usageJumps },
  { id: '0016_outage_rules', sql: outageRules },
  { id: '0017_made_changes', sql: madeChanges },
  { id: '0018_resume_steps', sql: resumeSteps },
  { id: '0019_webhook_groups', sql: webhookGroups },
  { id: '0020_early_polls', sql: earlyPolls },
];
