// Rules between the settings of a gateway: a profile that cannot work is refused, with the place and what to change. Each
// reports its problem to the reader; none throws. Used by load-gateway.ts.

import type { AuthKind, GatewayConfig } from '../../domain/gateway/gateway-config.ts';
import {
  CREDENTIAL_PLACEHOLDERS,
  type CredentialPlaceholder,
  dataUnitIn,
  namesInBraces,
  type UnitWords,
} from '../../domain/gateway/profile-syntax.ts';
import { volumeIn } from '../../domain/gateway/volume.ts';
import { INTERFACE_NAMES, INTERFACES, type InterfaceName } from '../../domain/gateway-interface.ts';
import type { SettingReader } from '../reader.ts';
import type { InterfaceValues } from '../settings/profile-settings.ts';
import { nameOf, type Setting, waysToSet } from '../settings/setting.ts';
import { SETTINGS } from '../settings/settings.ts';
import { PARAMETER_NAME, TOKEN_HEADER } from './profile-kinds.ts';

const { auth, credentials } = SETTINGS;
/** Each of the others is for one kind: given for another kind, it would go unnoticed. */
const { hmacKey, ...ofOneKind } = credentials;

/** What each kind needs. */
const NEEDS: Readonly<Record<AuthKind, readonly Setting<unknown>[]>> = {
  none: [],
  bearer: [credentials.token],
  basic: [credentials.username, credentials.password],
  header: [credentials.token, auth.name],
  query: [credentials.token, auth.name],
  oauth2: [credentials.clientId, credentials.clientSecret, auth.tokenUrl],
  login: [auth.request, auth.token],
  hmac: [hmacKey],
};

/** The credentials that a request names. */
const OF_PLACEHOLDER: Readonly<Record<CredentialPlaceholder, Setting<unknown>>> = {
  username: credentials.username,
  client_id: credentials.clientId,
  password: credentials.password,
  client_secret: credentials.clientSecret,
  token: credentials.token,
};

export function checkCredentials(reader: SettingReader, config: GatewayConfig, areNeeded: boolean): void {
  const kind = config.auth.kind ?? (config.token === null ? 'none' : 'bearer');
  const requests = [config.interfaces, kind === 'login' ? config.auth.request : null];
  const named = namesInBraces(JSON.stringify(requests));
  const needs = [
    ...NEEDS[kind],
    ...CREDENTIAL_PLACEHOLDERS.filter((name) => named.includes(name)).map((name) => OF_PLACEHOLDER[name]),
  ];
  for (const setting of needs) {
    if (reader.isSet(setting) || (!areNeeded && setting.file !== null)) continue;
    reader.report(setting, `gateway.auth.kind ${kind} needs ${waysToSet(setting)}`);
  }
  for (const setting of Object.values(ofOneKind)) {
    if (!reader.isSet(setting) || reader.isUnusable(setting) || needs.includes(setting)) continue;
    reader.report(setting, `${nameOf(setting)} is set, but gateway.auth.kind ${kind} does not use it`);
  }
  if (kind === 'login' && (config.auth.expiresIn ?? config.auth.goodFor) === null) {
    const what = 'how long a token is good: gateway.auth.expires_in or gateway.auth.good_for';
    reader.report(auth.goodFor, `gateway.auth.kind login needs ${what}`);
  }
  if (kind === 'basic' && config.username?.includes(':') === true) {
    reader.report(credentials.username, `${nameOf(credentials.username)} must not have a colon`);
  }
  checkName(reader, config, kind);
  checkTokenUrl(reader, config);
}

function checkName(
  reader: SettingReader,
  { auth: { name, scheme } }: Pick<GatewayConfig, 'auth'>,
  kind: AuthKind,
): void {
  if (scheme !== null && kind !== 'header')
    reader.report(auth.scheme, `gateway.auth.scheme is for kind header, not for ${kind}`);
  if (name === null || (kind !== 'header' && kind !== 'query')) return;
  const allowed = kind === 'header' ? TOKEN_HEADER : PARAMETER_NAME;
  if (allowed.test(name)) return;
  const what = kind === 'query' ? 'query parameter' : kind;
  reader.report(auth.name, `gateway.auth.name: ${JSON.stringify(name)} is no name of a ${what} for a token`);
}

function checkTokenUrl(reader: SettingReader, { auth: { tokenUrl } }: Pick<GatewayConfig, 'auth'>): void {
  if (tokenUrl === null || /^\/[\x21-\x7e]*$/.test(tokenUrl)) return;
  const parsed = URL.canParse(tokenUrl) ? new URL(tokenUrl) : null;
  if (parsed !== null && /^https?:$/.test(parsed.protocol) && parsed.username + parsed.password === '')
    return;
  const form = 'an http or https URL without credentials, or a path that starts with /';
  reader.report(auth.tokenUrl, `gateway.auth.token_url: must be ${form}`);
}

