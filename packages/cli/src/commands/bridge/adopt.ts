import type { BackupMessage, BackupQueue } from "@sluice/gateway/views";
import { CliError, EXIT_FAILED, EXIT_USAGE } from "@sluice/project/errors";
import { plural } from "@sluice/protocol/words";
import { backupOf, restore, restoreOnce } from "../../client/backup.ts";
import { answer, type OnBroker } from "../on-broker.ts";
import { type Patience, PLAN_TRIES, patiently, RUN_TRIES } from "../patience.ts";
import { bytesInRequest } from "../transfer/lines.ts";
import { agreeToPlan } from "./agree-to-plan.ts";
import { inBatches } from "./batches.ts";
import type { Source, SourceQueue, Taken } from "./message.ts";
import { refuseOldBroker } from "./old-broker.ts";
import {
  type BridgeOptions,
  LEASE_SECONDS_DEFAULT,
  quietMsOf,
  refuseOtherKind,
  type System,
} from "./options.ts";
import { backlogText, countOf, differencesOf, type Plan } from "./plan.ts";
import { pump } from "./pump.ts";
import { MoveProgress, Tally } from "./report.ts";
import { sameQueueRefusal } from "./same-queue.ts";
import { untilStopped } from "./stopping.ts";

export interface AdoptOptions extends BridgeOptions {
  readonly from: System;
  /** Whether a Worker that consumes the old queue may be detached during the move. */
  readonly detachConsumer?: boolean;
}

/** Time without messages after which the command says why it waits, in ms. */
const NOTE_AFTER_MS = 5_000;

/** `sluice adopt`: copies a queue of Cloudflare or SQS with its settings, and moves its messages over, each once. */
export async function adopt(on: OnBroker, name: string, options: AdoptOptions): Promise<number> {
  const { printer } = on;
  const {
    dryRun = false,
    yes = false,
    follow = false,
    leaseSecs = LEASE_SECONDS_DEFAULT,
    as = name,
  } = options;
  if (options.detachConsumer === true && options.from === "sqs") {
    throw new CliError(
      "--detach-consumer is for a queue of Cloudflare: one of SQS has any number.",
      EXIT_USAGE,
    );
  }
  refuseOtherKind(name, as);
  const note = (text: string) => printer.warn(text);
  const patience = { tries: PLAN_TRIES, note };
  await refuseOldBroker(on, patience);
  const source = await openSource(on, name, 1_000 * leaseSecs, options, patience);
  const described = await source.describe();
  const existing = await existingQueue(on, as, patience);
  const dead = deadLetterQueueOf(described.queue);
  const hasDead = dead === null || (await existingQueue(on, dead, patience)) !== null;
  const same =
    existing === null || as !== name
      ? null
      : await sameQueueRefusal(on.client, name, described.identity, { patience, dryRun });
  const plan = planOf(on, { described, existing, name: as, follow, same, missing: hasDead ? null : dead });
  if (!(await agreeToPlan(on, plan, { dryRun, yes }))) return 0;
  const { from } = options;
  return untilStopped(printer, follow, async (stop) => {
    const running = { tries: RUN_TRIES, note, stop };
    const queue = { ...described.queue, name: as };
    if (existing === null) await patiently(running, () => restore(on.client, "queues", queue));
    const moving = await openSource(on, name, 1_000 * leaseSecs, options, running);
    const tally = new Tally();
    try {
      await moving.open();
      await move(on, {
        source: moving,
        queue: as,
        tally,
        stop,
        follow,
        patience: running,
        described,
        leaseSecs,
      });
    } catch (error) {
      if (tally.moved > 0) printer.warn(`Moved ${plural(tally.moved, "message")} until then.`);
      throw error;
    } finally {
      await moving.close();
    }
    const left = [...tally.left].map(([why, ids]) => ({ count: ids.size, why }));
    const backlog = await moving.backlog();
    const { moved, duplicates } = tally;
    answer(
      on,
      { plan, moved, duplicates, left, backlog },
      { words: reportText(name, from, tally, backlogText(backlog)) },
    );
    return left.length === 0 ? 0 : EXIT_FAILED;
  });
}

async function openSource(
  { surroundings }: OnBroker,
  name: string,
  leaseMs: number,
  { from, detachConsumer = false }: AdoptOptions,
  patience: Patience,
): Promise<Source> {
  if (from === "sqs") {
    const { openSqs } = await import("./sqs/client.ts");
    return (await import("./sqs/source.ts")).openSqsSource(openSqs(patience.tries), name, leaseMs);
  }
  const { openCloudflare } = await import("./cloudflare/access.ts");
  const { openCloudflareSource } = await import("./cloudflare/source.ts");
  const { env } = surroundings;
  return openCloudflareSource(await openCloudflare(surroundings), {
    name,
    leaseMs,
    detachConsumer,
    patience,
    env,
  });
}

/** Reads the settings of the broker's queue of that name; `null` for none. */
export async function existingQueue(
  { client }: OnBroker,
  name: string,
  patience: Patience,
): Promise<BackupQueue | null> {
  const { queues } = await patiently(patience, () => backupOf(client));
  return queues.find((queue) => queue.name === name) ?? null;
}

