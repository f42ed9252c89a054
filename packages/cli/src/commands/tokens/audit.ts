import type { AuditPage } from "@sluice/gateway/views";
import { table } from "@sluice/local/report/table";
import { printable } from "@sluice/protocol/words";
import { answer, type OnBroker } from "../on-broker.ts";

export interface AuditOptions {
  /** Entries to show. */
  readonly limit?: number;
  readonly cursor?: string;
}

const COLUMNS = ["when", "who", "what", "of", "by way of"];

/** `sluice audit`: shows who changed what, newest first. */
export async function showAudit(on: OnBroker, { limit = 50, cursor }: AuditOptions): Promise<number> {
  const query = new URLSearchParams({ max: `${limit}`, ...(cursor === undefined ? {} : { cursor }) });
  const page = await on.client.admin<AuditPage>({ path: `/audit?${query}` });
  if (page.entries.length === 0) {
    answer(on, page, { words: "Nothing was changed." });
    return 0;
  }
  const rows = page.entries.map(({ at, by, action, target, dialect }) => {
    return [at, by, action, printable(target ?? "-"), dialect];
  });
  answer(on, page, { text: table(COLUMNS, rows, on.printer) });
  if (page.cursor !== null && !on.json) on.printer.warn(`Older ones: --cursor ${page.cursor}`);
  return 0;
}
