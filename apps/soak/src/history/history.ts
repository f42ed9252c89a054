import { Random } from "@sluice/harness/random";
import { type LastEnd, type QueueDefinition, RETENTION_SECONDS_DEFAULT } from "@sluice/protocol";
import { Administrator } from "../actors/administrator.ts";
import { HttpEndpoint } from "../actors/http-endpoint.ts";
import { Mover } from "../actors/mover.ts";
import { Producer } from "../actors/producer.ts";
import { Publisher } from "../actors/publisher.ts";
import { Puller } from "../actors/puller.ts";
import { PushConsumer } from "../actors/push-consumer.ts";
import { Receiver } from "../actors/receiver.ts";
import { TroubleMaker } from "../actors/trouble-maker.ts";
import type { Checker } from "../checkers/checker.ts";
import { CHECKERS } from "../checkers/index.ts";
import { Simulation } from "../checkers/simulation.ts";
import { runOfTag, tasksOf } from "../ledger/tasks.ts";
import { DirectoryObject } from "../platform/directory-object.ts";
import { resumeDelivery } from "../platform/pause-delivery.ts";
import { QueueObject } from "../platform/queue-object.ts";
import { drawScenario, type Scenario, TOPIC_NAME } from "../scenario/scenario.ts";
import type { FaultCounts } from "../world/faults.ts";
import type { PlantedBug } from "../world/planted-bug.ts";
import { microtasksDone } from "../world/virtual-loop.ts";
import { partsOf, type Violation, type World } from "../world/world.ts";

/**
 * Time from the last due time of a message to the end of all work, once the faults have stopped, in ms: an answer that
 * is on its way may ask for a retry in an hour, a lease of a handler that hangs takes 15 minutes, a message that is on
 * its way may have a delay of 5 minutes; backoffs and batch timeouts take the rest.
 */
const DRAIN_MS = 5_400_000;

/** Longest time that a call is on its way, in ms: a receive that comes so late may hide messages for 12 hours. */
const ON_ITS_WAY_MS = 120_000;

/**
 * Most events of a history: one with more is taken to spin. The longest correct ones have a worker daemon that posts
 * messages every other second for 20 minutes, since no dead-letter queue takes them.
 */
const EVENTS_MAX = 100_000;

/** Clients that receive from one queue. */
const RECEIVERS = 2;

/**
 * Most times that the alarm of a queue without messages rings: for work that was due, for a heartbeat, for receives
 * that wait.
 */
const IDLE_RINGS_MAX = 4 + 2 * RECEIVERS;

/** Definition of the queue that stands for a topic's object: it keeps no messages. */
const TOPIC_DEFINITION: QueueDefinition = {
  deliveryDelaySeconds: 0,
  messageRetentionSeconds: RETENTION_SECONDS_DEFAULT,
  producers: [],
  consumer: null,
};

export interface HistoryOptions {
  /** Keeps the log as text: for one history, not for thousands. */
  readonly verbose?: boolean;
  /** Which properties are watched; all by default. */
  readonly checkers?: readonly Checker[];
  /** A mistake to make, to see whether it is found. */
  readonly bug?: PlantedBug;
}

export interface HistoryReport {
  readonly seed: number;
  readonly events: number;
  readonly faults: FaultCounts;
  readonly outcomes: Outcomes;
  /** Equal for two runs of one seed. */
  readonly hash: string;
  readonly violation: Violation | null;
  /** The log as text if it was wanted. */
  readonly lines: readonly string[] | null;
}

/** Kinds of outcomes that a history counts, over all its queues together. */
export const OUTCOME_KINDS = [
  "accepted",
  "of periodic tasks",
  "of topics",
  "passed on or dropped for a queue that is gone",
  "acked",
  "dead",
  "moved",
  "expired",
  "deliveries",
  "epochs",
] as const;
export type Outcomes = Record<(typeof OUTCOME_KINDS)[number], number>;

export function noOutcomes(): Outcomes {
  return Object.fromEntries(OUTCOME_KINDS.map((kind) => [kind, 0])) as Outcomes; // every kind is there
}

