import { type Bill, billBeyondIncluded, billOf, sumOf, times, type Used } from "./bill.ts";
import { monthOf } from "./month.ts";
import type { Sent } from "./others.ts";
import { PRICES_AS_OF } from "./prices.ts";
import {
  type CountedMonth,
  type Others,
  PER_MILLION_FROM_MESSAGES,
  type QueueCost,
  queueCost,
  scaled,
} from "./queue-cost.ts";

/** A queue with its counted usage. */
export interface CountedQueue {
  readonly name: string;
  readonly kind: "standard" | "fifo";
  readonly usage: CountedMonth;
}

/** Amounts at one moment, in USD. */
export interface Amounts {
  /** At list prices. */
  readonly usd: number;
  /** Without what the plan includes, if nothing else on the account uses that. */
  readonly beyondIncludedUsd: number;
}

/** Costs of a queue, in USD at list prices. What the plan includes is not deducted. */
export interface QueueCosts {
  readonly name: string;
  readonly kind: "standard" | "fifo";
  /** When the counting of this month began, as ISO 8601. */
  readonly since: string;
  readonly used: Used & Sent;
  readonly soFar: Bill;
  /** At the end of the month, at this rate; `null` where too little is counted to tell. */
  readonly monthEndUsd: number | null;
  /** Prices of other services for the same messages. */
  readonly others: Others;
  /** `null` below `PER_MILLION_FROM_MESSAGES`. */
  readonly perMillion: QueueCost["perMillion"];
}

/** Costs of a broker's queues this month. */
export interface Costs {
  /** `2026-11`, in UTC. */
  readonly month: string;
  readonly pricesAsOf: string;
  readonly queues: readonly QueueCosts[];
  readonly sum: Amounts & {
    readonly messages: number;
    readonly others: Others;
    /** `null` below `PER_MILLION_FROM_MESSAGES`. */
    readonly perMillion: { readonly usd: number; readonly others: Others } | null;
  };
  /** `null` where a queue has counted too little to tell. */
  readonly monthEnd: Amounts | null;
}

export function costsOf(counted: readonly CountedQueue[], nowMs: number): Costs {
  const priced = counted.map(({ name, kind, usage }) => ({
    name,
    kind,
    cost: queueCost(usage, kind, nowMs),
  }));
  const usedAtMonthEnd = priced.map(({ cost: { used, factorAtMonthEnd } }) =>
    factorAtMonthEnd === null ? null : times(used, factorAtMonthEnd),
  );
  const known = usedAtMonthEnd.filter((used) => used !== null);
  const soFar = amountsOf(sumOf(priced.map(({ cost }) => cost.used)));
  const messages = priced.reduce((sum, { cost }) => sum + cost.used.messages, 0);
  const others = othersSum(priced.map(({ cost }) => cost.others));
  return {
    month: monthOf(nowMs),
    pricesAsOf: PRICES_AS_OF,
    queues: priced.map(({ name, kind, cost }) => ({
      name,
      kind,
      since: new Date(cost.sinceMs).toISOString(),
      used: pickUsed(cost.used),
      soFar: cost.soFar,
      monthEndUsd: endUsd(cost),
      others: cost.others,
      perMillion: cost.perMillion,
    })),
    sum: {
      ...soFar,
      messages,
      others,
      perMillion:
        messages < PER_MILLION_FROM_MESSAGES
          ? null
          : { usd: soFar.usd * (1e6 / messages), others: scaled(others, 1e6 / messages) },
    },
    monthEnd: known.length === priced.length ? amountsOf(sumOf(known)) : null,
  };
}

function amountsOf(used: Used): Amounts {
  return { usd: billOf(used).total, beyondIncludedUsd: billBeyondIncluded(used).total };
}

function endUsd({ soFar, factorAtMonthEnd }: QueueCost): number | null {
  return factorAtMonthEnd === null ? null : scaled(soFar, factorAtMonthEnd).total;
}

/** Picks the members of the type: a usage as it comes has more, such as its month. */
function pickUsed(used: Used & Sent): Used & Sent {
  const { rowsWritten, rowsRead, requests, awakeMs, messages, messageBytes, messageChunks, deliveries } =
    used;
  return { rowsWritten, rowsRead, requests, awakeMs, messages, messageBytes, messageChunks, deliveries };
}

function othersSum(all: readonly Others[]): Others {
  const sum = (of: (others: Others) => number) => all.reduce((total, others) => total + of(others), 0);
  return {
    cloudflareQueues: sum(({ cloudflareQueues }) => cloudflareQueues),
    sqsSingle: sum(({ sqsSingle }) => sqsSingle),
    sqsBatched: sum(({ sqsBatched }) => sqsBatched),
  };
}
