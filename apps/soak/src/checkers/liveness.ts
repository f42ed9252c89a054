import type { Checker } from "./checker.ts";

/** Notes that nobody needs any more after five minutes. */
const PASSING = ["attempt:", "deduplication:"];

/** Once nothing goes wrong any more, every message is handled or expires, within the time that its delays ask for. */
export const liveness: Checker = {
  property: "liveness",

  stuck(_queue, text) {
    return text;
  },

  atEnd({ life, disk, ledger }) {
    const left = life?.core?.queue.segments.size ?? 0;
    const rows = disk.segmentRows.size + ledger.parcels.size;
    const note = disk.notes().find(({ key }) => PASSING.some((prefix) => key.startsWith(prefix)));
    if (note !== undefined) return `the note "${note.key}" is stored for ever`;
    if (left + rows === 0) return undefined;
    return `${left} segments are in memory and ${rows} rows are stored after everything was handled`;
  },
};
