// Rules between the settings of a gateway: refuse a profile that cannot work, with the place and what to change. Each reports its
// problem to the reader; none throws. Used by load-gateway.ts.

import type { AuthKind, GatewayConfig } from '../../domain/gateway/gateway-config.ts';
import {
  CREDENTIAL_PLACEHOLDERS,
  type CredentialPlaceholder,
  dataUnitIn,
  namesInBraces,
  type UnitWords,
} from '../../domain/gateway/profile-syntax.ts';
import { volumeIn } from '../../domain/gateway/volume.ts';
import { INTERFACES, type InterfaceName } from '../../domain/gateway-interface.ts';
import type { SettingReader } from '../reader.ts';
import type { InterfaceValues } from '../settings/profile-settings.ts';
import { nameOf, type Setting, waysToSet } from '../settings/setting.ts';
import { SETTINGS } from '../settings/settings.ts';
import { PARAMETER_NAME, TOKEN_HEADER } from './profile-kinds.ts';

const { auth, credentials } = SETTINGS;
/** Each of the others is for one kind of authentication: for another kind it would be ignored silently. */
const { hmacKey, ...ofOneKind } = credentials;

/** The required settings of each kind. */
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

/** @param offered interfaces, including those with a problem, which the configuration lacks. */
export function checkCredentials(
  reader: SettingReader,
  config: GatewayConfig,
  offered: readonly InterfaceName[],
): void {
  if (reader.isUnusable(auth.kind)) return;
  const kind = config.auth.kind ?? (config.token === null ? 'none' : 'bearer');
  const requests = [config.interfaces, kind === 'login' ? config.auth.request : null];
  const named = namesInBraces(JSON.stringify(requests));
  const needs = [
    ...NEEDS[kind],
    ...CREDENTIAL_PLACEHOLDERS.filter((name) => named.includes(name)).map((name) => OF_PLACEHOLDER[name]),
  ];
  for (const setting of needs) {
    if (!reader.isSet(setting))
      reader.report(setting, `gateway.auth.kind ${kind} needs ${waysToSet(setting)}`);
  }
  // Refused settings may name them.
  const namable = reader.isUnusable(auth.request)
    ? Object.values(OF_PLACEHOLDER)
    : offered.some((name) => config.interfaces[name] === null)
      ? [credentials.username, credentials.clientId]
      : [];
  for (const setting of Object.values(ofOneKind)) {
    if (!reader.isSet(setting) || reader.isUnusable(setting)) continue;
    if (needs.includes(setting) || namable.includes(setting)) continue;
    reader.report(setting, `${nameOf(setting)} is set, but gateway.auth.kind ${kind} does not use it`);
  }
  if (kind === 'login' && !reader.isSet(auth.expiresIn) && !reader.isSet(auth.goodFor)) {
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

/** Facts shared by the readings of all interfaces. */
export interface KnownOfReadings {
  /** A module may read the value. */
  readonly moduleReads: boolean;
  readonly unitWords: UnitWords;
}

/** The values of an interface, and the keys whose value was refused: only their presence is known. */
export type GivenInterface = InterfaceValues & { readonly unusable: ReadonlyArray<keyof InterfaceValues> };

/** Reports every problem between its settings. @returns whether there is none. */
export function checkInterface(
  reader: SettingReader,
  name: InterfaceName,
  given: GivenInterface,
  known: KnownOfReadings,
): boolean {
  const problems = [
    ...requestProblems(given),
    ...readingProblems(name, given, known),
    ...pendingProblems(name, given),
  ];
  const where = `gateway.interfaces.${name}`;
  for (const problem of problems) reader.reportBelow(where, problem);
  return problems.length === 0;
}

type Problem = string | false;

function requestProblems(given: GivenInterface): string[] {
  const { path, method, query, headers, body, bodyText, form, unusable } = given;
  const isThere = (key: keyof InterfaceValues) => given[key] !== null || unusable.includes(key);
  const bodies = (['body', 'bodyText', 'form'] as const).filter(isThere);
  const templates = [
    path ?? '',
    ...[query, headers, body, bodyText, form].map((part) => JSON.stringify(part ?? {})),
  ];
  const used = templates.flatMap(namesInBraces);
  const namesOne = ['iccid', 'card_id', 'vendor_id'].some((name) => used.includes(name));
  const namesMany = used.includes('iccids');
  // A refused part may contain any name.
  const areNamesKnown = !(['path', 'query', 'headers', ...bodies] as const).some((key) =>
    unusable.includes(key),
  );
  const isBatch = isThere('batch');
  const problems: Problem[] = [
    !isThere('path') && 'path is missing (or write enabled: off if the gateway does not offer this)',
    bodies.length > 1 && 'has more than one of body, body_text and form: keep one',
    bodies.length === 0 &&
      Object.keys(headers ?? {}).some((name) => /^content-type$/i.test(name)) &&
      'has a content-type, but no body that it is for',
    method === 'GET' && bodies.length > 0 && 'GET has no body: put it in query, or use another method',
    !isBatch && namesMany && '{iccids} needs batch: {size, items, iccid}',
    isBatch && !namesMany && areNamesKnown && 'batch needs {iccids} in path, query, body or form',
    isBatch &&
      namesOne &&
      'a batch names its cards by {iccids} only: remove {iccid}, {card_id} and {vendor_id}',
    path !== null &&
      !isBatch &&
      !namesOne &&
      !namesMany &&
      areNamesKnown &&
      'no card is named: put {iccid} in path, query, body or form',
  ];
  return problems.filter((problem) => problem !== false);
}

function readingProblems(
  name: InterfaceName,
  given: GivenInterface,
  { moduleReads, unitWords }: KnownOfReadings,
): string[] {
  const { unit, missingValue, unusable } = given;
  const { answer } = INTERFACES[name];
  if (answer === null) return [];
  const isThere = (key: keyof InterfaceValues) => given[key] !== null || unusable.includes(key);
  const hasValue = isThere('value');
  const [hasRemaining, hasTotal] = [isThere('remaining'), isThere('total')];
  const hasRemainder = hasRemaining || hasTotal;
  const meant = dataUnitIn(unit, unitWords);
  const volume = answer.kind === 'megabytes' ? ' (or remaining and total)' : '';
  const problems: Problem[] = [
    !hasValue &&
      !hasRemainder &&
      !moduleReads &&
      `value is missing${volume}: where the answer has it, such as data.${answer.field}`,
    hasValue && hasRemainder && 'has both value and remaining: keep value, or remaining with total',
    hasRemaining !== hasTotal && 'remaining and total belong together: give both',
    isThere('unit') && isThere('unitValue') && 'has both unit and unit_value: keep one',
    meant !== unit &&
      `unit is ${unit}, but gateway.units says that this means ${meant}: write unit: ${meant}`,
    answer.kind === 'megabytes' &&
      missingValue !== null &&
      !(Number(volumeIn(missingValue, unit, unitWords)) >= 0) &&
      'missing_value is no volume, 0 or more',
    isThere('batch') && isThere('find') && 'has both batch and find: keep batch',
    (isThere('batch') || isThere('find')) &&
      isThere('iccidValue') &&
      'iccid_value is not needed: the list has the number',
  ];
  return problems.filter((problem) => problem !== false);
}

function pendingProblems(name: InterfaceName, { pending }: GivenInterface): string[] {
  if (pending === null) return [];
  const isEffect = INTERFACES[name].answer === null;
  const { path, values } = pending;
  const problems: Problem[] = [
    values === null &&
      (path !== null || !isEffect) &&
      'pending needs values: which ones mean that the vendor still works on it',
    values !== null &&
      path === null &&
      isEffect &&
      'pending needs path: where the answer has one of its values',
  ];
  return problems.filter((problem) => problem !== false);
}

/** @param config as read, without interfaces that have a problem. @param offered includes those interfaces. */
export function checkProfile(
  reader: SettingReader,
  { errors, stoppedStatuses, interfaces }: Pick<GatewayConfig, 'errors' | 'stoppedStatuses' | 'interfaces'>,
  offered: readonly InterfaceName[],
): void {
  const report = (field: string, message: string) => reader.reportBelow(field, message);
  const codes = errors.throttled.length + errors.unknownCard.length + errors.auth.length;
  const isPathRefused = [SETTINGS.errors.path, SETTINGS.answers.success].some((setting) =>
    reader.isUnusable(setting),
  );
  if (errors.path === null && codes > 0 && !isPathRefused) {
    report('gateway.errors', 'path is missing: where an answer has its error code');
  }
  if (offered.length === 0) {
    // Another problem may be the reason.
    if (!reader.hasProblems)
      report('gateway.interfaces', 'the profile offers none: there is nothing to poll');
    return;
  }
  if (!offered.includes('card_status')) {
    for (const name of ['stop', 'start'] as const) {
      if (offered.includes(name)) {
        report(`gateway.interfaces.${name}`, 'needs card_status, which shows whether the call took effect');
      }
    }
  } else if (stoppedStatuses.length === 0 && !reader.isUnusable(SETTINGS.answers.stoppedStatuses)) {
    report('gateway.stopped_statuses', 'is missing: which statuses mean that a card is stopped');
  }
  const { path = '', values = [] } = interfaces.card_status?.pending ?? {};
  const both = values.filter((value) => path === null && stoppedStatuses.includes(String(value)));
  if (both.length > 0) {
    const what = `${both.join(', ')} cannot mean both stopped and pending`;
    report('gateway.interfaces.card_status', `pending: ${what}: see gateway.stopped_statuses`);
  }
}