/** Runs the history of a seed from its first event to the last, or to the first violation. */
export async function runHistory(seed: number, options: HistoryOptions = {}): Promise<HistoryReport> {
  const parts = partsOf(seed, options.verbose ?? false, options.bug ?? null);
  const world = new Simulation(parts, options.checkers ?? CHECKERS);
  const scenario = drawScenario(parts.random);
  world.keepsHistory = scenario.keepsHistory;
  const senders = begin(world, scenario, {
    clocks: new Random(seed + CLOCK_SEEDS),
    hangs: new Random(seed + HANG_SEEDS),
  });
  await takeEvents(world, senders);
  if (world.violation === null) await startAllAgain(world);
  world.note("the history ends", "");
  return reportOf(seed, world, outcomesOf(world));
}

/** Reports a history that has ended. */
export function reportOf(seed: number, world: World, outcomes: Outcomes): HistoryReport {
  const { loop, faults, log, violation } = world;
  return { seed, events: loop.events, faults, outcomes, hash: log.hash, violation, lines: log.lines };
}

/**
 * First seed of the random numbers for the machine's clock. They are apart, so that histories without such faults,
 * which are most, draw the same numbers as before.
 */
const CLOCK_SEEDS = 1_000_000_007;
/** Time for which a Worker that begins before others delivers alone, in ms. */
const SLOT_MS = 10_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Schedules settings of the machine's clock, in both directions; with some the process ends too. */
function setClocks(world: Simulation, { troubleMs }: Scenario, clocks: Random): void {
  const times = clocks.pick([0, 0, 0, 0, 1, 3]);
  for (let i = 0; i < times; i++) {
    const byMs = clocks.pick([1_000, 60_000, HOUR_MS, 5 * DAY_MS, 40 * DAY_MS]) * clocks.pick([1, -1]);
    const hasRestart = clocks.chance(0.4);
    world.loop.after(clocks.below(troubleMs), () => {
      world.faults["machine's clock set"] += 1;
      world.note("machine's clock is set", "", byMs, hasRestart ? 1 : 0);
      world.timeOfDay.set(byMs);
      // A clock that is set forward while no process runs looks like time that has passed.
      if (byMs > 0) world.timeOfDay.read();
      if (!hasRestart) return;
      world.timeOfDay.restart();
      for (const queue of world.queues) queue.crash();
    });
  }
}

/** First seed of the random numbers for Workers that hang the runtime; as rare as those of the clock. */
const HANG_SEEDS = 2_000_000_011;

/**
 * Schedules hangs of the runtime that all Workers share. All objects end; their next epochs are told which Worker is
 * blamed, or in which order the suspected ones begin.
 */
function hangRuntimes(world: Simulation, { troubleMs }: Scenario, hangs: Random): void {
  const times = hangs.pick([0, 0, 0, 0, 1, 3]);
  for (let i = 0; i < times; i++) {
    world.loop.after(hangs.below(troubleMs), () => {
      const workers = world.queues.flatMap(({ worker }) => worker ?? []);
      const culprit = workers[hangs.below(Math.max(1, workers.length))];
      if (culprit === undefined) return;
      const others = workers.filter((worker) => worker !== culprit);
      const order = hangs.chance(0.5) ? [culprit, ...others] : [...others, culprit];
      const told: LastEnd = hangs.chance(0.6)
        ? { kind: "blamed", worker: culprit, slotMs: SLOT_MS }
        : { kind: "suspected", order, slotMs: SLOT_MS };
      world.faults["Worker hung the runtime"] += 1;
      world.note("a Worker hangs the runtime", culprit, told.kind === "blamed" ? 1 : 0);
      for (const queue of world.queues) {
        queue.hang({ told, counts: told.kind === "blamed" && queue.worker === culprit });
      }
    });
  }
}

/** Random numbers for faults that most histories do not have. */
interface Rare {
  readonly clocks: Random;
  readonly hangs: Random;
}

/** Actors that send messages, and the one that restores queues for them. */
interface Senders {
  readonly producer: Producer;
  readonly publisher: Publisher | null;
  /** `null` in a history without a directory. */
  readonly administrator: Administrator | null;
}

