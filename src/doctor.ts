// The composition root of `cardpoll doctor`: opens what a daemon with this configuration would open, looks, and closes
// it again. What is looked at, and what counts as wrong, is operations/doctor.ts.
import { access, constants, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { DaemonConfig } from './config/daemon-config.ts';
import { reachGateway } from './gateway/reachability.ts';
import { examine, type Finding, type Probe } from './operations/doctor.ts';
import { systemClock } from './platform/clock.ts';
import { CardpollError, messageOf } from './platform/errors.ts';
import { openPostgresRecordStore } from './store/postgres/record-store.ts';
import { openRedisLiveStore } from './store/redis/live-store.ts';

const IN_MEMORY = ':memory:';

export function runDoctor({ stores, gateway, logDir }: DaemonConfig): Promise<Finding[]> {
  const probes: [string, Probe][] = [
    ['gateway', () => reachGateway(gateway.url, gateway.timeoutMs)],
    ['log directory', async () => (logDir === null ? 'logs go to standard output' : writable(logDir))],
  ];
  if (stores.kind === 'embedded') {
    const { dataDir } = stores;
    probes.push([
      'data directory',
      async () => (dataDir === IN_MEMORY ? 'nothing is kept' : writable(dataDir)),
    ]);
    return examine({ openLive: null, openRecords: null, probes, clock: systemClock });
  }
  const { redisUrl, databaseUrl } = stores;
  return examine({
    openLive: () => openRedisLiveStore({ url: redisUrl }),
    openRecords: () => openPostgresRecordStore({ url: databaseUrl, applicationName: 'cardpoll-doctor' }),
    probes,
    clock: systemClock,
  });
}

/** Looks without creating anything: what the doctor made would belong to whoever ran it. */
async function writable(dir: string): Promise<string> {
  let existing = resolve(dir);
  for (;;) {
    try {
      await access(existing, constants.W_OK | constants.X_OK);
      if (!(await stat(existing)).isDirectory()) throw new Error(`${existing} is not a directory`);
      return existing === resolve(dir) ? `${dir} is writable` : `${dir} can be created in ${existing}`;
    } catch (error) {
      const missing = (error as NodeJS.ErrnoException).code === 'ENOENT';
      if (!missing || existing === dirname(existing)) {
        throw new CardpollError(
          'config',
          'directory_unusable',
          `${dir} cannot be written: ${messageOf(error)}`,
          {
            hint: 'let the user of the daemon write there, or choose another directory',
          },
        );
      }
      existing = dirname(existing);
    }
  }
}
