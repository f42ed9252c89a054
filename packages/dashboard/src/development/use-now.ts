import { useEffect, useState } from "preact/hooks";
import { useDevelopment } from "./use-development.tsx";

/**
 * A time that goes on by itself from what the broker has said it was, in steps of a second, unless its clock stands.
 */
export function useNow(now: string): string {
  const isFrozen = useDevelopment().clock?.isFrozen ?? false;
  const [heard, setHeard] = useState({ now, atMs: performance.now() });
  const [, tick] = useState(0);
  if (heard.now !== now) setHeard({ now, atMs: performance.now() });
  useEffect(() => {
    if (isFrozen) return;
    const timer = setInterval(() => tick((ticks) => ticks + 1), 1_000);
    return () => clearInterval(timer);
  }, [isFrozen]);
  const since = heard.now === now && !isFrozen ? performance.now() - heard.atMs : 0;
  return new Date(Date.parse(now) + since).toISOString();
}