function begin(world: Simulation, scenario: Scenario, { clocks, hangs }: Rare): Senders {
  const { random, loop } = world;
  world.note("the history begins", "");
  world.log.remark(JSON.stringify(scenario));
  world.queues = scenario.queues.map(
    ({ name, definition }, i) => new QueueObject(world, i, name, definition),
  );
  const pollEveryMs = Math.ceil(scenario.troubleMs / 10);
  scenario.queues.forEach(({ taker }, i) => {
    const queue = world.queues[i];
    if (queue === undefined) return;
    if (taker.kind === "push") queue.consumer = new PushConsumer(world, queue, taker.behaviours);
    else if (taker.kind === "endpoint") {
      queue.endpoint = new HttpEndpoint(world, queue, taker);
    } else if (taker.kind === "pull") new Puller(world, queue).start(pollEveryMs);
    else if (taker.kind === "receive") {
      for (let i = 0; i < RECEIVERS; i++) new Receiver(world, queue).start(pollEveryMs);
    }
  });
  const administrator = beginDirectory(world, scenario);
  const producer = new Producer(world, scenario);
  for (let i = 0; i < scenario.sends; i++) {
    const queue = world.queues[random.pick([0, 0, 0, random.below(world.queues.length)])];
    if (queue !== undefined)
      loop.after(random.below(scenario.troubleMs), () => void producer.send(queue, false));
  }
  const publisher = beginTopic(world, scenario);
  new TroubleMaker(world, scenario).start();
  setClocks(world, scenario, clocks);
  hangRuntimes(world, scenario, hangs);
  new Mover(world, scenario).start();
  administrator?.start();
  const senders = { producer, publisher, administrator };
  loop.after(scenario.troubleMs, () => endTrouble(world, senders));
  return senders;
}

function beginDirectory(world: Simulation, scenario: Scenario): Administrator | null {
  if (!scenario.hasDirectory) {
    for (const { name, definition } of scenario.queues) world.deployed.change(name, definition);
    return null;
  }
  const topology = Object.fromEntries(scenario.queues.map(({ name, definition }) => [name, definition]));
  const directory = new DirectoryObject(world, topology);
  world.directory = directory;
  return new Administrator(world, directory, scenario);
}

function beginTopic(world: Simulation, { topic: settings, troubleMs }: Scenario): Publisher | null {
  if (settings === null) return null;
  const { random, loop } = world;
  settings.subscribed.forEach((isSubscribed, i) => {
    const queue = world.queues[i];
    if (queue !== undefined) queue.isSubscribed = isSubscribed;
  });
  const topic = new QueueObject(world, world.queues.length, TOPIC_NAME, TOPIC_DEFINITION);
  world.queues = [...world.queues, topic];
  const publisher = new Publisher(world, topic, settings);
  for (let i = 0; i < settings.publishes; i++) {
    loop.after(random.below(troubleMs), () => void publisher.publish(false));
  }
  return publisher;
}

function endTrouble(world: Simulation, { producer, publisher, administrator }: Senders): void {
  void publisher?.publish(true);
  world.directory?.disk.failWrites(Infinity, 0);
  for (const queue of world.queues) {
    endTasks(world, queue);
    if (administrator !== null) void administrator.restore(queue).then(() => producer.send(queue, true));
    else if (!queue.isTopic && queue.gone === null) void producer.send(queue, true);
    queue.disk.failWrites(Infinity, 0);
    if (queue.called !== null) queue.called.absentUntilMs = 0;
    if (queue.settings.delivery === "paused") resumeDelivery(queue);
  }
  world.calmDown();
}

/** Deploys the queue without its periodic tasks: with them the history would never end. */
function endTasks(world: Simulation, queue: QueueObject): void {
  const definition = world.deployed.record(queue.name)?.definition;
  const consumer = definition?.consumer ?? null;
  if (definition === undefined || tasksOf(definition).length === 0 || consumer?.type !== "http_push") return;
  const { daemon } = consumer.settings;
  queue.evict();
  const settings = { ...consumer.settings, ...(daemon && { daemon: { ...daemon, periodicTasks: [] } }) };
  world.deployed.change(queue.name, { ...definition, consumer: { ...consumer, settings } });
  queue.start();
}