/** Returns the name of a queue's dead-letter queue; `null` for none. */
function deadLetterQueueOf({ settings, consumer }: BackupQueue): string | null {
  return settings.receive?.redrive?.deadLetterQueue ?? consumer?.settings.deadLetterQueue ?? null;
}

interface Planned {
  readonly described: SourceQueue;
  readonly existing: BackupQueue | null;
  readonly name: string;
  readonly follow: boolean;
  /** Refusal where source and target are the same queue; `null` where they are two. */
  readonly same: string | null;
  /** Name of the dead-letter queue that the broker lacks; `null` where it lacks none. */
  readonly missing: string | null;
}

function planOf({ client }: OnBroker, { described, existing, name, follow, same, missing }: Planned): Plan {
  const { place, queue, notCopied, notes, steps, refusal, backlog } = described;
  const lines = described.linesOf(queue);
  return {
    from: place,
    to: `queue ${name} of ${client.url}${existing === null ? ", which is created" : ", which exists"}`,
    settings: Object.fromEntries(lines),
    differences: existing === null ? [] : differencesOf(lines, described.linesOf(existing)),
    notCopied,
    backlog,
    notes: [
      ...(missing === null
        ? []
        : [
            `Adopt its dead-letter queue ${missing} first: otherwise the first dead letter creates it, with default ` +
              "settings, which it keeps.",
          ]),
      ...notes,
    ],
    steps: [
      ...(existing === null ? ["create the queue with these settings"] : []),
      ...steps,
      "move each message: send it to Sluice under its id, delete it from the old queue once it is on disk",
      follow ? "go on until Ctrl-C" : "end when the old queue is empty",
    ],
    refusal: refusal ?? same,
  };
}

interface Move {
  readonly source: Source;
  readonly queue: string;
  readonly tally: Tally;
  readonly stop: AbortSignal;
  readonly follow: boolean;
  readonly patience: Patience;
  readonly described: SourceQueue;
  readonly leaseSecs: number;
}

async function move(on: OnBroker, given: Move): Promise<void> {
  const { source, tally, stop, follow, described, leaseSecs } = given;
  const progress = new MoveProgress(tally, countOf(described.backlog), on);
  /** Ids of messages that are deleted at the source and not forgotten by the target yet, by lane. */
  const deleted = new Map<number, string[]>();
  let movedMs = Date.now();
  let hasNoted = false;
  try {
    await pump({
      take: () => source.take(),
      forward: async (batch, lane) => {
        deleted.set(lane, await forward(on, given, batch, deleted.get(lane) ?? []));
        progress.update();
        movedMs = Date.now();
        return batch.some(isMovable);
      },
      isEmpty: async () => {
        const { waiting, inFlight } = await source.backlog();
        if (waiting === 0 && inFlight === 0) return true;
        if (!hasNoted && Date.now() - movedMs >= NOTE_AFTER_MS) {
          hasNoted = true;
          progress.note(`Nothing more comes. An earlier run may hold messages: ${leaseSecs} s to wait.`);
        }
        return false;
      },
      quietMs: quietMsOf(leaseSecs),
      follow,
      stop,
    });
  } finally {
    progress.stop();
  }
}

/**
 * Moves messages that were taken: sends them to Sluice, which leaves out those that it stored before, then deletes them
 * at the source.
 *
 * @param forget ids that the queue need not remember any more.
 * @returns the ids of messages that cannot come again: they were deleted within their lease, so nobody else has them.
 */
async function forward(
  { client }: OnBroker,
  { source, queue, tally, patience }: Move,
  taken: readonly Taken[],
  forget: readonly string[],
): Promise<string[]> {
  const movable = taken.filter(isMovable);
  for (const { id, message } of taken) {
    if ("unreadable" in message) tally.leave(message.unreadable, id);
  }
  const deleted: string[] = [];
  let toForget = forget;
  for (const batch of inBatches(movable, ({ message }) => bytesInRequest(message))) {
    const messages = batch.map(({ message }) => message);
    let tries = 0;
    const known = await patiently(patience, () => {
      tries += 1;
      return restoreOnce(client, queue, messages, toForget);
    });
    // A try whose answer was lost has stored them.
    const duplicates = tries > 1 ? 0 : known.length;
    toForget = [];
    const handles = batch.map(({ handle }) => handle);
    const removed = await source.remove(handles);
    tally.duplicates += duplicates;
    tally.moved += batch.length - duplicates;
    const now = Date.now();
    for (const { id, handle, leasedUntilMs } of batch) {
      if (removed.has(handle) && now < leasedUntilMs) deleted.push(id);
    }
  }
  return [...toForget, ...deleted];
}

function isMovable(taken: Taken): taken is Taken & { readonly message: BackupMessage } {
  return !("unreadable" in taken.message);
}

function reportText(name: string, from: string, { moved, duplicates, left }: Tally, backlog: string): string {
  const system = from === "sqs" ? "SQS" : "Cloudflare";
  return [
    `Moved ${plural(moved, "message")} of ${name} from ${system}.`,
    ...(duplicates === 0 ? [] : [`${plural(duplicates, "message")} had been moved before, and came once.`]),
    ...[...left].map(([why, ids]) => `Left ${plural(ids.size, "message")}, because ${why}.`),
    `The old queue has ${backlog} now.`,
  ].join("\n");
}
