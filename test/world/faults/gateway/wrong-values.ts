import { CARRIERS } from '../../cards.ts';
import { lasting, type OwnFault } from '../../fault.ts';
import type { Sim } from '../../gateway.ts';
import type { Random } from '../../virtual/random.ts';
import type { World } from '../../world.ts';

const FACTORS = [2, 4, 8, 10, 16, 20, 1 / 4, 1 / 10];
const MORE_MB = [900, 4_000];
const RATES = [60, 200];

/** As when a gateway changes its unit, shows the counter of a SIM's whole life, or the total of a pool: for long, and not only for all. */
export const wrongValues: OwnFault = {
  name: 'gateway shows wrong values for long',
  share: 0.35,
  most: 1,
  at: (_, draw, end) => (draw.chance(0.5) ? draw.between(20_000, 60_000) : draw.between(60_000, end / 2)),
  begin(world, draw) {
    const ms = draw.between(120_000, 900_000);
    const { shows, says, isOfFleet } = drawnValues(world, draw);
    const carrierId = !isOfFleet && draw.chance(0.5) ? draw.between(1, CARRIERS) : null;
    const byNode = !isOfFleet && carrierId === null && draw.chance(0.4);
    const isOf = ({ iccid }: Sim) => carrierId === null || world.cardOf.get(iccid)?.carrierId === carrierId;
    const growsIn = isOfFleet ? { growsIn: world.gateway.counterMonth } : {};
    const one = { isOf, byNode, shows, ...growsIn };
    world.gateway.wrong.add(one);
    lasting(world, ms, () => world.gateway.wrong.delete(one));
    const where = byNode
      ? 'one node of two shows'
      : `the gateway shows${carrierId === null ? '' : ` of carrier ${carrierId}`}`;
    return `${where} ${says}, for ${ms} ms`;
  },
};

interface Values {
  readonly shows: (mb: number, sim: Sim) => number;
  readonly says: string;
  /** One carrier alone, or one node, would not be seen by the growth of the fleet. */
  readonly isOfFleet?: true;
}

function drawnValues({ gateway }: World, draw: Random): Values {
  const kind = draw.oneOf(['factor', 'factor', 'more', 'pool', 'rate', 'rate'] as const);
  if (kind === 'factor') {
    const factor = draw.oneOf(FACTORS);
    return { shows: (mb) => mb * factor, says: `usage times ${factor}` };
  }
  if (kind === 'more') {
    const more = draw.oneOf(MORE_MB);
    return { shows: (mb) => mb + more, says: `${more} MB more` };
  }
  if (kind === 'pool') return { shows: () => poolMb(gateway.sims.values()), says: 'the total of the pool' };
  const rate = draw.oneOf(RATES);
  const from = new Map(
    [...gateway.sims.values()].map((sim) => {
      gateway.usedMb(sim);
      return [sim.iccid, sim.counterMb];
    }),
  );
  return {
    shows: (mb, { iccid }) => mb + Math.max(0, mb - (from.get(iccid) ?? mb)) * (rate - 1),
    says: `growth times ${rate}`,
    isOfFleet: true,
  };
}

function poolMb(sims: Iterable<Sim>): number {
  return [...sims].reduce((mb, { counterMb }) => mb + counterMb, 0);
}
