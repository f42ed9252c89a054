import type { LeasedMessage, QueueView } from "@sluice/gateway/views";
import { EXIT_FAILED } from "@sluice/project/errors";
import { PULL_MESSAGES_MAX, RECEIVE_MESSAGES_MAX } from "@sluice/protocol";
import { plural } from "@sluice/protocol/words";
import { leaseMessages, settleMessages } from "../../client/backup.ts";
import { queueNamed } from "../../client/queues.ts";
import { answer, type OnBroker } from "../on-broker.ts";
import { type Patience, PLAN_TRIES, patiently, RUN_TRIES } from "../patience.ts";
import { existingQueue } from "./adopt.ts";
import { agreeToPlan } from "./agree-to-plan.ts";
import { inBatches } from "./batches.ts";
import type { Backlog } from "./message.ts";
import { refuseOldBroker } from "./old-broker.ts";
import {
  type BridgeOptions,
  LEASE_SECONDS_DEFAULT,
  quietMsOf,
  refuseOtherKind,
  type System,
} from "./options.ts";
import { backlogText, countOf, type Plan } from "./plan.ts";
import { pump } from "./pump.ts";
import { MoveProgress, Tally } from "./report.ts";
import { sameQueueRefusal } from "./same-queue.ts";
import { Staying } from "./staying.ts";
import { untilStopped } from "./stopping.ts";
import { messageBytes, type Target, type TargetQueue } from "./target.ts";

export interface EjectOptions extends BridgeOptions {
  readonly to: System;
}

/** `sluice eject`: copies the settings of a queue to Cloudflare or SQS, and moves its messages there. */
export async function eject(on: OnBroker, name: string, options: EjectOptions): Promise<number> {
  const { printer, client } = on;
  const { dryRun = false, yes = false, follow = false, as = name, to } = options;
  refuseOtherKind(name, as);
  const note = (text: string) => printer.warn(text);
  const patience = { tries: PLAN_TRIES, note };
  await refuseOldBroker(on, patience);
  const view = await patiently(patience, () => queueNamed(client, name));
  const queue = await existingQueue(on, name, patience);
  if (queue === null) throw new Error(`queue ${name} is gone`);
  const target = await openTarget(on, as, to, patience);
  const described = await target.describe(queue);
  const same =
    described.identity === null || as !== name
      ? null
      : await sameQueueRefusal(client, name, described.identity, { patience, dryRun });
  const plan = planOf(on, view, { ...described, refusal: described.refusal ?? same }, as, follow);
  if (!(await agreeToPlan(on, plan, { dryRun, yes }))) return 0;
  return untilStopped(printer, follow, async (stop) => {
    const running = { tries: RUN_TRIES, note, stop };
    const moving = await openTarget(on, as, to, running);
    await moving.create(queue);
    const tally = new Tally();
    await move(on, { view, target: moving, tally, stop, patience: running, options }, countOf(plan.backlog));
    const backlog = backlogOf(await patiently(running, () => queueNamed(client, name)));
    const left = [...tally.left].map(([why, ids]) => ({ count: ids.size, why }));
    const words = reportText(name, to, tally, backlogText(backlog));
    answer(on, { plan, moved: tally.moved, left, backlog }, { words });
    return left.length === 0 ? 0 : EXIT_FAILED;
  });
}

async function openTarget(
  { surroundings }: OnBroker,
  name: string,
  to: System,
  patience: Patience,
): Promise<Target> {
  if (to === "sqs") {
    const { openSqs } = await import("./sqs/client.ts");
    return new (await import("./sqs/target.ts")).SqsTarget(openSqs(patience.tries), name);
  }
  const { openCloudflare } = await import("./cloudflare/access.ts");
  const api = await openCloudflare(surroundings);
  return new (await import("./cloudflare/target.ts")).CloudflareTarget(api, name, patience);
}

function planOf(
  { client }: OnBroker,
  view: QueueView,
  target: TargetQueue,
  as: string,
  follow: boolean,
): Plan {
  const { place, identity, lines, differences, notCopied, notes, refusal } = target;
  const { name, consumer, settings } = view;
  const exists = identity !== null;
  const paused = `Delivery of ${name} is paused, so nothing can be taken out: sluice queues resume-delivery ${name}`;
  return {
    from: `queue ${name} of ${client.url}`,
    to: `queue ${as}, ${place}${exists ? ", which exists" : ", which is created"}`,
    settings: Object.fromEntries(lines),
    differences,
    notCopied: [
      "Attempts, ids and send times: each message begins anew there.",
      ...(consumer === null
        ? []
        : ["The consumer: deploy it to the new queue, by wrangler deploy for instance."]),
      ...notCopied,
    ],
    backlog: backlogOf(view),
    notes: [
      ...(consumer === null ? [] : ["Its consumer goes on meanwhile, and what it takes is not moved."]),
      "A message counts as delivered once more where this command is killed with it, or its lease ends on its way.",
      ...notes,
    ],
    steps: [
      ...(exists ? [] : ["create the queue with these settings"]),
      "move each message: send it to the new queue, delete it from Sluice once that has answered",
      follow ? "go on until Ctrl-C" : "end when no message is ready; delayed ones stay until they are due",
    ],
    refusal: refusal ?? (settings.deliveryPaused ? paused : null),
  };
}

