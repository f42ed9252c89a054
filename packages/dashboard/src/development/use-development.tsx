import { type ComponentChildren, createContext } from "preact";
import { useContext, useEffect, useRef } from "preact/hooks";
import { allQueues, type ClockView, call, type QueueView, Refused } from "../api/call.ts";
import { useLive } from "../api/use-live.ts";

/** Time in ms after which clock and faults are asked for again: the broker sends no notice of their changes. */
const PERIOD_MS = 5_000;

/** State that only a broker in development has: the clock of the queues, and the queues with faults. */
export interface Development {
  /** `null` where the clock cannot be moved, or until it is known. */
  readonly clock: ClockView | null;
  readonly faulty: readonly Pick<QueueView, "name" | "faults">[];
  readonly refresh: () => void;
}

const DevelopmentContext = createContext<Development>({ clock: null, faulty: [], refresh: () => {} });

export function useDevelopment(): Development {
  return useContext(DevelopmentContext);
}

/** Asks for clock and faults as long as the page is open. A broker that is not in development is asked once. */
export function DevelopmentProvider({ children }: { readonly children: ComponentChildren }) {
  const isOff = useRef(false);
  const { live, refresh } = useLive(
    "development",
    async () => {
      if (isOff.current) return null;
      try {
        const [clock, { queues }] = await Promise.all([call<ClockView>("/clock"), allQueues()]);
        return { clock, faulty: queues.filter(({ faults }) => faults.length > 0) };
      } catch (error) {
        isOff.current = error instanceof Refused && error.code === "not_in_production";
        if (isOff.current) return null;
        throw error;
      }
    },
    PERIOD_MS,
  );
  useEffect(() => {
    const timer = setInterval(() => document.hidden || isOff.current || refresh(), PERIOD_MS);
    return () => clearInterval(timer);
  }, []);
  const answer = live.kind === "live" || live.kind === "lost" ? live.answer : null;
  const value = { clock: answer?.clock ?? null, faulty: answer?.faulty ?? [], refresh };
  return <DevelopmentContext.Provider value={value}>{children}</DevelopmentContext.Provider>;
}
