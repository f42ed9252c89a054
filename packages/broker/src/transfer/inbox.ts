import {
  ALERTS_QUEUE,
  bucketOfSource,
  isTopicObject,
  ownerOf,
  PackedFormatError,
  PackedIndex,
  shardName,
  shardOf,
} from "@sluice/protocol";
import { plural } from "@sluice/protocol/words";
import type { Alerts } from "../alerts/alerts.ts";
import type { Transfer, TransferReply, Undeliverable } from "../rpc/transfer.ts";
import type { Intake } from "../send/intake.ts";
import { readPassSource } from "../shards/passed-on.ts";
import type { ShardGroups } from "../shards/shard-groups.ts";
import { isStorable } from "../store/readable.ts";
import { DamagedRowError } from "../store/store.ts";
import type { QueueContext } from "../turn/context.ts";
import { joinOwned } from "../turn/lease-records.ts";
import { deliveryDelaySecondsOf } from "../turn/rules.ts";
import type { Outbox } from "./outbox.ts";

/** Parts of a queue that its inbox uses. */
interface InboxParts {
  readonly intake: Intake;
  readonly outbox: Outbox;
  readonly alerts: Alerts;
  readonly groups: ShardGroups;
}

/**
 * Inbox for messages of other queues. A commit that stores messages also stores the id of the last item from their
 * source, so that a repeated transfer is recognised.
 */
export class Inbox {
  readonly #context: QueueContext;
  readonly #intake: Intake;
  readonly #outbox: Outbox;
  readonly #alerts: Alerts;
  readonly #groups: ShardGroups;
  /** Ids of the last accepted items, by their sources. */
  readonly #accepted = new Map<string, number>();

  constructor(context: QueueContext, { intake, outbox, alerts, groups }: InboxParts) {
    this.#context = context;
    this.#groups = groups;
    this.#intake = intake;
    this.#outbox = outbox;
    this.#alerts = alerts;
  }