function backlogOf({ messages: { ready, delayed, leased } }: QueueView): Backlog {
  return { waiting: ready, inFlight: leased, delayed };
}

interface Move {
  readonly view: QueueView;
  readonly target: Target;
  readonly tally: Tally;
  readonly stop: AbortSignal;
  readonly patience: Patience;
  readonly options: EjectOptions;
}

async function move(on: OnBroker, given: Move, total: number): Promise<void> {
  const { view, tally, stop, patience, options } = given;
  const { follow = false, leaseSecs = LEASE_SECONDS_DEFAULT } = options;
  const { client } = on;
  const { name, kind } = view;
  const progress = new MoveProgress(tally, total, on);
  const staying = new Staying((release) =>
    patiently(patience, () => settleMessages(client, name, { release })),
  );
  const ended = new AbortController();
  // Where the broker does not answer, the move fails with the same error.
  const keeping = staying.keep(1_000 * leaseSecs, ended.signal).catch(() => {});
  const max = kind === "fifo" ? RECEIVE_MESSAGES_MAX : PULL_MESSAGES_MAX;
  try {
    await pump({
      take: () =>
        patiently(patience, async () => {
          const untilMs = Date.now() + 1_000 * leaseSecs;
          const leased = await leaseMessages(client, name, max, leaseSecs);
          return leased.length === 0 ? [] : [{ untilMs, leased }];
        }),
      forward: async ([taken]) => {
        const before = tally.moved;
        if (taken !== undefined) {
          const { leased, untilMs } = taken;
          const left = new Set(leased.map(({ receipt }) => receipt));
          // Messages that were not sent are given back also after a failure.
          await forward(on, given, leased, untilMs, left).finally(() => staying.add([...left], untilMs));
        }
        progress.update();
        return tally.moved > before;
      },
      isEmpty: async () => {
        const { messages } = await patiently(patience, () => queueNamed(client, name));
        return messages.ready === 0 && messages.leased === 0;
      },
      quietMs: quietMsOf(leaseSecs),
      follow,
      stop,
    });
  } finally {
    progress.stop();
    ended.abort();
    await keeping;
    await staying.giveBack();
  }
}

/**
 * Moves leased messages.
 *
 * @param untilMs end of their lease, after which nothing is sent.
 * @param left receipts of all of them. The receipts of moved messages are removed from it.
 */
async function forward(
  { client }: OnBroker,
  { view, target, tally, patience }: Move,
  leased: readonly LeasedMessage[],
  untilMs: number,
  left: Set<string>,
): Promise<void> {
  /** Groups of which a message stays: the later ones of the group must not overtake it. */
  const blocked = new Set<string>();
  for (const round of view.kind === "fifo" ? roundsOf(leased) : [leased]) {
    const open = round.filter(({ group = "" }) => !blocked.has(group));
    for (const batch of inBatches(open, messageBytes, target.limits)) {
      // The lease is over: another consumer may have the rest by now.
      if (Date.now() >= untilMs) return;
      const outcomes = await target.send(batch);
      const sent = batch.filter((_, i) => outcomes[i] === "sent").map(({ receipt }) => receipt);
      if (sent.length > 0) {
        const deleted = await patiently(patience, () => settleMessages(client, view.name, { delete: sent }));
        tally.moved += deleted;
      }
      for (const receipt of sent) left.delete(receipt);
      for (const [i, { id, group }] of batch.entries()) {
        const outcome = outcomes[i];
        if (outcome === "sent") continue;
        if (typeof outcome === "object") tally.leave(outcome.left, id);
        if (view.kind === "fifo" && group !== undefined) blocked.add(group);
      }
    }
  }
}

/** Splits messages of a FIFO queue into rounds with one message of a group at most: after a failure its group waits. */
export function roundsOf(messages: readonly LeasedMessage[]): LeasedMessage[][] {
  const counts = new Map<string, number>();
  const rounds: LeasedMessage[][] = [];
  for (const message of messages) {
    const { group = "" } = message;
    const round = counts.get(group) ?? 0;
    counts.set(group, round + 1);
    rounds[round] = [...(rounds[round] ?? []), message];
  }
  return rounds;
}

function reportText(name: string, to: System, { moved, left }: Tally, backlog: string): string {
  const system = to === "sqs" ? "SQS" : "Cloudflare";
  return [
    `Moved ${plural(moved, "message")} of ${name} to ${system}. Their attempts begin anew.`,
    ...[...left].map(([why, ids]) => `Left ${plural(ids.size, "message")}, because ${why}.`),
    `Queue ${name} of Sluice has ${backlog} now.`,
  ].join("\n");
}
