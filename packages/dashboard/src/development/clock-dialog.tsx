import { useState } from "preact/hooks";
import { type ClockView, call } from "../api/call.ts";
import { duration, moment } from "../text/format.ts";
import { Dialog } from "../ui/dialog.tsx";
import { OutcomeLine } from "../ui/outcome.tsx";
import { useAction } from "../ui/use-action.ts";
import { useDevelopment } from "./use-development.tsx";
import { useNow } from "./use-now.ts";

const UNITS = { seconds: 1_000, minutes: 60_000, hours: 3_600_000, days: 86_400_000 } as const;
type Unit = keyof typeof UNITS;

interface Jump extends ClockView {
  readonly advancedMs: number;
  readonly next: { readonly queue: string; readonly at: string } | null;
}

/** Moves and stops the time of all queues, so that a retry in twelve hours can be seen at once. */
export function ClockDialog({ clock, closed }: { readonly clock: ClockView; readonly closed: () => void }) {
  const { refresh } = useDevelopment();
  const now = useNow(clock.now);
  const [count, setCount] = useState("1");
  const [unit, setUnit] = useState<Unit>("hours");
  const { outcome, run } = useAction(refresh);
  const post = <Answer extends ClockView>(change: object, textOf: (answer: Answer) => string) =>
    run(async () => textOf(await call<Answer>("/clock", "POST", change)));
  const advanceMs = Math.round(Number(count) * UNITS[unit]);
  return (
    <Dialog title="Clock of the queues" closed={closed}>
      <p>
        It {clock.isFrozen ? "stands at" : "shows"}{" "}
        <time dateTime={now}>{moment(now, new Date().toISOString()).slice(0, -4)}</time>. Delays, retries,
        leases and retention go by it. It never goes back.
      </p>
      <div class="row">
        <button
          type="button"
          onClick={() =>
            post<Jump>({ to: "next" }, ({ next, advancedMs }) =>
              next === null
                ? "Nothing waits for a time in any queue."
                : `${duration(advancedMs)} forward, to what comes next in ${next.queue}.`,
            )
          }
        >
          To what comes next
        </button>
        <button
          type="button"
          onClick={() =>
            post({ freeze: !clock.isFrozen }, ({ isFrozen }) => (isFrozen ? "It stands." : "It goes on."))
          }
        >
          {clock.isFrozen ? "Let it go on" : "Stop it"}
        </button>
      </div>
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          void post({ advanceMs }, () => `${duration(advanceMs)} forward.`);
        }}
      >
        <label for="clock-count">Forward by</label>
        <input
          id="clock-count"
          class="short"
          type="number"
          min={0}
          step="any"
          required
          value={count}
          onInput={(event) => setCount(event.currentTarget.value)}
        />
        <select
          aria-label="Unit"
          value={unit}
          onChange={(event) => setUnit(event.currentTarget.value as Unit)}
        >
          {Object.keys(UNITS).map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
        <button type="submit" disabled={!(advanceMs > 0)}>
          Move it
        </button>
      </form>
      <OutcomeLine of={outcome} />
      <div class="row end">
        <button type="button" onClick={closed}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
