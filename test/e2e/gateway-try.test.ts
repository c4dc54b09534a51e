// `cardpoll gateway try` as an operator runs it: no daemon, no stores, and credentials by variable.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { cliHere, type HereResult } from '../support/cli-here.ts';
import { CISCO_CREDENTIALS, startCiscoControlCenter } from '../support/gateways/cisco-control-center.ts';
import type { VendorGateway } from '../support/gateways/vendor-gateway.ts';
import { runCli } from '../support/processes.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const ICCID = '8988216716970004975';
let gateway: VendorGateway;
beforeAll(async () => {
  gateway = await startCiscoControlCenter();
});
afterAll(() => gateway.close());
beforeEach(() => {
  gateway.troubles.instead = null;
});

async function run(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  command: typeof cliHere = cliHere,
): Promise<HereResult> {
  const { username, password } = CISCO_CREDENTIALS;
  const result = await command(
    ['gateway', 'try', '--gateway-url', gateway.url, '--profile', 'cisco-control-center', ...args],
    { env: { CARDPOLL_GATEWAY_USERNAME: username, CARDPOLL_GATEWAY_PASSWORD: password, ...env } },
  );
  for (const secret of [password, btoa(`${username}:${password}`)]) {
    expect(result.stdout + result.stderr).not.toContain(secret);
  }
  return result;
}

const changes = () => [Object.keys(gateway.stats().stops), Object.keys(gateway.stats().starts)];

it('shows what was sent, answered and read, and exits with 0', async () => {
  const { code, stdout, stderr } = await run(['--iccid', ICCID], {}, runCli);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toContain(`GET ${gateway.url}/rws/api/v1/devices/${ICCID}/ctdUsages`);
  expect(stdout).toContain('authorization: ***');
  expect(stdout).toMatch(/answer +200 \{.*"ctdDataUsage"/);
  expect(stdout).toMatch(/read \d+ MB from ctdDataUsage \(bytes\)/);
  expect(stdout).toContain('read "ACTIVATED" from status');
  expect(changes()).toEqual([[], []]);
});

it('prints the same for programs', async () => {
  const { code, stdout } = await run(['--iccid', ICCID, '--interface', 'card_status', '-o', 'json']);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    items: [{ interface: 'card_status', ok: true, value: 'ACTIVATED', status: 200, hint: null }],
  });
});

it('says what to change when an answer does not fit, and exits with 1', async () => {
  gateway.troubles.instead = { body: { usage: { bytes: 12 } } };
  const { code, stdout } = await run(['--iccid', ICCID, '--interface', 'flow']);
  expect(code).toBe(1);
  expect(stdout).toContain('malformed: ctdDataUsage is missing');
  expect(stdout).toContain('usage.bytes');
});

it('exits with 1 when nothing answers', async () => {
  const { code, stdout } = await run(['--iccid', ICCID, '--gateway-url', 'http://127.0.0.1:1']);
  expect(code).toBe(1);
  expect(stdout).toContain('answer  none\n');
  expect(stdout).toContain('check gateway.url');
});

it('lists the shipped profiles', async () => {
  const { code, stdout } = await cliHere(['gateway', 'profiles']);
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^NAME +SUMMARY\ndefault +The profile of/)]);
});

it('exits with 1 when the gateway does not accept the credentials', async () => {
  const { code, stdout } = await run(['--iccid', ICCID], { CARDPOLL_GATEWAY_PASSWORD: 'wrong-password' });
  expect(code).toBe(1);
  expect(stdout).toContain('check gateway.auth and the credentials');
  expect(stdout).not.toContain('wrong-password');
});

it('stops a card only if that is named and confirmed', async () => {
  const refused = await run(['--iccid', ICCID, '--interface', 'stop']);
  expect([refused.code, refused.stderr]).toEqual([64, expect.stringContaining('--yes')]);
  const planned = await run(['--iccid', ICCID, '--interface', 'stop', '--dry-run']);
  expect([planned.code, planned.stdout]).toEqual([0, `Stops card ${ICCID} at ${gateway.url}.\n`]);
  expect(changes()).toEqual([[], []]);
  const stopped = await run(['--iccid', ICCID, '--interface', 'stop', '--yes']);
  expect([stopped.code, stopped.stdout]).toEqual([0, expect.stringContaining('the call succeeded')]);
  expect(changes()).toEqual([[ICCID], []]);
});

it.each([
  [64, 'an unknown interface', ['--iccid', ICCID, '--interface', 'usage']],
  [64, 'no card', []],
  [64, 'a card that is no ICCID', ['--iccid', '4711']],
  [78, 'an unknown profile', ['--iccid', ICCID, '--profile', 'cisco']],
])('exits with %d for %s', async (expected, _, args) => {
  const { code, stderr, stdout } = await run(args);
  expect([code, stdout]).toEqual([expected, '']);
  expect(stderr).toMatch(/^cardpoll: /);
});

it('exits with 78 without credentials, and names their variables', async () => {
  const { code, stderr } = await run(['--iccid', ICCID], { CARDPOLL_GATEWAY_PASSWORD: '' });
  expect([code, stderr]).toEqual([78, expect.stringContaining('CARDPOLL_GATEWAY_PASSWORD')]);
});

it('says how to find the wrong line of a module, but not what is there', async () => {
  const dir = temporaryDirectory('module');
  const module = join(dir, 'importing.mjs');
  writeFileSync(module, 'export { sign } from "./part.mjs";\n');
  writeFileSync(join(dir, 'part.mjs'), 'const sign = () => ({\n  key: "secret of a vendor" +,\n});\n');
  writeFileSync(join(dir, 'cardpoll.yaml'), 'gateway: { module: ./importing.mjs }');
  // The built binary: vitest loads modules its own way.
  const { code, stderr } = await run(['--iccid', ICCID, '--config', join(dir, 'cardpoll.yaml')], {}, runCli);
  const says = `${module}: Unexpected token ',': run node ${module}, which shows the line`;
  expect([code, stderr]).toEqual([78, expect.stringContaining(says)]);
  expect(stderr).not.toContain('secret of a vendor');
});

it('says that the vendor still works on a call, as the profile has it', async () => {
  const config = join(temporaryDirectory('pending'), 'cardpoll.yaml');
  writeFileSync(config, 'gateway: { interfaces: { stop: { pending: { for: 5m } } } }\n');
  const card = '8988216716970004983';
  const { code, stdout } = await run(['--config', config, '--iccid', card, '--interface', 'stop', '--yes']);
  expect(code).toBe(0);
  expect(stdout).toContain('the call is under way: the vendor works on it, for 5 min at most');
});
