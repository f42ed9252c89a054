import { useCallback, useEffect, useState } from "preact/hooks";
import { call, type QueueView } from "./api.ts";

/**
 * Where dead letters can be moved to: queues of the same kind, those that they come from first. All queues are asked for
 * when the page is opened and when somebody looks: to do so once a second would keep each of them awake.
 */
export function useTargets({ name, kind, deadLettersOf }: QueueView): {
  readonly targets: readonly string[];
  readonly look: () => void;
} {
  const [others, setOthers] = useState<readonly string[]>([]);
  const look = useCallback(() => {
    call<{ queues: QueueView[] }>("/queues").then(
      ({ queues }) => setOthers(queues.filter((other) => other.kind === kind).map((other) => other.name)),
      // The page itself says that the broker does not answer.
      () => {},
    );
  }, [kind]);
  useEffect(look, [look]);
  const names = others.filter((other) => other !== name);
  const isSource = (other: string) => deadLettersOf.queues.includes(other);
  const sources = names.filter(isSource);
  return { targets: [...sources, ...names.filter((other) => !isSource(other))], look };
}
