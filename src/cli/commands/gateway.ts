// `cardpoll gateway`: try calls the gateway for one card, as the daemon would, and shows the request, the answer and the value
// that was read; it stops or resumes a card only if named explicitly, and after a confirmation. profiles lists the shipped
// profiles, for use by name or as templates. simulate simulates a gateway for tests. None of them needs a daemon.
import { SHIPPED_PROFILES } from '../../config/gateway/profile.ts';
import { formed, fraction, HOST_PORT, integer, oneOf, text } from '../../config/kinds.ts';
import { loadGatewayConfig } from '../../config/load-config.ts';
import { SETTINGS } from '../../config/settings/settings.ts';
import { didYouMean } from '../../config/suggest.ts';
import { ICCID } from '../../domain/cards/card.ts';
import type { CallTrial } from '../../domain/gateway/call-trial.ts';
import { INTERFACE_NAMES, INTERFACES } from '../../domain/gateway-interface.ts';
import { spanWords } from '../../domain/words.ts';
import { CardpollError } from '../../platform/errors.ts';
import { EXIT_NEGATIVE, EXIT_OK } from '../../platform/exit-codes.ts';
import { INDENT, type Style, sentenceLines } from '../../terminal/style.ts';
import { listTable, ofItems } from '../../terminal/table.ts';
import { type CommandSpec, defineCommand } from '../command.ts';
import { CONFIRM_OPTIONS, confirm } from '../confirm.ts';
import { ownAnswer, printAnswer, printList } from '../output/print.ts';
import { showSecretOrigins } from '../secret-origins.ts';

/** The gateway would answer a mistyped number like an unknown card. */
const CARD = formed('ICCID of 18 to 22 digits', ICCID, 'is not an ICCID of 18 to 22 digits');

const id = integer({ min: 0, max: Number.MAX_SAFE_INTEGER });

const tryProfile = defineCommand({
  name: 'try',
  summary: 'Call the gateway for one card, and show what was sent, answered and read',
  examples: [
    'cardpoll gateway try --config cardpoll.yaml --iccid 8986001234567890123  # every interface that reads something',
    'cardpoll gateway try --config cardpoll.yaml --iccid 8986001234567890123 --interface flow  # one interface',
    'cardpoll gateway try --gateway-url https://gateway.example --profile ./our-gateway.yaml --iccid 8986001234567890123  # a profile, before there is a config file',
  ],
  options: [
    { flags: '--iccid <digits>', doc: 'card to ask about', kind: CARD, required: true },
    {
      flags: '--interface <name>',
      doc: 'only this one; stop and start change the card, so they are called only when named here',
      kind: oneOf(INTERFACE_NAMES),
    },
    {
      flags: '--profile <name|file>',
      doc: 'profile, instead of the configured one',
      kind: text('name or file'),
    },
    { flags: '--card-id <n>', doc: 'value of {card_id}', kind: id, default: 0 },
    { flags: '--carrier-id <n>', doc: 'value of {carrier_id}', kind: id, default: 0 },
    { flags: '--vendor-id <text>', doc: 'value of {vendor_id}', kind: text('vendor id') },
    ...CONFIRM_OPTIONS,
  ],
  settings: [SETTINGS.gateway.url],
  run: async (context, { options }) => {
    const { configInputs, launchers } = context;
    const { iccid, cardId, carrierId, vendorId = null, profile, interface: only = null } = options;
    const flags = {
      ...configInputs.flags,
      ...(profile === undefined ? {} : { '--gateway-profile': profile }),
    };
    const config = await loadGatewayConfig({ ...configInputs, flags });
    await showSecretOrigins(context);
    if (only !== null && INTERFACES[only].answer === null) {
      const plan = [`${only === 'stop' ? 'Stops' : 'Resumes'} card ${iccid} at ${config.gateway.url}.`];
      await confirm(context, plan, options, 'gateway');
    }
    const items = await launchers.tryGateway(config, { iccid, cardId, carrierId, vendorId }, only);
    await printAnswer(context, ownAnswer({ items }), ofItems(trialText));
    return items.length > 0 && items.every(({ ok }) => ok) ? EXIT_OK : EXIT_NEGATIVE;
  },
});

function trialText(trials: readonly CallTrial[], style: Style): string {
  return trials.map((trial) => `${linesOf(trial, style).join('\n')}\n`).join('\n');
}

function linesOf(trial: CallTrial, style: Style): string[] {
  const { interface: name, ok, request, proxy, status, answer, duration_ms: ms, hint, warning } = trial;
  const mark = ok ? style.paint('● ok', 'green') : style.paint('✖ failed', 'red');
  const took = ms === null ? '' : `, ${ms} ms`;
  const sent = request === null ? [] : [`${request.method} ${request.url}`, ...request.headers, request.body];
  return [
    `${mark}  ${style.paint(name, 'bold')}${took}`,
    ...sent.filter((line) => line !== null).map((line) => entry('sent', line, style)),
    ...(proxy === null ? [] : [entry('through', proxy, style)]),
    ...(answer === null ? [] : [entry('answer', `${status ?? 'none'} ${answer}`.trimEnd(), style)]),
    ...sentenceLines(conclusionOf(trial), style, INDENT),
    ...(hint === null ? [] : sentenceLines(hint, style, INDENT)),
    ...(warning === null ? [] : sentenceLines(`warning: ${warning}`, style, INDENT)),
  ];
}

