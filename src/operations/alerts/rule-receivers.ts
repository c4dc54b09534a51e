// Checks that the URL and the secret of a rule fit its receiver. Used by alerts.ts.
import { isDeepStrictEqual } from 'node:util';
import type { AlertRuleFields } from '../../domain/alerts/alert-rule.ts';
import {
  joinsByKey,
  missingSecrets,
  ownUrlOf,
  type Receiver,
  type Receivers,
  receiverNamed,
  STANDARD,
  secretOfRule,
  sentSecrets,
  webhookFormatOf,
} from '../../domain/alerts/receiver.ts';
import {
  ROBOT_SECRET_FORM,
  receiverOf,
  robotSecretIn,
  WEBHOOK_SECRET_FORM,
  webhookSecretsIn,
} from '../../domain/alerts/webhook.ts';
import type { ReceiverReport } from '../../resources/alerts.ts';

/** The webhook fields of a request; undefined: unchanged. */
export interface GivenWebhook {
  readonly webhookUrl?: string | null | undefined;
  readonly webhookSecret?: string | null | undefined;
}

type Fitted = Pick<AlertRuleFields, 'webhookUrl' | 'webhookSecrets' | 'webhookGrouped'>;

interface Problems {
  readonly webhookTemplate: string | null;
  readonly webhookUrl: string | null;
  readonly webhookSecret: string | null;
}

/**
 * @param rule after the change. @param before null: a new rule. @returns the fields as the receiver needs them, and the problems.
 */
export function fitReceiver(
  rule: AlertRuleFields,
  given: GivenWebhook,
  before: AlertRuleFields | null,
  receivers: Receivers,
): Fitted & { readonly problems: Problems } {
  const { webhookUrl: url, webhookSecrets: kept } = rule;
  const name = webhookFormatOf(rule.webhookFormat, url, receivers);
  const receiver = receiverNamed(name, receivers);
  const isUnknown = receiver === undefined && name !== STANDARD;
  const webhookGrouped = rule.webhookGrouped && (receiver === undefined || !joinsByKey(receiver));
  // A changed configuration must not keep an operator from disabling the rule.
  if (
    before !== null &&
    given.webhookSecret === undefined &&
    isDeepStrictEqual(webhookIn(rule), webhookIn(before))
  )
    return { webhookUrl: url, webhookSecrets: kept, webhookGrouped, problems: NO_PROBLEMS };
  const former = before && webhookFormatOf(before.webhookFormat, before.webhookUrl, receivers);
  const formerUrl = ownUrl(former === null ? undefined : receiverNamed(former, receivers));
  const own = rule.notifyChannels.includes('webhook') ? ownUrl(receiver) : null;
  // The former receiver's own URL does not apply to another receiver.
  const isForeign = given.webhookUrl === undefined && url !== null && url === formerUrl;
  const rest = isForeign && !isUnknown ? null : url;
  const webhookUrl = own ?? rest;
  const secrets =
    given.webhookSecret === undefined
      ? kept.length === 0
        ? kept
        : secretsOf(receiver, kept.join(','))
      : secretsOf(receiver, given.webhookSecret);
  const isMoved =
    before !== null &&
    webhookUrl !== null &&
    (former !== name || originOf(before.webhookUrl) !== originOf(webhookUrl));
  const isKept = given.webhookSecret === undefined && kept.length > 0;
  const tellsSecret = receiver !== undefined && sentSecrets(receiver).length > 0;
  return {
    webhookUrl,
    webhookSecrets: secrets ?? [],
    webhookGrouped,
    problems: {
      webhookTemplate: isUnknown ? unknownText(receivers) : null,
      webhookUrl:
        own !== null && given.webhookUrl && given.webhookUrl !== own
          ? `must be left out: ${name} has a URL of its own`
          : null,
      webhookSecret:
        // Otherwise an unreadable secret could be sent to another server.
        (tellsSecret && isKept && isMoved
          ? 'must be given again: it would be sent to another receiver'
          : null) ?? secretProblem(name, receiver, secrets),
    },
  };
}

const NO_PROBLEMS: Problems = { webhookTemplate: null, webhookUrl: null, webhookSecret: null };

function webhookIn({ webhookFormat, webhookUrl, notifyChannels }: AlertRuleFields) {
  return { webhookFormat, webhookUrl, notifyChannels };
}

function ownUrl(receiver: Receiver | undefined): string | null {
  return receiver === undefined ? null : ownUrlOf(receiver);
}

function originOf(url: string | null | undefined): string | null {
  return url ? receiverOf(url) : null;
}

/** The receiver could not check signatures by keys of another format. @returns null: no key fits. */
function secretsOf(receiver: Receiver | undefined, text: string | null): readonly string[] | null {
  if (text === null) return [];
  if (receiver === undefined) return webhookSecretsIn(text);
  return secretOfRule(receiver) === null ? null : robotSecretIn(text);
}

function secretProblem(
  name: string,
  receiver: Receiver | undefined,
  secrets: readonly string[] | null,
): string | null {
  if (receiver === undefined) return secrets === null ? `must be ${WEBHOOK_SECRET_FORM}` : null;
  const isOfRule = secretOfRule(receiver) !== null;
  if (secrets === null)
    return isOfRule
      ? `must be ${ROBOT_SECRET_FORM}`
      : `must be null: messages to ${name} have no secret of a rule`;
  const missing = missingSecrets(receiver, secrets);
  if (missing.length === 0) return null;
  const inConfig = `is not enough: webhooks.receivers in the configuration must give ${name} its secrets ${missing.join(', ')}`;
  return isOfRule ? `is required: ${name} has the secret ${missing.join(', ')}` : inConfig;
}

function unknownText(receivers: Receivers): string {
  return `is no receiver of this daemon; there are ${[STANDARD, ...Object.keys(receivers)].join(', ')}`;
}

export function receiverReports(receivers: Receivers): ReceiverReport[] {
  return Object.entries(receivers).map(([name, receiver]) => ({
    name,
    from: receiver.from,
    description: receiver.description,
    url: ownUrlOf(receiver),
    secrets: sentSecrets(receiver),
    missing: missingSecrets(receiver, []),
    ruleSecret: secretOfRule(receiver) !== null,
    signs: receiver.signed !== null,
    grouped: !joinsByKey(receiver),
  }));
}
