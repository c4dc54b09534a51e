// The composition root of `cardpoll demo`: a daemon with its own fleet and gateway and embedded stores, without installation. It
// shows all situations of an operator: cards that are slow, fail or exceed their package, and a gateway that loses capacity
// periodically, so that a queue builds, an alert fires, and both clear.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DemoLaunched, DemoOptions } from './cli/launchers.ts';
import { loadDaemonConfig } from './config/load-config.ts';
import type { AlertRuleFields } from './domain/alerts/alert-rule.ts';
import type { CardImport } from './domain/cards/card.ts';
import type { TaskType } from './domain/task-type.ts';
import { demoCards } from './gateway/simulate/simulated-fleet.ts';
import { type Simulator, startSimulator } from './gateway/simulate/simulator.ts';
import { CardpollError, messageOf } from './platform/errors.ts';
import type { Teardown } from './platform/service.ts';
import { run } from './signals.ts';
import type { RecordStore } from './store/ports/records/record-store.ts';
import { startDaemon } from './wiring.ts';

/** Latency of the gateway: long enough to see calls in flight. */
const LATENCY_MS = 20;
const ODD_CARDS = { failingOneIn: 500, slowOneIn: 50 };
/** Shorter than the intervals of a new database, with which a new user would wait for half an hour. */
const INTERVAL_SECONDS: Partial<Record<TaskType, number>> = { carddata: 300, package: 120 };
const TROUBLE = { firstAfterMs: 300_000, everyMs: 300_000, lastsMs: 45_000 };
/** During an incident the gateway serves one concurrent call per this many cards: less than their schedule needs. */
const CARDS_A_CALL_IN_TROUBLE = 5_000;
const RULE: AlertRuleFields = {
  name: 'Demo: packages wait',
  ruleType: 'queue_backlog',
  taskType: 'package',
  comparison: '>',
  threshold: 300,
  isEnabled: true,
  notifyChannels: [],
  webhookUrl: null,
  webhookSecrets: [],
  webhookFormat: null,
  webhookGrouped: false,
  cooldownSeconds: 0,
};
const IMPORT_CHUNK_CARDS = 10_000;

/** @returns the exit code. */
export function runDemo(options: DemoOptions, launched: DemoLaunched): Promise<number> {
  return run(
    async (teardown) => {
      const { cards, listen, dataDir } = options;
      // It knows any card: an existing data directory may have more cards than this demo, and its user may import some.
      const gateway = { latencyMs: LATENCY_MS, ...ODD_CARDS };
      const simulator = await startSimulator({ host: '127.0.0.1', port: 0, ...gateway });
      teardown.add(() => simulator.close());
      const logDir = await makeLogDirectory();
      teardown.add(() => rm(logDir, { recursive: true, force: true }));
      const flags = { '--gateway-url': simulator.url, '--data-dir': dataDir, '--log-dir': logDir };
      const config = { ...(await loadDaemonConfig({ flags, env: {} })), listen };
      let address = '';
      await startDaemon(config, teardown, {
        prepare: (records) => prepareFleet(records, cards),
        refuse: () => {},
        load: async () => config,
        listening: (url) => {
          address = url ?? '';
        },
        // It does not reload: src/main.ts ends it.
        hangups: { came: false, serve: () => {} },
        serviceManager: null,
      });
      // Not earlier: until the engine runs, the API reports that no instance polls.
      launched(address, logDir);
      makeTrouble(simulator, Math.max(1, Math.round(cards / CARDS_A_CALL_IN_TROUBLE)), teardown);
    },
    { stop: options.stop },
  );
}

/** @throws CardpollError `io` */
async function makeLogDirectory(): Promise<string> {
  try {
    return await mkdtemp(join(tmpdir(), 'cardpoll-demo-'));
  } catch (cause) {
    const message = `the demo cannot keep its logs in ${tmpdir()}: ${messageOf(cause)}`;
    const hint = 'set TMPDIR to a directory that you may write to';
    throw new CardpollError('io', 'temporary_directory_unusable', message, { cause, hint });
  }
}

async function prepareFleet(records: RecordStore, cards: number): Promise<void> {
  await importCards(records, cards);
  const { items } = await records.alerts.rules({ offset: 0, limit: 100 });
  // Existing data of an earlier demo keeps its user's changes.
  if (items.some(({ name }) => name === RULE.name)) return;
  await records.alerts.createRule(RULE);
  for (const { id, taskType } of await records.configs.list()) {
    const intervalSeconds = INTERVAL_SECONDS[taskType];
    if (intervalSeconds !== undefined) await records.configs.update(id, { intervalSeconds });
  }
}

async function importCards(records: RecordStore, count: number): Promise<void> {
  const chunk: CardImport[] = [];
  for (const card of demoCards(count)) {
    chunk.push(card);
    if (chunk.length === IMPORT_CHUNK_CARDS) await records.cards.importChunk(chunk.splice(0));
  }
  if (chunk.length > 0) await records.cards.importChunk(chunk);
}

function makeTrouble(simulator: Simulator, capacity: number, teardown: Teardown): void {
  let timer: NodeJS.Timeout;
  const begin = () => {
    simulator.setCapacity(capacity);
    timer = setTimeout(end, TROUBLE.lastsMs);
  };
  const end = () => {
    simulator.setCapacity(null);
    timer = setTimeout(begin, TROUBLE.everyMs - TROUBLE.lastsMs);
  };
  timer = setTimeout(begin, TROUBLE.firstAfterMs);
  teardown.add(() => clearTimeout(timer));
}
