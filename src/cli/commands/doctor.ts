// `cardpoll doctor`: checks whether a daemon with this configuration can work here, and the health of its fleet. Without
// any daemon setting it checks only what a client can see. The launcher checks the surroundings. Exit code 1 when a check
// failed, 2 when a check could not run.

import { loadDaemonConfig } from '../../config/load-config.ts';
import type { ConfigInputs } from '../../config/reader.ts';
import { ALL_SETTINGS, CONFIG_FILE, DAEMON_FLAGS } from '../../config/settings/settings.ts';
import { type Finding, failed, ok, skipped } from '../../domain/finding.ts';
import { CardpollError } from '../../platform/errors.ts';
import { type CommandContext, defineCommand } from '../command.ts';
import { type DaemonFindings, daemonFindings } from '../daemon-findings.ts';
import { EXIT_NEGATIVE, EXIT_OK, EXIT_UNKNOWN } from '../exit-codes.ts';
import { printAnswer } from '../output/print.ts';
import { findingText } from '../output/reports/findings.ts';

const EXIT_CODES = { ok: EXIT_OK, failed: EXIT_NEGATIVE, unknown: EXIT_UNKNOWN } as const;

export const doctor = defineCommand({
  name: 'doctor',
  summary: 'Check a daemon, its environment and its fleet, and show how to fix what is wrong',
  examples: [
    ['cardpoll doctor --config /etc/cardpoll/cardpoll.yaml', 'before the first start, or at any time'],
    ['cardpoll doctor', 'where only the CLI is installed: asks the daemon'],
    [
      'cardpoll doctor --config cardpoll.yaml -o json',
      'for monitoring; exit code 1: a check failed, 2: a check could not run',
    ],
  ],
  settings: DAEMON_FLAGS,
  run: async (context) => {
    const items = await examine(context);
    const status = verdictOf(items);
    const body = { status, items };
    await printAnswer(context, { body, text: JSON.stringify(body) }, (_, style) => findingText(items, style));
    return EXIT_CODES[status];
  },
});

async function examine(context: CommandContext): Promise<Finding[]> {
  if (!isForDaemon(context.configInputs)) return [...(await daemonFindings(context, null)).items];
  const file = context.configInputs.flags['--config'];
  const withFile = file === undefined ? '' : ` --config ${file}`;
  const daemon = await daemonFindings(context, `cardpoll daemon${withFile}`);
  const surroundings = await surroundingFindings(context, daemon);
  return [...surroundings.map((finding) => withConfig(finding, withFile)), ...daemon.items];
}

/** Whether any setting shows that a daemon is meant to run here. */
function isForDaemon({ flags, env }: ConfigInputs): boolean {
  const given = (name: string | null) => name !== null && (env[name] ?? '') !== '';
  if (flags['--config'] !== undefined || given(CONFIG_FILE.env)) return true;
  return ALL_SETTINGS.some(
    ({ flag, env: name, scopes }) =>
      scopes.includes('daemon') && ((flag !== null && flags[flag] !== undefined) || given(name)),
  );
}

async function surroundingFindings(
  { configInputs, launchers }: CommandContext,
  { answers }: DaemonFindings,
): Promise<Finding[]> {
  const check = 'configuration';
  try {
    const config = await loadDaemonConfig(configInputs);
    const findings = await launchers.doctor(config, answers);
    return [ok(check, 'valid'), ...findings];
  } catch (error) {
    if (!(error instanceof CardpollError)) throw error;
    const { message, hint = null } = error;
    return [
      failed(check, message, { hint, command: 'cardpoll daemon --help' }),
      skipped('stores, gateway, directories', 'the configuration is invalid'),
    ];
  }
}

/** Adds `--config` to a suggested command that reads the configuration, so that it reads the same file. */
function withConfig(finding: Finding, withFile: string): Finding {
  const { command } = finding;
  const reads = command !== null && /^cardpoll (daemon|migrate|init adopt)\b/.test(command);
  return reads ? { ...finding, command: `${command}${withFile}` } : finding;
}

function verdictOf(items: readonly Finding[]): keyof typeof EXIT_CODES {
  if (items.some(({ status }) => status === 'failed')) return 'failed';
  return items.some(({ status }) => status === 'unknown') ? 'unknown' : 'ok';
}
