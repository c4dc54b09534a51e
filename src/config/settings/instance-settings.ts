// Settings of one instance: what it does, where it listens and logs. Part of the settings table (settings.ts).
import { availableParallelism } from 'node:os';
import {
  BadValue,
  HOST_PORT,
  type HostPort,
  integer,
  type Kind,
  listOf,
  oneOf,
  parseOr,
  shown,
  TIME_ZONE,
  text,
} from '../kinds.ts';
import { optional, section, withDefault } from './setting.ts';

export const ROLES = ['worker', 'api', 'scheduler'] as const;
type Role = (typeof ROLES)[number];

const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
type LogLevel = (typeof LOG_LEVELS)[number];

/** Default address for the probes of an instance without the role api, and how many ports it tries from there. */
export const USUAL_PROBE_LISTEN: HostPort & { readonly ports: number } = {
  host: '127.0.0.1',
  port: 7481,
  ports: 101,
};

const COUNT = integer({ min: 1, max: 256 });

/** A number, or `auto` for one per core. */
const PROCESS_COUNT: Kind<number> = {
  accepts: `${COUNT.accepts}, or auto`,
  parse: (raw) =>
    raw === 'auto'
      ? availableParallelism()
      : parseOr(
          () => COUNT.parse(raw),
          () => new BadValue(`${shown(raw)} is not a ${PROCESS_COUNT.accepts}`),
        ),
};

export const INSTANCE = section('', '', {
  listen: withDefault({
    flag: '--listen',
    kind: HOST_PORT,
    default: { host: '127.0.0.1', port: 7480 },
    doc: 'Address of the admin API. An address that is not loopback needs admin tokens.',
  }),
  /** Used by an instance without the role api. null: the default address, or the next free port. */
  probeListen: optional<HostPort>({
    flag: '--probe-listen',
    kind: HOST_PORT,
    defaultText: `${USUAL_PROBE_LISTEN.host}:${USUAL_PROBE_LISTEN.port}, or the next free port`,
    doc: 'Address of /livez, /readyz, /metrics and /version on an instance without the role api. An address that is not loopback needs admin tokens.',
  }),
  roles: withDefault<readonly Role[]>({
    flag: '--roles',
    kind: listOf(oneOf(ROLES)),
    default: ROLES,
    doc: 'Roles of this instance.',
  }),
  /** With more than one, the processes run under a supervisor. */
  processes: withDefault({
    flag: '--processes',
    kind: PROCESS_COUNT,
    default: 1,
    doc: 'Number of worker processes under one supervisor, to use several cores; auto: one per core. More than one needs Redis and PostgreSQL.',
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
