import { type Costs, costsOf, INCLUDED } from "@sluice/prices";
import { plural } from "@sluice/protocol/words";
import type { QueueView } from "../api/call.ts";
import { usd } from "../text/format.ts";
import { Facts } from "../ui/facts.tsx";

/** Shows the cost of one or more queues on Cloudflare this month, beside the prices of other services. */
export function CostCard({ queues }: { readonly queues: readonly QueueView[] }) {
  const counted = queues.flatMap(({ name, kind, usage }) => (usage === null ? [] : [{ name, kind, usage }]));
  if (counted.length === 0) return null;
  const { sum, monthEnd, pricesAsOf } = costsOf(counted, Date.now());
  return (
    <section class="card" aria-labelledby="cost">
      <header>
        <h2 id="cost">Cost on Cloudflare</h2>
        <span class="quiet">USD, list prices of {pricesAsOf}</span>
      </header>
      <Facts
        isDense
        of={[
          ["This month", `${usd(sum.usd)} for ${plural(sum.messages, "message")}`],
          ["At its end", monthEnd === null ? "too early to tell" : `${usd(monthEnd.usd)} at this rate`],
          ["Beyond the plan", `${usd((monthEnd ?? sum).beyondIncludedUsd)} over its $${INCLUDED.planUsd}`],
          ...perMillionFacts(sum),
        ]}
      />
    </section>
  );
}

function perMillionFacts({ perMillion }: Costs["sum"]): readonly (readonly [string, string])[] {
  if (perMillion === null) return [["A million messages", "too few messages yet to tell"]];
  const { cloudflareQueues, sqsSingle, sqsBatched } = perMillion.others;
  return [
    ["A million messages", usd(perMillion.usd)],
    ["on Cloudflare Queues", usd(cloudflareQueues)],
    ["on Amazon SQS", `${usd(sqsSingle)}, by ten ${usd(sqsBatched)}`],
  ];
}
