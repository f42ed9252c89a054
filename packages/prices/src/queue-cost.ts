import { type Bill, billOf, type Used } from "./bill.ts";
import { factorAtMonthEnd, monthOf, monthStartMs } from "./month.ts";
import { queuesUsd, type Sent, sqsUsd } from "./others.ts";
import { SQS_BATCH_MAX } from "./prices.ts";

/** Usage that a queue has counted in a month: `QueueUsage` of the protocol. */
export interface CountedMonth extends Used, Sent {
  /** `2026-11`, in UTC. */
  readonly month: string;
  /** Since when, in ms since 1970. */
  readonly sinceMs: number;
}

/** Prices of other services for the same messages, in USD and with nothing included. */
export interface Others {
  readonly cloudflareQueues: number;
  /** Price with one message in each request, and with the ten that SQS allows. */
  readonly sqsSingle: number;
  readonly sqsBatched: number;
}

/** Cost of a queue this month, in USD and with nothing included. */
export interface QueueCost {
  readonly used: Used & Sent;
  /** Since when that is counted, in ms since 1970. */
  readonly sinceMs: number;
  readonly soFar: Bill;
  /** Factor from the cost until now to that at the month's end, at this rate; `null` where too little is counted. */
  readonly factorAtMonthEnd: number | null;
  /** `null` below `PER_MILLION_FROM_MESSAGES`. */
  readonly perMillion: { readonly own: Bill; readonly others: Others } | null;
  readonly others: Others;
}

/**
 * Messages from which on the cost of a million is shown. Below, the start of the queue and its first alarms are most of
 * the bill, and say nothing about a million.
 */
export const PER_MILLION_FROM_MESSAGES = 1_000;

/** Computes the cost of a queue. A count of an earlier month is 0 for this one: the queue has slept since. */
export function queueCost(counted: CountedMonth, kind: "standard" | "fifo", nowMs: number): QueueCost {
  const isOfMonth = counted.month === monthOf(nowMs);
  const used: Used & Sent = isOfMonth ? counted : NOTHING;
  const others = othersOf(used, kind);
  const soFar = billOf(used);
  const { messages } = used;
  return {
    used,
    sinceMs: isOfMonth ? counted.sinceMs : monthStartMs(nowMs),
    soFar,
    factorAtMonthEnd: isOfMonth ? factorAtMonthEnd(counted.sinceMs, nowMs) : 1,
    perMillion:
      messages < PER_MILLION_FROM_MESSAGES
        ? null
        : { own: scaled(soFar, 1e6 / messages), others: scaled(others, 1e6 / messages) },
    others,
  };
}

const NOTHING: Used & Sent = {
  rowsWritten: 0,
  rowsRead: 0,
  requests: 0,
  awakeMs: 0,
  messages: 0,
  messageBytes: 0,
  messageChunks: 0,
  deliveries: 0,
};

export function othersOf(sent: Sent, kind: "standard" | "fifo"): Others {
  return {
    cloudflareQueues: queuesUsd(sent),
    sqsSingle: sqsUsd(sent, kind, 1),
    sqsBatched: sqsUsd(sent, kind, SQS_BATCH_MAX),
  };
}

/** Multiplies all amounts. */
export function scaled<T extends Bill | Others>(amounts: T, factor: number): T {
  return Object.fromEntries(
    Object.entries(amounts).map(([name, value]) => [name, (value as number) * factor]),
  ) as unknown as T;
}
