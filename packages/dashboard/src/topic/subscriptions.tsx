import type { SubscriptionView } from "../api/call.ts";
import { type DeliveryState, stateOfDelivery } from "../text/delivery-state.ts";
import { ago, shortUrl } from "../text/format.ts";
import { QueueName } from "../ui/queue-name.tsx";
import { Status } from "../ui/status.tsx";
import { type Column, Count, None, Table } from "../ui/table.tsx";

const COLUMNS: readonly Column<SubscriptionView>[] = [
  {
    heading: "Endpoint",
    cell: ({ endpoint, protocol, queue, backlog, arn }) => (
      <>
        <span class="break" title={arn}>
          {queue === null ? shortUrl(endpoint) : backlog === null ? queue : <QueueName of={queue} />}
        </span>
        <span class="tag">{protocol}</span>
      </>
    ),
  },
  { heading: "Delivery", isWide: true, cell: (subscription) => <Status {...stateOf(subscription)} /> },
  { heading: "Waiting", isNumber: true, cell: ({ backlog }) => <Waiting backlog={backlog} /> },
  {
    heading: "Under way",
    isNumber: true,
    cell: ({ backlog }) => (backlog?.health ? <Count of={backlog.health.inFlight} /> : <None />),
  },
  { heading: "Last delivery", isWide: true, cell: ({ backlog }) => lastDelivery(backlog) },
  {
    heading: "Gets",
    isWide: true,
    cell: ({ filterPolicy, rawDelivery }) => (
      <>
        {filterPolicy === null ? (
          "everything"
        ) : (
          <code class="policy" title={filterPolicy.scope}>
            {filterPolicy.policy}
          </code>
        )}
        {filterPolicy?.fault != null ? (
          <span class="tag" title={filterPolicy.fault}>
            cannot be evaluated
          </span>
        ) : null}
        {filterPolicy?.scope === "MessageBody" ? <span class="tag">by its body</span> : null}
        {rawDelivery ? <span class="tag">raw</span> : null}
      </>
    ),
  },
  {
    heading: "Policy",
    isWide: true,
    cell: ({ delivery }) =>
      delivery === null ? <span class="quiet">the queue's</span> : policyText(delivery),
  },
  {
    heading: "Dead letters to",
    isWide: true,
    cell: ({ deadLetterQueue }) =>
      deadLetterQueue === null ? <span class="quiet">dropped</span> : <QueueName of={deadLetterQueue} />,
  },
];

/** The subscriptions of a topic, each with how its deliveries go. */
export function Subscriptions({ list }: { readonly list: readonly SubscriptionView[] }) {
  return <Table label="Subscriptions" columns={COLUMNS} rows={list} rowKey={({ arn }) => arn} />;
}

function stateOf({ status, queue, backlog }: SubscriptionView): DeliveryState {
  if (status === "pending") {
    return { tone: "warn", word: "Pending", detail: "gets nothing until it confirms" };
  }
  if (backlog === null) return { tone: "bad", word: "No such queue", detail: "" };
  // The state of a queue's consumer stands on the queue's page.
  return queue === null ? stateOfDelivery(backlog) : { tone: "quiet", word: "To a queue", detail: "" };
}

function Waiting({ backlog }: Pick<SubscriptionView, "backlog">) {
  return backlog === null ? <None /> : <Count of={backlog.messages.ready + backlog.messages.delayed} />;
}

function lastDelivery(backlog: SubscriptionView["backlog"]) {
  const last = backlog?.health?.lastDelivery ?? null;
  if (backlog === null || last === null) return <None />;
  const when = <time dateTime={last.endedAt}>{ago(last.endedAt, backlog.now)}</time>;
  return last.failure === null ? (
    <>went well, {when}</>
  ) : (
    <>
      <strong class="lost">{last.failure}</strong>, {when}
    </>
  );
}

function policyText({ maxRetries, maxReceivesPerSecond }: NonNullable<SubscriptionView["delivery"]>): string {
  const retries = maxRetries === 1 ? "1 retry" : `${maxRetries} retries`;
  return maxReceivesPerSecond === null ? retries : `${retries}, ${maxReceivesPerSecond} a second`;
}
