import { useEffect, useState } from "preact/hooks";
import { useDevelopment } from "./use-development.tsx";

/** Time of the queues: goes on from the broker's latest answer in steps of a second, unless the clock stands. */
export function useNow(now: string): string {
  const isFrozen = useDevelopment().clock?.isFrozen ?? false;
  const [reported, setReported] = useState({ now, atMs: performance.now() });
  const [, tick] = useState(0);
  if (reported.now !== now) setReported({ now, atMs: performance.now() });
  useEffect(() => {
    if (isFrozen) return;
    const timer = setInterval(() => tick((ticks) => ticks + 1), 1_000);
    return () => clearInterval(timer);
  }, [isFrozen]);
  const since = reported.now === now && !isFrozen ? performance.now() - reported.atMs : 0;
  return new Date(Date.parse(now) + since).toISOString();
}
