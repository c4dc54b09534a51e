// What the manual says about a command in addition to its summary, one paragraph each. It is not in the declarations,
// because the binary loads those with every start and shows none of this. `x` is printed bold.

export const DESCRIPTIONS: Readonly<Record<string, readonly string[]>> = {
  cardpoll: [
    `cardpoll polls a fleet of IoT SIM cards, tens of millions of them, through an upstream HTTP gateway and stores the
    results in PostgreSQL: whether a card is real-name verified (task type \`realname\`), how much data it used this month
    (\`carddata\`), and whether it is over its package (\`package\`; it suspends such a card at the gateway, once a month). Redis coordinates any
    number of instances.`,
    `\`cardpoll daemon\` does the work. Every other command is a client of the daemon's admin API, or needs no daemon at
    all (\`logs\`, \`doctor\`, \`migrate\`, \`completion\`).`,
    `Data goes to standard output, everything else to standard error. On a terminal, tables leave out columns that do not
    fit and say so; elsewhere lists have all columns, without colours. For scripts -o tsv prints one record per line, with
    tabs between all values and no header.`,
  ],
  daemon: [
    `Claims due cards, asks the gateway about them within the limits of each task type, writes the results, and serves
    the admin API, probes and metrics. Several instances with the same Redis and PostgreSQL share the fleet; one of them
    leads and schedules, another takes over when it dies. Missing migrations are applied at the start.`,
    `Without \`--redis-url\` and \`--database-url\` it uses embedded stores, which are for trials with one instance.`,
    `\`SIGTERM\` and \`SIGINT\`: no new work is claimed, calls in flight end within \`polling.drain_timeout_ms\`, results are
    written, and it exits 0. A second signal ends it at once.`,
    `\`SIGHUP\`: it reopens the log files and reads the configuration again. Log level, admin tokens, rate limit and the
    credentials of the gateway change at once; worker.log names the other changed settings, which need a restart. A configuration with a mistake changes
    nothing and is logged.`,
  ],
  demo: [
    `Runs the daemon with embedded stores, ten thousand cards and a simulated gateway whose capacity falls for 45 seconds
    every five minutes. On a terminal it opens the dashboard, otherwise it prints a line every two seconds. Nothing is kept
    without \`--data-dir\`.`,
  ],
  dashboard: [
    `Shows queues, rates, durations, limits, health and its reasons, alerts, stops, configs, triggers, instances and single
    cards, at most a second old; older data is marked \`STALE\`. \`?\` shows the keys. Keys that change something are capitals,
    ask first, and show the equivalent command.`,
  ],
  top: ['Another name of `cardpoll dashboard`.'],
  doctor: [
    `With a configuration it opens the stores itself, changes nothing, and needs no daemon. Without one it only asks the
    daemon. Each finding says what was found, what it means, what to do, and which command to run.`,
    `docs/runbook.md has a section for each finding: symptom, check and repair.`,
  ],
  stats: [
    `The overview begins with the health of the fleet and, for each reason why it is not normal, the command that helps.
    Success rates and durations cover the last five minutes.`,
  ],
  init: [
    `The daemon loads the schedule in batches with a pause between them, and compares it with the cards from time to time.
    \`rebuild\` compares all of it now.`,
  ],
  alerts: [
    `A rule watches one metric of one task type. The leader evaluates all enabled rules. An alert that fires is logged,
    recorded and, if its rule has a webhook, sent to it. A rule is given by id or by name.`,
  ],
  audit: ['Shows who changed what, and when, newest first. Every change through the admin API is recorded.'],
  concurrency: [
    `The limit of a task type is the number of gateway calls in flight in the whole fleet. A change takes effect on every
    instance within a second. While the gateway refuses calls or slows down, the limit in force is lower.`,
  ],
  pause: [
    `Holds back both the schedule and manual triggers; calls in flight finish. A pause survives restarts and ends by
    itself, after a week at the latest.`,
  ],
  resume: ['Ends pauses set by operators and pauses that the gateway asked for with 429 or 503.'],
  configs: [
    `A polling config says which cards are polled for a task type, and how often. If several match a card, the one with the
    highest priority takes it. A config is given by id or by name.`,
  ],
  cleanup: [
    `The daemon removes expired data by its own schedule, \`cleanup.schedule\`. These commands show and change how long data
    is kept, and remove expired data now, in batches of 10,000 rows, each in a short transaction of its own.`,
  ],
  trigger: [
    `Manually triggered cards go before scheduled ones and keep to the same limits. A trigger counts the results of its
    cards.`,
  ],
  cards: ['An import can be repeated. It keeps good rows and lists bad ones by line.'],
  stops: [
    `A card over its package is stopped at the gateway, within the budget \`stops.max_per_hour\` and
    \`stops.max_per_day\`. A stop beyond it is held and waits for an operator, also when the budget is free again;
    \`release\` lets it go on, \`dismiss\` gives it up.`,
    `\`stops mode observe\` ends all stopping within a second on every instance, also of calls that are claimed and not
    made yet: what would have been stopped is listed as \`observed\`. \`stops mode enforce\` ends that. It also accepts a jump
    of the readings of the whole fleet as right, which otherwise holds all stops.`,
    `\`stops resume\` brings cards back in a run: one call for each card, at the pace of package polls, within their limits
    and the breakers of the gateway. With \`--since\` it leaves out cards whose stop an operator ordered.`,
  ],
  explain: [
    `Prints, for each task type, one sentence and the command that helps, if there is one: which config takes the card and why
    the others do not, when it is due, what holds it back, how often it failed and why.`,
  ],
  logs: [
    `Searches worker.log and its rotated files, plain and gzip, in all log directories, in time order. Damaged files are
    read as far as possible, and named. Files without a line in the requested time range are skipped.`,
  ],
  gateway: ['Serves the default gateway profile with generated cards, for trials and benchmarks.'],
  migrate: [
    'The daemon applies missing migrations itself. This command shows them, or applies them beforehand.',
  ],
  context: [
    `A context is a name for a daemon: its URL and its token file. Commands use the current context unless \`--url\` or
    \`CARDPOLL_URL\` names another daemon.`,
  ],
  completion: [
    'Prints a script that completes commands, options, and the names of configs, rules and triggers.',
  ],
  token: ['Creates a line for a token file. Tokens are never given on a command line.'],
};
