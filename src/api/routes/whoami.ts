// GET /api/admin/whoami: who the caller is to this API, and so what the caller may do.
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { answersOf } from './answers.ts';

const answers = answersOf('access');

const caller = z.object({ name: z.string(), role: z.enum(['viewer', 'operator', 'admin']) });

export function whoamiRoute(): FastifyPluginAsyncZod {
  return async (app) => {
    app.get('/whoami', answers('Name and role of the token', caller), async ({ actor: { name, role } }) => ({
      name,
      role: role as z.output<typeof caller>['role'],
    }));
  };
}
