// Finds the codes of errors in src/ by the forms in which they are written, and makes the index of them, docs/errors.md.
// Used by test/unit/docs/errors.test.ts.
import { errorCodes as frameworkErrors } from 'fastify';
import { problemOf } from '../../src/api/problem.ts';
import { CardpollError, type ErrorKind } from '../../src/platform/errors.ts';
import { exitCodeOf } from '../../src/platform/exit-codes.ts';
import type { SourceFile } from './source-tree.ts';

export interface ErrorCode {
  readonly code: string;
  /** Of the answer of the API; null where no answer has this code. */
  readonly status: number | null;
  /** Of a command; null where the place decides, or no command fails with it. */
  readonly exitCode: number | null;
  /** As it stands in the source, with an ellipsis for what is filled in; empty unless it is one string. */
  readonly message: string;
  readonly path: string;
}

type Source = Pick<SourceFile, 'path' | 'source'>;

const CLOSING: Readonly<Record<string, string>> = {
  '(': ')',
  '[': ']',
  '{': '}',
  "'": "'",
  '"': '"',
  '`': '`',
};
/** What runs where the command was typed: its errors are no answers. */
const OF_COMMANDS = /^(cli|config|log-search|dashboard)\/|^api\/client|^platform\/service-manager/;

export function errorCodesIn(tree: readonly Source[]): ErrorCode[] {
  const constants = new Map<string, string>();
  for (const { source } of tree) {
    for (const [, name = '', value = ''] of source.matchAll(/\bconst ([A-Z_]+) = '([a-z_]+)'/g))
      constants.set(name, value);
  }
  return tree.flatMap((file) => [...thrownIn(file, constants), ...answeredIn(file), ...translatedIn(file)]);
}

/** `new CardpollError(kind, code, message, ...)`. Kinds and codes that are chosen together are pairs. */
function thrownIn({ path, source }: Source, constants: ReadonlyMap<string, string>): ErrorCode[] {
  const places = source.split('new CardpollError(').slice(1).map(argumentsOf);
  return places.flatMap(([kind = '', code = '', message = '']) => {
    const kinds = wordsIn(kind) as ErrorKind[];
    const constant = constants.get(code);
    const codes = constant === undefined ? wordsIn(code) : [constant];
    return codes.map((one, index) => {
      const itsKind = kinds.length === codes.length ? kinds[index] : undefined;
      return {
        code: one,
        status: itsKind === undefined || OF_COMMANDS.test(path) ? null : statusOf(itsKind, one),
        exitCode: itsKind === undefined ? null : exitCodeOf(itsKind),
        message: textOf(message),
        path,
      };
    });
  });
}

/** `status: 404, code: 'not_found'`: answers that no error stands behind. */
function answeredIn({ path, source }: Source): ErrorCode[] {
  return [...source.matchAll(/\bstatus: (\d{3}),\s+code: '([a-z_]+)'/g)].map(([, status, code = '']) => ({
    code,
    status: Number(status),
    exitCode: null,
    message: '',
    path,
  }));
}

/** `FST_ERR_...: 'code'`: what the framework's errors are called. */
function translatedIn({ path, source }: Source): ErrorCode[] {
  return [...source.matchAll(/\b(FST_ERR_\w+): '([a-z_]+)'/g)].map(([, name = '', code = '']) => ({
    code,
    status: new frameworkErrors[name as keyof typeof frameworkErrors]().statusCode ?? null,
    exitCode: null,
    message: '',
    path,
  }));
}

/** Null for what is answered as `internal`, whatever it is. */
function statusOf(kind: ErrorKind, code: string): number | null {
  const problem = problemOf(new CardpollError(kind, code, ''));
  return problem.code === code ? problem.status : null;
}

/** Splits at commas outside of strings and brackets, up to the closing parenthesis. */
function argumentsOf(text: string): string[] {
  const all = [''];
  const open: string[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charAt(at);
    const closing = open.at(-1);
    const quoted = closing !== undefined && `'"\``.includes(closing);
    if (closing === undefined && char === ')') break;
    if (closing === undefined && char === ',') {
      all.push('');
      continue;
    }
    if (char === closing && text.charAt(at - 1) !== '\\') open.pop();
    else if (!quoted && CLOSING[char] !== undefined) open.push(CLOSING[char]);
    all[all.length - 1] += char;
  }
  return all.map((one) => one.trim());
}

function wordsIn(text: string): string[] {
  return [...text.matchAll(/'([a-z][a-z0-9_]*)'/g)].map(([, word = '']) => word);
}

function textOf(argument: string): string {
  const [, text = ''] = argument.match(/^['"`]([\s\S]*)['"`]$/) ?? [];
  return text.replace(/\$\{[^}]*\}*/g, '…').replaceAll('|', '\\|');
}

/** The page: one line a code, in order, with the first message of each. */
export function errorIndex(found: readonly ErrorCode[]): string {
  const codes = [...new Set(found.map(({ code }) => code))].sort();
  const rows = codes.map((code) => {
    const places = found.filter((one) => one.code === code);
    const list = (values: readonly (number | string | null)[]) =>
      [...new Set(values.filter((value) => value !== null))].join(', ');
    const message = places.find((one) => one.message !== '')?.message ?? '';
    const cells = [
      `\`${code}\``,
      list(places.map(({ status }) => status)),
      list(places.map(({ exitCode }) => exitCode)),
      message,
      list(places.map(({ path }) => `\`src/${path}\``)),
    ];
    return `| ${cells.join(' | ')} |`;
  });
  return [...HEAD, ...rows, ''].join('\n');
}

const HEAD = [
  '# Codes of errors',
  '',
  'Generated from the source: `npm run errors`. A code names one kind of error, and never changes, even if its message does.',
  '*status* is the HTTP status of an answer with this `code` ([api.md](api.md#requests-and-answers)). An answer with 500 always has',
  'the code `internal`; the api log has the reason. *exit* is the exit code of a command that fails with this error. In a message, …',
  'stands for text that is filled in. An empty cell means that it depends on the place in the source.',
  '',
  '| code | status | exit | message | where |',
  '| --- | --- | --- | --- | --- |',
];
