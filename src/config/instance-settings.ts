// Settings of what one instance opens: its probe address and its connections. Part of the settings table (settings.ts).
import { DATABASE_CONNECTIONS, GATEWAY_CONNECTIONS } from '../platform/connection-bounds.ts';
import { type HostPort, hostPort, integer, type Kind, oneOf } from './kinds.ts';
import { optional, withDefault } from './setting.ts';

const daemon = ['daemon'] as const;

/** Where an instance without the role api serves its probes unless told otherwise, and how many ports it tries from there on. */
export const USUAL_PROBE_LISTEN: HostPort & { readonly ports: number } = {
  host: '127.0.0.1',
  port: 7481,
  ports: 101,
};

export const PROBE_LISTEN = optional<HostPort>({
  flag: '--probe-listen',
  env: 'CARDPOLL_PROBE_LISTEN',
  yaml: 'probe_listen',
  kind: hostPort(),
  defaultText: `${USUAL_PROBE_LISTEN.host}:${USUAL_PROBE_LISTEN.port}, or the next free port`,
  doc: 'Address of /livez, /readyz, /metrics and /version of an instance without the role api. Anything but a loopback address needs admin tokens.',
  scopes: daemon,
});

export const DATABASE_MAX_CONNECTIONS = withDefault({
  env: 'CARDPOLL_DATABASE_MAX_CONNECTIONS',
  yaml: 'database_max_connections',
  kind: integer(DATABASE_CONNECTIONS),
  default: DATABASE_CONNECTIONS.usual,
  doc: 'Most connections of this instance to PostgreSQL.',
  scopes: daemon,
});

export const GATEWAY_MAX_CONNECTIONS = withDefault({
  env: 'CARDPOLL_GATEWAY_MAX_CONNECTIONS',
  yaml: 'gateway.max_connections',
  kind: integer(GATEWAY_CONNECTIONS),
  default: GATEWAY_CONNECTIONS.usual,
  doc: 'Most connections of this instance to the gateway. A call that finds none free waits for one within its deadline.',
  scopes: daemon,
});

type ProcessCount = number | 'auto';

const processCount = (): Kind<ProcessCount> => {
  const [count, word] = [integer({ min: 1, max: 256 }), oneOf(['auto'])];
  const accepts = `${count.accepts}, or auto`;
  return {
    accepts,
    parse: (raw) => {
      const parsed = raw === 'auto' ? word.parse(raw) : count.parse(raw);
      return parsed.ok ? parsed : { ok: false, problem: `${JSON.stringify(raw)} is not a ${accepts}` };
    },
  };
};

export const PROCESSES = withDefault<ProcessCount>({
  flag: '--processes',
  env: 'CARDPOLL_PROCESSES',
  yaml: 'processes',
  kind: processCount(),
  default: 1,
  doc: 'Worker processes under one supervisor, to use more cores than one; auto: one a core. Needs Redis and PostgreSQL.',
  scopes: daemon,
});
