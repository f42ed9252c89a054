/** The class of `subject.ts` in a process of Node.js: it is told by messages what to call. */
import { nodeHost, openObjects } from "../src/index.ts";
import { DurableObject } from "../src/workers.ts";
import { type Answer, type Call, UNIQUE_KEY } from "./platforms.ts";
import { subjectOf } from "./subject.ts";

const [folder = ""] = process.argv.slice(2);
const clock = { now: () => Date.now() };
const Subject = subjectOf(
  DurableObject as never,
  ((state: never, env: never) => nodeHost(state, env, clock)) as never,
);
const { env, close } = openObjects({
  folder,
  vars: {},
  error: (line) => console.error(line),
  classes: {
    SUBJECTS: {
      uniqueKey: UNIQUE_KEY,
      construct: (ctx, bindings) => new Subject(ctx as never, bindings as never),
    },
  },
});
const subjects = env.SUBJECTS as { getByName(name: string): Record<string, (...args: unknown[]) => unknown> };

const call: Call = async (name, method, ...args) => subjects.getByName(name)[method]?.(...args);

process.on(
  "message",
  async (message: "close" | { id: number; name: string; method: string; args: unknown[] }) => {
    if (message === "close") {
      close();
      process.disconnect();
      return;
    }
    const { id, name, method, args } = message;
    const answer: Answer = await call(name, method, ...args).then(
      (result) => ({ result: result ?? null }),
      (error: Error) => ({ error: { name: error.name, message: error.message } }),
    );
    process.send?.({ id, ...answer });
  },
);
