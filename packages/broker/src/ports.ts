import type { Delivery, DeliveryReply, QueueConsumerRpc, QueueDefinition } from "@sluice/protocol";
import type { Clock } from "./clock.ts";
import type { DamageRecord } from "./damage-log.ts";
import type { RejectedDelivery } from "./delivery-result.ts";
import type { EndpointCaller } from "./endpoint/endpoint-caller.ts";
import type { QueueLog } from "./log.ts";
import type { QueueStore } from "./store.ts";

/** A consumer as the dispatcher sees it. `callsOf` and `ping` reject when its Worker is not there. */
export interface ConsumerPort extends Pick<QueueConsumerRpc, "callsOf"> {
  deliver(delivery: Delivery): Promise<DeliveryReply | RejectedDelivery>;
  /** For log lines. */
  readonly name: string;
  /**
   * Whether a message may be what ends it. Then one that is back gets one delivery at a time until one has a result, and that
   * it is gone again by then counts as a failure of that delivery. Default false.
   */
  readonly returnsOnTrial?: boolean;
  ping(): Promise<unknown>;
}

/** Messages that one commit of a queue has for another one. `id` grows with every item from the same source. */
export interface HandOverItem {
  readonly id: number;
  readonly packed: Uint8Array;
}

/** What is handed from one queue to another in one call: an item, and those that follow it. */
export interface HandOver extends HandOverItem {
  readonly source: string;
  /**
   * In order of their ids. Absent: the caller reads no answer, and takes every one for a yes. While a deployment goes on, an
   * object of an earlier build may be on either side: that one knows neither this member nor `HandOverReply`.
   */
  readonly more?: readonly HandOverItem[];
}

/** What has become of a hand-over. */
export interface HandOverReply {
  /** Every item up to this id is durable. */
  readonly takenTo: number;
  /** Why the item after it was not taken, nor any behind that; `null` when all were. */
  readonly refused: string | null;
}

/** The world around one queue. A test or a simulation passes its own. */
export interface QueuePorts {
  readonly store: QueueStore;
  readonly clock: Clock;
  readonly log: QueueLog;
  /** Lives of the queue that are known from elsewhere: its store may have lost the memory of them. Default 0. */
  readonly livesKnown?: number;
  /** Whether the life before this one ended because its storage was full. Default false. */
  readonly wasStorageFull?: boolean;
  /** Seed of the jitter of retries. Default "": the ids of messages are random already. */
  readonly jitterSeed?: string;
  /** Where damage is remembered; without it, as long as this life lasts. */
  readonly damageRecord?: DamageRecord;
  /** Writes what goes with the first commit of this life. Default: nothing. */
  writeFirst?(): void;
  /** What the queue is set to; `undefined` for one that does not exist. */
  definitionOf(queue: string): QueueDefinition | undefined;
  /** The consumer of a queue, `null` if it has none. */
  consumerOf(queue: string): ConsumerPort | null;
  /** The application that a worker daemon posts the queue's messages to, `null` if none does. Default: none. */
  daemonOf?(queue: string): EndpointCaller | null;
  /** Hands messages to another queue; resolves when that one has committed them. `undefined`: the first item alone. */
  handOver(target: string, handOver: HandOver): Promise<HandOverReply | undefined>;
  /** Whether there is a queue of that name. Default: there is. */
  queueExists?(queue: string): Promise<boolean>;
  /** A new message id: 32 hexadecimal digits. Default: random. */
  newMessageId?(): string;
  /**
   * Calls the queue's `wake` at a moment of `clock`, if the object lives that long: for those who wait on a line that ends
   * with it. Costs nothing to write. Default: the alarm.
   */
  setTimer?(atMs: number): void;
  /**
   * Calls back after a time in ms, if this life lasts so long. With it a settlement that nobody waits for may wait a moment for
   * another commit to share (`COMPANY_WAIT_MS_MAX`). Default: never, and each settlement is committed at once.
   */
  after?(callback: () => void, ms: number): void;
  /**
   * Whether an answer that is given leaves only when everything committed by then is durable, as the output gate of the platform sees to.
   * Default false.
   */
  readonly hasOutputGate?: boolean;
  /** Sets the one alarm, to a moment of `clock`. */
  setAlarm(atMs: number): void;
  /** Memory and store have parted: nothing may be answered any more until the object is started again. */
  broken(error: unknown): void;
}
