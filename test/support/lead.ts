// A lead that is lost in the middle of what is done with it.

export class Lead {
  /** Looks at it that still find it held. */
  looksLeft = Number.POSITIVE_INFINITY;

  /** As the engine's `requireLead`. */
  readonly require = (): void => {
    if (this.looksLeft === 0) throw new Error('lead lost');
    this.looksLeft -= 1;
  };
}
