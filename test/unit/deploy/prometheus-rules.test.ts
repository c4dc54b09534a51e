// The shipped alerting rules, run by promtool over made-up series: each fires when it should, not before its time, and
// stays silent while things are as they should be.
import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { programPath } from '../../support/provision.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const RULES = fileURLToPath(new URL('../../../deploy/prometheus/cardpoll-rules.yaml', import.meta.url));
const PROMTOOL = programPath('promtool', { debianPackage: 'prometheus' });
const directory = temporaryDirectory('rules');

/** Series and its values, one a minute, as promtool writes them; an alert that fires does so once. */
type Series = Readonly<Record<string, string>>;
interface Case {
  readonly fires: Series;
  readonly silent: Series;
}

const always = (value: number) => `${value}x60`;
const TYPE = 'task_type="package"';
const CASES: Readonly<Record<string, Case>> = {
  CardpollQueueBacklog: gauge(`cardpoll_queue_length{${TYPE}}`, 50_001, 50_000),
  CardpollSuccessRateLow: gauge(`cardpoll_poll_success_ratio{${TYPE}}`, 0.89, 0.9),
  CardpollPollsSlow: gauge(`cardpoll_poll_duration_mean_seconds{${TYPE}}`, 2.1, 2),
  CardpollConcurrencyExhausted: gauge(`cardpoll_concurrency_usage_ratio{${TYPE}}`, 0.96, 0.95),
  CardpollScheduleLag: gauge(`cardpoll_schedule_lag_seconds{${TYPE}}`, 61, 60),
  CardpollIntervalMissed: {
    fires: intervals(1801, 1200),
    silent: intervals(1800, 1200),
  },
  CardpollBreakerOpen: {
    fires: { 'cardpoll_breaker_instances{interface="flow",state="open"}': always(1) },
    silent: {
      'cardpoll_breaker_instances{interface="flow",state="open"}': always(0),
      'cardpoll_breaker_instances{interface="flow",state="half_open"}': always(1),
    },
  },
  CardpollPollingStalled: {
    fires: {
      [`cardpoll_demand_polled_ratio{${TYPE}}`]: always(0.24),
      [`cardpoll_pause_seconds{${TYPE},source="operator"}`]: always(0),
      [`cardpoll_pause_seconds{${TYPE},source="gateway"}`]: always(60),
    },
    silent: {
      [`cardpoll_demand_polled_ratio{${TYPE}}`]: always(0),
      [`cardpoll_pause_seconds{${TYPE},source="operator"}`]: always(60),
      'cardpoll_demand_polled_ratio{task_type="realname"}': always(0.25),
    },
  },
  CardpollHealth: gauge(`cardpoll_health_level{${TYPE}}`, 2, 1),
  CardpollGatewayPause: {
    fires: { [`cardpoll_pause_seconds{${TYPE},source="gateway"}`]: always(5) },
    silent: {
      [`cardpoll_pause_seconds{${TYPE},source="gateway"}`]: always(0),
      [`cardpoll_pause_seconds{${TYPE},source="operator"}`]: always(500),
    },
  },
  CardpollInitStuck: {
    fires: { 'cardpoll_init_status{status="stuck"}': always(1) },
    silent: {
      'cardpoll_init_status{status="stuck"}': always(0),
      'cardpoll_init_status{status="running"}': always(1),
    },
  },
  CardpollNoLeader: {
    fires: { 'cardpoll_leader{instance="a"}': always(0), 'cardpoll_leader{instance="b"}': always(0) },
    silent: { 'cardpoll_leader{instance="a"}': always(0), 'cardpoll_leader{instance="b"}': always(1) },
  },
  CardpollStoresDown: gauge('cardpoll_stores_up{instance="a"}', 0, 1),
  CardpollLogLinesDropped: {
    fires: { 'cardpoll_log_lines_dropped_total{instance="a"}': '0+1x60' },
    silent: { 'cardpoll_log_lines_dropped_total{instance="a"}': always(7) },
  },
  CardpollAbsent: { fires: {}, silent: { 'cardpoll_build_info{version="1.2.3"}': always(1) } },
  CardpollConcurrencyLeaked: {
    fires: {
      [`cardpoll_in_flight{${TYPE}}`]: always(3),
      ...polls('succeeded', always(9)),
      ...polls('failed', always(1)),
    },
    silent: {
      [`cardpoll_in_flight{${TYPE}}`]: always(3),
      ...polls('succeeded', always(9)),
      ...polls('failed', '0+1x60'),
    },
  },
  CardpollStopsHeld: gauge('cardpoll_stops_held', 1, 0),
  CardpollStopSurge: gauge('cardpoll_stop_surge', 1, 0),
  CardpollUsageJump: gauge('cardpoll_usage_jump', 1, 0),
  CardpollOverRunning: gauge('cardpoll_cards_over_running', 1, 0),
  CardpollStopUnconfirmed: gauge('cardpoll_stops_unconfirmed', 1, 0),
  CardpollResultsFenced: { fires: fenced(2), silent: fenced(1) },
  CardpollEventLoopSlow: gauge('cardpoll_nodejs_eventloop_lag_p99_seconds{instance="a"}', 0.51, 0.5),
};

