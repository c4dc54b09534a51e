// Makes the receivers of alerts: the shipped ones, and those of `webhooks.receivers`: a shipped one with secrets, a template in a
// file, or an inline one. Reads their secrets from files. Used by load-config.ts.
import { resolve } from 'node:path';
import { type Receiver, type Receivers, secretNamesIn } from '../../domain/alerts/receiver.ts';
import { unreadableText } from '../../platform/errors.ts';
import { isObject } from '../../platform/json.ts';
import { readSmallFile } from '../../platform/small-file.ts';
import { NO_FILE, parseSettings } from '../config-file.ts';
import { badConfigRights } from '../file-rights.ts';
import { all, BadValue, type Kind, refuse, shown } from '../kinds.ts';
import type { SettingReader } from '../reader.ts';
import { optional, type Setting } from '../settings/setting.ts';
import { SETTINGS } from '../settings/settings.ts';
import { didYouMean } from '../suggest.ts';
import { checkOwnUrl, receiverOf, TEMPLATE_KEYS } from './receiver-kinds.ts';
import { SHIPPED_RECEIVERS } from './shipped-receivers.ts';

const SETTING = SETTINGS.webhooks.receivers;

export async function shippedReceivers(): Promise<Receivers> {
  const names = Object.keys(SHIPPED_RECEIVERS);
  const read = await Promise.all(names.map(async (name) => [name, await shipped(name)] as const));
  return Object.fromEntries(read.map(([name, template]) => [name, receiverOf(template, 'shipped')]));
}

/** Reports every problem of every receiver. */
export async function readReceivers(reader: SettingReader): Promise<Receivers> {
  const receivers: Record<string, Receiver> = { ...(await shippedReceivers()) };
  for (const [name, given] of Object.entries(reader.read(SETTING) ?? {})) {
    try {
      receivers[name] = await receiverFrom(name, given, reader);
    } catch (error) {
      if (!(error instanceof BadValue)) throw error;
      reader.report(SETTING, `${reader.originOf(SETTING)}: ${name}: ${error.message}`);
    }
  }
  return receivers;
}

async function receiverFrom(
  name: string,
  given: string | Readonly<Record<string, unknown>>,
  reader: SettingReader,
): Promise<Receiver> {
  const { template, secrets, ...own } = typeof given === 'string' ? { template: given } : given;
  const base = template === undefined ? {} : await templateFrom(template, reader.directoryFor(SETTING));
  // The hosts stay with the shipped receiver, unless this one replaces it.
  const isOther = template !== name && Object.hasOwn(SHIPPED_RECEIVERS, String(template));
  const hosts = isOther ? { hosts: undefined } : {};
  const whole = Object.fromEntries(
    Object.entries({ ...base, ...hosts, ...own }).filter(([, value]) => value !== undefined),
  );
  const [receiver, values] = all(
    () => receiverOf(whole, 'configured'),
    () => secretsOf(name, secrets, [...secretNamesIn(whole), ...('signed' in whole ? ['sign'] : [])], reader),
  );
  const complete = { ...receiver, secrets: values };
  checkOwnUrl(complete);
  return complete;
}

async function templateFrom(template: unknown, directory: string): Promise<Record<string, unknown>> {
  if (typeof template !== 'string') refuse(`template: ${shown(template)} is no name and no file`);
  if (!/\/|\.ya?ml$/.test(template)) return shipped(template);
  const path = resolve(directory, template);
  let text: string;
  try {
    const badRights = badConfigRights(path, NO_FILE);
    if (badRights !== null) refuse(badRights);
    text = readSmallFile(path);
  } catch (error) {
    throw error instanceof BadValue ? error : new BadValue(unreadableText(path, error));
  }
  return parsed(text, path);
}

async function shipped(name: string): Promise<Record<string, unknown>> {
  const text = Object.hasOwn(SHIPPED_RECEIVERS, name) ? SHIPPED_RECEIVERS[name] : undefined;
  const names = Object.keys(SHIPPED_RECEIVERS);
  // A configured receiver cannot be the template of another, so there are no cycles.
  if (text === undefined)
    refuse(`${name} is no shipped receiver${didYouMean(name, names)}; there are ${names.join(', ')}`);
  return parsed(text, `receiver ${name}`);
}

async function parsed(text: string, origin: string): Promise<Record<string, unknown>> {
  const { values, problems } = await parseSettings(text, origin, TEMPLATE_KEYS);
  if (problems.length > 0) refuse(problems.map(({ message }) => message).join('; '));
  return Object.fromEntries([...values].map(([key, { raw }]) => [key, raw]));
}

const SECRET: Kind<string> = {
  accepts: 'one line of printable ASCII',
  parse: (raw) =>
    typeof raw === 'string' && /^[\x21-\x7e](?:[\x20-\x7e]{0,4094}[\x21-\x7e])?$/.test(raw)
      ? raw
      : refuse('is not one line of printable ASCII'),
};

/** From the file that the receiver names for it, otherwise as systemd and `secret_files` provide the secrets of settings. */
function secretsOf(
  name: string,
  files: unknown,
  wanted: readonly string[],
  reader: SettingReader,
): Record<string, string> {
  const paths = files ?? {};
  if (!isObject(paths)) refuse(`secrets: ${shown(files)} must hold names and files`);
  const unused = Object.keys(paths).filter((key) => !wanted.includes(key));
  if (unused.length > 0) refuse(`secrets: ${unused.join(', ')}: the template has no such secret`);
  const values = wanted.flatMap((secret) => {
    const key = `webhooks.receivers.${name}.${secret}`;
    const setting: Setting<string | null> = {
      // Not a real flag, but the name of the secret in messages.
      ...optional({ kind: SECRET, doc: '', flag: key }),
      ...{ env: null, yaml: null, file: { flag: null, env: '', credential: key } },
    };
    const path = paths[secret];
    const value =
      path === undefined
        ? reader.read(setting)
        : reader.readFile(setting, resolve(reader.directoryFor(SETTING), String(path)), key);
    return value === null ? [] : [[secret, value] as const];
  });
  return Object.fromEntries(values);
}
