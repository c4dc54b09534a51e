// GET /api/admin/whoami: who the caller is to this API, and so what the caller may do.
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';

const caller = z.object({ name: z.string(), role: z.enum(['viewer', 'operator', 'admin']) });

export function whoamiRoute(): FastifyPluginAsyncZod {
  return async (app) => {
    app.get(
      '/whoami',
      { schema: { tags: ['access'], summary: 'Name and role of the token', response: { 200: caller } } },
      async ({ actor: { name, role } }) => ({ name, role: role as z.output<typeof caller>['role'] }),
    );
  };
}
