// `cardpoll completion`: the completion script of a shell. `cardpoll complete`: possible next words, one per line with its
// meaning. The scripts run it at every TAB, so it must be fast: without a daemon, a token or a timely answer it prints no names.

import { oneOf } from '../../../config/kinds.ts';
import { plainText } from '../../../domain/plain-text.ts';
import { CardpollError } from '../../../platform/errors.ts';
import { EXIT_OK } from '../../../platform/exit-codes.ts';
import { openClient } from '../../ask.ts';
import { type ArgumentSpec, type CommandContext, defineCommand } from '../../command.ts';
import bash from './cardpoll.bash';
import fish from './cardpoll.fish';
import zsh from './cardpoll.zsh';
import { offerAt } from './offers.ts';

const SCRIPTS = { bash, zsh, fish };
const SHELLS = Object.keys(SCRIPTS) as (keyof typeof SCRIPTS)[];

export const completion = defineCommand({
  name: 'completion',
  summary: 'Print the completion script for a shell',
  examples: [
    'cardpoll completion bash > /etc/bash_completion.d/cardpoll  # for all users',
    'cardpoll completion zsh > ~/.zfunc/_cardpoll  # in a directory of $fpath',
    'cardpoll completion fish > ~/.config/fish/completions/cardpoll.fish  # permanently',
  ],
  arguments: [{ name: '<shell>', doc: SHELLS.join(', '), kind: oneOf(SHELLS) }],
  run: async ({ io }, { args: [shell] }) => {
    io.stdout.write(SCRIPTS[shell]);
    return EXIT_OK;
  },
});

const PATIENCE_MS = 800;

export const complete = defineCommand({
  name: 'complete',
  summary: 'Print what a shell may offer next',
  examples: [
    'cardpoll complete -- con  # commands',
    'cardpoll complete -- stats -o ""  # values of an option',
    'cardpoll complete -- configs enable ""  # names from the daemon',
  ],
  hidden: true,
  arguments: [
    { name: '[word...]', doc: 'what is typed after cardpoll', kind: { accepts: 'a word', parse: String } },
  ],
  run: async (context, { args: [typed] }) => {
    const { words, names, files } = offerAt(context.root, typed);
    const named = (await askForNames(context, names)).map((name) => ({ text: name, doc: '' }));
    const lines = [...words, ...named].map(({ text, doc }) => `${text}\t${doc}\n`);
    context.io.stdout.write(`${lines.join('')}${files ? ':files\n' : ''}`);
    return EXIT_OK;
  },
});

async function askForNames(
  context: CommandContext,
  names: ArgumentSpec['names'],
): Promise<readonly string[]> {
  if (names === undefined) return [];
  const client = async () => {
    const config = await context.clientConfig();
    const timeoutMs = Math.min(config.timeoutMs, PATIENCE_MS);
    return openClient(context.io, { ...config, timeoutMs }, context.io.onInterrupt());
  };
  try {
    const all = await names({ ...context, client });
    // A name with control characters cannot be typed, so it is not offered.
    return all.filter((name) => plainText(name) === name);
  } catch (error) {
    if (error instanceof CardpollError) return [];
    throw error;
  }
}
