import { PackedIndex } from "@sluice/protocol";
import { inCore, type PlantedBug } from "../world/planted-bug.ts";
import { alterNumber, everyNth } from "./alter.ts";

/** Mistakes in the queue's logic: a part of a core that has just started is replaced by a wrong one. */
export const CORE_BUGS: readonly PlantedBug[] = [
  inCore("liveness", "a settlement that can wait is never made", (core) => {
    const { submit } = core;
    core.submit = (work, urgency) =>
      urgency === "deferred"
        ? new Promise(() => {})
        : (submit.call(core, work) as ReturnType<typeof work> & never);
  }),
  inCore("one live lease", "all leases have one fencing token", ({ queue }) =>
    alterNumber(queue, "nextLeaseId", (_next, last) => last),
  ),
  inCore("one live lease", "a push lease ends after a second", ({ queue }) => {
    queue.rules.pushLeaseMs = 1_000;
  }),
  inCore("attempts", "a message has one attempt more than it may", ({ queue }) => {
    queue.rules.maxRetries += 1;
  }),
  inCore("attempts", "attempts are counted anew after a restart", ({ queue }) => {
    for (const segment of queue.segments.values()) {
      for (const entry of segment.entries) if (entry.state !== "leased") entry.attempts = 0;
    }
  }),
  inCore("conservation", "the last message of a request is dropped", ({ intake }) => {
    const { accept } = intake;
    intake.accept = (batches) =>
      accept.call(
        intake,
        batches.map(({ index, delaySeconds }) => ({
          index: new PackedIndex(index.records(0, Math.max(1, index.count - 1)).slice()),
          delaySeconds,
        })),
      );
  }),
  inCore("conservation", "now and then a request is stored twice", ({ intake }) => {
    const { accept } = intake;
    const isTwice = everyNth(3);
    intake.accept = (batches) => {
      accept.call(intake, batches);
      if (isTwice()) accept.call(intake, batches);
    };
  }),
  inCore("dead-letter move", "a transfer that comes again is taken again", ({ inbox }) => {
    inbox.acceptedFrom = () => 0;
  }),
  inCore(
    "alarm armed",
    "while a transfer is under way nothing would wake the queue after a crash",
    ({ outbox }) => Object.defineProperty(outbox, "busy", { get: () => false }),
  ),
  inCore("counters", "now and then a ready message is counted twice", ({ queue }) => {
    const isDrifting = everyNth(9);
    alterNumber(queue, "readyCount", (next) => (isDrifting() ? next + 1 : next));
  }),
  inCore("counters", "bytes of messages that are leased stay in the count", ({ queue }) =>
    alterNumber(queue, "waitingBytes", (next, last) => Math.max(next, last)),
  ),
  inCore("retention", "messages are kept for half their retention", ({ queue }) => {
    queue.rules.retentionMs /= 2;
  }),
  inCore("retention", "messages are kept for longer than their retention", ({ queue }) => {
    queue.rules.retentionMs += 60_000;
  }),
  inCore("order", "the second ready message leaves before the first", ({ queue: { ready } }) => {
    ready.peek = () => {
      const [first, second = first] = ready.inOrder();
      return second;
    };
  }),
  inCore("group order", "a message in flight does not block its group", ({ queue }) => {
    const { order, isFifo } = queue;
    if (order === null || !isFifo) return;
    const { leaseChanged } = order;
    const unlisted = new Set<string>();
    order.leaseChanged = (segment, from, to, by) => {
      for (let i = from; i < to; i++) {
        const messages = segment.groups?.[i]?.messages;
        const key = `${segment.id}/${i}`;
        if (by === -1 && unlisted.delete(key)) messages?.insert(segment, i, 0);
        if (by === -1 || messages === undefined || messages.length < 2) continue;
        messages.remove(segment, i, 0);
        unlisted.add(key);
      }
      leaseChanged.call(order, segment, from, to, by);
    };
  }),
  inCore("order", "messages are numbered anew after a restart", ({ queue }) => {
    queue.nextSeq = 0;
  }),
  inCore("liveness", "the slot of a delivery is never given back", ({ queue }) =>
    alterNumber(queue.push, "inFlight", (next, last) => Math.max(next, last)),
  ),
];
