// Port section of live-store.ts: runs a request once, even when it is sent again.

/** The answer to a finished request. */
export interface RequestAnswer {
  readonly status: number;
  readonly body: string;
}

export type RequestClaim =
  | { readonly state: 'granted' } // this attempt, and no other, may run the request now
  | { readonly state: 'running' } // another attempt runs the request
  | { readonly state: 'answered'; readonly answer: RequestAnswer }
  | { readonly state: 'different' }; // the key was used for another request

/** Makes a request that carries a key of its sender's choice run once, on whichever instance it arrives. */
export interface RequestClaims {
  /**
   * Claims the key for one attempt at a request. The claim ends by itself after `leaseMs`, so an attempt of an instance
   * that died does not block others for longer.
   */
  claim(
    key: string,
    request: { readonly attempt: string; readonly fingerprint: string; readonly leaseMs: number },
  ): Promise<RequestClaim>;
  /** Stores the answer for `keepMs`; does nothing when this attempt no longer holds the claim. */
  complete(key: string, attempt: string, answer: RequestAnswer, keepMs: number): Promise<void>;
  /** Frees the key, as if it had never been used; does nothing when this attempt no longer holds the claim. */
  abandon(key: string, attempt: string): Promise<void>;
}
