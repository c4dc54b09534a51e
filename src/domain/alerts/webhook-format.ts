// What a webhook sends: the message of Standard Webhooks, or that of a chat robot. Used by the operations, the API and the sender.

interface FormatFacts {
  /** Hosts of the robot: a rule with such a URL has the format by default. */
  readonly hosts: readonly string[];
  /** Whether a secret of the rule signs its messages; standard: by the keys of webhook.ts. */
  readonly signs: boolean;
}

const TABLE = {
  standard: { hosts: [], signs: true },
  dingtalk: { hosts: ['oapi.dingtalk.com'], signs: true },
  wecom: { hosts: ['qyapi.weixin.qq.com'], signs: false },
  feishu: { hosts: ['open.feishu.cn', 'open.larksuite.com'], signs: true },
  slack: { hosts: ['hooks.slack.com', 'hooks.slack-gov.com'], signs: false },
} as const satisfies Readonly<Record<string, FormatFacts>>;

export type WebhookFormat = keyof typeof TABLE;
export const WEBHOOK_FORMAT_FACTS: Readonly<Record<WebhookFormat, FormatFacts>> = TABLE;
export const WEBHOOK_FORMATS = Object.keys(TABLE) as readonly WebhookFormat[];

/** The format of a rule. @param chosen null: by the host of its URL. */
export function webhookFormatOf(chosen: WebhookFormat | null, url: string | null): WebhookFormat {
  if (chosen !== null) return chosen;
  const host = url !== null && URL.canParse(url) ? new URL(url).hostname : '';
  return WEBHOOK_FORMATS.find((format) => WEBHOOK_FORMAT_FACTS[format].hosts.includes(host)) ?? 'standard';
}
