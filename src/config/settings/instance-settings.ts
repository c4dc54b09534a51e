// Settings of one instance: what it does, where it listens and logs. Part of the settings table (settings.ts).
import { availableParallelism } from 'node:os';
import { type HostPort, hostPort, integer, type Kind, listOf, oneOf, text, timeZone } from '../kinds.ts';
import { optional, withDefault } from './setting.ts';

export const ROLES = ['worker', 'api', 'scheduler'] as const;
type Role = (typeof ROLES)[number];

const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
type LogLevel = (typeof LOG_LEVELS)[number];

const daemon = ['daemon'] as const;

/** Where an instance without the role api serves its probes unless told otherwise, and how many ports it tries from there on. */
export const USUAL_PROBE_LISTEN: HostPort & { readonly ports: number } = {
  host: '127.0.0.1',
  port: 7481,
  ports: 101,
};

/** A number, or as many as there are cores. */
const processCount = (): Kind<number> => {
  const count = integer({ min: 1, max: 256 });
  const accepts = `${count.accepts}, or auto`;
  return {
    accepts,
    parse: (raw) => {
      if (raw === 'auto') return { ok: true, value: availableParallelism() };
      const parsed = count.parse(raw);
      return parsed.ok ? parsed : { ok: false, problem: `${JSON.stringify(raw)} is not a ${accepts}` };
    },
  };
};

export const INSTANCE = {
  listen: withDefault({
    flag: '--listen',
    env: 'CARDPOLL_LISTEN',
    yaml: 'listen',
    kind: hostPort(),
    default: { host: '127.0.0.1', port: 7480 },
    doc: 'Address of the admin API. Anything but a loopback address needs admin tokens.',
    scopes: daemon,
  }),
  /** For an instance without the role api; null: the usual address, or a free port after it. */
  probeListen: optional<HostPort>({
    flag: '--probe-listen',
    env: 'CARDPOLL_PROBE_LISTEN',
    yaml: 'probe_listen',
    kind: hostPort(),
    defaultText: `${USUAL_PROBE_LISTEN.host}:${USUAL_PROBE_LISTEN.port}, or the next free port`,
    doc: 'Address of /livez, /readyz, /metrics and /version of an instance without the role api. Anything but a loopback address needs admin tokens.',
    scopes: daemon,
  }),
  roles: withDefault<readonly Role[]>({
    flag: '--roles',
    env: 'CARDPOLL_ROLES',
    yaml: 'roles',
    kind: listOf(oneOf(ROLES)),
    default: ROLES,
    doc: 'What this instance does.',
    scopes: daemon,
  }),
  /** More than one: they run under a supervisor. */
  processes: withDefault({
    flag: '--processes',
    env: 'CARDPOLL_PROCESSES',
    yaml: 'processes',
    kind: processCount(),
    default: 1,
    doc: 'Worker processes under one supervisor, to use more cores than one; auto: one a core. Needs Redis and PostgreSQL.',
    scopes: daemon,
  }),
  timeZone: withDefault({
    flag: '--time-zone',
    env: 'CARDPOLL_TIME_ZONE',
    yaml: 'time_zone',
    kind: timeZone(),
    default: 'Asia/Shanghai',
    doc: 'Time zone in which usage months begin and end.',
    scopes: daemon,
  }),
  /** null: standard output. */
  logDir: optional({
    flag: '--log-dir',
    env: 'CARDPOLL_LOG_DIR',
    yaml: 'log_dir',
    kind: text('path'),
    defaultText: 'standard output',
    doc: 'Directory for worker.log, api.log and access.log.',
    scopes: daemon,
  }),
  logLevel: withDefault<LogLevel>({
    flag: '--log-level',
    env: 'CARDPOLL_LOG_LEVEL',
    yaml: 'log_level',
    kind: oneOf(LOG_LEVELS),
    default: 'info',
    doc: 'Least severe level that is logged.',
    scopes: daemon,
  }),
} as const;