  /**
   * Accepts messages of another queue, once each, and resolves when they are durable. A shard of a FIFO queue passes on
   * those of groups that another one owns, shard 0 of a standard queue those that fall to others.
   *
   * @throws while groups move to other shards, unless the messages come from another shard.
   */
  accept(transfer: Transfer): Promise<TransferReply> {
    const { origin, by } = readPassSource(transfer.source);
    return this.#context.submit(() => {
      if (by === null) this.#groups.refuseWhileMoving();
      return this.#acceptItems(transfer, (packed) => {
        if (by !== null && origin === ALERTS_QUEUE) return this.#alerts.toldBy(shardOf(by).shard, packed);
        if (by === null && this.#passToOther(packed, origin)) return;
        const index = this.#keepOwn(packed, origin, transfer.epoch);
        if (index === null) return;
        const batch = { index, delaySeconds: deliveryDelaySecondsOf(this.#context.definition) };
        // A FIFO queue drops duplicates of messages that topics send too (spec sns-delivery 8.6).
        const bucket = bucketOfSource(origin);
        if (isTopicObject(origin)) this.#intake.acceptNew({ ...batch, by: "SNS" });
        else if (bucket !== null) this.#intake.acceptNew({ ...batch, by: `R2 bucket ${bucket}` });
        else {
          const from = shardOf(origin).queue;
          this.#intake.accept([{ ...batch, from }]);
          this.#alerts.transferred(from, index);
        }
      });
    });
  }

  /**
   * Puts messages that come to shard 0 of a standard queue into the outbox for the shard that they fall to: by the id
   * of the first, since no order has to be kept. They stay if that shard is behind: the outbox is kept in memory.
   *
   * @returns false for messages that stay.
   */
  #passToOther(index: PackedIndex, origin: string): boolean {
    const { queue, queueName, shard, shardMap } = this.#context;
    if (shardMap === undefined || shard > 0 || queue.isFifo || index.count === 0) return false;
    const owner = ownerOf(index.id(0), shardMap.open);
    const object = shardName(queueName, owner);
    if (owner === 0 || this.#outbox.isBehind(object)) return false;
    this.#outbox.passOn(object, origin, [index.packed]);
    return true;
  }

  /** Puts the records of groups that other shards own into the outbox. @returns the others; `null` for none. */
  #keepOwn(index: PackedIndex, origin: string, epoch: number | undefined): PackedIndex | null {
    const isNew = isTopicObject(origin);
    const passed = this.#groups.passedOn(index, { isNew, epoch });
    if (passed === null) return index;
    for (const [shard, records] of passed.others) {
      this.#outbox.passOn(shardName(this.#context.queueName, shard), origin, records);
    }
    return passed.own.length === 0 ? null : new PackedIndex(joinOwned(passed.own));
  }

  /**
   * Accepts messages of a topic, or alerts, for a queue that does not exist, and forwards them to the dead-letter queue
   * of their subscription or drops them. One commit notes the transfer and puts the messages into the outbox, so that a
   * crash neither loses nor doubles them.
   */
  forward(transfer: Transfer, destination: Undeliverable): Promise<TransferReply> {
    const { name, log } = this.#context;
    return this.#context.submit(() => {
      let count = 0;
      const reply = this.#acceptItems(transfer, (index) => {
        count += index.count;
        if (destination.kind === "deadLetter") this.#outbox.put(destination.queue, [index.packed]);
      });
      const of = isTopicObject(transfer.source) ? " of a topic" : "";
      const what = `${plural(count, "message")}${of} for queue "${name}"`;
      const [are, go] = count === 1 ? ["is", "goes"] : ["are", "go"];
      if (count > 0) {
        log.warn(
          destination.kind === "dropped"
            ? `${what} ${are} dropped: ${destination.reason}`
            : `${what}, which does not exist, ${go} to the dead-letter queue "${destination.queue}"`,
        );
      }
      return reply;
    });
  }

  /** Returns the id of the last item that was accepted from `source`, 0 if none was. */
  acceptedFrom(source: string): number {
    const known = this.#accepted.get(source);
    if (known !== undefined) return known;
    try {
      return this.#context.store.readInbox(source);
    } catch (error) {
      if (!(error instanceof DamagedRowError)) throw error;
      // Taking an item twice is better than losing it.
      this.#context.damage.note("messagesAgain", 0, `${error.message}; its next items are taken as new`);
      return 0;
    }
  }

  /**
   * Within a turn: accepts the items of a call in order, each once. An item that was accepted before is confirmed and
   * dropped. An item that cannot be read is refused with the reason, and so are those after it, to keep their order.
   *
   * @param accept stores the messages of an item.
   * @throws PackedFormatError for an item of a caller that knows no refusals (without `Transfer.more`).
   */
  #acceptItems({ source, id, packed, more }: Transfer, accept: (index: PackedIndex) => void): TransferReply {
    const acceptedBefore = this.acceptedFrom(source);
    let takenTo = acceptedBefore;
    let refused: string | null = null;
    try {
      for (const item of [{ id, packed }, ...(more ?? [])]) {
        if (item.id <= takenTo) continue;
        const index = indexOf(item.packed);
        if (index instanceof PackedFormatError) {
          if (more === undefined) throw index;
          refused = index.message;
          break;
        }
        accept(index);
        takenTo = item.id;
      }
    } finally {
      // The turn commits what was accepted before an error.
      if (takenTo > acceptedBefore) {
        this.#accepted.set(source, takenTo);
        this.#context.write(() => this.#context.store.writeInbox(source, takenTo));
      }
    }
    return { takenTo, refused };
  }
}

/** Reads the records of an item, or returns why they cannot be stored. */
function indexOf(packed: Uint8Array): PackedIndex | PackedFormatError {
  try {
    const index = new PackedIndex(packed);
    for (let i = 0; i < index.count; i++) {
      if (!isStorable(index, i)) return new PackedFormatError(`record ${i} cannot be read`);
    }
    return index;
  } catch (error) {
    if (error instanceof PackedFormatError) return error;
    throw error;
  }
}
