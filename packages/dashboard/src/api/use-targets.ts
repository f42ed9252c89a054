import { useEffect, useState } from "preact/hooks";
import { call, type QueueView } from "./call.ts";

/**
 * Where messages of a queue can go: queues of the same kind, those first that its dead letters come from. They are
 * asked for once: each question to all queues wakes those that sleep.
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
