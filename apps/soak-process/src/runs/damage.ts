import { setTimeout as sleep } from "node:timers/promises";
import { PRODUCED_QUEUES } from "../cluster/topology.ts";
import { isOpen } from "../ledger/message.ts";
import { sendOrder } from "../load/producers.ts";
import { Scenario } from "./scenario.ts";
import { DAMAGES, type Damage, damage, directoryFile, queueFiles } from "./state-files.ts";
import { until } from "./until.ts";

export interface DamageOptions {
  /** Rounds; each damages one or two queues, or the Directory. */
  readonly rounds: number;
  readonly seed: number;
  readonly onCase?: (result: DamageCase) => void;
}

/** What became of the files of one object that were damaged. */
export interface DamageCase {
  readonly target: string;
  readonly damage: Damage;
  readonly done: string;
  /** Messages of it that were acknowledged and never came. */
  readonly lost: number;
  /** What the admin API says of it: kinds of damage, with the most messages that each can have cost. */
  readonly reported: readonly string[];
  /** What must not have happened; empty if all is well. */
  readonly violations: readonly string[];
}

export interface DamageResult {
  readonly cases: readonly DamageCase[];
  readonly acknowledged: number;
}

/** A delay that nothing is due before, and how far the clock is moved then. */
const DELAY_SECONDS = 3_600;
/** A queue reports how far it has come at most 5 s after a commit; what is lost before that cannot be told. */
const REPORTED_MS = 6_000;
/** Longest that what is left takes to come, and that nothing may come before the rest counts as lost, in ms. */
const DRAIN_MS_MAX = 30_000;
const QUIET_MS = 2_000;

/**
 * Fills queues, kills the process, damages files and starts it again. Whatever is missing must be reported for the right
 * queue, in the log and by the admin API, and the other queues must not lose anything.
 */
export async function runDamage({ rounds, seed, onCase }: DamageOptions): Promise<DamageResult> {
  const cases: DamageCase[] = [];
  let acknowledged = 0;
  for (let round = 0; round < rounds; round++) {
    const result = await runRound(seed + round, round);
    acknowledged += result.acknowledged;
    cases.push(...result.cases);
    for (const each of result.cases) onCase?.(each);
  }
  return { cases, acknowledged };
}

interface Done {
  readonly target: string;
  readonly damage: Damage;
  readonly done: string;
}

async function runRound(seed: number, round: number): Promise<DamageResult> {
  let offsetMs = 0;
  const scenario = await Scenario.open(seed, undefined, () => Date.now() + offsetMs);
  try {
    await fill(scenario);
    await sleep(REPORTED_MS);
    await scenario.kill();
    const done = await damageFiles(scenario, round);
    const before = scenario.lines.length;
    const cluster = await scenario.start();
    scenario.handler.isDraining = true;
    offsetMs = 1000 * DELAY_SECONDS;
    await cluster.advanceClock(offsetMs);
    await settle(scenario);
    const acknowledged = scenario.ledger.messages.filter(({ outcome }) => outcome === "acknowledged").length;
    return { acknowledged, cases: await judge(scenario, done, scenario.lines.slice(before)) };
  } finally {
    await scenario.close();
  }
}

/** Puts messages into every queue, in several commits, none of them due. */
async function fill(scenario: Scenario): Promise<void> {
  const cluster = await scenario.start();
  const { random, ledger } = scenario;
  for (const queue of PRODUCED_QUEUES) {
    for (let order = random.int(3, 12); order > 0; order--) {
      const messages = Array.from({ length: random.int(1, 60) }, () => ({
        bytes: random.chance(0.05) ? random.int(1_000, 60_000) : random.int(1, 400),
        delaySeconds: DELAY_SECONDS,
      }));
      await sendOrder(cluster, ledger, { queue, how: random.pick(["batch", "singles"]), messages });
    }
  }
}

/** Damages one or two of the queues, or the Directory; at least one queue is left alone. */
async function damageFiles({ persistDir, random }: Scenario, round: number): Promise<Done[]> {
  const files = await queueFiles(persistDir);
  // Every kind comes about equally often, whatever the seed.
  const kindOf = (i: number): Damage => DAMAGES[(round + i) % DAMAGES.length] ?? DAMAGES[0];
  const targets: [string, string][] = random.chance(0.2)
    ? [["Directory", await directoryFile(persistDir)]]
    : [...files].filter(([name]) => name !== "dead").slice(0, random.int(1, 2));
  const done: Done[] = [];
  for (const [i, [target, file]] of targets.entries()) {
    const text = await damage(file, kindOf(i), random);
    if (text !== null) done.push({ target, damage: kindOf(i), done: text });
  }
  return done;
}

/** Waits until what is left has been handled, or nothing has come for a while. */
async function settle({ ledger }: Scenario): Promise<void> {
  let [open, sinceMs] = [ledger.openCount, Date.now()];
  await until(() => {
    if (ledger.openCount === 0) return true;
    if (ledger.openCount !== open) [open, sinceMs] = [ledger.openCount, Date.now()];
    return Date.now() - sinceMs > QUIET_MS;
  }, DRAIN_MS_MAX);
}

async function judge(
  scenario: Scenario,
  done: readonly Done[],
  lines: readonly string[],
): Promise<DamageCase[]> {
  const { ledger, cluster } = scenario;
  const figures = await cluster.queues();
  const lostOf = (queue: string) =>
    ledger.messages.filter((each) => each.queue === queue && isOpen(each)).length;
  const reportsOf = (queue: string) => figures.find(({ name }) => name === queue)?.damage ?? [];
  const common: string[] = [...ledger.findings.violationTexts];
  for (const queue of PRODUCED_QUEUES) {
    if (done.some(({ target }) => target === queue)) continue;
    if (lostOf(queue) > 0)
      common.push(`queue "${queue}" was left alone and has lost ${lostOf(queue)} message(s)`);
    if (reportsOf(queue).length > 0) common.push(`queue "${queue}" was left alone and reports damage`);
  }
  const resumed = await sendOrder(cluster, ledger, {
    queue: PRODUCED_QUEUES.find((queue) => done.every(({ target }) => target !== queue)) ?? "orders",
    how: "singles",
    messages: [{ bytes: 10, delaySeconds: null }],
  });
  if (!resumed || ledger.messages.at(-1)?.outcome !== "acknowledged")
    common.push("a queue that was left alone takes no sends");
  return done.map(({ target, ...what }) => {
    const lost = target === "Directory" ? 0 : lostOf(target);
    const reports = reportsOf(target);
    const violations = [...common];
    if (lost > 0) {
      const most = reports.reduce(
        (sum, { messagesLost }) => sum + (messagesLost ?? Number.POSITIVE_INFINITY),
        0,
      );
      if (most < lost) violations.push(`${lost} message(s) are lost, ${most} are reported`);
      if (!lines.some((line) => line.includes(`"${target}"`)))
        violations.push("no line in the log names the queue");
    }
    const reported = reports.map(({ kind, messagesLost }) => `${kind} (${messagesLost ?? "unknown"})`);
    return { target, ...what, lost, reported, violations };
  });
}
