import type { AuditEntry } from "@sluice/protocol";
import { Hono } from "hono";
import type { QueueDirectory } from "../../account/queue-directory.ts";
import { timeOf } from "../time.ts";
import { wholeQuery } from "../whole-query.ts";

/** Entries of a page, unless the request says. */
const ENTRIES_DEFAULT = 100;
export const AUDIT_PAGE_MAX = 500;

/** A change, as the admin API shows it. */
export interface AuditView extends AuditEntry {
  readonly at: string;
}

/** Changes, newest first. */
export interface AuditPage {
  readonly entries: readonly AuditView[];
  /** Value of `?cursor=` for the page of older ones; `null` at the end. */
  readonly cursor: string | null;
}

/** Routes of the audit log: each change, and who made it. */
export function auditRoutes({ audit }: QueueDirectory): Hono {
  const app = new Hono();

  app.get("/", async (c) => {
    const max = wholeQuery(c, "max", 1, AUDIT_PAGE_MAX) ?? ENTRIES_DEFAULT;
    const before = wholeQuery(c, "cursor", 1, Number.MAX_SAFE_INTEGER) ?? null;
    const records = await audit.readAudit(max, before);
    const last = records.length === max ? records.at(-1) : undefined;
    const entries = records.map(({ id: _, atMs, ...entry }) => ({ at: timeOf(atMs), ...entry }));
    const cursor = last === undefined || last.id <= 1 ? null : `${last.id}`;
    return c.json({ entries, cursor } satisfies AuditPage);
  });

  return app;
}
