// Reads the profile of a gateway: the name of a shipped one, or a YAML file. A profile is the `gateway` section of the config
// file, without its secrets; the config file overrides it (docs/gateways.md). Used by reader.ts and by `cardpoll gateway
// profiles`.
import { resolve } from 'node:path';
import { unreadableText } from '../../platform/errors.ts';
import { readSmallFile } from '../../platform/small-file.ts';
import { type ConfigFile, NO_FILE, parseSettings } from '../config-file.ts';
import { badConfigRights } from '../file-rights.ts';
import { didYouMean } from '../suggest.ts';
import ONE_NCE from './profiles/1nce.yaml';
import CISCO from './profiles/cisco-control-center.yaml';
import DEFAULT from './profiles/default.yaml';
import EMNIFY from './profiles/emnify.yaml';
import HOLOGRAM from './profiles/hologram.yaml';
import HUAWEI from './profiles/huawei-gsl.yaml';
import ONELINK from './profiles/onelink.yaml';
import ONELINK_BATCH from './profiles/onelink-batch.yaml';
import TELCO_VISION from './profiles/telco-vision-ocs.yaml';
import TELNYX from './profiles/telnyx.yaml';
import TWILIO from './profiles/twilio-super-sim.yaml';

interface ShippedProfile {
  readonly name: string;
  readonly text: string;
}

export const SHIPPED_PROFILES: readonly ShippedProfile[] = [
  { name: 'default', text: DEFAULT },
  { name: '1nce', text: ONE_NCE },
  { name: 'cisco-control-center', text: CISCO },
  { name: 'emnify', text: EMNIFY },
  { name: 'hologram', text: HOLOGRAM },
  { name: 'huawei-gsl', text: HUAWEI },
  { name: 'onelink', text: ONELINK },
  { name: 'onelink-batch', text: ONELINK_BATCH },
  { name: 'telco-vision-ocs', text: TELCO_VISION },
  { name: 'telnyx', text: TELNYX },
  { name: 'twilio-super-sim', text: TWILIO },
];

const PREFIX = 'gateway.';
/** The config file names the profile, so a profile cannot name one. */
const NOT_IN_A_PROFILE = ['gateway.profile'];

/**
 * @param name of a shipped profile, or a path: it has a slash, or ends in .yaml or .yml. @param directory base of a relative
 * path. @param knownPaths dotted paths of all settings.
 * @returns values by the paths that they have in the config file.
 */
export async function readProfile(
  name: string,
  directory: string,
  knownPaths: readonly string[],
): Promise<ConfigFile> {
  const found = textOf(name, directory);
  if (typeof found === 'string')
    return { ...NO_FILE, problems: [{ field: 'gateway.profile', message: `gateway.profile: ${found}` }] };
  const known = knownPaths
    .filter((path) => path.startsWith(PREFIX) && !NOT_IN_A_PROFILE.includes(path))
    .map((path) => path.slice(PREFIX.length));
  const { values, problems, isReadable } = await parseSettings(found.text, found.origin, known);
  return {
    isReadable,
    values: new Map([...values].map(([path, value]) => [`${PREFIX}${path}`, value])),
    problems: problems.map(({ field, message }) => ({ field: `${PREFIX}${field}`, message })),
  };
}

/** @returns the text and its source, or the problem. */
function textOf(name: string, directory: string): { text: string; origin: string } | string {
  if (!/\/|\.ya?ml$/.test(name)) {
    const shipped = SHIPPED_PROFILES.find((profile) => profile.name === name);
    if (shipped !== undefined) return { text: shipped.text, origin: `profile ${name}` };
    const names = SHIPPED_PROFILES.map((profile) => profile.name);
    return `${name} is no shipped profile${didYouMean(name, names)}; there are ${names.join(', ')}`;
  }
  const path = resolve(directory, name);
  try {
    const badRights = badConfigRights(path, NO_FILE);
    return badRights ?? { text: readSmallFile(path), origin: path };
  } catch (error) {
    return unreadableText(path, error);
  }
}

/** Keys of the profile that a key of the config file also replaces; empty: the whole interface. */
const INSTEAD: Readonly<Record<string, string>> = {
  path: '',
  unit: 'unit_value',
  unit_value: 'unit',
};

/**
 * The profile overridden by the config file. A key of the config file replaces the same key of the profile; a path in the config
 * file replaces the profile's whole interface; unit and its place replace each other.
 */
export function underConfigFile(profile: ConfigFile, { values }: ConfigFile): ConfigFile['values'] {
  const replaced = [...values.keys()].flatMap((path) => {
    const [, own, key = ''] = /^(gateway\.interfaces\.\w+\.)(\w+)$/.exec(path) ?? [];
    const other = INSTEAD[key];
    return own === undefined || other === undefined ? [] : own + other;
  });
  const kept = [...profile.values].filter(([path]) => !replaced.some((prefix) => path.startsWith(prefix)));
  return new Map(kept);
}
