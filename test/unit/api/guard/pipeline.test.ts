// The list of steps is read as the order in which a request is judged, so it has to be the order in which the framework runs them.
import fastify, { type FastifyInstance } from 'fastify';
import { expect, it } from 'vitest';
import { judge, pipelineOf, type Step } from '../../../../src/api/guard/pipeline.ts';
import { waitFor } from '../../../support/wait-for.ts';

it('the steps of a request run in the order of the list, whatever part of the server they cover', async () => {
  const ran: number[] = [];
  // None of them is run: only what they cover and when is of interest.
  const steps = pipelineOf({ limits: {} } as Parameters<typeof pipelineOf>[0]).map(
    ([covers, phase], index): Step => [covers, phase, () => void ran.push(index)],
  );
  const app = fastify();
  judge(app, steps, 'all');
  const admin = async (scope: FastifyInstance) => {
    judge(scope, steps, 'admin');
    scope.post('/', async () => ({ an: 'answer' }));
  };
  await app.register(async (scope) => {
    judge(scope, steps, 'callers');
    await scope.register(admin);
  });
  await app.inject({ method: 'POST', url: '/', payload: {} });
  await waitFor(() => ran.length >= steps.length);
  expect(ran).toEqual(steps.map((_, index) => index));
  await app.close();
});
