// A gateway that takes one card or many a call, for `npm run bench:end-to-end -- --batch N`, and the profiles for both. It counts
// calls and cards.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { stringify } from 'yaml';
import { SimulatedFleet } from '../../src/gateway/simulate/simulated-fleet.ts';

const CHANGE_RATE = 0.2;

export interface BatchGateway {
  readonly url: string;
  counts(): { readonly calls: number; readonly cards: number };
  close(): Promise<void>;
}

export async function startBatchGateway(latencyMs: number): Promise<BatchGateway> {
  const fleet = new SimulatedFleet(null, CHANGE_RATE);
  let [calls, cards] = [0, 0];
  const currentValue = (path: string, iccid: string) => {
    if (path === '/flow') return fleet.readUsed(iccid);
    return path === '/realname' ? fleet.realStatus(iccid) : fleet.cardStatus(iccid);
  };
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { iccids } = JSON.parse(await text(request)) as { iccids: string[] };
    for (const iccid of iccids) fleet.knows(iccid);
    calls += 1;
    cards += iccids.length;
    const list = iccids.map((iccid) => ({ iccid, value: currentValue(request.url ?? '', iccid) }));
    setTimeout(() => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ code: 200, list }));
    }, latencyMs);
  };
  const server = createServer(
    { keepAliveTimeout: 600_000 },
    (request, response) => void serve(request, response),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counts: () => ({ calls, cards }),
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** @param size cards of a call; 1: a call for each card. */
export function profileFor(size: number): string {
  const interfaceAt = (path: string) => ({
    method: 'POST',
    path,
    ...(size === 1
      ? { body: { iccids: ['{iccid}'] }, value: 'list[0].value' }
      : { body: { iccids: '{iccids}' }, value: 'value', batch: { size, items: 'list', iccid: 'iccid' } }),
  });
  return stringify({
    success: { path: 'code', values: [200] },
    stopped_statuses: ['stopped'],
    interfaces: {
      realname: interfaceAt('/realname'),
      flow: interfaceAt('/flow'),
      card_status: interfaceAt('/card_status'),
    },
  });
}
