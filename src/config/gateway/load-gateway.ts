// Makes the configuration of the gateway from settings, and fills in what the profile and the config file leave out.
// gateway-rules.ts checks that it can work. Used by load-config.ts.
import type {
  Code,
  ErrorRules,
  GatewayConfig,
  GatewayInterface,
  LoadedModule,
  Reading,
} from '../../domain/gateway/gateway-config.ts';
import { NO_WORDS } from '../../domain/gateway/profile-syntax.ts';
import {
  INTERFACE_NAMES,
  INTERFACES,
  type InterfaceName,
  perInterface,
} from '../../domain/gateway-interface.ts';
import type { SettingReader } from '../reader.ts';
import { INTERFACE_SETTINGS, type InterfaceValues, NOTHING_SAID } from '../settings/profile-settings.ts';
import type { Setting } from '../settings/setting.ts';
import { SETTINGS } from '../settings/settings.ts';
import { readGatewayTlsFiles } from '../tls-files.ts';
import {
  checkCredentials,
  checkInterface,
  checkProfile,
  type GivenInterface,
  type KnownOfReadings,
} from './gateway-rules.ts';
import { allRateLimits } from './rate-limits.ts';

export function readGateway(reader: SettingReader, module: LoadedModule | null): GatewayConfig {
  const values = reader.readAll(SETTINGS.gateway);
  const { success, stoppedStatuses, units } = reader.readAll(SETTINGS.answers);
  const known = { moduleReads: (module?.read ?? null) !== null, unitWords: units ?? NO_WORDS };
  const codeRule = success === 'http_status' ? null : success;
  const config = {
    ...values,
    ...reader.readAll(SETTINGS.credentials),
    // The rules refuse a missing URL before this value is used.
    url: values.url ?? '',
    tls: readGatewayTlsFiles(reader),
    auth: reader.readAll(SETTINGS.auth),
    success: codeRule,
    module,
    errors: errorsOf(reader, codeRule?.path ?? null),
    stoppedStatuses: stoppedStatuses ?? [],
    interfaces: perInterface((name) => readInterface(reader, name, known)),
    rateLimits: allRateLimits(reader.readAll(SETTINGS.pace)),
  };
  const offered = INTERFACE_NAMES.filter((name) => isOffered(givenFor(reader, name)));
  checkCredentials(reader, config, offered);
  checkProfile(reader, config, offered);
  return config;
}

function errorsOf(reader: SettingReader, successPath: string | null): ErrorRules {
  const { path, message, throttled, unknownCard, auth } = reader.readAll(SETTINGS.errors);
  const texts = (codes: readonly Code[] | null) => (codes ?? []).map(String);
  return {
    path: path ?? successPath,
    message,
    throttled: texts(throttled),
    unknownCard: texts(unknownCard),
    auth: texts(auth),
  };
}

/** @returns null when the interface is not offered, or cannot be used, which is reported. */
function readInterface(
  reader: SettingReader,
  name: InterfaceName,
  known: KnownOfReadings,
): GatewayInterface | null {
  const given = givenFor(reader, name);
  if (!isOffered(given)) return null;
  const isGood = checkInterface(reader, name, given, known);
  return isGood && given.unusable.length === 0 ? complete(name, given, known) : null;
}

function givenFor(reader: SettingReader, name: InterfaceName): GivenInterface {
  const settings = INTERFACE_SETTINGS[name];
  const values = { ...NOTHING_SAID, ...reader.readAll(settings) };
  const unusable = Object.keys(settings).filter((key) =>
    reader.isUnusable(settings[key] as Setting<unknown>),
  );
  return { ...values, unusable: unusable as ReadonlyArray<keyof InterfaceValues> };
}

function isOffered({ unusable, ...values }: GivenInterface): boolean {
  if (values.enabled === false) return false;
  return unusable.length > 0 || Object.values(values).some((value) => value !== null);
}

function complete(name: InterfaceName, given: InterfaceValues, known: KnownOfReadings): GatewayInterface {
  const { method, path, query, headers, body, bodyText, form, timeoutMs, batch, find, iccidValue, pending } =
    given;
  return {
    method: method ?? ((body ?? bodyText ?? form) === null ? 'GET' : 'POST'),
    path: path ?? '',
    query: query ?? {},
    headers: headers ?? {},
    body,
    bodyText,
    form,
    timeoutMs,
    reading: readingOf(name, given, known),
    batch,
    find,
    iccidValue,
    pending: pending === null ? null : { ...pending, values: pending.values ?? [] },
  };
}

function readingOf(
  name: InterfaceName,
  given: InterfaceValues,
  { unitWords }: KnownOfReadings,
): Reading | null {
  const { value, remaining, total, trueValues, unit, unitValue, missingValue: missing } = given;
  const { answer } = INTERFACES[name];
  if (answer === null) return null;
  if (remaining !== null && total !== null)
    return { kind: 'remainder', remaining, total, unit, unitValue, unitWords, missing };
  if (value === null) return null;
  switch (answer.kind) {
    case 'verified':
      return { kind: 'verified', value, trueValues: trueValues ?? [true], missing };
    case 'megabytes':
      return { kind: 'megabytes', value, unit, unitValue, unitWords, missing };
    case 'status':
      return { kind: 'status', value, missing };
  }
}