async function takeEvents(world: Simulation, senders: Senders): Promise<void> {
  const { loop } = world;
  let drainedByMs = Infinity;
  let isFinal = false;
  while (world.violation === null) {
    if (!world.isTroubled) {
      if (isDrained(world, senders)) return await calmAlarms(world);
      if (drainedByMs === Infinity) drainedByMs = Math.max(world.nowMs, lastDueMs(world)) + DRAIN_MS;
    }
    const run = loop.next();
    if (!isFinal && world.nowMs > world.calmSinceMs + ON_ITS_WAY_MS) {
      isFinal = true;
      drainedByMs = Math.max(drainedByMs, lastDueMs(world) + DRAIN_MS);
    }
    if (run === undefined || world.nowMs > drainedByMs || loop.events > EVENTS_MAX) {
      world.stuck(run === undefined ? "nothing will ever happen any more" : "it does not come to an end");
      return;
    }
    await take(world, run);
  }
}

async function take(world: Simulation, run: () => void): Promise<void> {
  run();
  await microtasksDone();
  await world.settled();
  for (const queue of world.queues) queue.check();
}

/** Takes events until no alarm is set any more: a queue that has nothing to do must not keep the platform awake. */
async function calmAlarms(world: Simulation): Promise<void> {
  world.isDrained = true;
  const { loop, queues } = world;
  const waiting = queues.reduce((sum, { receives }) => sum + receives.count, 0);
  const begun = () => queues.reduce((sum, { receives }) => sum + receives.begun, 0);
  // Each waiting receive ends by an alarm, also one that is made again only now.
  const ringsMax = Math.max(...queues.map(({ rings }) => rings)) + waiting + IDLE_RINGS_MAX - begun();
  while (world.violation === null && queues.some(({ disk }) => disk.alarmAtMs !== null)) {
    if (queues.some(({ rings }) => rings > ringsMax + begun())) {
      world.stuck("an alarm rings on although nothing is left to do");
      return;
    }
    const run = loop.next();
    if (run === undefined) return;
    await take(world, run);
  }
}

function isDrained(
  { queues, travelling, directory }: Simulation,
  { producer, publisher, administrator }: Senders,
): boolean {
  return (
    directory?.isDone !== false &&
    (administrator?.unfinished ?? 0) === 0 &&
    travelling + producer.underWay + (publisher?.underWay ?? 0) === 0 &&
    queues.every(({ ledger, disk }) => {
      const { waiting, leased } = ledger.counts;
      const moves = ledger.moveTasks.filter(({ status }) => status === "running").length;
      return waiting + leased + moves + ledger.pendingBatches.size === 0 && disk.isSynced;
    })
  );
}

/** Latest due time or lease end of all messages, in ms. */
function lastDueMs({ queues }: Simulation): number {
  let lastMs = 0;
  for (const { ledger } of queues) {
    for (const { view } of ledger.present()) {
      if (view.status !== "gone") lastMs = Math.max(lastMs, view.atMs);
    }
  }
  return lastMs;
}

/** Ends every object and starts it again: nothing that is gone may come back. */
async function startAllAgain(world: Simulation): Promise<void> {
  for (const queue of world.queues) {
    queue.evict();
    queue.start();
    await microtasksDone();
    // An object that calls the directory first opens only after some events.
    while (queue.epoch?.isOpening === true) {
      const run = world.loop.next();
      if (run === undefined) break;
      await take(world, run);
    }
    queue.check();
    world.check("atEnd", queue);
  }
}

function outcomesOf({ queues, copies }: Simulation): Outcomes {
  const outcomes = noOutcomes();
  for (const { ledger, epochs } of queues) {
    for (const kind of ["accepted", "acked", "dead", "moved", "expired"] as const) {
      outcomes[kind] += ledger.counts[kind];
    }
    for (const tag of ledger.messages.keys()) if (runOfTag(tag) !== null) outcomes["of periodic tasks"] += 1;
    for (const tag of ledger.messages.keys()) if (copies.has(tag)) outcomes["of topics"] += 1;
    outcomes["passed on or dropped for a queue that is gone"] += ledger.passedOn.size;
    outcomes.deliveries += ledger.deliveries.size;
    outcomes.epochs += epochs;
  }
  return outcomes;
}
