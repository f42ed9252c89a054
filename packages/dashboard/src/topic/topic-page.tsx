import { plural } from "@sluice/protocol/words";
import { apiPath, call, type HandOverView, type PagedTopic, topicPath } from "../api/call.ts";
import { topicLink } from "../api/route.ts";
import { useLive } from "../api/use-live.ts";
import { Page } from "../page/page.tsx";
import { ago, ahead } from "../text/format.ts";
import { Facts, Figures } from "../ui/facts.tsx";
import { Damage } from "../ui/status.tsx";
import { Count } from "../ui/table.tsx";
import { Subscriptions } from "./subscriptions.tsx";

/** One topic: its subscriptions, and how deliveries to each of them go. */
export function TopicPage({ arn, page }: { readonly arn: string; readonly page: number }) {
  const { live, refresh } = useLive(`${arn} ${page}`, () =>
    call<PagedTopic>(`${topicPath(arn)}?page=${page}`),
  );
  return (
    <Page title={arn.split(":").at(-1) ?? arn} subtitle={<code>{arn}</code>} live={live} refresh={refresh}>
      {(topic) => (
        <>
          <Damage damage={topic.damage} />
          <Figures
            of={[
              { label: "Kind", value: topic.kind === "fifo" ? "FIFO" : "Standard" },
              { label: "Confirmed", value: <Count of={topic.subscriptions.confirmed} /> },
              { label: "Pending", value: <Count of={topic.subscriptions.pending} /> },
              {
                label: `Published since it woke up, ${ago(topic.awakeSince, topic.now)}`,
                value: <Count of={topic.published} />,
              },
              ...(topic.kind === "fifo"
                ? [{ label: "Duplicates", value: <Count of={topic.duplicates} /> }]
                : []),
            ]}
          />
          <HandOvers topic={topic} />
          {topic.subscriptionList.length === 0 ? (
            <p class="card empty">
              Nobody is subscribed{topic.page === 1 ? "" : " on this page"}: what is published goes to nobody.
            </p>
          ) : (
            <Subscriptions list={topic.subscriptionList} />
          )}
          <Pages topic={topic} />
          <Attributes topic={topic} />
          <footer>
            The same as JSON: <a href={apiPath(topicPath(arn))}>{apiPath(topicPath(arn))}</a>
          </footer>
        </>
      )}
    </Page>
  );
}

/** Queues that copies have not reached. */
function HandOvers({ topic }: { readonly topic: PagedTopic }) {
  const stuck = topic.handOvers.filter(({ nextAttemptAt }) => nextAttemptAt !== null);
  if (stuck.length === 0) return null;
  return (
    <section class="notice warn" aria-label="Queues out of reach">
      <h2>Queues out of reach</h2>
      <ul>
        {stuck.map((handOver) => (
          <li key={handOver.queue}>{stuckText(handOver, topic.now)}</li>
        ))}
      </ul>
    </section>
  );
}

function stuckText({ queue, messages, nextAttemptAt }: HandOverView, now: string): string {
  const when = nextAttemptAt === null ? "" : `, tried again ${ahead(nextAttemptAt, now)}`;
  return `${plural(messages, "message")} for ${queue}${when}`;
}

function Pages({ topic: { arn, page, pages } }: { readonly topic: PagedTopic }) {
  if (pages === 1 && page === 1) return null;
  return (
    <nav class="row" aria-label="Pages of subscriptions">
      {page > 1 ? <a href={topicLink(arn, page - 1)}>Previous</a> : null}
      <span>
        Page {page} of {pages}
      </span>
      {page < pages ? <a href={topicLink(arn, page + 1)}>Next</a> : null}
    </nav>
  );
}

function Attributes({ topic: { attributes } }: { readonly topic: PagedTopic }) {
  const entries = Object.entries(attributes);
  if (entries.length === 0) return null;
  return (
    <section class="card" aria-labelledby="attributes">
      <header>
        <h2 id="attributes">Attributes</h2>
      </header>
      <Facts of={entries.map(([name, value]) => [name, <code key={name}>{value}</code>] as const)} />
    </section>
  );
}
