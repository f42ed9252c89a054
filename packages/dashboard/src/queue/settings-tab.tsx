import type { QueueView } from "../api/call.ts";
import { topicLink } from "../api/route.ts";
import { Facts } from "../ui/facts.tsx";
import { QueueName } from "../ui/queue-name.tsx";
import { Names } from "../ui/table.tsx";
import { DeliveryFacts } from "./delivery-facts.tsx";

/** Settings of a queue, and what sends to it. */
export function SettingsTab({ queue }: { readonly queue: QueueView }) {
  return (
    <div class="columns">
      <section class="card" aria-labelledby="delivery">
        <header>
          <h2 id="delivery">Delivery</h2>
        </header>
        <DeliveryFacts queue={queue} />
      </section>
      <section class="card" aria-labelledby="sources">
        <header>
          <h2 id="sources">What comes in</h2>
        </header>
        <Sources queue={queue} />
      </section>
    </div>
  );
}

function Sources({ queue }: { readonly queue: QueueView }) {
  const { producers, topics, buckets, deadLettersOf } = queue;
  return (
    <Facts
      of={[
        [
          "From Workers",
          <Names
            key="workers"
            of={producers.map(({ worker, binding }) => (
              <span key={`${worker} ${binding}`}>
                {worker} (<code>{binding}</code>)
              </span>
            ))}
          />,
        ],
        ["From topics", <Names key="topics" of={topics.map((arn) => <TopicName key={arn} arn={arn} />)} />],
        buckets.length === 0 ? null : ["From R2", <Names key="r2" of={buckets} />],
        [
          "Dead letters of",
          <Names
            key="dead"
            of={[
              ...deadLettersOf.queues.map((name) => <QueueName key={name} of={name} />),
              ...deadLettersOf.subscriptions.map((arn) => {
                const topicArn = arn.slice(0, arn.lastIndexOf(":"));
                return (
                  <span key={arn}>
                    a subscription of <TopicName arn={topicArn} />
                  </span>
                );
              }),
            ]}
          />,
        ],
      ]}
    />
  );
}

function TopicName({ arn }: { readonly arn: string }) {
  return <a href={topicLink(arn)}>{arn.split(":").at(-1)}</a>;
}
