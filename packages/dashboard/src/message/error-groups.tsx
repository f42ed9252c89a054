import { plural } from "@sluice/protocol/words";
import type { ErrorsView } from "../api/call.ts";
import { queueLink } from "../api/route.ts";

interface ErrorGroupsProps {
  readonly queue: string;
  readonly filter: string;
  readonly errors: ErrorsView;
  /** A queue that gave up messages without an error, since it keeps no history. */
  readonly silent: string | null;
}

/** How many messages have which last error. An error leads to its messages. */
export function ErrorGroups({ queue, filter, errors, silent }: ErrorGroupsProps) {
  const { groups, others, none, searched, of } = errors;
  if (groups.length === 0) {
    return silent === null ? null : (
      <p class="quiet">
        Why they died is not known: <a href={queueLink(silent, "history")}>{silent}</a> kept no history.
      </p>
    );
  }
  return (
    <section class="card" aria-labelledby="errors">
      <header>
        <h2 id="errors">Last errors</h2>
        {searched < of ? <span class="quiet">of the first {plural(searched, "message")}</span> : null}
      </header>
      <ul class="plain groups">
        {groups.map(({ error, count, text: pattern = error }) => {
          const term = `errorGroup:"${pattern.replace(/["\\]/g, "\\$&")}"`;
          const text = (
            <span class="error" title={error}>
              {pattern}
            </span>
          );
          return (
            <li key={error}>
              <strong>{count.toLocaleString("en")} </strong>
              {filter.includes(term) ? (
                text
              ) : (
                <a href={queueLink(queue, "messages", `${filter} ${term}`.trim())}>{text}</a>
              )}
            </li>
          );
        })}
        {others === 0 ? null : <li class="quiet">and {plural(others, "message")} with other errors</li>}
        {none === 0 ? null : <li class="quiet">{plural(none, "message")} without a known error</li>}
      </ul>
    </section>
  );
}
