// Which cards a SIM stands for, and whether they are over their package: by what they have used, and by what was shown of them.
import { cardsWith, type WorldCard } from './cards.ts';
import type { Outside } from './outside.ts';

/** A top-up is known everywhere within the time of a claimed call and an import that is repeated. */
const KNOWN_WITHIN_MS = 30_000;
const MONTH_TURN_MS = 120_000;

export interface PackageFacts {
  readonly card: WorldCard;
  readonly isOver: boolean;
  /** Wrong values of the gateway say so. */
  readonly isShownOver: boolean;
  readonly says: string;
}

export function packagesOf(world: Outside, iccid: string): PackageFacts[] {
  const { time, calendar, gateway } = world;
  const since = time.now - KNOWN_WITHIN_MS;
  const asked = gateway.sims.get(iccid);
  return cardsWith(world, iccid, since).map((card) => {
    // What earlier SIMs of the card have used this month counts, too; and a call may be of one from before the card was removed.
    const sims = [...new Set([...card.sims, ...(asked === undefined ? [] : [asked])])];
    const usedIn = (peaks: 'peaks' | 'shownPeaks', atMs: number) => {
      const month = calendar.monthOf(atMs);
      return sims.reduce((mb, sim) => mb + (sim[peaks].get(month) ?? 0), 0);
    };
    const mostOf = (peaks: 'peaks' | 'shownPeaks') =>
      Math.max(usedIn(peaks, time.wall - MONTH_TURN_MS), usedIn(peaks, time.wall));
    const used = mostOf('peaks') + sims.reduce((mb, sim) => mb + gateway.unsureMb(sim), 0);
    const shown = sims.some(({ shownMore }) => shownMore) ? mostOf('shownPeaks') : 0;
    const allowed = [
      card.allowanceMb,
      ...card.earlier.filter(({ until }) => until >= since).map(({ mb }) => mb),
    ];
    const exceeds = (mb: number) => allowed.some((most) => most !== null && mb > most);
    const says = `card ${card.cardId} has used ${used} of ${allowed.join(' or ')} MB`;
    return { card, isOver: exceeds(used), isShownOver: exceeds(shown), says };
  });
}
