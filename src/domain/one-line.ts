// The form of names and reasons that operators write: they are shown on terminals, in logs and in the audit trail.

/**
 * No control characters, line separators, or marks that change the direction of what follows: these make a text look like
 * another one. Joiners are allowed, since some languages need them.
 */
export const ONE_LINE = /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]*$/u;
