import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { chains, parseRotationName } from '../../../../src/log-search/plan/rotation.ts';

/** Oldest first; the last is the live file. */
const SCHEMES: Record<string, string[]> = {
  'logrotate numbers': ['worker.log.3.gz', 'worker.log.2.gz', 'worker.log.1', 'worker.log'],
  'logrotate dateext': ['worker.log-20260201.gz', 'worker.log-20260202', 'worker.log'],
  'logrotate as shipped': [
    'worker.log-20260201-000007.gz',
    'worker.log-20260201-130000.gz',
    'worker.log-20260201-130001',
    'worker.log-20260202-000005',
    'worker.log',
  ],
  'logrotate as shipped, after its default': [
    'worker.log-20260131.gz',
    'worker.log-20260201.gz',
    'worker.log-20260201-130000',
    'worker.log',
  ],
  'logrotate dateext with extension': ['worker-20260201.log.gz', 'worker-20260202.log', 'worker.log'],
  'logrotate seconds': ['worker.log-20260201-1769900000.gz', 'worker.log-20260201-1769910000', 'worker.log'],
  lumberjack: ['worker-2026-02-01T10-00-00.000.log.gz', 'worker-2026-02-01T12-30-00.123.log', 'worker.log'],
  'pino-roll': ['worker.2026-02-01.1.log', 'worker.2026-02-02.1.log'],
  'log4j, logback': ['worker.log.2026-02-01.gz', 'worker.log.2026-02-02', 'worker.log'],
  'dots between': ['worker.log.2026.02.01', 'worker.log.2026.02.02'],
  'winston with sizes': ['worker-2026-02-01.log.1', 'worker-2026-02-02.log', 'worker-2026-02-03.log.2'],
};

/** Whether the second name is of a later file of the log of the first. */
function follows(earlier: string, later: string): boolean {
  const files = [earlier, later].map((text) => ({ text, directory: '/', name: parseRotationName(text) }));
  return chains(files).some((chain) => chain.length === 2 && chain[0]?.[0]?.text === earlier);
}

describe('rotation names', () => {
  it.each(Object.entries(SCHEMES))('%s', (_, names) => {
    const parsed = names.map(parseRotationName);
    expect(new Set(parsed.map(({ family }) => family)).size).toBe(1);
    names.forEach((earlier, index) => {
      names.forEach((later, other) => {
        expect(follows(earlier, later), `${earlier} before ${later}`).toBe(other > index);
      });
    });
  });

  it('have the form that the shipped configuration gives them', () => {
    const shipped = readFileSync(new URL('../../../../deploy/logrotate.d/cardpoll', import.meta.url), 'utf8');
    expect(shipped).toMatch(/^ *dateformat -%Y%m%d-%H%M%S$/m);
    expect(parseRotationName('access.log-20260201-235959.gz')).toEqual({
      family: 'access.log',
      date: '20260201235959',
      age: null,
    });
  });

  it('do not order what may be several writers', () => {
    const pairs = [
      ['worker-1.log', 'worker-2.log'],
      ['worker-2026-02-01-1.log', 'worker-2026-02-01-2.log'],
      ['worker-2026-02-01-10.log', 'worker-2026-02-01-11.log'],
      ['worker.log.1', 'api.log'],
      ['worker-1.log.1', 'worker-2.log'],
    ] as const;
    for (const [a, b] of pairs) {
      expect(follows(a, b), `${a} ${b}`).toBe(false);
      expect(follows(b, a), `${b} ${a}`).toBe(false);
    }
  });
});
