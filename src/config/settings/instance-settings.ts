// Settings of one instance: its roles, and where it listens and logs. Part of the settings table (settings.ts).
import { formed, HOST_PORT, type HostPort, listOf, oneOf, TIME_ZONE, text } from '../kinds.ts';
import { optional, section, withDefault } from './setting.ts';

export const ROLES = ['worker', 'api', 'scheduler'] as const;
type Role = (typeof ROLES)[number];

const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
type LogLevel = (typeof LOG_LEVELS)[number];

/** Part of the instance id, which is in Redis, logs and URLs. */
const INSTANCE_NAME = formed('name of 1 to 64 letters, digits and . _ @ : -', /^[\w.@:-]{1,64}$/);

export const INSTANCE = section('', '', {
  listen: withDefault({
    flag: '--listen',
    kind: HOST_PORT,
    default: { host: '127.0.0.1', port: 7480 },
    doc: 'Address of the admin API. An address that is not loopback needs admin tokens.',
  }),
  /** For an instance without the role api. null: it does not listen. */
  probeListen: optional<HostPort>({
    flag: '--probe-listen',
    kind: HOST_PORT,
    doc: 'Address of /livez, /readyz, /metrics and /version on an instance without the role api, which otherwise opens no port. An address that is not loopback needs admin tokens.',
  }),
  roles: withDefault<readonly Role[]>({
    flag: '--roles',
    kind: listOf(oneOf(ROLES)),
    default: ROLES,
    doc: 'Roles of this instance.',
  }),
  /** null: the process id. */
  instanceName: optional({
    flag: '--instance-name',
    kind: INSTANCE_NAME,
    defaultText: 'the process id',
    doc: 'Name of this instance in lists and logs, after the name of its host.',
  }),
  timeZone: withDefault({
    flag: '--time-zone',
    kind: TIME_ZONE,
    default: 'Asia/Shanghai',
    doc: 'Time zone of usage months and of the cleanup schedule.',
  }),
  /** null: standard output. */
  logDir: optional({
    flag: '--log-dir',
    kind: text('path'),
    defaultText: 'standard output',
    doc: 'Directory for worker.log, api.log and access.log.',
  }),
  logLevel: withDefault<LogLevel>({
    flag: '--log-level',
    kind: oneOf(LOG_LEVELS),
    default: 'info',
    doc: 'Lowest level that is logged.',
  }),
});
