// What a gateway made for a test says about batches: that it takes none. And what a configuration says of a plain one.
import type { GatewayFacts } from '../../src/domain/limits/rate-limit.ts';

export const PLAIN_GATEWAY: GatewayFacts = { rateLimits: [], offers: () => true, cardsPerCall: () => 1 };

/** What every call of a gateway made for a test may begin with. */
export const PASS = { giveBack: () => {} };

export const ONE_CARD_A_CALL = {
  gather: async () => PASS,
  ready: async () => {},
  callBatch: () => Promise.reject(new Error('no batch was asked for')),
};
