// Declares commands, and the context in which they run, including the process. Declarations are cheap data; a command loads slow
// modules (the API client, YAML, colours) when it runs. program.ts parses the command line by the declarations.
import type { Readable, Writable } from 'node:stream';
import type { ApiClient } from '../api/client/client.ts';
import type { Kind } from '../config/kinds.ts';
import type { ClientConfig } from '../config/load-config.ts';
import type { ConfigInputs } from '../config/reader.ts';
import type { Setting } from '../config/settings/setting.ts';
import type { Clock } from '../platform/clock.ts';
import type { Launchers } from './launchers.ts';

/**
 * The values of -o: `wide` is a table with all columns, `tsv` one record per line with tabs between the values, `jsonl` one item
 * of a list per line.
 */
export const OUTPUT_FORMATS = ['table', 'wide', 'tsv', 'json', 'jsonl', 'yaml'] as const;
export type OutputFormat = Exclude<(typeof OUTPUT_FORMATS)[number], 'wide'>;

export interface CommandContext {
  readonly io: Io;
  readonly launchers: Launchers;
  readonly format: OutputFormat;
  /** Tables show all columns. */
  readonly wide: boolean;
  /** Flags and environment from which this run reads its settings. */
  readonly configInputs: ConfigInputs;
  /** `cardpoll` with all its subcommands, for commands about commands. */
  readonly root: CommandSpec;
  /** The daemon for the commands of this run. Throws CardpollError kind `config`. */
  clientConfig(): Promise<ClientConfig>;
  /**
   * A client of the configured daemon. Throws CardpollError kind `config`.
   * @param signal ends its calls; default: an interruption.
   */
  client(signal?: AbortSignal): Promise<ApiClient>;
}

export interface ArgumentSpec {
  /** `<task_type>` required, `[view]` optional, `[card...]` any number: the argument is a list. */
  readonly name: string;
  readonly doc: string;
  readonly kind: Kind<unknown>;
  /** Existing names for shell completion; for ids, those that operators do not type from memory. */
  readonly names?: (context: CommandContext) => Promise<readonly string[]>;
}

export interface OptionSpec {
  /** `--yes`, `--cards <n>`, or `--watch[=<seconds>]` with `bare`; the option arrives in camelCase. */
  readonly flags: string;
  readonly doc: string;
  /** Absent for switches. */
  readonly kind?: Kind<unknown>;
  /** All accepted words, if there are few and the kind does not list them. */
  readonly choices?: readonly string[];
  readonly default?: unknown;
  readonly required?: boolean;
  /** May be given several times; the kind yields lists, which are concatenated. */
  readonly repeats?: boolean;
  /** Options that contradict it, in camelCase. */
  readonly conflicts?: readonly string[];
  /** The value of the flag without one. The option then needs an attached value: `--watch=5`. */
  readonly bare?: string;
  /** For tests and former versions: help, completion and manual omit it. */
  readonly hidden?: boolean;
}

export interface CommandSpec {
  readonly name: string;
  /** One line, without a full stop. */
  readonly summary: string;
  /**
   * `cardpoll stats  # the fleet at a glance`: a command line and its meaning. Help shows them first. Absent: the examples of the
   * group.
   */
  readonly examples?: readonly string[];
  readonly arguments?: readonly ArgumentSpec[];
  readonly options?: readonly OptionSpec[];
  /** Settings this command takes as flags, in addition to those of every command. */
  readonly settings?: readonly Setting<unknown>[];
  /** The help of another command explains these settings, so they are not listed here. */
  readonly hidesSettings?: boolean;
  readonly subcommands?: readonly CommandSpec[];
  /** Runs when the command above it is typed without a subcommand. */
  readonly isDefault?: boolean;
  /** For programs and former versions: help, completion and manual omit it. */
  readonly hidden?: boolean;
  /** Removed subcommands and options of earlier versions, and their replacements. */
  readonly gone?: Readonly<Record<string, string>>;
  /** Values of -o if they differ from OUTPUT_FORMATS. */
  readonly formats?: readonly string[];
  /** Absent only for groups that need a subcommand. @returns the exit code. */
  readonly run?: (context: CommandContext, input: CommandInput) => Promise<number>;
}