function entry(label: string, text: string, style: Style): string {
  return `${INDENT}${style.paint(label.padEnd(8), 'dim')}${style.text(text).text}`;
}

function conclusionOf({
  ok,
  value,
  read_from: from,
  pending_for_seconds: seconds,
  error,
  reason,
}: CallTrial): string {
  if (!ok) return `${error}: ${reason}`;
  if (seconds !== null) {
    const what = from === null ? 'the call is under way' : 'a change of the card is under way';
    return `${what}: the vendor works on it, for ${spanWords(seconds)} at most`;
  }
  if (from === null) return 'the call succeeded';
  return `read ${typeof value === 'number' ? `${value} MB` : JSON.stringify(value)} from ${from}`;
}

const simulate = defineCommand({
  name: 'simulate',
  summary: 'Serve a simulated gateway with generated cards; GET /stats counts the calls',
  examples: [
    'cardpoll gateway simulate --listen 127.0.0.1:8090  # answers at once',
    'cardpoll gateway simulate --listen 127.0.0.1:8090 --latency-ms 50  # answers after 50 ms',
    'cardpoll gateway simulate --listen 127.0.0.1:8090 --failure-rate 0.1  # fails every tenth call',
    'cardpoll gateway simulate --listen 127.0.0.1:8090 --latency-ms 50 --capacity 40  # slows down under load',
  ],
  options: [
    { flags: '--listen <host:port>', doc: 'address to serve on', kind: HOST_PORT, required: true },
    {
      flags: '--cards <n>',
      doc: 'number of different cards (default: no limit)',
      kind: integer({ min: 1, max: 100_000_000 }),
    },
    {
      flags: '--latency-ms <n>',
      doc: 'milliseconds that one call takes (default: 0; 20 with --capacity)',
      kind: integer({ min: 0, max: 600_000 }),
    },
    {
      flags: '--failure-rate <share>',
      doc: 'share of calls that fail, 0 to 1 (default: 0)',
      kind: fraction({ min: 0, max: 1 }),
    },
    {
      flags: '--max-concurrency <n>',
      doc: 'calls served at a time; more are refused (default: no limit)',
      kind: integer({ min: 1, max: 1_000_000 }),
    },
    {
      flags: '--capacity <n>',
      doc: 'calls served at full speed at a time; above it all calls slow down, above twice as many calls are refused (default: no limit)',
      kind: integer({ min: 1, max: 1_000_000 }),
    },
  ],
  gone: {
    '--profile':
      'the simulator serves the default profile only: try a profile with cardpoll gateway try, against the vendor',
  },
  run: ({ io, launchers }, { options }) =>
    launchers.simulate(options, (url) => {
      io.stderr.write(`simulated gateway: ${url} (counts: ${url}/stats)\n`);
    }),
});

const listProfiles = defineCommand({
  name: 'list',
  summary: 'List the shipped profiles',
  isDefault: true,
  run: async (context) => {
    const items = SHIPPED_PROFILES.map(({ name, text }) => ({ name, summary: summaryOf(text) }));
    return printList(context, ownAnswer({ items }), {
      table: listTable((style) => [
        { header: 'NAME', cell: ({ name }) => style.text(name) },
        { header: 'SUMMARY', cell: ({ summary }) => style.text(summary), drop: 1 },
      ]),
      empty: 'no profile is shipped',
    });
  },
});

const showProfile = defineCommand({
  name: 'show',
  summary: 'Print a shipped profile',
  arguments: [{ name: '<name>', doc: 'name of the profile', kind: text('name') }],
  formats: ['yaml'],
  run: async ({ io }, { args: [name] }) => {
    const names = SHIPPED_PROFILES.map((profile) => profile.name);
    const found = SHIPPED_PROFILES.find((profile) => profile.name === name);
    if (found === undefined) {
      throw new CardpollError(
        'usage',
        'unknown_profile',
        `there is no profile ${name}${didYouMean(name, names)}`,
        { hint: `there are ${names.join(', ')}` },
      );
    }
    io.stdout.write(found.text);
    return EXIT_OK;
  },
});

/** The first sentence of the comment at its top. */
function summaryOf(profile: string): string {
  const head = /^(#.*\n)+/.exec(profile)?.[0].replaceAll(/^# ?/gm, '').replaceAll('\n', ' ') ?? '';
  return /^.*?\.(?= )/.exec(head)?.[0] ?? head;
}

const profiles: CommandSpec = {
  name: 'profiles',
  summary: 'List the shipped profiles, or print one',
  examples: [
    'cardpoll gateway profiles  # their names',
    'cardpoll gateway profiles show default > our-gateway.yaml  # a copy to change; gateway.profile then names the file',
    'cardpoll gateway profiles -o json  # for programs',
  ],
  subcommands: [listProfiles, showProfile],
};

export const gateway: CommandSpec = {
  name: 'gateway',
  summary: 'Try the profile of a gateway, list the shipped ones, or simulate a gateway',
  examples: [
    'cardpoll gateway try --config cardpoll.yaml --iccid 8986001234567890123  # calls it for one card and shows what was read',
    'cardpoll gateway profiles  # the shipped profiles',
    'cardpoll gateway simulate --listen 127.0.0.1:8090  # a gateway for trials',
  ],
  subcommands: [tryProfile, profiles, simulate],
};
