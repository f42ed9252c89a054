import type { QueueView } from "../api/call.ts";
import { queueLink } from "../api/route.ts";
import { CostCard } from "../cost/cost-card.tsx";
import { consumerKind, consumerName } from "../text/consumer-name.ts";
import { Facts } from "../ui/facts.tsx";
import { QueueName } from "../ui/queue-name.tsx";
import { Charts } from "./charts.tsx";
import { healthFacts } from "./delivery-facts.tsx";
import { EventList } from "./event-list.tsx";
import { HistoryIsOff } from "./history-tab.tsx";
import type { QueueEvents } from "./use-queue-events.ts";

const SHOWN_MAX = 12;

interface NowTabProps {
  readonly queue: QueueView;
  readonly events: QueueEvents;
  readonly now: string;
}

/** Shows how a queue is doing at this moment. */
export function NowTab({ queue, events: { events, isOn }, now }: NowTabProps) {
  const recent = events.slice(0, SHOWN_MAX);
  return (
    <>
      <Charts queue={queue} now={now} />
      <section class="card" aria-labelledby="consumer">
        <header>
          <h2 id="consumer">Consumer</h2>
          <a href={queueLink(queue.name, "settings")}>All settings</a>
        </header>
        <ConsumerFacts queue={queue} />
      </section>
      <CostCard queues={[queue]} />
      {isOn === false ? <HistoryIsOff name={queue.name} /> : null}
      {recent.length > 0 ? <EventList label="Recent deliveries" events={recent} now={now} /> : null}
      {isOn === true && recent.length === 0 ? (
        <p class="card empty">Nothing was delivered yet. What is, and how it ends, will stand here.</p>
      ) : null}
    </>
  );
}

interface ConsumerFactsProps {
  readonly queue: QueueView;
}

function ConsumerFacts({ queue }: ConsumerFactsProps) {
  const { consumer } = queue;
  const concurrency =
    consumer === null || consumer.type === "http_pull" ? null : consumer.settings.maxConcurrency;
  const deadLetterQueue = consumer?.settings.deadLetterQueue ?? null;
  return (
    <Facts
      isDense
      of={[
        ["Who", consumer === null ? consumerKind(queue) : `${consumerKind(queue)}: ${consumerName(queue)}`],
        ...healthFacts(queue, concurrency),
        deadLetterQueue === null ? null : ["Dead letters", <QueueName key="dead" of={deadLetterQueue} />],
      ]}
    />
  );
}
