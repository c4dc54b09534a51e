import { lasting, type OwnFault } from '../../fault.ts';

const HOUR_MS = 3_600_000;

export const nodeLags: OwnFault = {
  name: 'one node of two lags',
  share: 0.2,
  most: 1,
  begin(world, draw) {
    const { gateway } = world;
    const hours = draw.oneOf([0.2, 3, 6]);
    const ms = draw.between(120_000, 900_000);
    const one = {
      isOf: () => true,
      byNode: true,
      shows: (
        mb: number,
        {
          mbPerHour,
          counterMonth,
          peaks,
        }: { mbPerHour: number; counterMonth: string; peaks: Map<string, number> },
      ) => {
        const lessMb = mb - mbPerHour * hours;
        if (lessMb >= 0) return lessMb;
        // It shows the month before still.
        const former = Math.max(0, ...[...peaks].map(([month, peak]) => (month < counterMonth ? peak : 0)));
        return Math.max(0, former + lessMb);
      },
    };
    gateway.wrong.add(one);
    lasting(world, ms, () => gateway.wrong.delete(one));
    return `it shows what was used ${hours * HOUR_MS} ms ago, for ${ms} ms`;
  },
};
