// What the manual says about a command beyond its summary, a paragraph each. Beside the declarations and not in them:
// the binary loads those with every start, and shows none of this. `x` is printed bold.

export const DESCRIPTIONS: Readonly<Record<string, readonly string[]>> = {
  cardpoll: [
    `cardpoll polls a fleet of IoT SIM cards, tens of millions of them, through an upstream HTTP gateway and keeps what it
    learns in PostgreSQL: whether a card is real-name verified (task type \`realname\`), how much data it used this month
    (\`carddata\`), and whether it is over its package (\`package\`; such a card is stopped, once). Redis coordinates any
    number of instances.`,
    `\`cardpoll daemon\` does the work. Every other command is a client of the daemon's admin API, or needs no daemon at
    all (\`logs\`, \`doctor\`, \`migrate\`, \`completion\`).`,
    `Data goes to standard output, everything else to standard error. On a terminal tables leave out what does not fit and
    say so; behind a pipe they are one record a line, all values between tabs.`,
  ],
  daemon: [
    `Claims due cards, asks the gateway about them within the limits of each task type, writes what it learns, and serves
    the admin API, probes and metrics. Several instances with the same Redis and PostgreSQL share the fleet; one of them
    leads and schedules, another takes over when it dies. Missing migrations are applied at the start.`,
    `Without \`--redis-url\` and \`--database-url\` it uses embedded stores, which are for trying out and for one instance.`,
    `\`SIGTERM\` and \`SIGINT\`: no new work is claimed, calls in flight end within \`polling.drain_timeout_ms\`, results are
    written, and it exits 0; a second one ends it at once.`,
    `\`SIGHUP\`: the log files are opened anew and the configuration is read again. Log level, admin tokens and rate limit
    change at once; what else has changed is named in worker.log and waits for a restart. A configuration with a mistake
    changes nothing and is logged.`,
  ],
  demo: [
    `Runs the daemon with embedded stores, ten thousand cards and a simulated gateway whose capacity falls for 45 seconds
    every five minutes. On a terminal it opens the dashboard, otherwise it prints a line every two seconds. Nothing is kept
    unless \`--data-dir\` says where.`,
  ],
  dashboard: [
    `Shows queues, rates, durations, limits, health and its reasons, alerts, configs, triggers, instances and single cards,
    a second old at most; data that is older is marked \`STALE\`. \`?\` shows the keys. Keys that change something are
    capitals, ask first, and show the command that does the same.`,
  ],
  top: ['Another name of `cardpoll dashboard`.'],
  doctor: [
    `With a configuration it opens the stores itself, changes nothing, and works while no daemon does. Without one it asks
    the daemon alone. Each finding says what was found and what it means, what to do, and what to type.`,
    `docs/runbook.md has a section for each finding: symptom, check and repair.`,
  ],
  stats: [
    `The overview begins with the health of the fleet and, for each reason why it is not normal, the command that helps.
    Success rates and durations are those of the last five minutes.`,
  ],
  init: [
    `The schedule is loaded in batches with a pause between them, and compared with the cards from time to time.
    \`rebuild\` compares all of it now.`,
  ],
  alerts: [
    `A rule watches one metric of one task type. The leader evaluates all enabled rules; what fires is logged, recorded
    and, where the rule says so, sent to a webhook. Rules are named by id or by name.`,
  ],
  audit: ['Who changed what, and when, newest first: every change through the admin API is recorded.'],
  concurrency: [
    `The limit of a task type is the number of gateway calls in flight in the whole fleet. A change is in force on every
    instance within a second. While the gateway refuses calls or slows down under them the limit in force is lower.`,
  ],
  pause: [
    `Holds back schedule and manual triggers alike; calls in flight end. A pause outlives restarts and ends by itself, after
    a week at the latest.`,
  ],
  resume: ['Ends the pauses of an operator and those a gateway asked for with 429 or 503.'],
  configs: [
    `A polling config says which cards are polled for a task type, and how often. Where several match a card, the one with
    the highest priority takes it. Configs are named by id or by name.`,
  ],
  cleanup: [
    `The daemon removes expired data by its own schedule, \`cleanup.schedule\`. These commands show and change how long data
    is kept, and remove what has expired now: 10,000 rows a batch, each in a short transaction of its own.`,
  ],
  trigger: [
    `Manually triggered cards go before the scheduled ones and keep to the same limits. A trigger counts what became of its
    cards.`,
  ],
  cards: ['The import is repeatable: good rows are kept, bad ones are listed by line.'],
  explain: [
    `For each task type one sentence and, where something helps, the command: which config takes the card and why the others
    do not, when its turn is, what holds it back, how often it failed and why.`,
  ],
  logs: [
    `Searches worker.log and its rotated files, plain and gzip, in all log directories, in time order. Damaged files are
    read as far as they can be, and named. Files that hold no line of the day asked for are passed over.`,
  ],
  gateway: ['Serves the default gateway profile with made-up cards, for trials and benchmarks.'],
  migrate: [
    'The daemon applies missing migrations itself; this is for those who want to see or do it first.',
  ],
  context: [
    `A context is a daemon with a name: its URL and the file with the token. Commands talk to the one in use unless
    \`--url\` or \`CARDPOLL_URL\` names another.`,
  ],
  completion: [
    'Prints a script that completes commands, options, and the names of configs, rules and triggers.',
  ],
  token: ['Makes what a token file needs. Tokens never stand on a command line.'],
};
