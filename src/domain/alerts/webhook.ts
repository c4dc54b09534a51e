// The public part of a webhook's URL, and its signing keys in the form of Standard Webhooks: `whsec_` and the key in base64. Two
// are valid at a time during rotation. Used by the settings, the operations, the API and the sender.

const WEBHOOK_SECRETS_AT_ONCE = 2;
const PREFIX = 'whsec_';
const KEY_BYTES = { min: 24, max: 64 };

/** Describes the accepted form. */
export const WEBHOOK_SECRET_FORM = `whsec_ and ${KEY_BYTES.min} to ${KEY_BYTES.max} bytes in base64, or two of these with a comma`;

/** The secret of a robot, which its page shows. */
const ROBOT_SECRET = /^[\x21-\x7e]{1,200}$/;
export const ROBOT_SECRET_FORM = 'the secret that the page of the robot shows';

/** @returns null for a text that is not a robot's secret. */
export function robotSecretIn(text: string): readonly string[] | null {
  return ROBOT_SECRET.test(text) ? [text] : null;
}

/** @param text one secret, or two separated by a comma. @returns null for any other text. */
export function webhookSecretsIn(text: string): readonly string[] | null {
  const secrets = [...new Set(text.split(',').map((part) => part.trim()))];
  return secrets.length <= WEBHOOK_SECRETS_AT_ONCE && secrets.every(isSecret) ? secrets : null;
}

export function keyOf(secret: string): Buffer {
  return Buffer.from(secret.slice(PREFIX.length), 'base64');
}

function isSecret(text: string): boolean {
  if (!/^whsec_[A-Za-z0-9+/]+={0,2}$/.test(text)) return false;
  const { length } = keyOf(text);
  return length >= KEY_BYTES.min && length <= KEY_BYTES.max;
}

/** Scheme, host and port, because path and query often contain secrets. null: not a URL, which plain SQL may have written. */
export function receiverOf(webhookUrl: string): string | null {
  return URL.canParse(webhookUrl) ? new URL(webhookUrl).origin : null;
}
