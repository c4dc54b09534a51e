// One card as JSON (contract, "Fields"). Used by routes/cards.ts and schemas/explanation.ts.
import { z } from 'zod';
import { instant, perTaskTypeOf } from './fields.ts';

export const card = z
  .object({
    card_id: z.int(),
    iccid: z.string(),
    carrier_id: z.int(),
    status: z.int(),
    real_name_verified: z.boolean(),
    stopped: z.boolean(),
    allowance_mb: z.number().nullable(),
    used_mb_month: z.number(),
    usage_month: z.string(),
    last_polled_at: perTaskTypeOf(instant.nullable()),
    next_due_at: perTaskTypeOf(instant.nullable()),
  })
  .meta({ id: 'Card' });
