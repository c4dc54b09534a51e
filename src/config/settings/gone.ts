// Removed settings of earlier versions, and their replacements. A configuration that still has one is refused with that sentence.

const FIELD = 'write value: data.FIELD, and name the card as a profile does: body: { iccid: "{iccid}" }';
const ofFields = ['realname', 'flow', 'card_status'].flatMap((name) => [
  // In the config file and in a profile.
  [`gateway.interfaces.${name}.field`, FIELD],
  [`interfaces.${name}.field`, FIELD],
]);

/** By their key in the config file; the flag follows from it. */
export const GONE_SETTINGS: Readonly<Record<string, string>> = {
  processes:
    'a daemon is one process now: start more instances instead, with systemctl enable --now cardpoll@1 cardpoll@2, or cardpoll daemon --roles worker',
  'api.refusal_limit_per_minute': 'delete it: an address may send 300 refused requests a minute',
  'api.body_timeout_ms': 'delete it: the body of a request may take 30 s, and 30 s per KiB in an import',
  'api.max_open_condition_triggers': 'delete it: a task type may have 10 open triggers by condition',
  ...Object.fromEntries(ofFields),
};

/** The replacement of a variable, given without its prefix; undefined: no setting had it. */
export function insteadOfVariable(name: string): string | undefined {
  const key = Object.keys(GONE_SETTINGS).find((one) => one.toUpperCase().replaceAll('.', '_') === name);
  return key === undefined ? undefined : GONE_SETTINGS[key];
}
