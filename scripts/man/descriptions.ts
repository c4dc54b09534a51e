// What the manual says about a command in addition to its summary, one paragraph each. It is not in the declarations,
// because the binary loads those with every start and shows none of this. `x` is printed bold.

export const DESCRIPTIONS: Readonly<Record<string, readonly string[]>> = {
  cardpoll: [
    `cardpoll polls a fleet of IoT SIM cards, tens of millions of them, through an upstream HTTP gateway and stores the
    results in PostgreSQL: whether a card is real-name verified (task type \`realname\`), how much data it used this
    month (\`carddata\`), and whether it is over its package (\`package\`; such a card is stopped at the gateway: once a
    month, and once more for a larger allowance or another SIM). Redis coordinates any number of instances.`,
    `\`cardpoll daemon\` does the work. Most other commands are clients of the daemon's admin API. Some need no daemon,
    for example \`logs\`, \`doctor\`, \`migrate\` and \`token\`.`,
    `Data goes to standard output, everything else to standard error. On a terminal, tables leave out columns that do not
    fit and say so; elsewhere lists have all columns, without colours. For scripts, \`-o tsv\` prints one record per
    line, with tabs between all values and no header.`,
  ],
  daemon: [
    `Claims due cards, asks the gateway about them within the limits of each task type, writes the results, and serves
    the admin API, probes and metrics. Several instances with the same Redis and PostgreSQL share the fleet. One of
    them leads and schedules; when it dies, another one takes over. Missing migrations are applied at the start.`,
    `Without \`--redis-url\` and \`--database-url\` it uses embedded stores, which are for trials with one instance.`,
    `\`SIGTERM\` and \`SIGINT\`: the daemon claims no more work, waits up to \`polling.drain_timeout_ms\` for calls in
    flight, writes their results, and exits with 0. A second signal ends it at once.`,
    `\`SIGHUP\`: the daemon reopens the log files and reads the configuration again. Log level, admin tokens, rate limit
    and the credentials of the gateway change at once; worker.log names the other changed settings, which need a
    restart. A configuration with a mistake changes nothing and is logged.`,
  ],
  demo: [
    `Runs the daemon with embedded stores, ten thousand cards and a simulated gateway whose capacity falls for 45 seconds
    every five minutes. On a terminal it opens the dashboard, otherwise it prints a line every two seconds. Nothing
    is kept without \`--data-dir\`.`,
  ],
  dashboard: [
    `Shows queues, rates, durations, limits, health and its reasons, alerts, stops, configs, triggers, instances and
    single cards, at most a second old; older data is marked \`STALE\`. \`?\` shows the keys. Keys that change
    something are capitals, ask first, and show the equivalent command.`,
  ],
  top: ['Another name of `cardpoll dashboard`.'],
  doctor: [
    `With a configuration it opens the stores itself, changes nothing, and needs no daemon. Without one it only asks the
    daemon. Each finding says what was found, what it means, what to do, and which command to run.`,
    `docs/runbook.md has a section for each finding: symptom, check and repair.`,
  ],
  stats: [
    `The overview begins with the health of the fleet and, for each reason why it is not normal, the command that helps.
    Success rates and durations are of the last seconds; with few polls, of five minutes.`,
  ],
  init: [
    `The daemon loads the cards into the schedule in batches, with a pause after each. Then it compares the schedule with
    the cards continuously. \`rebuild\` compares all of it now. \`adopt\` takes over a Redis that another fleet
    used.`,
  ],
  alerts: [
    `A rule watches one metric of one task type. The leader evaluates all enabled rules. An alert that fires is logged
    and recorded in the history. If its rule has a webhook, the alert is sent to it. A rule is given by id or by
    name.`,
  ],
  report: [
    `What one operator hands over to the next: outages and reasons of health, alerts, changes by actor, stops by carrier, polls, and
    what is open now. On a terminal it is at most one page of 80 columns and 40 lines; -o wide shows every line in full. A reason without
    an alert is known only while it lasts.`,
  ],
  audit: [
    'Every change through the admin API is recorded, and so are changes that the daemon makes by itself.',
  ],
  concurrency: [
    `The limit of a task type is the maximum number of its gateway calls in flight in the whole fleet. A change takes
    effect on every instance within a second. While the gateway refuses calls or slows down, the limit in force is
    lower.`,
  ],
  pause: [
    `Holds back both the schedule and manual triggers; calls in flight finish. A pause survives restarts and ends by
    itself, after a week at the latest.`,
  ],
  resume: ['Ends pauses set by operators and pauses that the gateway asked for with 429 or 503.'],
  maintenance: [
    `In a window that is planned ahead a task type, or all, is not polled: of the whole fleet, which waits as in a pause,
    or of the cards of one carrier, which are polled again at their next turn after the end. Every screen shows a window from
    an hour before its start. It ends by itself, after seven days at the latest.`,
    `Two windows may not overlap for the same task type and carrier. A start that the time zone does not have, because clocks
    go forward, is refused; one that occurs twice means the first.`,
  ],
  configs: [
    `A polling config says which cards are polled for a task type, and how often. If several match a card, the one with
    the highest priority applies, then the one with the lowest id. A config is given by id or by name.`,
  ],
  cleanup: [
    `The daemon removes expired data by its own schedule, \`cleanup.schedule\`. These commands show and change how long
    data is kept, and remove expired data now, in batches of 10,000 rows, each in a short transaction of its own.`,
  ],
  trigger: [
    `Manual and scheduled polls have the same limits. While both have work, each gets half of the slots. A trigger counts
    the results of its cards.`,
  ],
  cards: ['An import may be repeated. It imports good rows, and lists bad ones by line.'],
  stops: [
    `A card over its package is stopped at the gateway, within the budget \`stops.max_per_hour\` and
    \`stops.max_per_day\`. Further stops are held: those of the hour are judged again an hour later, those of
    the day wait until an operator decides: \`release\` makes them, \`dismiss\` gives them up.`,
    `After \`stops mode observe\`, every instance makes no more stops within a second, not even those that are already
    decided. Cards that would have been stopped are listed as \`observed\`. \`stops mode enforce\` stops cards
    again. While the readings of the whole fleet jump, all stops are held; \`stops mode enforce\` also accepts these
    readings as right.`,
    `\`stops resume\` makes a run, which resumes its cards: one call for each card, at the pace of package polls, within
    their limits and the breakers of the gateway. With \`--since\` it leaves out cards whose stop an operator
    ordered.`,
  ],
  explain: [
    `Prints one sentence for each task type, and the command that helps, if there is one: which config polls the card and
    why the others do not, when it is due, what holds it back, how often it failed and why.`,
  ],
  logs: [
    `Searches all log files, plain and gzip, below the log directories. Damaged files are read as far as possible, and
    named. Files without a line in the requested time range are skipped.`,
  ],
  gateway: [
    `A profile describes how to call a gateway and how to read its answers. \`try\` calls the gateway with a profile, for
    one card. \`simulate\` serves the default profile with generated cards, for trials and benchmarks.`,
  ],
  migrate: [
    'The daemon applies missing migrations itself. This command shows which are missing, or applies them beforehand.',
  ],
  context: [
    `A context is a name for a daemon: its URL and its token file. Commands use the current context unless \`--url\` or
    \`CARDPOLL_URL\` names another daemon.`,
  ],
  completion: [
    'Prints a script that completes commands, options, and the names of configs, rules and triggers.',
  ],
  token: [
    `Prints a new token, and the line to add to the token file of the daemon. The token itself never appears on a command
    line: commands read it from a file or a variable.`,
  ],
};
