import { missingLines } from "@sluice/protocol/words";
import type { LogsView } from "../api/call.ts";
import { moment } from "../text/format.ts";
import { Scrolled } from "../ui/scrolled.tsx";

interface PrintedProps {
  readonly logs: LogsView;
  readonly now: string;
}

/** Shows the lines that a handler printed, with their times. */
export function Printed({ logs, now }: PrintedProps) {
  return (
    <Scrolled label="What was printed" class="printed">
      {logs.lines.map(({ at, level, text }, i) => (
        <pre key={i} class={level}>
          <time dateTime={at}>{moment(at, now)}</time> {text}
        </pre>
      ))}
      {missingLines(logs).map((text) => (
        <div key={text} class="quiet">
          {text}
        </div>
      ))}
    </Scrolled>
  );
}
