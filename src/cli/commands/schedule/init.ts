// `cardpoll init`: the progress of loading the schedule, and a new comparison with the cards. `adopt` opens the stores itself.

import { loadAdoptConfig } from '../../../config/load-config.ts';
import { SETTINGS } from '../../../config/settings/settings.ts';
import { fleetText } from '../../../domain/fleet.ts';
import { grouped } from '../../../domain/words.ts';
import { initStateFields } from '../../../terminal/reports/stats-views.ts';
import { ask, showAnswer } from '../../ask.ts';
import { type CommandContext, defineCommand } from '../../command.ts';
import { CONFIRM_OPTIONS, confirm } from '../../confirm.ts';
import type { AdoptionPlan } from '../../launchers.ts';
import { ownAnswer, printAnswer } from '../../output/print.ts';
import { showSecretOrigins } from '../../secret-origins.ts';

function show(context: CommandContext): Promise<number> {
  return showAnswer(context, 'reading the progress', (client) => client.initProgress(), initStateFields);
}

const rebuild = defineCommand({
  name: 'rebuild',
  summary: 'Compare the schedule with all cards and repair what differs',
  options: CONFIRM_OPTIONS,
  run: async (context, { options }) => {
    await confirm(context, () => askForPlan(context), options);
    return showAnswer(context, 'asking the leader', (client) => client.rebuildInit(), initStateFields);
  },
});

async function askForPlan(context: CommandContext): Promise<string[]> {
  const { body } = await ask(context, 'counting the cards', (client) => client.overview());
  const cards = grouped(body.cards_total);
  return [
    `Compare the schedule with all ${cards} cards, and repair what differs.`,
    'Polling continues meanwhile; the database reads every card once.',
  ];
}

const adopt = defineCommand({
  name: 'adopt',
  summary: 'Assign the Redis of another fleet to the fleet of this database',
  options: CONFIRM_OPTIONS,
  settings: [SETTINGS.stores.redisUrl, SETTINGS.stores.databaseUrl],
  run: async (context, { options }) => {
    const config = await loadAdoptConfig(context.configInputs);
    await showSecretOrigins(context);
    const goAhead = (plan: AdoptionPlan) => confirm(context, adoptionText(plan), options);
    const done = await context.launchers.adopt(config, goAhead);
    const answer = ownAnswer({ fleet: done.fleet, before: done.holder });
    return printAnswer(
      context,
      answer,
      ({ fleet }, style) => `${style.text(`The Redis belongs to the fleet ${fleetText(fleet)}.`).text}\n`,
    );
  },
});

function adoptionText({ fleet, holder }: AdoptionPlan): string[] {
  return [
    `Assign the Redis of ${holder === null ? 'no fleet' : fleetText(holder)} to the fleet ${fleetText(fleet)}.`,
    'All polling state in it is removed: schedule, queues, pauses, statistics. The next daemon rebuilds the schedule.',
  ];
}

export const init = defineCommand({
  name: 'init',
  summary: 'Show initialisation and reconciliation, start a comparison, or take over a Redis',
  examples: [
    'cardpoll init  # progress, and what was repaired',
    'cardpoll init rebuild  # compare the schedule with all cards; asks first',
    'cardpoll init rebuild --yes  # for scripts',
    'cardpoll init adopt --config /etc/cardpoll/cardpoll.yaml  # take over a Redis that another fleet used',
  ],
  subcommands: [rebuild, adopt],
  run: show,
});
