// The migrations in order. A file that was released is never edited: its checksum is recorded where it was applied.
export { default as '0001_cards' } from './migrations/0.2/0001_cards.sql';
export { default as '0002_usage' } from './migrations/0.2/0002_usage.sql';
export { default as '0003_stops' } from './migrations/0.2/0003_stops.sql';
export { default as '0004_configs' } from './migrations/0.2/0004_configs.sql';
export { default as '0005_alerts' } from './migrations/0.2/0005_alerts.sql';
export { default as '0006_cleanup' } from './migrations/0.2/0006_cleanup.sql';
export { default as '0007_triggers' } from './migrations/0.2/0007_triggers.sql';
export { default as '0008_usage_truth' } from './migrations/0.2/0008_usage_truth.sql';
export { default as '0009_audit' } from './migrations/0.2/0009_audit.sql';
export { default as '0010_alert_care' } from './migrations/0.2/0010_alert_care.sql';
export { default as '0011_open_triggers' } from './migrations/0.2/0011_open_triggers.sql';
export { default as '0012_types' } from './migrations/0.2/0012_types.sql';
export { default as '0013_cards_and_usage' } from './migrations/0.3/0013_cards_and_usage.sql';
export { default as '0014_stops' } from './migrations/0.3/0014_stops.sql';
export { default as '0015_fleet_alerts_triggers' } from './migrations/0.3/0015_fleet_alerts_triggers.sql';
export { default as '0016_requests_by_key' } from './migrations/0.3/0016_requests_by_key.sql';
export { default as '0017_pauses' } from './migrations/0.4/0017_pauses.sql';