interface Rule {
  readonly alert: string;
  readonly for?: string;
}
const { groups } = parse(readFileSync(RULES, 'utf8')) as {
  groups: ReadonlyArray<{ rules: readonly Rule[] }>;
};
const rules = groups.flatMap((group) => group.rules);

it('there is a case for every rule', () => {
  expect(Object.keys(CASES).sort()).toEqual(rules.map(({ alert }) => alert).sort());
});

it('promtool takes the file', () => {
  const said = execFileSync(PROMTOOL, ['check', 'rules', RULES], { encoding: 'utf8' });
  expect(said).toContain(`SUCCESS: ${rules.length} rules found`);
});

// All at once: promtool takes longer to start than to test.
let verdicts: Map<string, string>;
beforeAll(() => {
  verdicts = testRules(rules.map(testFile));
});

it.each(rules)('$alert fires in its time and stays silent otherwise', (rule) => {
  expect(verdicts.get(pathOf(rule))).toBe('SUCCESS');
});

/** Writes the series of a rule's case, and what they lead to. @returns the path */
function testFile(rule: Rule): string {
  const { fires, silent } = CASES[rule.alert] as Case;
  // A time in seconds is over at the second evaluation.
  const minutes = rule.for?.endsWith('s') ? 1 : Number(rule.for?.replace('m', '') ?? 0);
  // Counters need their window full before a rate says anything.
  const first = /rate|increase/.test(JSON.stringify(rule)) ? 1 : 0;
  const tests = [
    unitTest(fires, rule.alert, [
      ...(minutes > 0 ? [[minutes - 1, 0] as const] : []),
      [minutes + first + 30, 1],
    ]),
    unitTest(silent, rule.alert, [[minutes + 30, 0]]),
  ];
  writeFileSync(pathOf(rule), stringify({ rule_files: [RULES], evaluation_interval: '1m', tests }));
  return pathOf(rule);
}

function pathOf(rule: Rule): string {
  return join(directory, `${rule.alert}.yaml`);
}

/** What promtool says to each file, faults and all. */
function testRules(files: readonly string[]): Map<string, string> {
  const said = join(directory, 'said');
  const log = openSync(said, 'a');
  spawnSync(PROMTOOL, ['test', 'rules', ...files], { stdio: ['ignore', log, log] });
  closeSync(log);
  const parts = readFileSync(said, 'utf8')
    .split(/^Unit Testing: +/m)
    .slice(1);
  return new Map(
    parts.map((part) => {
      const [path = '', ...verdict] = part.split('\n');
      return [path.trim(), verdict.join('\n').trim()];
    }),
  );
}

function unitTest(series: Series, alert: string, expected: ReadonlyArray<readonly [number, number]>): object {
  return {
    interval: '1m',
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    promql_expr_test: expected.map(([minute, value]) => ({
      expr: `count(ALERTS{alertname="${alert}",alertstate="firing"}) or vector(0)`,
      eval_time: `${minute}m`,
      exp_samples: [{ labels: '{}', value }],
    })),
  };
}

function gauge(series: string, bad: number, good: number): Case {
  return { fires: { [series]: always(bad) }, silent: { [series]: always(good) } };
}

function intervals(achieved: number, configured: number): Series {
  return {
    [`cardpoll_interval_achieved_seconds{${TYPE}}`]: always(achieved),
    [`cardpoll_interval_seconds{${TYPE}}`]: always(configured),
  };
}

function polls(result: string, values: string): Series {
  return { [`cardpoll_polls_total{${TYPE},result="${result}"}`]: values };
}

/** So many of a hundred results a minute. */
function fenced(aMinute: number): Series {
  return {
    [`cardpoll_fenced_total{${TYPE}}`]: `0+${aMinute}x60`,
    [`cardpoll_settlements_total{${TYPE},verdict="done"}`]: '0+100x60',
  };
}
