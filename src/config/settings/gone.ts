// Settings of earlier versions, and what to do instead. A configuration that still has one is refused with that sentence.

const FIELD = 'write value: data.FIELD, and name the card as a profile does: body: { iccid: "{iccid}" }';
const ofFields = ['realname', 'flow', 'card_status'].flatMap((name) => [
  // In the config file and in a profile.
  [`gateway.interfaces.${name}.field`, FIELD],
  [`interfaces.${name}.field`, FIELD],
]);

/** By their key in the config file; the variable and the flag follow from it. */
export const GONE_SETTINGS: Readonly<Record<string, string>> = {
  processes:
    'a daemon is one process now: start more instances instead, with systemctl enable --now cardpoll@1 cardpoll@2, or cardpoll daemon --roles worker',
  ...Object.fromEntries(ofFields),
};
