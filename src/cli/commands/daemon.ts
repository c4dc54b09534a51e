// `cardpoll daemon`: reads its configuration and hands it to the composition root.
import { loadDaemonConfig } from '../../config/load-config.ts';
import { SETTINGS } from '../../config/settings.ts';
import { defineCommand } from '../command.ts';

export const daemon = defineCommand({
  name: 'daemon',
  summary: 'Poll the fleet and serve the admin API until stopped',
  examples: [
    ['cardpoll daemon --gateway-url http://gateway:8080', 'embedded stores, to try it'],
    ['cardpoll daemon --config /etc/cardpoll/cardpoll.yaml', 'everything from a file'],
    ['cardpoll daemon --config cardpoll.yaml --roles worker', 'one more worker'],
  ],
  settings: Object.values(SETTINGS).filter(
    ({ flag, scopes }) => flag !== null && scopes.some((scope) => scope === 'daemon'),
  ),
  run: async ({ configInputs, launchers }) => {
    const load = () => loadDaemonConfig(configInputs);
    return launchers.daemon(await load(), load);
  },
});
