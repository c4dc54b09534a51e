// SIGTERM while many connections are idle, others dawdle and requests are under way: every request that has begun is
// answered, and no other client delays the end.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Daemon, Fleet } from '../support/fleet.ts';
import { waitFor } from '../support/processes.ts';
import { IMPORT_PATH, postHead, RawClient, TELL_WHEN_BEGUN } from '../support/raw-client.ts';

const [IDLE, SLOW, WORKING] = [200, 20, 20];
const LENGTH = 200;

let fleet: Fleet;
let daemon: Daemon;

beforeAll(async () => {
  fleet = await Fleet.start();
  daemon = await fleet.startDaemon();
});
afterAll(() => fleet.close());

const open = (count: number, text: string) =>
  Promise.all(Array.from({ length: count }, () => RawClient.to(new URL(daemon.url).host, text)));

it('answers what has begun and ends with 0', async () => {
  const idle = await open(IDLE, 'GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n');
  const slow = await open(SLOW, 'GET /livez HTTP/1.1\r\nHost: localh');
  const working = await open(WORKING, postHead(IMPORT_PATH, 'text/csv', LENGTH, TELL_WHEN_BEGUN));
  await waitFor(() => idle.every(({ received }) => received.includes('"status":"ok"')));
  await waitFor(() => working.every(({ received }) => received.includes('100 Continue')));
  daemon.process.signal('SIGTERM');
  await waitFor(() => idle.every(({ closed }) => closed), { what: 'idle connections to be closed' });
  for (const [index, { socket }] of working.entries()) {
    const body = `card_id,iccid\n${index + 1},${String(index + 1).padStart(20, '8')}\n`;
    socket.write(body + '\n'.repeat(LENGTH - body.length));
  }
  expect(await daemon.process.ended()).toMatchObject({ code: 0 });
  await waitFor(() => [...working, ...slow].every(({ closed }) => closed));
  for (const { received } of working) expect(received).toContain('"received":1');
});
