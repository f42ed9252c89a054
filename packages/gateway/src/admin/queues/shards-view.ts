import type { QueueDescription, QueueRates } from "@sluice/protocol";
import type { ShardReport } from "../../account/queue-directory.ts";
import { type BacklogView, backlogOf } from "../backlog-view.ts";

/** The shards of a queue as the admin API shows them. */
export interface ShardsView {
  /** Shards that the settings ask for. There are others until a change of that number has been carried out. */
  readonly wanted: number;
  /** Shards that there are, in order of their numbers; one of a queue without shards. */
  readonly shards: readonly ShardView[];
}

/** One of the objects that keep a queue. Sizes are bytes, times ISO 8601; all of them `null` where it does not answer. */
export interface ShardView {
  readonly shard: number;
  /** `draining` delivers what it has, takes nothing in, and goes when it is empty. */
  readonly state: "open" | "draining";
  /** Why it does not answer; `null` if it does. */
  readonly failure: string | null;
  readonly messages: BacklogView["messages"] | null;
  readonly backlogBytes: number | null;
  readonly oldestMessageAt: string | null;
  /** Messages a second in the last five seconds; `null` without a history, and while it sleeps. */
  readonly rates: QueueRates | null;
  /** Whether it may still hold groups of a FIFO queue that belong to another shard since the number was changed. */
  readonly keepsGroups: boolean;
  /** Its own time, which `oldestMessageAt` follows. */
  readonly now: string | null;
}

/** @param wanted the setting; absent for a queue without shards. */
export function shardsView(wanted: number | undefined, reports: readonly ShardReport[]): ShardsView {
  return { wanted: wanted ?? 1, shards: reports.map(shardView) };
}

function shardView({ shard, isOpen, keepsGroups, found }: ShardReport): ShardView {
  return {
    shard,
    state: isOpen ? "open" : "draining",
    keepsGroups,
    ...("failure" in found ? { ...UNKNOWN, failure: found.failure } : figuresOf(found.description)),
  };
}

const UNKNOWN = { messages: null, backlogBytes: null, oldestMessageAt: null, rates: null, now: null };

function figuresOf(description: QueueDescription) {
  const { now, messages, backlogBytes, oldestMessageAt } = backlogOf(description);
  return { failure: null, messages, backlogBytes, oldestMessageAt, rates: description.rates ?? null, now };
}
