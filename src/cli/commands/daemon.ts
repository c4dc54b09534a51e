// `cardpoll daemon`: reads its configuration and hands it to the composition root.
import { loadDaemonConfig } from '../../config/load-config.ts';
import { DAEMON_FLAGS } from '../../config/settings/settings.ts';
import { defineCommand } from '../command.ts';

export const daemon = defineCommand({
  name: 'daemon',
  summary: 'Poll the fleet and serve the admin API until stopped',
  examples: [
    ['cardpoll daemon --gateway-url http://gateway:8080', 'embedded stores, to try it'],
    ['cardpoll daemon --config /etc/cardpoll/cardpoll.yaml', 'everything from a file'],
    ['cardpoll daemon --config cardpoll.yaml --processes auto', 'on all cores'],
    ['cardpoll daemon --config cardpoll.yaml --roles worker', 'one more worker'],
  ],
  settings: DAEMON_FLAGS,
  run: async ({ configInputs, launchers, io }) => {
    const load = () => loadDaemonConfig(configInputs);
    const config = await load();
    return launchers.daemon(config, load, (url) => {
      // A supervisor reads the log; only people need to be told.
      if (io.stderr.isTTY !== true) return;
      const logs = config.logDir === null ? 'logs follow here' : `logs in ${config.logDir}`;
      io.stderr.write(`cardpoll daemon: listens on ${url}, ${logs}; Ctrl-C ends it\n`);
    });
  },
});
