// `cardpoll` itself: all its commands, in the order of the help.
import type { CommandSpec } from '../command.ts';
import { alerts } from './alerts/alerts.ts';
import { audit } from './audit.ts';
import { cards } from './cards/cards.ts';
import { explain } from './cards/explain.ts';
import { cleanup } from './cleanup.ts';
import { complete, completion } from './completion/completion.ts';
import { contextCommand } from './context.ts';
import { daemon } from './daemon.ts';
import { dashboard, top } from './dashboard.ts';
import { demo } from './demo.ts';
import { doctor } from './doctor/doctor.ts';
import { gateway } from './gateway.ts';
import { concurrency } from './limits/concurrency.ts';
import { maintenance } from './limits/maintenance.ts';
import { pause, resume } from './limits/pause.ts';
import { logs } from './logs.ts';
import { migrate } from './migrate.ts';
import { plan } from './plan.ts';
import { report } from './report.ts';
import { configs } from './schedule/configs.ts';
import { init } from './schedule/init.ts';
import { stats } from './stats.ts';
import { stops } from './stops/stops.ts';
import { token } from './token.ts';
import { trigger } from './triggers/trigger.ts';
import { version } from './version.ts';

export const ROOT: CommandSpec = {
  name: 'cardpoll',
  summary: 'Poll a fleet of IoT SIM cards through a gateway, and operate it from the terminal',
  examples: [
    'cardpoll demo  # try everything on this machine, with nothing else installed',
    'cardpoll daemon --gateway-url http://gateway:8080  # poll a fleet',
    'cardpoll stats  # the fleet at a glance',
  ],
  gone: { '--header': 'every table has a header; add -o tsv for lines without one' },
  subcommands: [
    daemon,
    demo,
    dashboard,
    top,
    doctor,
    stats,
    report,
    plan,
    init,
    alerts,
    concurrency,
    pause,
    resume,
    maintenance,
    configs,
    cleanup,
    trigger,
    cards,
    stops,
    explain,
    audit,
    token,
    logs,
    gateway,
    migrate,
    contextCommand,
    completion,
    complete,
    version,
  ],
};
