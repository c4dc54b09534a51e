// `cardpoll doctor`: looks whether a daemon with this configuration can work here, and whether one does. The launcher
// looks at the surroundings; configuration and daemon are looked at here. Exit code 1 when something failed.
import type { HealthReasonBody } from '../../api/client.ts';
import { loadDaemonConfig } from '../../config/load-config.ts';
import { SETTINGS } from '../../config/settings.ts';
import { CardpollError } from '../../platform/errors.ts';
import { ask } from '../ask.ts';
import { type CommandContext, defineCommand } from '../command.ts';
import { EXIT_NEGATIVE, EXIT_OK } from '../exit-codes.ts';
import type { DoctorFinding } from '../launchers.ts';
import { printAnswer } from '../output/print.ts';
import type { Colour, Style } from '../output/style.ts';
import { renderTable } from '../output/table.ts';

const COLOURS: Record<DoctorFinding['status'], Colour> = {
  ok: 'green',
  warning: 'yellow',
  failed: 'red',
  skipped: 'dim',
};

export const doctor = defineCommand({
  name: 'doctor',
  summary: 'Check configuration, stores, clocks, gateway, directories and the daemon',
  examples: [
    ['cardpoll doctor --config /etc/cardpoll/cardpoll.yaml', 'before the first start'],
    ['cardpoll doctor --gateway-url http://gateway:8080', 'the embedded stores'],
    ['cardpoll doctor --config cardpoll.yaml -o json', 'for monitoring; exit code 1 when a check failed'],
  ],
  settings: Object.values(SETTINGS).filter(
    ({ flag, scopes }) => flag !== null && scopes.some((scope) => scope === 'daemon'),
  ),
  run: async (context) => {
    const [surroundings, daemon] = await Promise.all([examineSurroundings(context), examineDaemon(context)]);
    const items = [...surroundings, ...daemon];
    const healthy = items.every(({ status }) => status !== 'failed');
    const body = { status: healthy ? 'ok' : 'failed', items };
    await printAnswer(context, { body, text: JSON.stringify(body) }, (_, style) =>
      findingTable(items, style),
    );
    return healthy ? EXIT_OK : EXIT_NEGATIVE;
  },
});

async function examineSurroundings({ configInputs, launchers }: CommandContext): Promise<DoctorFinding[]> {
  const check = 'configuration';
  try {
    const config = await loadDaemonConfig(configInputs);
    const findings = await launchers.doctor(config);
    return [{ check, status: 'ok', detail: 'can work', hint: null }, ...findings];
  } catch (error) {
    return [
      failed(check, error),
      skipped('stores, gateway, directories', 'they need a configuration that can work'),
    ];
  }
}

/** The daemon, and a finding for everything that keeps its fleet from being well. */
async function examineDaemon(context: CommandContext): Promise<DoctorFinding[]> {
  try {
    const { body } = await ask(context, 'asking the daemon', (client) => client.overview());
    const { version, health, health_reasons, workers } = body;
    const detail = `cardpoll ${version} answers; ${workers.length} live, health ${health}`;
    return [{ check: 'daemon', status: 'ok', detail, hint: null }, ...health_reasons.map(findingOf)];
  } catch (error) {
    return [failed('daemon', error)];
  }
}

function findingOf({ code, severity, text, command }: HealthReasonBody): DoctorFinding {
  const status = severity === 'alert' ? 'failed' : 'warning';
  return { check: code, status, detail: text, hint: command };
}

function failed(check: string, error: unknown): DoctorFinding {
  if (!(error instanceof CardpollError)) throw error;
  return { check, status: 'failed', detail: error.message, hint: error.hint ?? null };
}

function skipped(check: string, detail: string): DoctorFinding {
  return { check, status: 'skipped', detail, hint: null };
}

function findingTable(items: readonly DoctorFinding[], style: Style): string {
  const columns = [
    { header: 'CHECK', cell: ({ check }: DoctorFinding) => style.text(check) },
    { header: 'STATUS', cell: ({ status }: DoctorFinding) => style.text(status, COLOURS[status]) },
    {
      header: 'DETAIL',
      cell: ({ detail, hint }: DoctorFinding) =>
        style.text(hint === null ? detail : `${detail} (hint: ${hint})`),
    },
  ];
  return renderTable(items, columns, style);
}
