// `cardpoll doctor`: checks whether a daemon with this configuration can work here, and the health of its fleet. Without
// any daemon setting it checks only what a client can see. The launcher checks the surroundings. Exit code 1 when a check
// failed, 2 when a check could not run.
import { once } from 'node:events';
import { oneOf } from '../../../config/kinds.ts';
import { loadClientConfig, loadDaemonConfig, loadSecretOrigins } from '../../../config/load-config.ts';
import type { ConfigInputs } from '../../../config/reader.ts';
import { ALL_SETTINGS, CONFIG_FILE, DAEMON_FLAGS } from '../../../config/settings/settings.ts';
import {
  proxyVariablesOfUnit,
  SECRET_FILES_LINE,
  secretsOfUnit,
  UNIT_ENVIRONMENT,
} from '../../../config/unit-secrets.ts';
import { type Finding, ok, skipped, warning } from '../../../domain/finding.ts';
import { CardpollError } from '../../../platform/errors.ts';
import { EXIT_NEGATIVE, EXIT_OK, EXIT_UNKNOWN } from '../../../platform/exit-codes.ts';
import type { Proxies } from '../../../platform/proxy/http-proxy.ts';
import { shellWord } from '../../../platform/shell-word.ts';
import {
  type Colour,
  commandLines,
  INDENT,
  labelledLines,
  type Style,
  sentenceLines,
} from '../../../terminal/style.ts';
import { ofItems, recordLine, textOf } from '../../../terminal/table.ts';
import { type CommandContext, defineCommand } from '../../command.ts';
import { flagOf, GLOBAL_SETTINGS } from '../../global-options.ts';
import { ownAnswer, printAnswer } from '../../output/print.ts';
import { type DaemonFindings, daemonFindings, wrongSettings } from './daemon-findings.ts';

const EXIT_CODES = { ok: EXIT_OK, failed: EXIT_NEGATIVE, unknown: EXIT_UNKNOWN } as const;

/** Findings of this status or worse make the exit code 1. */
const FAIL_ON = ['warning', 'alert'] as const;

export const doctor = defineCommand({
  name: 'doctor',
  summary: 'Check a daemon, its environment and its fleet, and show how to fix what is wrong',
  examples: [
    'cardpoll doctor --config /etc/cardpoll/cardpoll.yaml  # before the first start, or at any time',
    'cardpoll doctor  # where only the CLI is installed: asks the daemon',
    'cardpoll doctor --gateway-url http://gateway:8080  # takes the flags of cardpoll daemon',
    'cardpoll doctor -q --fail-on warning  # only what is not ok; exit code 1 for warnings too',
    'cardpoll doctor --config cardpoll.yaml -o json  # for monitoring; exit code 1: a check failed, 2: a check could not run',
  ],
  options: [
    { flags: '-q, --quiet', doc: 'print only what is not ok; nothing when all is well' },
    {
      flags: '--fail-on <status>',
      doc: 'what makes the exit code 1: alert (something failed) or warning (warnings too)',
      kind: oneOf(FAIL_ON),
      default: 'alert',
    },
  ],
  settings: DAEMON_FLAGS,
  hidesSettings: true,
  run: async (context, { options: { quiet = false, failOn } }) => {
    const found = await unlessInterrupted(context, examine(context));
    const status = verdictOf(found, failOn);
    const items = quiet
      ? found.filter((finding) => finding.status !== 'ok' && finding.status !== 'skipped')
      : found;
    await printAnswer(context, ownAnswer({ status, items }), ofItems(quiet ? findingLines : findingText));
    return EXIT_CODES[status];
  },
});

