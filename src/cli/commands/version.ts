// `cardpoll version`: the version installed here, and the daemon's.
import { plainText } from '../../domain/plain-text.ts';
import { CardpollError } from '../../platform/errors.ts';
import { COMMIT, VERSION } from '../../platform/version.ts';
import { ask } from '../ask.ts';
import { type CommandContext, defineCommand } from '../command.ts';
import { ownAnswer, printAnswer } from '../output/print.ts';

export const version = defineCommand({
  name: 'version',
  summary: 'Show the versions of cardpoll, Node.js and the daemon, and the commit of this build',
  examples: [
    'cardpoll version  # for people',
    'cardpoll version -o json  # for programs',
    'cardpoll --version  # cardpoll alone, fastest',
  ],
  run: async (context) => {
    const answer = ownAnswer({
      version: VERSION,
      commit: COMMIT,
      node: process.versions.node,
      platform: `${process.platform}-${process.arch}`,
      daemon: await daemonVersion(context),
    });
    return printAnswer(
      context,
      answer,
      ({ version: own, commit, node, platform, daemon }) =>
        `cardpoll ${own} (commit ${commit}, node ${node}, ${platform})\n` +
        `daemon ${daemon.version ?? `not known: ${plainText(daemon.error ?? '')}`}\n`,
    );
  },
});

/** Without a daemon the command still reports its own version. @returns null for the version, and why it is unknown. */
async function daemonVersion(context: CommandContext) {
  try {
    const { body } = await ask(context, 'asking the daemon', (client) => client.overview());
    return { version: body.version, error: null };
  } catch (error) {
    if (!(error instanceof CardpollError)) throw error;
    return { version: null, error: error.message };
  }
}
