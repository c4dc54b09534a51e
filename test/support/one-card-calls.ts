// What a gateway made for a test says about batches: that it takes none.

export const ONE_CARD_A_CALL = {
  cardsPerCall: () => 1,
  ready: async () => {},
  callBatch: () => Promise.reject(new Error('no batch was asked for')),
};
