import { stackLines } from "@sluice/protocol/stack";
import { missingLines } from "@sluice/protocol/words";
import type { LogsView } from "../api/call.ts";
import { moment } from "../text/format.ts";
import { OwnFrames, Scrolled } from "../ui/scrolled.tsx";

interface PrintedProps {
  readonly logs: LogsView;
  readonly now: string;
}

/** Shows the lines that a handler printed, with their times. */
export function Printed({ logs, now }: PrintedProps) {
  return (
    <Scrolled label="What was printed" class="printed">
      {logs.lines.map(({ at, level, text }, i) => {
        const lines = stackLines(text);
        const own = lines.filter(({ kind }) => kind === "own").map((line) => line.text);
        const others = lines.filter(({ kind }) => kind !== "own").map((line) => line.text);
        return (
          <div key={i} class={level}>
            <pre>
              <time dateTime={at}>{moment(at, now)}</time> {others.join("\n")}
            </pre>
            {own.length === 0 ? null : <OwnFrames lines={own} />}
          </div>
        );
      })}
      {missingLines(logs).map((text) => (
        <div key={text} class="quiet">
          {text}
        </div>
      ))}
    </Scrolled>
  );
}
