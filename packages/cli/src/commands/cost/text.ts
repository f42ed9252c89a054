import { facts, type Look, table } from "@sluice/local/report/table";
import { type Costs, gigabyteSeconds, INCLUDED, type QueueCosts } from "@sluice/prices";

const COLUMNS = ["queue", "messages", "so far", "month's end", "per million", "Queues", "SQS", "SQS by ten"];

const NOT_COUNTED =
  "Not counted: requests to your Workers and their CPU time, storage beyond 5 GB, queues that were deleted,\n" +
  "and what was used in the last seconds before a crash. See docs/cost.md.";

/** Formats the costs of all queues as a table. */
export function textOfAll(costs: Costs, look: Look = {}): string {
  const { queues, sum, monthEnd } = costs;
  const lines = [
    ...queues.map(({ name, used, soFar, monthEndUsd, perMillion }) => [
      name,
      used.messages.toLocaleString("en"),
      usd(soFar.total),
      monthEndUsd === null ? "-" : usd(monthEndUsd),
      ...(perMillion === null
        ? ["-", "-", "-", "-"]
        : [
            usd(perMillion.own.total),
            usd(perMillion.others.cloudflareQueues),
            usd(perMillion.others.sqsSingle),
            usd(perMillion.others.sqsBatched),
          ]),
    ]),
    [
      "all",
      sum.messages.toLocaleString("en"),
      usd(sum.usd),
      monthEnd === null ? "-" : usd(monthEnd.usd),
      ...perMillionOfAll(costs),
    ],
  ];
  return [heading(costs), "", table(COLUMNS, lines, look), "", included(costs), NOT_COUNTED].join("\n");
}

/** Formats the costs of one queue, by billed unit. */
export function textOfOne(costs: Costs, queue: QueueCosts): string {
  const { used, soFar, perMillion, others, monthEndUsd, kind } = queue;
  const line = (amount: string, what: string, total: number, each: number | undefined) => {
    const ofMillion = each === undefined ? "" : `${usd(each).padStart(12)} per million`;
    return `${amount.padStart(15)} ${what.padEnd(8)} ${usd(total).padStart(9)}${ofMillion}`;
  };
  const own = perMillion?.own;
  const whole = (count: number) => Math.round(count).toLocaleString("en");
  const beside = (name: string, total: number, each: number | undefined): readonly [string, string] => [
    name,
    line("", "", total, each),
  ];
  return [
    heading(costs),
    "",
    facts([
      ["queue", `${queue.name}${kind === "fifo" ? " (FIFO)" : ""}`],
      ["counted since", queue.since],
      ["messages", whole(used.messages).padStart(15)],
      ["rows written", line(whole(used.rowsWritten), "", soFar.rowsWritten, own?.rowsWritten)],
      ["rows read", line(whole(used.rowsRead), "", soFar.rowsRead, own?.rowsRead)],
      ["requests", line(whole(used.requests), "", soFar.requests, own?.requests)],
      ["time awake", line(whole(gigabyteSeconds(used.awakeMs)), "GB-s", soFar.duration, own?.duration)],
      ["sum", line("", "", soFar.total, own?.total)],
      ["at month's end", monthEndUsd === null ? TOO_EARLY : line("", "", monthEndUsd, undefined)],
      beside("Cloudflare Queues", others.cloudflareQueues, perMillion?.others.cloudflareQueues),
      beside(`SQS${kind === "fifo" ? " FIFO" : ""}`, others.sqsSingle, perMillion?.others.sqsSingle),
      beside("  ten a request", others.sqsBatched, perMillion?.others.sqsBatched),
    ]),
    "",
    included(costs),
    NOT_COUNTED,
  ].join("\n");
}

const TOO_EARLY = "too early to tell: less than an hour is counted";

function heading({ month, pricesAsOf }: Costs): string {
  return `${month} (UTC), in USD at list prices of ${pricesAsOf} with nothing included`;
}

function perMillionOfAll({ sum: { perMillion } }: Costs): string[] {
  if (perMillion === null) return ["-", "-", "-", "-"];
  const { cloudflareQueues, sqsSingle, sqsBatched } = perMillion.others;
  return [perMillion.usd, cloudflareQueues, sqsSingle, sqsBatched].map(usd);
}

function included({ sum, monthEnd }: Costs): string {
  const end = monthEnd === null ? "" : `, ${usd(monthEnd.beyondIncludedUsd)} at the month's end at this rate`;
  return (
    `Beyond what the plan of $${INCLUDED.planUsd} includes: ${usd(sum.beyondIncludedUsd)} so far${end}.\n` +
    "That is for an account whose other objects use nothing of it."
  );
}

/** Formats an amount; a small one keeps its first digits. */
function usd(amount: number): string {
  if (amount === 0) return "$0";
  if (amount < 0.0001) return "<$0.0001";
  return `$${amount.toFixed(amount < 0.1 ? 4 : amount < 100 ? 3 : 0)}`;
}
