import { threeDigits } from "../report/figures.ts";
import { markdownTable } from "../report/markdown-table.ts";
import type { Priced } from "./measure-price.ts";

/** What is counted per message, and what it costs per million. */
export function priceTables(priced: readonly Priced[]): string {
  const usage = priced.map(({ title, usage: { messages, ...used } }) => [
    title,
    threeDigits((used.rowsWritten + used.alarmsSet) / messages),
    threeDigits(used.alarmsSet / messages),
    threeDigits(used.rowsRead / messages),
    threeDigits(used.requests / messages),
    threeDigits(used.activeMs / messages),
  ]);
  const prices = priced.map(({ title, price, cloudflareQueues, sqsSingle, sqsBatched }) => [
    title,
    usd(price.rowsWritten),
    usd(price.rowsRead),
    usd(price.requests),
    usd(price.duration),
    usd(price.total),
    usd(cloudflareQueues),
    `${usd(sqsSingle)} / ${usd(sqsBatched)}`,
  ]);
  return [
    "### Used per message",
    "",
    markdownTable(
      ["use of a queue", "rows written", "of them alarms", "rows read", "requests", "active ms"],
      usage,
    ),
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
