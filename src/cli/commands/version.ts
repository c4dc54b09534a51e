// `cardpoll version`: what is installed here. It does not ask the daemon.
import { defineCommand } from '../command.ts';
import { printAnswer } from '../output/print.ts';
import { VERSION } from '../version.ts';

export const version = defineCommand({
  name: 'version',
  summary: 'Show the versions of cardpoll and Node.js',
  examples: [
    ['cardpoll version', 'for people'],
    ['cardpoll version -o json', 'for programs'],
    ['cardpoll --version', 'cardpoll alone, fastest'],
  ],
  run: async (context) => {
    const body = {
      version: VERSION,
      node: process.versions.node,
      platform: `${process.platform}-${process.arch}`,
    };
    await printAnswer(
      context,
      { body, text: JSON.stringify(body) },
      ({ version: own, node, platform }) => `cardpoll ${own} (node ${node}, ${platform})\n`,
    );
    return 0;
  },
});
