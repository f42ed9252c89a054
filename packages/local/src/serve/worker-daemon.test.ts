import { expect, it } from "vitest";
import { workerDaemon } from "./worker-daemon.ts";

it("sluice worker-daemon refuses a queue that would be its own dead-letter queue", async () => {
  const printer = { print: () => {}, warn: () => {} };
  const options = { url: "http://localhost:8080/", queue: "jobs", deadLetterQueue: "jobs" };
  await expect(workerDaemon(options, printer as never)).rejects.toThrow(
    'The dead-letter queue of queue "jobs" cannot be itself.',
  );
});
