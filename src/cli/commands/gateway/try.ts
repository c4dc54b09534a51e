// `cardpoll gateway try`: calls the gateway for one card, as the daemon would, and shows what was sent, what came back and what
// was read. Needs no daemon and no stores. Stops or resumes a card only if told to by name, and after a confirmation.
import { bad, good, integer, type Kind, oneOf, text } from '../../../config/kinds.ts';
import { loadGatewayConfig } from '../../../config/load-config.ts';
import { SETTINGS } from '../../../config/settings/settings.ts';
import { ICCID } from '../../../domain/cards/card-import.ts';
import type { CallTrial } from '../../../domain/gateway/call-trial.ts';
import { INTERFACE_NAMES, INTERFACES, type InterfaceName } from '../../../domain/gateway-interface.ts';
import { defineCommand } from '../../command.ts';
import { CONFIRM_OPTIONS, type ConfirmOptions, confirm, declined } from '../../confirm.ts';
import { EXIT_NEGATIVE, EXIT_OK } from '../../exit-codes.ts';
import { ownAnswer, printAnswer } from '../../output/print.ts';
import { type Style, sentenceLines } from '../../output/style.ts';
import { ofItems } from '../../output/table.ts';

/** The gateway would answer a mistyped card as one that it does not know. */
const CARD: Kind<string> = {
  accepts: 'ICCID of 18 to 22 digits',
  parse: (raw) =>
    typeof raw === 'string' && ICCID.test(raw)
      ? good(raw)
      : bad(`"${raw}" is not an ICCID of 18 to 22 digits`),
};

interface TryOptions extends ConfirmOptions {
  readonly iccid: string;
  readonly interface?: InterfaceName;
  readonly profile?: string;
  readonly cardId: number;
  readonly carrierId: number;
}

const id = integer({ min: 0, max: Number.MAX_SAFE_INTEGER });

export const tryProfile = defineCommand<[], TryOptions>({
  name: 'try',
  summary: 'Call the gateway for one card, and show what was sent, answered and read',
  examples: [
    [
      'cardpoll gateway try --config cardpoll.yaml --iccid 8986001234567890123',
      'every interface that reads something',
    ],
    [
      'cardpoll gateway try --config cardpoll.yaml --iccid 8986001234567890123 --interface flow',
      'one interface',
    ],
    [
      'cardpoll gateway try --gateway-url https://gateway.example --profile ./our-gateway.yaml --iccid 8986001234567890123',
      'a profile, before there is a config file',
    ],
  ],
  options: [
    { flags: '--iccid <digits>', doc: 'card to ask about', kind: CARD, required: true },
    {
      flags: '--interface <name>',
      doc: 'only this one; stop and start change the card, so they are called only if named here',
      kind: oneOf(INTERFACE_NAMES),
    },
    {
      flags: '--profile <name|file>',
      doc: 'profile, instead of the configured one',
      kind: text('name or file'),
    },
    { flags: '--card-id <n>', doc: 'what {card_id} stands for', kind: id, default: 0 },
    { flags: '--carrier-id <n>', doc: 'what {carrier_id} stands for', kind: id, default: 0 },
    ...CONFIRM_OPTIONS,
  ],
  settings: [SETTINGS.gateway.url],
  run: async (context, { options }) => {
    const { configInputs, launchers } = context;
    const { iccid, cardId, carrierId, profile, interface: only = null } = options;
    const flags = {
      ...configInputs.flags,
      ...(profile === undefined ? {} : { '--gateway-profile': profile }),
    };
    const config = await loadGatewayConfig({ ...configInputs, flags });
    if (only !== null && INTERFACES[only].answer === null) {
      const plan = [`${only === 'stop' ? 'Stops' : 'Resumes'} card ${iccid} at ${config.gateway.url}.`];
      if (!(await confirm(context, plan, options, 'gateway'))) return declined(options);
    }
    const items = await launchers.tryGateway(config, { iccid, cardId, carrierId }, only);
    await printAnswer(context, ownAnswer({ items }), ofItems(trialText));
    return items.length > 0 && items.every(({ ok }) => ok) ? EXIT_OK : EXIT_NEGATIVE;
  },
});

const INDENT = '  ';

function trialText(trials: readonly CallTrial[], style: Style): string {
  return trials.map((trial) => `${linesOf(trial, style).join('\n')}\n`).join('\n');
}

function linesOf(trial: CallTrial, style: Style): string[] {
  const { interface: name, ok, request, status, answer, duration_ms: ms, hint } = trial;
  const mark = ok ? style.paint('● ok', 'green') : style.paint('✖ failed', 'red');
  const took = ms === null ? '' : `, ${ms} ms`;
  return [
    `${mark}  ${style.paint(name, 'bold')}${took}`,
    ...(request === null
      ? []
      : [
          `${request.method} ${request.url}`,
          ...request.headers,
          ...(request.body === null ? [] : [request.body]),
        ]
    ).map((line) => entry('sent', line, style)),
    ...(answer === null ? [] : [entry('answer', `${status ?? 'none'} ${answer}`, style)]),
    ...sentenceLines(conclusionOf(trial), style, INDENT),
    ...(hint === null ? [] : sentenceLines(hint, style, INDENT)),
  ];
}

function entry(label: string, text: string, style: Style): string {
  return `${INDENT}${style.paint(label.padEnd(8), 'dim')}${style.text(text).text}`;
}

function conclusionOf({ ok, value, read_from: from, error, reason }: CallTrial): string {
  if (!ok) return `${error}: ${reason}`;
  if (from === null) return 'the call succeeded';
  return `read ${typeof value === 'number' ? `${value} MB` : JSON.stringify(value)} from ${from}`;
}
