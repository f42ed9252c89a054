import { isTopicObject, PackedFormatError, PackedIndex } from "@sluice/protocol";
import type { Transfer, TransferReply, Undeliverable } from "../rpc/transfer.ts";
import type { Intake } from "../send/intake.ts";
import { isStorable } from "../store/readable.ts";
import { DamagedRowError } from "../store/store.ts";
import type { QueueContext } from "../turn/context.ts";
import { deliveryDelaySecondsOf } from "../turn/rules.ts";
import type { Outbox } from "./outbox.ts";

/**
 * Messages that come from other queues. The id of the last item that was accepted from each is stored in the commit that
 * stores its messages, so that a transfer which is repeated is recognised.
 */
export class Inbox {
  readonly #context: QueueContext;
  readonly #intake: Intake;
  readonly #outbox: Outbox;
  /** By source: the id of the last item that was accepted. */
  readonly #accepted = new Map<string, number>();

  constructor(
    context: QueueContext,
    { intake, outbox }: { readonly intake: Intake; readonly outbox: Outbox },
  ) {
    this.#context = context;
    this.#intake = intake;
    this.#outbox = outbox;
  }

  /** Accepts messages of another queue, once each, and answers when they are durable. */
  accept(transfer: Transfer): Promise<TransferReply> {
    return this.#context.submit(() =>
      this.#acceptItems(transfer, (index) => {
        const batch = { index, delaySeconds: deliveryDelaySecondsOf(this.#context.definition) };
        // A FIFO queue tells duplicates among all that is sent to it, by topics too (spec sns-delivery 8.6).
        if (isTopicObject(transfer.source)) this.#intake.acceptNew({ ...batch, by: "SNS" });
        else this.#intake.accept([{ ...batch, from: transfer.source }]);
      }),
    );
  }

  /**
   * Accepts messages of a topic for a queue that does not exist, and passes them on to the dead-letter queue of their
   * subscription or drops them. What is passed on goes through this object's outbox: noting the transfer and the intent
   * are one commit, so that a crash neither loses nor doubles them.
   */
  passOn(transfer: Transfer, fate: Undeliverable): Promise<TransferReply> {
    const { name, log } = this.#context;
    return this.#context.submit(() => {
      let count = 0;
      const reply = this.#acceptItems(transfer, (index) => {
        count += index.count;
        if (fate.kind === "deadLetter") this.#outbox.put(fate.queue, [index.packed]);
      });
      const what = `${count} message(s) of a topic for queue "${name}"`;
      if (count > 0) {
        log.warn(
          fate.kind === "dropped"
            ? `${what} are dropped: ${fate.reason}`
            : `${what}, which does not exist, go to the dead-letter queue "${fate.queue}"`,
        );
      }
      return reply;
    });
  }

  /** The id of the last item that was accepted from `source`, 0 if none was. */
  acceptedFrom(source: string): number {
    const known = this.#accepted.get(source);
    if (known !== undefined) return known;
    try {
      return this.#context.store.readInbox(source);
    } catch (error) {
      if (!(error instanceof DamagedRowError)) throw error;
      // Better taken twice than never.
      this.#context.damage.note("messagesAgain", 0, `${error.message}; what comes is taken as new`);
      return 0;
    }
  }

  /**
   * Within a turn: accepts what a call transfers, in its order and each item once. One that was accepted before is confirmed
   * and dropped. The first that cannot be read ends it, with the reason: what comes after it keeps its place behind it,
   * and nothing of it is noted as accepted.
   *
   * @param accept stores the messages of an item.
   * @throws PackedFormatError for a caller that takes every answer for a yes (`Transfer.more`).
   */
  #acceptItems({ source, id, packed, more }: Transfer, accept: (index: PackedIndex) => void): TransferReply {
    const acceptedBefore = this.acceptedFrom(source);
    let takenTo = acceptedBefore;
    let refused: string | null = null;
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
    if (takenTo > acceptedBefore) {
      this.#accepted.set(source, takenTo);
      this.#context.write(() => this.#context.store.writeInbox(source, takenTo));
    }
    return { takenTo, refused };
  }
}

/** The records of an item, or why they are none that could be stored and read again. */
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
