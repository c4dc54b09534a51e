// A trial of a gateway's profile as text: each call with what was sent, answered and read. Used by `cardpoll gateway try`.
import type { CallTrial } from '../../../domain/gateway/call-trial.ts';
import { type Style, sentenceLines } from '../style.ts';

const INDENT = '  ';

export function trialText(trials: readonly CallTrial[], style: Style): string {
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
