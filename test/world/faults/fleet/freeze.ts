import { type Fault, lasting } from '../../fault.ts';

/** Between a claim and its call is where it hurts most. */
const CLAIMS = ['records.stops.claim', 'records.resumes.claim', 'live.work.claim'];

export const freeze: Fault = {
  name: 'instance frozen',
  weight: 2,
  begin(world, draw) {
    if (world.up.length === 0) return null;
    const instance = draw.oneOf(world.up);
    // Also until others have just claimed what it holds.
    const leaseEndsMs = draw.between(15_000, 16_500);
    const ms = draw.oneOf([900, 3_000, 6_000, leaseEndsMs, 20_000, 60_000]);
    const happens = () => {
      instance.freeze();
      lasting(world, ms, () => instance.thaw());
    };
    const method = draw.oneOf([null, ...CLAIMS]);
    if (method === null) happens();
    else instance.onAnswer = { method, happens };
    return `${instance.id} is frozen for ${ms} ms${method === null ? '' : `, when ${method} has an answer`}`;
  },
};
