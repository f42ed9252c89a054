import { threeDigits } from "../report/figures.ts";
import { markdownTable } from "../report/markdown-table.ts";
import type { Priced } from "./measure-price.ts";

/** Makes the tables of the usage per message, and of the prices per million messages. */
export function priceTables(priced: readonly Priced[]): string {
  const usage = priced.map(({ title, counted }) => [
    title,
    threeDigits(counted.rowsWritten / counted.messages),
    threeDigits(counted.rowsRead / counted.messages),
    threeDigits(counted.requests / counted.messages),
    threeDigits(counted.awakeMs / counted.messages),
  ]);
  const prices = priced.map(({ title, price, others }) => [
    title,
    usd(price.rowsWritten),
    usd(price.rowsRead),
    usd(price.requests),
    usd(price.duration),
    usd(price.total),
    usd(others.cloudflareQueues),
    `${usd(others.sqsSingle)} / ${usd(others.sqsBatched)}`,
  ]);
  return [
    "### Used per message",
    "",
    markdownTable(["use of a queue", "rows written", "rows read", "requests", "awake ms"], usage),
    "",
    "### USD per million messages",
    "",
    markdownTable(
      [
        "use of a queue",
        "rows written",
        "rows read",
        "requests",
        "duration",
        "Sluice",
        "Cloudflare Queues",
        "SQS single / by ten",
      ],
      prices,
    ),
  ].join("\n");
}

function usd(value: number): string {
  return value.toFixed(3);
}
