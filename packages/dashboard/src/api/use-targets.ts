import { useEffect, useState } from "preact/hooks";
import { call, type QueueView } from "./call.ts";

/**
 * Names of the queues that messages of a queue can go to: those of its kind, the sources of its dead letters first.
 * Asks once, since a request for all queues wakes those that sleep.
 */
export function useTargets({ name, kind, deadLettersOf }: QueueView): readonly string[] {
  const [others, setOthers] = useState<readonly string[]>([]);
  useEffect(() => {
    call<{ queues: QueueView[] }>("/queues").then(
      ({ queues }) => setOthers(queues.filter((other) => other.kind === kind).map((other) => other.name)),
      // The page itself says that the broker does not answer.
      () => {},
    );
  }, [kind]);
  const names = others.filter((other) => other !== name);
  const isSource = (other: string) => deadLettersOf.queues.includes(other);
  return [...names.filter(isSource), ...names.filter((other) => !isSource(other))];
}
