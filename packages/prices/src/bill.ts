import { DURABLE_OBJECTS, INCLUDED } from "./prices.ts";

/** Usage of Durable Objects that is billed. */
export interface Used {
  /** Rows of SQLite, deletes and alarms that are set included. */
  readonly rowsWritten: number;
  readonly rowsRead: number;
  /** Calls and alarms. */
  readonly requests: number;
  /** Time in ms during which an object could not sleep. */
  readonly awakeMs: number;
}

/** USD, by meter. */
export interface Bill {
  readonly rowsWritten: number;
  readonly rowsRead: number;
  readonly requests: number;
  readonly duration: number;
  readonly total: number;
}

/** Nothing used. */
export const NOTHING_USED: Used = { rowsWritten: 0, rowsRead: 0, requests: 0, awakeMs: 0 };

/** GB-s that Cloudflare bills for a time, in ms. */
export function gigabyteSeconds(awakeMs: number): number {
  return (awakeMs / 1_000) * DURABLE_OBJECTS.billedGigabytes;
}

/** Computes the bill of a usage, with nothing included. */
export function billOf({ rowsWritten, rowsRead, requests, awakeMs }: Used): Bill {
  return priced(rowsWritten, rowsRead, requests, gigabyteSeconds(awakeMs));
}

/** Computes the bill of the usage beyond what the plan includes, if nothing else on the account uses that. */
export function billBeyondIncluded({ rowsWritten, rowsRead, requests, awakeMs }: Used): Bill {
  return priced(
    Math.max(0, rowsWritten - INCLUDED.rowsWritten),
    Math.max(0, rowsRead - INCLUDED.rowsRead),
    Math.max(0, requests - INCLUDED.requests),
    Math.max(0, gigabyteSeconds(awakeMs) - INCLUDED.gigabyteSeconds),
  );
}

/** Sums up usages. */
export function sumOf(all: readonly Used[]): Used {
  return all.reduce(
    (sum, used) => ({
      rowsWritten: sum.rowsWritten + used.rowsWritten,
      rowsRead: sum.rowsRead + used.rowsRead,
      requests: sum.requests + used.requests,
      awakeMs: sum.awakeMs + used.awakeMs,
    }),
    NOTHING_USED,
  );
}

/** Multiplies a usage. */
export function times({ rowsWritten, rowsRead, requests, awakeMs }: Used, factor: number): Used {
  return {
    rowsWritten: rowsWritten * factor,
    rowsRead: rowsRead * factor,
    requests: requests * factor,
    awakeMs: awakeMs * factor,
  };
}

function priced(rowsWritten: number, rowsRead: number, requests: number, gbSeconds: number): Bill {
  const prices = DURABLE_OBJECTS;
  const bill = {
    rowsWritten: (rowsWritten / 1e6) * prices.perMillionRowsWritten,
    rowsRead: (rowsRead / 1e6) * prices.perMillionRowsRead,
    requests: (requests / 1e6) * prices.perMillionRequests,
    duration: (gbSeconds / 1e6) * prices.perMillionGigabyteSeconds,
  };
  return { ...bill, total: bill.rowsWritten + bill.rowsRead + bill.requests + bill.duration };
}
