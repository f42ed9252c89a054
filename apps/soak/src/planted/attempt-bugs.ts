import { alterStore } from "./alter.ts";
import type { PlantedBug } from "./planted-bug.ts";

/** Mistakes in what a receive gets that is made again by its attempt id. */
export const ATTEMPT_BUGS: readonly PlantedBug[] = [
  {
    name: "a receive that is made again by its attempt id is another one",
    property: "receive attempts",
    changeCore: ({ attempts }) => {
      attempts.repeat = () => null;
    },
  },
  {
    name: "a restart forgets which receive had which attempt id",
    property: "receive attempts",
    wrapPorts: (ports) =>
      alterStore(ports, {
        writeNote: (key, bytes) => {
          if (!key.startsWith("attempt:")) ports.store.writeNote(key, bytes);
        },
      }),
  },
  {
    name: "a receive that is made again gets all but the last message",
    property: "receive attempts",
    changeCore: ({ attempts }) => {
      const { repeat } = attempts;
      attempts.repeat = (...args) => {
        const again = repeat.apply(attempts, args);
        return (
          again && { ...again, receipts: again.receipts.slice(0, Math.max(1, again.receipts.length - 1)) }
        );
      };
    },
  },
  {
    name: "an attempt id is never forgotten",
    property: "one live lease",
    changeCore: ({ attempts }) => {
      attempts.expire = () => {};
    },
  },
  {
    name: "a receive that is made again does not hide its messages anew",
    property: "one live lease",
    changeCore: ({ attempts }) => {
      const { repeat } = attempts;
      attempts.repeat = (attemptId, _visibilityMs, nowMs) => repeat.call(attempts, attemptId, 1_234, nowMs);
    },
  },
  {
    name: "nothing wakes the queue to forget attempt ids",
    property: "liveness",
    changeCore: ({ attempts }) => Object.defineProperty(attempts, "forgetAtMs", { get: () => null }),
  },
];
