/** A program whose object rejects promises that nobody awaits, in its life and after it. */
import { setTimeout } from "node:timers/promises";
import { openObjects } from "../src/index.ts";
import type { ObjectState } from "../src/instance/instance.ts";

const [folder = ""] = process.argv.slice(2);

const { env, close } = openObjects({
  folder,
  vars: {},
  error: (line) => console.log(line.split("\n")[0]),
  classes: {
    PROBES: {
      uniqueKey: "probes",
      construct: (ctx: ObjectState) => ({
        run: async () => {
          void Promise.reject(new Error("heeded by nobody"));
          void setTimeout(1).then(() => ctx.storage.sql.exec("SELECT 1"));
          ctx.abort("over");
        },
      }),
    },
  },
});
const probes = env.PROBES as { getByName(name: string): { run(): Promise<void> } };
await probes
  .getByName("a")
  .run()
  .catch(() => undefined);
await setTimeout(20);
close();
console.log("still here");
