import { type KeepAlive, SharedCalls } from "@sluice/coalesce";
import {
  type DeleteOutcome,
  type EnqueueReply,
  type QueueReceiveRpc,
  RECORD_HEADER_BYTES,
  type ReceiveNowReply,
  type ReceiveRequest,
  type RecordToWrite,
  type VisibilityChange,
  type VisibilityOutcome,
} from "@sluice/protocol";
import {
  type MessagesToSend,
  type Operation,
  type Outcome,
  type Outcomes,
  runOperations,
} from "./shared-work.ts";

/** Weight that one shared call takes along, about bytes; the next one takes the rest. */
const CALL_WEIGHT_MAX = 2_000_000;

/** Weight of a small operation: a call takes some hundreds of them. */
const SMALL_WEIGHT = 4_000;

/** Operations that go with one call to an object of this process, and their outcomes. */
interface Round {
  readonly operations: Operation[];
  readonly called: Promise<readonly Outcome[]>;
}

/**
 * Calls to queues' objects on behalf of requests. Operations of the same moment on one queue share a call, also those
 * of different kinds. Measured with senders and receivers of one queue: a call and a commit for each kind cost a third
 * more CPU time.
 */
export class QueueCalls {
  readonly #objectOf: (name: string) => QueueReceiveRpc;
  readonly #isLocal: boolean;
  readonly #rounds = new Map<string, Round>();
  readonly #queues: SharedCalls<Operation, Outcome>;

  /**
   * @param isLocal whether objects run in this process. Then nothing ends a request early, and no call is on its way
   *   that others could wait for: operations that come in one round of the event loop share a call, and with it a
   *   commit.
   */
  constructor(objectOf: (name: string) => QueueReceiveRpc, now: () => number, isLocal: boolean) {
    this.#objectOf = objectOf;
    this.#queues = new SharedCalls({ weightOf, weightMax: CALL_WEIGHT_MAX, now });
    this.#isLocal = isLocal;
  }

  /** Stores the messages of one request. Those of several requests are stored in one commit. */
  enqueue(name: string, messages: MessagesToSend, keepAlive: KeepAlive): Promise<EnqueueReply> {
    return this.#share(name, { kind: "enqueue", messages }, keepAlive);
  }

  /** Receives without waiting. */
  receiveNow(name: string, request: ReceiveRequest, keepAlive: KeepAlive): Promise<ReceiveNowReply> {
    return this.#share(name, { kind: "receive", request }, keepAlive);
  }

  deleteBatch(
    name: string,
    receipts: readonly string[],
    keepAlive: KeepAlive,
  ): Promise<readonly DeleteOutcome[]> {
    return this.#share(name, { kind: "remove", receipts }, keepAlive);
  }

  changeVisibilityBatch(
    name: string,
    changes: readonly VisibilityChange[],
    keepAlive: KeepAlive,
  ): Promise<readonly VisibilityOutcome[]> {
    return this.#share(name, { kind: "change", changes }, keepAlive);
  }

  #share<Kind extends Operation["kind"]>(
    name: string,
    operation: Operation & { readonly kind: Kind },
    keepAlive: KeepAlive,
  ): Promise<Outcomes[Kind]> {
    // The outcome of an operation is of its kind.
    if (this.#isLocal) return this.#shareRound(name, operation) as Promise<Outcomes[Kind]>;
    // Each call takes the object anew: it belongs to the request that makes the call.
    const call = this.#queues.of(name, (operations) => runOperations(this.#objectOf(name), name, operations));
    return call.run(operation, keepAlive) as Promise<Outcomes[Kind]>;
  }

  /** Makes one call for all operations of a round of the event loop. */
  async #shareRound(name: string, operation: Operation): Promise<Outcome> {
    let round = this.#rounds.get(name);
    if (round === undefined) {
      const operations: Operation[] = [];
      const called = new Promise((resolve) => setImmediate(resolve)).then(() => {
        this.#rounds.delete(name);
        return runOperations(this.#objectOf(name), name, operations);
      });
      round = { operations, called };
      this.#rounds.set(name, round);
    }
    const at = round.operations.push(operation) - 1;
    return (await round.called)[at] as Outcome; // one for each
  }
}

function weightOf(operation: Operation): number {
  switch (operation.kind) {
    case "enqueue":
      return operation.messages.records.reduce((sum, record) => sum + weightOfRecord(record), 0);
    case "receive":
      // An estimate of its answer, which seldom has the largest messages.
      return operation.request.max * SMALL_WEIGHT;
    case "remove":
      return operation.receipts.length * SMALL_WEIGHT;
    case "change":
      return operation.changes.length * SMALL_WEIGHT;
  }
}

/**
 * Estimates the bytes of a record. A body beyond ASCII has up to three bytes for each unit, so a call may be that much
 * heavier.
 */
function weightOfRecord({ body, extension }: RecordToWrite): number {
  return RECORD_HEADER_BYTES + body.length + (extension?.byteLength ?? 0);
}
