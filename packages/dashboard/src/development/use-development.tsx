import { type ComponentChildren, createContext } from "preact";
import { useContext, useEffect, useRef } from "preact/hooks";
import { allQueues, type ClockView, call, type QueueView, Refused } from "../api/call.ts";
import { answerOf } from "../api/live-query.ts";
import { useLive } from "../api/use-live.ts";

/** Time in ms after which clock and faults are asked for again: the broker sends no notice of their changes. */
const PERIOD_MS = 5_000;

/** State that only a broker in development has: the clock of the queues, and the queues with faults. */
export interface Development {
  /** Whether it is known if the clock can be moved: pages wait until then, as they show more where it can. */
  readonly isKnown: boolean;
  /** `null` where the clock cannot be moved, or until it is known. */
  readonly clock: ClockView | null;
  /** `null` until it is known. */
  readonly faulty: readonly Pick<QueueView, "name" | "faults">[] | null;
  readonly refresh: () => void;
}

const DevelopmentContext = createContext<Development>({
  isKnown: false,
  clock: null,
  faulty: null,
  refresh: () => {},
});

export function useDevelopment(): Development {
  return useContext(DevelopmentContext);
}

/** Asks for clock and faults as long as the page is open. A broker that is not in development is asked once. */
export function DevelopmentProvider({ children }: { readonly children: ComponentChildren }) {
  const isOff = useRef(false);
  const clock = useLive(
    "clock",
    async () => {
      if (isOff.current) return null;
      try {
        return await call<ClockView>("/clock");
      } catch (error) {
        isOff.current = error instanceof Refused && error.code === "not_in_production";
        if (isOff.current) return null;
        throw error;
      }
    },
    PERIOD_MS,
  );
  // Apart: all queues may take long to answer, and no page waits for them.
  const faulty = useLive(
    "faults",
    async () => (isOff.current ? [] : (await allQueues()).queues.filter(({ faults }) => faults.length > 0)),
    PERIOD_MS,
  );
  const refresh = () => {
    clock.refresh();
    faulty.refresh();
  };
  useEffect(() => {
    const timer = setInterval(() => {
      if (isOff.current) return;
      clock.renew();
      faulty.renew();
    }, PERIOD_MS);
    return () => clearInterval(timer);
  }, []);
  const value = {
    isKnown: clock.live.kind !== "loading",
    clock: answerOf(clock.live),
    faulty: answerOf(faulty.live),
    refresh,
  };
  return <DevelopmentContext.Provider value={value}>{children}</DevelopmentContext.Provider>;
}
