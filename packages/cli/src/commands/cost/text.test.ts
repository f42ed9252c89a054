import { costsOf } from "@sluice/prices";
import { counted, TENTH } from "@sluice/prices/test/counted";
import { describe, expect, it } from "vitest";
import { textOfAll, textOfOne } from "./text.ts";

describe("the text of sluice cost", () => {
  it("is a line for each queue and one for all", () => {
    const none = { messages: 0, messageBytes: 0, messageChunks: 0, deliveries: 0, rowsWritten: 1 };
    expect(textOfAll(costsOf([counted("orders"), counted("quiet", none)], TENTH))).toMatchInlineSnapshot(`
      "2026-11 (UTC), in USD at list prices of 2026-11 with nothing included

      queue   messages    so far   month's end  per million  Queues  SQS     SQS by ten
      orders  20,000,000  $30.153  $90.458      $1.508       $1.200  $1.200  $0.120
      quiet   0           $0.153   $0.458       -            -       -       -
      all     20,000,000  $30.305  $90.916      $1.515       $1.200  $1.200  $0.120

      Beyond what the plan of $5 includes: $0.150 so far, $40.750 at the month's end at this rate.
      That is for an account whose other objects use nothing of it.
      Not counted: requests to your Workers and their CPU time, storage beyond 5 GB, queues that were deleted,
      and what was used in the last seconds before a crash. See docs/cost.md."
    `);
  });

  it("lists what is billed for one queue", () => {
    const costs = costsOf([counted("orders")], TENTH);
    const [queue] = costs.queues;
    if (queue === undefined) throw new Error("there is none");
    expect(textOfOne(costs, queue)).toMatchInlineSnapshot(`
      "2026-11 (UTC), in USD at list prices of 2026-11 with nothing included

      queue              orders
      counted since      2026-11-01T00:00:00.000Z
      messages                20,000,000
      rows written            30,000,000            $30.000      $1.500 per million
      rows read                1,000,000            $0.0010    <$0.0001 per million
      requests                 1,000,000             $0.150     $0.0075 per million
      time awake                     128 GB-s       $0.0016    <$0.0001 per million
      sum                                           $30.153      $1.508 per million
      at month's end                                $90.458
      Cloudflare Queues                             $24.000      $1.200 per million
      SQS                                           $24.000      $1.200 per million
        ten a request                                $2.400      $0.120 per million

      Beyond what the plan of $5 includes: $0 so far, $40.300 at the month's end at this rate.
      That is for an account whose other objects use nothing of it.
      Not counted: requests to your Workers and their CPU time, storage beyond 5 GB, queues that were deleted,
      and what was used in the last seconds before a crash. See docs/cost.md."
    `);
    expect(textOfOne(costs, { ...queue, monthEndUsd: null })).toContain("too early to tell");
  });
});
