import { EXIT_USAGE } from "@sluice/project/errors";
import { expect, it } from "vitest";
import { workerDaemon } from "./worker-daemon.ts";

it("sluice worker-daemon refuses a queue that would be its own dead-letter queue", async () => {
  const printer = { print: () => {}, warn: () => {} };
  const options = { url: "http://localhost:8080/", queue: "jobs", deadLetterQueue: "jobs" };
  await expect(workerDaemon(options, printer as never)).rejects.toThrow(
    'The dead-letter queue of queue "jobs" cannot be itself.',
  );
});

it.each([
  [{ url: "localhost:8080" }, "is no http: or https: URL"],
  [{ queue: "a b" }, "is no name of a queue"],
  [{ option: ["Foo=1"] }, "--option Foo"],
  [{ option: ["VisibilityTimeout=99999"] }, "--option VisibilityTimeout"],
  [{ option: ["Foo"] }, "an option is written Name=Value"],
  [{ cronDays: "and" as const }, "name it with --cron"],
])("sluice worker-daemon takes %j for a command line that makes no sense", async (wrong, message) => {
  const printer = { print: () => {}, warn: () => {} };
  const refused = workerDaemon({ url: "http://localhost:8080/", ...wrong }, printer as never);
  await expect(refused).rejects.toMatchObject({
    message: expect.stringContaining(message),
    exitCode: EXIT_USAGE,
  });
});
