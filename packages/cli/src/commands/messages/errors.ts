import type { ErrorsView } from "@sluice/gateway/views";
import { plural, printable } from "@sluice/protocol/words";

/** Lists the last errors of messages with their counts, a line each; nothing where no error is known. */
export function groupLines({ groups, others, none, searched, of }: ErrorsView): string[] {
  if (groups.length === 0) return [];
  const rows: (readonly [count: number, text: string])[] = [
    ...groups.map(({ error, count, text = error }) => [count, printable(text)] as const),
    [others, "with other errors"],
    [none, "without a known error"],
  ];
  const shown = rows
    .filter(([count]) => count > 0)
    .map(([count, text]) => [count.toLocaleString("en"), text] as const);
  const width = Math.max(...shown.map(([count]) => count.length));
  return [
    ...shown.map(([count, text]) => `${count.padStart(width)} ${text}`),
    ...(searched < of
      ? [`Counted among the first ${searched.toLocaleString("en")} of ${plural(of, "message")}.`]
      : []),
  ];
}
