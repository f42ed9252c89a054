import type { PlantedBug } from "./planted-bug.ts";

/** Mistakes in what clients of SQS are given, and in what their receipts do. */
export const RECEIVER_BUGS: readonly PlantedBug[] = [
  {
    name: "a visibility timeout of 0 hides a message for a moment",
    property: "one live lease",
    changeCore: ({ receivers }) => {
      const { receive } = receivers;
      receivers.receive = (request) =>
        receive.call(receivers, {
          ...request,
          ...(request.visibilityTimeoutMs === 0 ? { visibilityTimeoutMs: 77 } : {}),
        });
    },
  },
  {
    name: "a receive with a visibility timeout of 0 tells the count before it",
    property: "attempts",
    changeCore: ({ receivers }) => {
      const { receive } = receivers;
      receivers.receive = async (request) => {
        const reply = await receive.call(receivers, request);
        if (reply.kind !== "received" || request.visibilityTimeoutMs !== 0) return reply;
        return { ...reply, receiveCounts: reply.receiveCounts.map((count) => count - 1) };
      };
    },
  },
  {
    name: "a change of the visibility timeout to 0 changes nothing",
    property: "one live lease",
    changeCore: (core) => {
      const { changeVisibilityBatch } = core;
      core.changeVisibilityBatch = (changes) =>
        changeVisibilityBatch.call(
          core,
          changes.filter(({ visibilityTimeoutMs }) => visibilityTimeoutMs > 0),
        );
    },
  },
  {
    name: "what is given back stays invisible",
    property: "one live lease",
    changeCore: (core) => {
      core.giveBack = () => core.wake();
    },
  },
  {
    name: "nothing wakes the queue for those who wait for messages",
    property: "alarm armed",
    changeCore: ({ receivers }) => Object.defineProperty(receivers, "wakeAtMs", { get: () => null }),
  },
];
