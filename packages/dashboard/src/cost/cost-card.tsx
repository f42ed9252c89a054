import { type Costs, costsOf, INCLUDED, type Others } from "@sluice/prices";
import type { QueueView } from "../api/call.ts";
import { usd } from "../text/format.ts";
import { Facts } from "../ui/facts.tsx";

/** What one or more queues cost on Cloudflare this month, beside what others take for the same messages. */
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
          ["This month", `${usd(sum.usd)} for ${sum.messages.toLocaleString("en")} messages`],
          ["At its end", monthEnd === null ? "too early to tell" : `${usd(monthEnd.usd)} at this rate`],
          ["Beyond the plan", `${usd((monthEnd ?? sum).beyondIncludedUsd)} over its $${INCLUDED.planUsd}`],
          ["A million messages", <PerMillion key="own" of={sum} amount={sum.usd} />],
          ["on Cloudflare Queues", <PerMillion key="queues" of={sum} amount={sum.others.cloudflareQueues} />],
          ["on Amazon SQS", <SqsPerMillion key="sqs" of={sum} others={sum.others} />],
        ]}
      />
    </section>
  );
}

interface PerMillionProps {
  readonly of: Costs["sum"];
  readonly amount: number;
}

function PerMillion({ of: { messages }, amount }: PerMillionProps) {
  if (messages === 0) return <NoMessage />;
  return <span>{usd((amount / messages) * 1e6)}</span>;
}

function SqsPerMillion({ of: { messages }, others }: { readonly of: Costs["sum"]; readonly others: Others }) {
  if (messages === 0) return <NoMessage />;
  const each = (amount: number) => usd((amount / messages) * 1e6);
  return <span>{`${each(others.sqsSingle)}, by ten ${each(others.sqsBatched)}`}</span>;
}

function NoMessage() {
  return <span class="quiet">no message yet</span>;
}