/** The command line of an example, and its meaning. */
export function partsOf(example: string): [line: string, meaning: string] {
  const [line = '', meaning = ''] = example.split('  # ');
  return [line, meaning];
}

/** A command, and its parents up to the root. */
export type CommandPath = readonly [own: CommandSpec, ...above: CommandSpec[]];

/** `cardpoll cards show` */
export function nameOf(path: CommandPath): string {
  return path
    .map(({ name }) => name)
    .reverse()
    .join(' ');
}

/** The command that the words name. Other words are skipped. */
export function commandIn(words: readonly string[], root: CommandSpec): CommandPath {
  let path: CommandPath = [root];
  for (const word of words) {
    const sub = path[0].subcommands?.find(({ name }) => name === word);
    if (sub !== undefined) path = [sub, ...path];
  }
  return path;
}

/** The command and all below it. */
export function withBelow(spec: CommandSpec): readonly CommandSpec[] {
  return [spec, ...(spec.subcommands ?? []).flatMap(withBelow)];
}

/** The subcommands that help, completion and manual show. */
export function shownBelow({ subcommands = [] }: CommandSpec): readonly CommandSpec[] {
  return subcommands.filter(({ hidden }) => hidden !== true);
}

/** Checked arguments by position and options by name; `defineCommand` knows their types. */
export interface CommandInput {
  readonly args: readonly unknown[];
  readonly options: Readonly<Record<string, unknown>>;
}

/** Declares a command. The kinds of its arguments and options determine their types. */
export function defineCommand<
  const Args extends readonly ArgumentSpec[] = [],
  const Options extends readonly OptionSpec[] = [],
>(
  spec: Omit<CommandSpec, 'run' | 'arguments' | 'options'> & {
    readonly arguments?: Args;
    readonly options?: Options;
    readonly run: (
      context: CommandContext,
      input: { readonly args: ArgumentsOf<Args>; readonly options: OptionsOf<Options> },
    ) => Promise<number>;
  },
): CommandSpec {
  // The parser has made the input by these declarations.
  return { ...spec, run: (context, input) => spec.run(context, input as never) };
}

type ArgumentsOf<Args extends readonly ArgumentSpec[]> = {
  readonly [At in keyof Args]: Args[At]['name'] extends `[${string}...]`
    ? readonly ValueOf<Args[At]>[]
    : Args[At]['name'] extends `[${string}`
      ? ValueOf<Args[At]> | undefined
      : ValueOf<Args[At]>;
};

/** The options by name: `--card-id <n>` as `cardId`, `--no-prune` as `prune`. */
export type OptionsOf<Options extends readonly OptionSpec[]> = ByName<Extract<Options[number], Certain>> &
  Partial<ByName<Exclude<Options[number], Certain>>>;

/** Options that always have a value. */
type Certain =
  | { readonly required: true }
  | { readonly default: unknown }
  | { readonly flags: `--no-${string}` };

type ByName<Option extends OptionSpec> = {
  readonly [Flags in Option['flags'] as CamelCase<LongName<Flags>>]: ValueOf<
    Extract<Option, { readonly flags: Flags }>
  >;
};

/** Without a kind it is a switch. */
type ValueOf<Spec> = Spec extends { readonly kind: Kind<infer Value> } ? Value : boolean;

type LongName<Flags> = Flags extends `${string}--${infer Rest}`
  ? Rest extends `no-${infer Name}` | `${infer Name} ${string}` | `${infer Name}[${string}`
    ? Name
    : Rest
  : never;

type CamelCase<Name> = Name extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name;

/** The process that a command runs in. main.ts makes the real one; tests make their own. */
export interface Io {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number };
  readonly stderr: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /**
   * Handles Ctrl-C, SIGTERM, SIGHUP and the closing of stdout. From then on they abort the signal, with an Interruption as
   * reason. Commands that run a daemon do not call it.
   */
  onInterrupt(): AbortSignal;
}

/** The reason why a command ended early: interrupted, or not confirmed. No message is printed for it. */
export class Interruption extends Error {
  override readonly name = 'Interruption';
  constructor(readonly exitCode: number) {
    super('interrupted');
  }
}
