import { call, type QueueView, queuePath } from "../api.ts";
import { DeliveryFacts, QueueName } from "../delivery/delivery-facts.tsx";
import { stateOfQueue } from "../delivery/delivery-state.ts";
import { Damage, Status } from "../delivery/status.tsx";
import { Facts, Figures } from "../facts.tsx";
import { size, span } from "../format.ts";
import { Page } from "../page.tsx";
import { topicLink } from "../route.ts";
import { Count, Names } from "../table.tsx";
import { useLive } from "../use-live.ts";
import { QueueActions } from "./queue-actions.tsx";
import { WaitingMessages } from "./waiting-messages.tsx";

/** One queue: what it holds, how it gets rid of it, and what can be done about it. */
export function QueuePage({ name }: { readonly name: string }) {
  const { live, refresh } = useLive(name, () => call<QueueView>(queuePath(name)));
  return (
    <Page title={name} hasWayBack live={live} refresh={refresh}>
      {(queue) => (
        <>
          <Damage damage={queue.damage} />
          <State queue={queue} />
          <Figures
            of={[
              { label: "Ready", value: <Count of={queue.messages.ready} /> },
              { label: "Delayed", value: <Count of={queue.messages.delayed} /> },
              { label: "Leased", value: <Count of={queue.messages.leased} /> },
              { label: "Backlog", value: size(queue.backlogBytes) },
              {
                label: "Oldest",
                value:
                  queue.oldestMessageAt === null
                    ? "–"
                    : span(Date.parse(queue.now) - Date.parse(queue.oldestMessageAt)),
              },
            ]}
          />
          <QueueActions queue={queue} refresh={refresh} />
          <section aria-labelledby="delivery">
            <h2 id="delivery">Delivery</h2>
            <DeliveryFacts queue={queue} />
          </section>
          <section aria-labelledby="sources">
            <h2 id="sources">What comes in</h2>
            <Sources queue={queue} />
          </section>
          <WaitingMessages name={name} />
          <footer>
            The same as JSON: <a href={`/__sluice/api${queuePath(name)}`}>/__sluice/api{queuePath(name)}</a>
          </footer>
        </>
      )}
    </Page>
  );
}

function State({ queue }: { readonly queue: QueueView }) {
  const state = stateOfQueue(queue);
  const tag = queue.kind === "fifo" ? <span class="tag">FIFO</span> : null;
  if (state.word === "–" && tag === null) return null;
  return (
    <p class="state">
      {state.word === "–" ? null : <Status {...state} />}
      {tag}
    </p>
  );
}

function Sources({ queue }: { readonly queue: QueueView }) {
  const { producers, topics, deadLettersOf } = queue;
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
