import { inCore, inPorts, type PlantedBug } from "../world/planted-bug.ts";
import { alterStore } from "./alter.ts";

/** Mistakes in receives that are made again by their attempt ids. */
export const ATTEMPT_BUGS: readonly PlantedBug[] = [
  inCore(
    "receive attempts",
    "a receive that is made again by its attempt id is another one",
    ({ attempts }) => {
      attempts.repeat = () => null;
    },
  ),
  inPorts("receive attempts", "a restart forgets which receive had which attempt id", (ports) =>
    alterStore(ports, {
      writeNote: (key, bytes) => {
        if (!key.startsWith("attempt:")) ports.store.writeNote(key, bytes);
      },
    }),
  ),
  inCore("receive attempts", "a receive that is made again gets all but the last message", ({ attempts }) => {
    const { repeat } = attempts;
    attempts.repeat = (...args) => {
      const again = repeat.apply(attempts, args);
      return again && { ...again, receipts: again.receipts.slice(0, Math.max(1, again.receipts.length - 1)) };
    };
  }),
  inCore("one live lease", "an attempt id is never forgotten", ({ attempts }) => {
    attempts.expire = () => {};
  }),
  inCore("one live lease", "a receive that is made again does not hide its messages anew", ({ attempts }) => {
    const { repeat } = attempts;
    attempts.repeat = (attemptId, _visibilityMs, nowMs) => repeat.call(attempts, attemptId, 1_234, nowMs);
  }),
  inCore("liveness", "nothing wakes the queue to forget attempt ids", ({ attempts }) =>
    Object.defineProperty(attempts, "forgetAtMs", { get: () => null }),
  ),
];
