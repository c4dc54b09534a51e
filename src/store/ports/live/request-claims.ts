// Port section of live-store.ts: requests that may be sent again, run once.

/** What a finished request was answered. */
export interface RequestAnswer {
  readonly status: number;
  readonly body: string;
}

export type RequestClaim =
  | { readonly state: 'granted' } // this attempt, and no other, may run the request now
  | { readonly state: 'running' } // another attempt is at it
  | { readonly state: 'answered'; readonly answer: RequestAnswer }
  | { readonly state: 'different' };

// the key stands for another request

/** Makes a request that carries a key of its sender's choice run once, on whichever instance it arrives. */
export interface RequestClaims {
  /**
   * Claims the key for one attempt at a request. The claim ends by itself after `leaseMs`: an attempt whose instance
   * died keeps nobody away for longer.
   */
  claim(
    key: string,
    request: { readonly attempt: string; readonly fingerprint: string; readonly leaseMs: number },
  ): Promise<RequestClaim>;
  /** Keeps the answer for `keepMs`; does nothing when the claim is no longer this attempt's. */
  complete(key: string, attempt: string, answer: RequestAnswer, keepMs: number): Promise<void>;
  /** Frees the key at once, as if it had never been used; does nothing when the claim is no longer this attempt's. */
  abandon(key: string, attempt: string): Promise<void>;
}
