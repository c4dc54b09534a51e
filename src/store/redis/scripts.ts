// The Lua scripts by name. Each begins with the shared prelude; ring-*.lua scripts also get ring-prelude.lua, after it.
// client.ts defines them on a connection.
import cardCachePut from './cards/card-cache-put.lua';
import leaseResign from './instances/lease-resign.lua';
import leaseTake from './instances/lease-take.lua';
import requestAbandon from './instances/request-abandon.lua';
import requestClaim from './instances/request-claim.lua';
import requestComplete from './instances/request-complete.lua';
import workersHeartbeat from './instances/workers-heartbeat.lua';
import workersList from './instances/workers-list.lua';
import workersRemoveDead from './instances/workers-remove-dead.lua';
import paceTake from './limits/pace-take.lua';
import workPause from './limits/work-pause.lua';
import workPauses from './limits/work-pauses.lua';
import workResume from './limits/work-resume.lua';
import prelude from './prelude.lua';
import ringActivate from './schedule/ring-activate.lua';
import ringAdvance from './schedule/ring-advance.lua';
import ringConfigure from './schedule/ring-configure.lua';
import ringDrop from './schedule/ring-drop.lua';
import ringMembers from './schedule/ring-members.lua';
import ringMerge from './schedule/ring-merge.lua';
import ringPrelude from './schedule/ring-prelude.lua';
import ringRecount from './schedule/ring-recount.lua';
import ringSplit from './schedule/ring-split.lua';
import ringStartGeneration from './schedule/ring-start-generation.lua';
import healthNote from './stats/health-note.lua';
import statsRead from './stats/stats-read.lua';
import statsRecord from './stats/stats-record.lua';
import failuresNote from './work/failures-note.lua';
import workClaim from './work/work-claim.lua';
import workCounts from './work/work-counts.lua';
import workFollowClock from './work/work-follow-clock.lua';
import workMakeDue from './work/work-make-due.lua';
import workPlace from './work/work-place.lua';
import workPushManual from './work/work-push-manual.lua';
import workReap from './work/work-reap.lua';
import workRelease from './work/work-release.lua';
import workRemoveManual from './work/work-remove-manual.lua';
import workResetSlots from './work/work-reset-slots.lua';
import workRunningCount from './work/work-running-count.lua';
import workSettle from './work/work-settle.lua';

const SOURCES = {
  cardCachePut,
  failuresNote,
  healthNote,
  leaseResign,
  leaseTake,
  paceTake,
  requestAbandon,
  requestClaim,
  requestComplete,
  ringActivate,
  ringAdvance,
  ringConfigure,
  ringDrop,
  ringMembers,
  ringMerge,
  ringRecount,
  ringSplit,
  ringStartGeneration,
  statsRead,
  statsRecord,
  workClaim,
  workCounts,
  workMakeDue,
  workFollowClock,
  workPause,
  workPauses,
  workPlace,
  workPushManual,
  workReap,
  workRelease,
  workRemoveManual,
  workResetSlots,
  workResume,
  workRunningCount,
  workSettle,
  workersHeartbeat,
  workersList,
  workersRemoveDead,
};

export type ScriptName = keyof typeof SOURCES;

export function scriptSources(): Array<{ name: ScriptName; lua: string }> {
  return Object.entries(SOURCES).map(([name, lua]) => ({
    name: name as ScriptName,
    lua: `${prelude}\n${name.startsWith('ring') ? ringPrelude : ''}\n${lua}`,
  }));
}
