import { type Fault, lasting } from '../../fault.ts';
import { setThreshold } from '../operators/rules.ts';

export const receiverFails: Fault = {
  name: 'webhooks refused',
  begin(world, draw) {
    const ms = draw.between(5_000, 60_000);
    world.receiver.fails = draw.oneOf([0.5, 1]);
    // One poll that failed lately is enough for an alert.
    const isStrict = draw.chance(0.7);
    if (isStrict) setThreshold(world, draw, 'success', 100);
    lasting(world, ms, () => {
      world.receiver.fails = 0;
      if (isStrict) setThreshold(world, draw, 'success', 90);
    });
    const said = `${world.receiver.fails * 100} % of the webhooks are answered with 500 for ${ms} ms`;
    return isStrict ? `${said}, and an alert fires below 100 %` : said;
  },
};
