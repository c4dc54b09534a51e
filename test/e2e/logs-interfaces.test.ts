// The signs of interfaces that the config file adds, as `cardpoll logs` reads it: from --config or the environment, next to
// --roots, and refused where it is wrong and needed.
import { expect, it } from 'vitest';
import { cliHere } from '../support/cli-here.ts';
import { LogTree } from '../support/log-tree.ts';

const CARD = '8986001234567890123';
const LINES = `time=2026-02-01T10:00:00Z path=/gw/auth/check iccid=${CARD}
time=2026-02-01T10:00:01Z iccid=${CARD} auth_state=1
time=2026-02-01T10:00:02Z msg=认证完成 iccid=${CARD}
time=2026-02-01T10:00:03Z path=/gw/real-name/query iccid=${CARD}
`;
const CONFIG = `log_search:
  interfaces:
    realname: { paths: [auth/check], fields: [auth_state], phrases: [认证] }
`;

it('count together with the built-in signs', async () => {
  const tree = new LogTree();
  tree.write('logs/gw.log', LINES);
  const command = ['logs', '--roots', tree.path('logs'), '--iccid', CARD, '--count-only'];
  const config = tree.write('cardpoll.yaml', CONFIG);
  const realname = [...command, '--interface', 'realname'];
  expect(await cliHere(realname)).toMatchObject({ code: 0, stdout: '1\n' });
  expect(await cliHere([...realname, '--config', config])).toMatchObject({ code: 0, stdout: '4\n' });
  const env = { CARDPOLL_CONFIG: config };
  expect(await cliHere([...realname, '--strict'], { env })).toMatchObject({ code: 0, stdout: '2\n' });
});

it('are refused where they are wrong and asked for', async () => {
  const tree = new LogTree();
  const config = tree.write('cardpoll.yaml', CONFIG.replace('auth/check', '/auth'));
  const command = tree.searchCommand(CARD, '--config', config);
  expect(await cliHere(command), 'no interface is asked for').toMatchObject({ code: 1 });
  const { code, stdout, stderr } = await cliHere([...command, '--interface', 'realname']);
  expect([code, stdout]).toEqual([78, '']);
  expect(stderr).toContain('log_search.interfaces.realname.paths');
});
