// The Lua scripts by name, each with the shared prelude (ring-*.lua: preludes) in front. client.ts defines them on a connection.
import cardCachePut from './scripts/card-cache-put.lua';
import failuresNote from './scripts/failures-note.lua';
import healthNote from './scripts/health-note.lua';
import leaseResign from './scripts/lease-resign.lua';
import leaseTake from './scripts/lease-take.lua';
import prelude from './scripts/prelude.lua';
import requestAbandon from './scripts/request-abandon.lua';
import requestClaim from './scripts/request-claim.lua';
import requestComplete from './scripts/request-complete.lua';
import ringActivate from './scripts/ring-activate.lua';
import ringAdd from './scripts/ring-add.lua';
import ringAdvance from './scripts/ring-advance.lua';
import ringConfigure from './scripts/ring-configure.lua';
import ringContains from './scripts/ring-contains.lua';
import ringDrop from './scripts/ring-drop.lua';
import ringMerge from './scripts/ring-merge.lua';
import ringPrelude from './scripts/ring-prelude.lua';
import ringRecount from './scripts/ring-recount.lua';
import ringRemove from './scripts/ring-remove.lua';
import ringSplit from './scripts/ring-split.lua';
import ringStartGeneration from './scripts/ring-start-generation.lua';
import statsRead from './scripts/stats-read.lua';
import statsRecord from './scripts/stats-record.lua';
import workClaim from './scripts/work-claim.lua';
import workCounts from './scripts/work-counts.lua';
import workFollowClock from './scripts/work-follow-clock.lua';
import workMakeDue from './scripts/work-make-due.lua';
import workPause from './scripts/work-pause.lua';
import workPauses from './scripts/work-pauses.lua';
import workPlace from './scripts/work-place.lua';
import workPushManual from './scripts/work-push-manual.lua';
import workReap from './scripts/work-reap.lua';
import workRelease from './scripts/work-release.lua';
import workRemoveManual from './scripts/work-remove-manual.lua';
import workResetSlots from './scripts/work-reset-slots.lua';
import workResume from './scripts/work-resume.lua';
import workRunningCount from './scripts/work-running-count.lua';
import workSettle from './scripts/work-settle.lua';
import workersHeartbeat from './scripts/workers-heartbeat.lua';
import workersList from './scripts/workers-list.lua';
import workersRemoveDead from './scripts/workers-remove-dead.lua';

const SOURCES = {
  cardCachePut,
  failuresNote,
  healthNote,
  leaseResign,
  leaseTake,
  requestAbandon,
  requestClaim,
  requestComplete,
  ringActivate,
  ringAdd,
  ringAdvance,
  ringConfigure,
  ringContains,
  ringDrop,
  ringMerge,
  ringRecount,
  ringRemove,
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
