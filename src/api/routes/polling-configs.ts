// /api/admin/polling-configs: which cards are polled, and how often (operations interface, sections 2.1 and 4).
import { z } from 'zod';
import { SELECTION_BOUNDS } from '../../domain/manual-trigger.ts';
import {
  CARD_CONDITIONS,
  INTERVAL_SECONDS_BOUNDS,
  PRIORITY_BOUNDS,
} from '../../domain/schedule/polling-config.ts';
import { type ConfigOperations, type ConfigPatch, configVersion } from '../../operations/schedule/configs.ts';
import { ENDPOINTS } from '../../resources/endpoints.ts';
import { configReport } from '../../resources/schedule.ts';
import { expectedVersion, ifMatchHeader } from '../etag.ts';
import { answersOf, pageOf, pageQuery, paginate, type Serve } from '../schemas/answers.ts';
import { body, idOf, line, oneOf, taskType, wholeNumber } from '../schemas/fields.ts';

const NAME_LENGTH = 200;
const fields = {
  status: z.literal([0, 1], { error: 'must be 0 (disabled) or 1 (enabled)' }),
  name: line({ min: 1, max: NAME_LENGTH }, `must have 1 to ${NAME_LENGTH} printable characters`),
  task_type: taskType,
  card_condition: oneOf(CARD_CONDITIONS),
  carrier_id: wholeNumber(SELECTION_BOUNDS).nullable(),
  interval_seconds: wholeNumber(INTERVAL_SECONDS_BOUNDS),
  priority: wholeNumber(PRIORITY_BOUNDS),
};

const newConfig = body({
  ...fields,
  carrier_id: fields.carrier_id.default(null),
  priority: fields.priority.default(0),
  status: fields.status.default(1),
});

const configPatch = body(z.object(fields).partial().shape).refine(
  (patch) => Object.values(patch).some((value) => value !== undefined),
  { path: ['status'], error: 'is required when nothing else is given' },
);

const params = z.object({ id: idOf('a polling config') });

const answers = answersOf('polling-configs');

export function pollingConfigRoutes(serve: Serve, configs: ConfigOperations): void {
  serve(
    ENDPOINTS.configs,
    answers('List polling configs', pageOf(configReport), { querystring: pageQuery }),
    async ({ query }) => paginate(await configs.list(), query),
  );
  serve(
    ENDPOINTS.updateConfig,
    answers(
      'Change a polling config; fields left out stay as they are',
      configReport,
      { params, headers: ifMatchHeader, body: configPatch },
      { adminOnly: true, versionOf: configVersion },
    ),
    ({ actor, params, body, headers }) =>
      configs.update(actor, params.id, body as ConfigPatch, expectedVersion(headers)),
  );
  serve(
    ENDPOINTS.createConfig,
    answers('Create a polling config', configReport, { body: newConfig }, { status: 201, adminOnly: true }),
    ({ actor, body }) => configs.create(actor, body),
  );
  serve(
    ENDPOINTS.config,
    answers('Show a polling config', configReport, { params }, { versionOf: configVersion }),
    ({ params }) => configs.show(params.id),
  );
  serve(
    ENDPOINTS.deleteConfig,
    answers(
      'Delete a polling config; the next matching config takes its cards',
      configReport,
      { params },
      { adminOnly: true },
    ),
    ({ actor, params }) => configs.remove(actor, params.id),
  );
}