/** What the readings of all interfaces share. */
export interface KnownOfReadings {
  /** A module may read the value. */
  readonly moduleReads: boolean;
  readonly unitWords: UnitWords;
}

/** @returns whether the interface can be called. */
export function checkInterface(
  reader: SettingReader,
  name: InterfaceName,
  given: InterfaceValues,
  known: KnownOfReadings,
): boolean {
  const problems = [...requestProblems(given), ...readingProblems(name, given, known)];
  const where = `gateway.interfaces.${name}`;
  for (const problem of problems) reader.reportBelow(where, problem);
  return problems.length === 0;
}

function requestProblems(given: InterfaceValues): string[] {
  const { path, method, query, headers, body, bodyText, form, batch } = given;
  const bodies = [body, bodyText, form].filter((each) => each !== null);
  const used = [path ?? '', ...[query, headers, ...bodies].map((part) => JSON.stringify(part ?? {}))].flatMap(
    namesInBraces,
  );
  const namesOne = ['iccid', 'card_id', 'vendor_id'].some((name) => used.includes(name));
  const namesMany = used.includes('iccids');
  return [
    path === null && 'path is missing (or write enabled: off if the gateway does not offer this)',
    bodies.length > 1 && 'has more than one of body, body_text and form: keep one',
    bodies.length === 0 &&
      Object.keys(headers ?? {}).some((name) => /^content-type$/i.test(name)) &&
      'has a content-type, but no body that it is for',
    method === 'GET' && bodies.length > 0 && 'GET has no body: put it in query, or use another method',
    batch === null && namesMany && '{iccids} needs batch: {size, items, iccid}',
    batch !== null && !namesMany && 'batch needs {iccids} in path, query, body or form',
    batch !== null &&
      namesOne &&
      'a batch names its cards by {iccids} only: remove {iccid}, {card_id} and {vendor_id}',
    path !== null &&
      batch === null &&
      !namesOne &&
      !namesMany &&
      'no card is named: put {iccid} in path, query, body or form',
  ].filter((problem) => problem !== false);
}

function readingProblems(
  name: InterfaceName,
  given: InterfaceValues,
  { moduleReads, unitWords }: KnownOfReadings,
): string[] {
  const { value, field, remaining, total, unit, unitValue, missingValue, batch, find, iccidValue } = given;
  const { answer } = INTERFACES[name];
  if (answer === null) return [];
  const hasValue = (value ?? field) !== null;
  const hasRemainder = (remaining ?? total) !== null;
  const meant = dataUnitIn(unit, unitWords);
  const volume = answer.kind === 'megabytes' ? ' (or remaining and total)' : '';
  return [
    !hasValue &&
      !hasRemainder &&
      !moduleReads &&
      `value is missing${volume}: where the answer has it, such as data.${answer.field}`,
    value !== null && field !== null && 'has both value and field: keep value',
    hasValue && hasRemainder && 'has both value and remaining: keep value, or remaining with total',
    hasRemainder &&
      (remaining === null || total === null) &&
      'remaining and total belong together: give both',
    unit !== null && unitValue !== null && 'has both unit and unit_value: keep one',
    meant !== unit &&
      `unit is ${unit}, but gateway.units says that this means ${meant}: write unit: ${meant}`,
    answer.kind === 'megabytes' &&
      missingValue !== null &&
      !(Number(volumeIn(missingValue, unit, unitWords)) >= 0) &&
      'missing_value is no volume, 0 or more',
    batch !== null && find !== null && 'has both batch and find: keep batch',
    (batch ?? find) !== null && iccidValue !== null && 'iccid_value is not needed: the list has the number',
  ].filter((problem) => problem !== false);
}

/** @param config as read; an interface with a problem is missing in it. */
export function checkProfile(reader: SettingReader, config: GatewayConfig): void {
  const { errors, interfaces, stoppedStatuses } = config;
  const report = (field: string, message: string) => reader.reportBelow(field, message);
  if (errors.path === null && errors.throttled.length + errors.unknownCard.length + errors.auth.length > 0) {
    report('gateway.errors', 'path is missing: where an answer has its error code');
  }
  if (reader.hasProblems) return;
  if (INTERFACE_NAMES.every((name) => interfaces[name] === null)) {
    report('gateway.interfaces', 'the profile offers none: there is nothing to poll');
  }
  if (interfaces.card_status === null) {
    for (const name of ['stop', 'start'] as const) {
      if (interfaces[name] !== null) {
        report(`gateway.interfaces.${name}`, 'needs card_status, which shows whether the call took effect');
      }
    }
  } else if (stoppedStatuses.length === 0) {
    report('gateway.stopped_statuses', 'is missing: which statuses mean that a card is stopped');
  }
}
