import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import getPort from "get-port";
import type { QueueFigures } from "../cluster/cluster.ts";
import { type CaseResult, conclude, look } from "../damage/case-result.ts";
import { DamageLedger } from "../damage/damage-ledger.ts";
import type { Seen } from "../damage/judge.ts";
import { damage } from "../damage/kinds.ts";
import { type Case, type DamageOptions, runCases } from "../damage/run-cases.ts";
import { copyState, databaseOf, type Target } from "../damage/state-files.ts";
import { BrokerProcess } from "../sqs/broker-process.ts";
import { type ReceivedMessage, SqsRefusal, sqs } from "../sqs/client.ts";
import { buildCommand } from "../sqs/command.ts";
import { DEAD_QUEUE, ORDERED_QUEUE, queueNamed, VISIBILITY_MS } from "../sqs/queues.ts";
import { DAMAGED_QUEUES, makeSqsBaseState, type SqsBaseState } from "../sqs/sqs-base-state.ts";

/** A state is made once for so many cases: to make one takes seconds. */
const CASES_PER_STATE = 28;
/** Longer than anything is hidden: what has not come by then is missing. In ms. */
const STALLED_MS = VISIBILITY_MS + 1_000;
/** Longest that a probe is waited for, in ms. */
const PROBE_MS_MAX = 15_000;

const TARGETS: readonly Target[] = [
  ...DAMAGED_QUEUES.map((name): Target => ({ kind: "queue", name })),
  { kind: "directory" },
];

/**
 * As `runDamage`, of the broker alone: the files of one object after the other are damaged while nothing runs, and
 * clients of SQS look at what the next life makes of it. That must not end by it.
 */
export async function runSqsDamage(options: DamageOptions): Promise<CaseResult[]> {
  const command = await buildCommand();
  const folder = await mkdtemp(path.join(tmpdir(), "sluice-soak-process-"));
  const port = await getPort();
  const start: Start = (persistDir) => BrokerProcess.start({ main: command.main, port, persistDir, folder });
  try {
    return await runCases(options, {
      casesPerState: CASES_PER_STATE,
      targets: TARGETS,
      makeBase: (random) => makeSqsBaseState(start, random),
      run: (drawn) => runCase(start, drawn),
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
    await command.remove();
  }
}

type Start = (persistDir: string) => Promise<BrokerProcess>;

async function runCase(
  start: Start,
  { base, databases, kind, target, random }: Case<SqsBaseState>,
): Promise<CaseResult> {
  const folder = await copyState(base.folder);
  const ledger = new DamageLedger(base.kept);
  try {
    const done = await damage(kind, databaseOf(folder, databases, target), random);
    const life = await start(folder);
    try {
      const seen = await Promise.all(
        DAMAGED_QUEUES.map(async (queue) => {
          const url = base.urls.get(queue) ?? "";
          await receiveAll(life.endpoint, url, queue, ledger);
          // Some had been given back so often that they were dead letters before the damage.
          const dead = queueNamed(queue).receivesMax === null ? undefined : base.urls.get(DEAD_QUEUE);
          if (dead !== undefined) await receiveAll(life.endpoint, dead, queue, ledger);
          return { queue, probe: await probe(life.endpoint, url, queue, ledger) };
        }),
      );
      const figures = await figuresOf(life);
      const looked = seen.map((each) => look(each.queue, ledger, figures, life.lines, each.probe));
      const result = conclude({ kind, target, done, ledger, seen: looked, figures, lines: life.lines });
      const ended = life.ended === null ? [] : [`the process ended with ${life.ended.code}`];
      return { ...result, violations: [...result.violations, ...ended] };
    } finally {
      await life.kill();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function figuresOf(life: BrokerProcess): Promise<readonly QueueFigures[] | null> {
  try {
    return ((await life.admin("queues")) as { queues: QueueFigures[] }).queues;
  } catch {
    return null;
  }
}

/** Receives and deletes until nothing has come for a while. */
async function receiveAll(endpoint: string, url: string, queue: string, ledger: DamageLedger): Promise<void> {
  for (let sinceMs = Date.now(); Date.now() - sinceMs < STALLED_MS && ledger.missing(queue) > 0; ) {
    const messages = await receive(endpoint, url);
    if (messages.length === 0) continue;
    sinceMs = Date.now();
    ledger.delivered({ queue, messages: messages.map(({ Body }) => ({ body: Body })) });
  }
  // What comes although it was deleted comes in the same way.
  const rest = await receive(endpoint, url);
  ledger.delivered({ queue, messages: rest.map(({ Body }) => ({ body: Body })) });
}

/** Receives messages and deletes them; none where that is refused. */
async function receive(endpoint: string, QueueUrl: string): Promise<readonly ReceivedMessage[]> {
  try {
    const input = { QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 1 };
    const { Messages = [] } = await sqs(endpoint, "ReceiveMessage", input);
    const Entries = Messages.map(({ ReceiptHandle }, i) => ({ Id: `${i}`, ReceiptHandle }));
    if (Entries.length > 0) await sqs(endpoint, "DeleteMessageBatch", { QueueUrl, Entries });
    return Messages;
  } catch (error) {
    if (error instanceof SqsRefusal) return [];
    throw error;
  }
}

/** Sends one more message, and waits for it. */
async function probe(
  endpoint: string,
  QueueUrl: string,
  queue: string,
  ledger: DamageLedger,
): Promise<Seen["probe"]> {
  const { message, body: MessageBody } = ledger.intend({ queue, bytes: 50 });
  const ordered = { MessageGroupId: `${message.tag}`, MessageDeduplicationId: `${message.tag}` };
  try {
    const input = { QueueUrl, MessageBody, ...(queue === ORDERED_QUEUE ? ordered : {}) };
    await sqs(endpoint, "SendMessage", input);
  } catch (error) {
    if (error instanceof SqsRefusal) return "refused";
    throw error;
  }
  const deadlineMs = Date.now() + PROBE_MS_MAX;
  while (Date.now() < deadlineMs) {
    if ((await receive(endpoint, QueueUrl)).some(({ Body }) => Body === MessageBody)) return "delivered";
  }
  return "lost";
}
