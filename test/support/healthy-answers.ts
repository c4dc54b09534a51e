// What a healthy gateway says of a card: verified, nothing used, running. By the kind of answer, so that a further
// interface needs nothing here.
import {
  type AnswerKind,
  INTERFACES,
  type InterfaceName,
  perInterface,
} from '../../src/domain/gateway-interface.ts';

const BY_KIND: Record<AnswerKind, boolean | number | string> = {
  verified: true,
  megabytes: 0,
  status: 'active',
};

export const HEALTHY_VALUES = perInterface((name) => {
  const { answer } = INTERFACES[name];
  return answer === null ? null : BY_KIND[answer.kind];
});

/** As the answer's data. */
export const HEALTHY: Record<InterfaceName, unknown> = perInterface((name) => {
  const { answer } = INTERFACES[name];
  return answer === null ? {} : { [answer.field]: HEALTHY_VALUES[name] };
});
