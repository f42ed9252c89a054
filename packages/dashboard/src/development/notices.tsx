import { type ClockView, call, queuePath } from "../api/call.ts";
import { duration, moment } from "../text/format.ts";
import { OutcomeLine } from "../ui/outcome.tsx";
import { QueueName } from "../ui/queue-name.tsx";
import { useAction } from "../ui/use-action.ts";
import { faultText } from "./fault-kinds.ts";
import { useDevelopment } from "./use-development.tsx";
import { useNow } from "./use-now.ts";

/** Smallest difference of the clocks that is no delay of the network, in ms. */
const AHEAD_MS_MIN = 1_000;

/**
 * Warns that the clock was moved, or that deliveries go wrong on purpose. That is known late and ends at any time, so
 * it stands at the bottom of the window, where it moves nothing.
 */
export function DevelopmentNotices() {
  const { isKnown, clock, faulty, refresh } = useDevelopment();
  const { outcome, run } = useAction(refresh);
  // Together, so that none moves the other.
  if (!isKnown || faulty === null) return null;
  const isMoved = clock !== null && (clock.isFrozen || Math.abs(clock.aheadMs) >= AHEAD_MS_MIN);
  return (
    <div class="below">
      {isMoved ? <ClockNotice clock={clock} /> : null}
      {faulty.length === 0 ? null : (
        <section class="notice warn row" aria-label="Faults">
          <ul class="plain">
            {faulty.map(({ name, faults }) => (
              <li key={name}>
                Faults are on in <QueueName of={name} />: {faults.map(faultText).join(", ")}.
              </li>
            ))}
          </ul>
          <button
            type="button"
            onClick={() =>
              run(async () => {
                for (const { name } of faulty) await call(`${queuePath(name)}/faults`, "DELETE");
                return "The faults were ended.";
              })
            }
          >
            End them
          </button>
        </section>
      )}
      <OutcomeLine of={outcome} />
    </div>
  );
}

function ClockNotice({ clock }: { readonly clock: ClockView }) {
  const now = useNow(clock.now);
  const { aheadMs, isFrozen } = clock;
  const apart = duration(Math.abs(aheadMs));
  const isApart = Math.abs(aheadMs) >= AHEAD_MS_MIN;
  const states = [
    isFrozen ? "stands" : "",
    isApart ? `is ${apart} ${aheadMs > 0 ? "ahead of" : "behind"} real time` : "",
  ];
  return (
    <p class="notice warn" role="note" aria-label="Clock">
      The clock of the queues {states.filter(Boolean).join(" and ")}: it shows{" "}
      <time dateTime={now}>{moment(now, new Date().toISOString()).slice(0, -4)}</time>.
    </p>
  );
}
