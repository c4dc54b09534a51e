// `cardpoll daemon`: reads its configuration and hands it to the composition root.
import { loadDaemonConfig } from '../../config/load-config.ts';
import { GONE_SETTINGS } from '../../config/settings/gone.ts';
import { DAEMON_FLAGS } from '../../config/settings/settings.ts';
import { defineCommand } from '../command.ts';

export const daemon = defineCommand({
  name: 'daemon',
  summary: 'Poll the fleet and serve the admin API until stopped',
  examples: [
    'cardpoll daemon --gateway-url http://gateway:8080  # with embedded stores, for a trial',
    'cardpoll daemon --config /etc/cardpoll/cardpoll.yaml  # all settings from a file',
    'cardpoll daemon --config cardpoll.yaml --roles worker  # one more worker',
  ],
  settings: DAEMON_FLAGS,
  gone: { '--processes': GONE_SETTINGS.processes ?? '' },
  run: async ({ configInputs, launchers, io }) => {
    const load = () => loadDaemonConfig(configInputs);
    const config = await load();
    return launchers.daemon(config, load, (url) => {
      // For an operator at a terminal only: a service manager reads the log.
      if (io.stderr.isTTY !== true) return;
      const logs = config.logDir === null ? 'logging here' : `logs in ${config.logDir}`;
      const where = url === null ? 'running without a port' : `listening on ${url}`;
      io.stderr.write(`cardpoll daemon: ${where}, ${logs}; Ctrl-C stops it\n`);
    });
  },
});
