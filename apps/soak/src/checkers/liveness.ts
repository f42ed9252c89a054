import type { Checker } from "./checker.ts";

/** Once nothing goes wrong any more, every message is handled or expires, within the time that its delays ask for. */
export const liveness: Checker = {
  property: "liveness",

  stuck(_queue, text) {
    return text;
  },

  atEnd({ life, disk, ledger }) {
    const left = life?.core?.queue.segments.size ?? 0;
    const rows = disk.segmentRows.size + ledger.parcels.size;
    if (left + rows === 0) return undefined;
    return `${left} segments are in memory and ${rows} rows are stored after everything was handled`;
  },
};
