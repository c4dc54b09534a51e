import { type Fault, lasting } from '../../fault.ts';

export const receiverFails: Fault = {
  name: 'webhooks refused',
  begin(world, draw) {
    const ms = draw.between(5_000, 60_000);
    world.receiver.fails = draw.oneOf([0.5, 1]);
    lasting(world, ms, () => {
      world.receiver.fails = 0;
    });
    return `${world.receiver.fails * 100} % of the webhooks are answered with 500 for ${ms} ms`;
  },
};