async function examine(context: CommandContext): Promise<Finding[]> {
  const forDaemon = isForDaemon(context.configInputs);
  const daemon = await daemonFindings(context, forDaemon ? 'cardpoll daemon' : null);
  const surroundings = forDaemon ? await surroundingFindings(context, daemon) : [];
  const flags = await flagsToRepeat(context.configInputs);
  return [...surroundings, ...daemon.items].map((finding) => withFlags(finding, flags));
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

async function surroundingFindings({ configInputs, launchers }: CommandContext, { answers }: DaemonFindings) {
  const check = 'configuration';
  try {
    const config = await loadDaemonConfig(configInputs);
    const secrets = await secretFindings(configInputs, config.stores.kind === 'embedded');
    const findings = await launchers.doctor(config, answers);
    return [ok(check, 'valid'), ...secrets, ...proxyFindings(config.proxies), ...findings];
  } catch (error) {
    if (!(error instanceof CardpollError)) throw error;
    return [
      ...wrongSettings(check, error, { hint: error.hint ?? null, command: 'cardpoll daemon --help' }),
      skipped('stores, gateway, directories', 'the configuration is invalid'),
    ];
  }
}

/** The origins of the secrets, and the unit's secrets that this configuration leaves out: the unit's daemon has other stores. */
async function secretFindings(inputs: ConfigInputs, isEmbedded: boolean): Promise<Finding[]> {
  const check = 'secrets';
  const origins = await loadSecretOrigins(inputs);
  if (origins.length > 0)
    return [ok(check, origins.map(({ name, from }) => `${name} from ${from}`).join('; '))];
  const unread = isEmbedded ? secretsOfUnit() : [];
  if (unread.length === 0) return [];
  return [
    warning(check, `the stores are embedded here, but cardpoll.service reads ${unread.join(', ')}`, {
      hint: `to check the stores of the unit, add this line to the config file, and use sudo: ${SECRET_FILES_LINE}`,
    }),
  ];
}

/** The unit's proxies that this environment leaves out: the unit's daemon reaches the gateway in another way. */
export function proxyFindings({ http, https }: Proxies, root = '/'): Finding[] {
  const names = http === null && https === null ? proxyVariablesOfUnit(root) : [];
  if (names.length === 0) return [];
  return [
    warning(
      'proxy',
      `no proxy is used here, but cardpoll.service has ${names.join(', ')} of ${UNIT_ENVIRONMENT}`,
      {
        hint: 'to check with the environment of the unit',
        command: `sudo sh -c 'set -a; . ${UNIT_ENVIRONMENT}; exec cardpoll doctor --config /etc/cardpoll/cardpoll.yaml'`,
      },
    ),
  ];
}

/**
 * Flags to append to a suggested command: for one that reads the configuration, and for one that calls the daemon, empty if it
 * finds the same daemon without flags.
 */
async function flagsToRepeat({ flags, env }: ConfigInputs) {
  const given = (flag: string) => (flags[flag] === undefined ? '' : ` ${flag} ${shellWord(flags[flag])}`);
  const usable = (inputs: ConfigInputs) => loadClientConfig(inputs).catch(() => null);
  const [here, bare] = [await usable({ flags, env }), await usable({ flags: {}, env })];
  const isSame = here?.url === bare?.url && here?.token === bare?.token;
  return {
    config: given('--config'),
    daemon: isSame ? '' : GLOBAL_SETTINGS.map((setting) => given(flagOf(setting))).join(''),
  };
}

/** Suggests a command with the flags for the same configuration or the same daemon. */
function withFlags(finding: Finding, { config, daemon }: Awaited<ReturnType<typeof flagsToRepeat>>): Finding {
  const { command } = finding;
  if (command === null || !command.startsWith('cardpoll ')) return finding;
  const readsConfig = /^cardpoll (daemon|migrate|init adopt)\b/.test(command);
  return { ...finding, command: `${command}${readsConfig ? config : daemon}` };
}

/** The checks cannot be cancelled together; the process ends when they have ended. */
function unlessInterrupted<T>({ io }: CommandContext, work: Promise<T>): Promise<T> {
  const signal = io.onInterrupt();
  const interrupted = once(signal, 'abort').then(() => Promise.reject(signal.reason));
  return Promise.race([work, interrupted]);
}

function verdictOf(items: readonly Finding[], failOn: (typeof FAIL_ON)[number]): keyof typeof EXIT_CODES {
  const fails = (status: Finding['status']) =>
    status === 'failed' || (status === 'warning' && failOn === 'warning');
  if (items.some(({ status }) => fails(status))) return 'failed';
  return items.some(({ status }) => status === 'unknown') ? 'unknown' : 'ok';
}

const LOOKS: Record<Finding['status'], readonly [symbol: string, colour: Colour]> = {
  ok: ['●', 'green'],
  warning: ['▲', 'yellow'],
  failed: ['✖', 'red'],
  unknown: ['?', 'yellow'],
  skipped: ['-', 'dim'],
};
const STATUS_COLUMNS = 8;

/** The findings, and their number by status. */
function findingText(items: readonly Finding[], style: Style): string {
  return `${findingLines(items, style)}${style.forPeople ? `${summaryOf(items)}\n` : ''}`;
}

/** Empty without findings. */
function findingLines(items: readonly Finding[], style: Style): string {
  if (style.forPeople) return textOf(items.flatMap((item) => linesOf(item, style)));
  return items
    .map(({ check, status, detail, hint, command }) =>
      recordLine([check, status, detail, hint, command], style),
    )
    .join('');
}

function linesOf({ check, status, detail, hint, command }: Finding, style: Style): string[] {
  const [symbol, tone] = LOOKS[status];
  const label = { text: `${symbol} ${status}`, tone };
  const gap = ' '.repeat(STATUS_COLUMNS + 1 - status.length);
  const painted = labelledLines(label, gap, `${check}: ${detail}`, style);
  const advice = hint === null ? [] : sentenceLines(hint, style, INDENT);
  return [...painted, ...advice, ...commandLines(command, 'bold', style)];
}

function summaryOf(items: readonly Finding[]): string {
  const counts = Object.keys(LOOKS).map(
    (status) => [items.filter((item) => item.status === status).length, status] as const,
  );
  return counts.flatMap(([count, status]) => (count === 0 ? [] : `${count} ${status}`)).join(', ');
}
