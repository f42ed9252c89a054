import { inCore, type PlantedBug } from "../world/planted-bug.ts";

/** Mistakes in receives of SQS clients and in uses of their receipts. */
export const RECEIVER_BUGS: readonly PlantedBug[] = [
  inCore("one live lease", "a visibility timeout of 0 hides a message for a moment", ({ receivers }) => {
    const { receive } = receivers;
    receivers.receive = (request) =>
      receive.call(receivers, {
        ...request,
        ...(request.visibilityTimeoutMs === 0 ? { visibilityTimeoutMs: 77 } : {}),
      });
  }),
  inCore(
    "attempts",
    "a receive with a visibility timeout of 0 tells the count before it",
    ({ receivers }) => {
      const { receive } = receivers;
      receivers.receive = async (request) => {
        const reply = await receive.call(receivers, request);
        if (reply.kind !== "received" || request.visibilityTimeoutMs !== 0) return reply;
        return { ...reply, receiveCounts: reply.receiveCounts.map((count) => count - 1) };
      };
    },
  ),
  inCore("one live lease", "a change of the visibility timeout to 0 changes nothing", (core) => {
    const { work } = core;
    core.work = ({ change = [], ...others }) =>
      work.call(core, {
        ...others,
        change: change.filter(({ visibilityTimeoutMs }) => visibilityTimeoutMs > 0),
      });
  }),
  inCore("one live lease", "what is released stays invisible", (core) => {
    core.release = async () => {
      await core.wake();
      return 0;
    };
  }),
  inCore("alarm armed", "nothing wakes the queue for those who wait for messages", ({ receivers }) =>
    Object.defineProperty(receivers, "wakeAtMs", { get: () => null }),
  ),
];
