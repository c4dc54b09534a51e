// Settings of earlier versions, and what to do instead. A configuration that still has one is refused with that sentence.

/** By their key in the config file; the variable and the flag follow from it. */
export const GONE_SETTINGS: Readonly<Record<string, string>> = {
  processes:
    'a daemon is one process now: start more instances instead, with systemctl enable --now cardpoll@1 cardpoll@2, or cardpoll daemon --roles worker',
};
