// The zone of the times in a file, as the head of the file says. Used by the plan and by the scan.
import { Zone } from './zone.ts';

/** W3C's extended format (IIS, CloudFront): date and time are in UTC. Windows Firewall says that its are not. */
const IS_W3C = /^#Fields:[ \t]+date[ \t]+time(?![\w-])/m;
const IS_LOCAL = /^#Time Format: *Local/m;
const HEAD_BYTES = 4_096;

/** @param head the beginning of the file. @param zone of times that say none. */
export function zoneOfFile(head: Buffer, zone: Zone): Zone {
  if (head[0] !== 0x23 && head[3] !== 0x23) return zone;
  const text = head.toString('latin1', 0, HEAD_BYTES);
  return IS_W3C.test(text) && !IS_LOCAL.test(text) ? new Zone('UTC') : zone;
}
