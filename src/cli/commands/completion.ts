// `cardpoll completion`: the completion script of a shell, made from the declarations of the commands. `cardpoll
// complete-names`: the names the daemon knows, one per line. The scripts run it at every TAB, so it answers quickly:
// without a daemon, a token or an answer in time it prints no names.
import type { ApiClient } from '../../api/client/client.ts';
import { readContexts } from '../../config/contexts.ts';
import { oneOf } from '../../config/kinds.ts';
import { CardpollError } from '../../platform/errors.ts';
import { openClient } from '../ask.ts';
import { type CommandContext, defineCommand, type NamedThing } from '../command.ts';
import { bashCompletion, fishCompletion, placesOf, zshCompletion } from '../completion-scripts.ts';
import { EXIT_NEGATIVE, EXIT_OK } from '../exit-codes.ts';
import { plainText } from '../output/line.ts';

const SCRIPTS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };
type Shell = keyof typeof SCRIPTS;
const SHELLS = Object.keys(SCRIPTS) as Shell[];

export const completion = defineCommand({
  name: 'completion',
  summary: 'Print the completion script for a shell',
  examples: [
    'cardpoll completion bash > /etc/bash_completion.d/cardpoll  # for all users',
    'cardpoll completion zsh > ~/.zfunc/_cardpoll  # in a directory of $fpath',
    'cardpoll completion fish > ~/.config/fish/completions/cardpoll.fish  # permanently',
  ],
  arguments: [{ name: '<shell>', doc: SHELLS.join(', '), kind: oneOf(SHELLS) }],
  run: async ({ io, root }, { args: [shell] }) => {
    io.stdout.write(SCRIPTS[shell](placesOf(root)));
    return 0;
  },
});

const PATIENCE_MS = 800;

const READ: Record<Exclude<NamedThing, 'contexts'>, (client: ApiClient) => Promise<string[]>> = {
  configs: async (client) => (await client.configs()).body.items.map(({ name }) => name),
  alert_rules: async (client) => (await client.alertRules(1, 100)).body.items.map(({ name }) => name),
  cleanup_configs: async (client) => (await client.cleanupConfigs()).body.items.map(({ target }) => target),
  triggers: async (client) => (await client.triggers(1, 20)).body.items.map(({ trigger_id }) => trigger_id),
  resume_runs: async (client) => (await client.resumeRuns()).body.items.map(({ id }) => id),
};
const THINGS = [...(Object.keys(READ) as NamedThing[]), 'contexts'] as const;

export const completeNames = defineCommand({
  name: 'complete-names',
  summary: 'Print the names a shell may offer',
  examples: [
    'cardpoll complete-names configs  # polling configs',
    'cardpoll complete-names triggers  # the latest triggers',
    'cardpoll complete-names contexts  # needs no daemon',
  ],
  hidden: true,
  arguments: [{ name: '<thing>', doc: THINGS.join(', '), kind: oneOf(THINGS) }],
  run: async (context, { args: [thing] }) => {
    try {
      const names = await namesOf(context, thing);
      // A name with control characters cannot be typed, so it is not offered.
      const typable = names.filter((name) => plainText(name) === name);
      context.io.stdout.write(typable.map((name) => `${name}\n`).join(''));
      return EXIT_OK;
    } catch (error) {
      if (error instanceof CardpollError) return EXIT_NEGATIVE;
      throw error;
    }
  },
});

async function namesOf(context: CommandContext, thing: NamedThing): Promise<string[]> {
  if (thing === 'contexts') return (await readContexts(context.configInputs.env)).all.map(({ name }) => name);
  const config = await context.clientConfig();
  const timeoutMs = Math.min(config.timeoutMs, PATIENCE_MS);
  return READ[thing](await openClient(context.io, { ...config, timeoutMs }, context.io.onInterrupt()));
}
