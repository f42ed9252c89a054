import { expect, it } from "vitest";
import { withEndings } from "./ending.ts";

it.each(["EPIPE", "EIO", "ENOSPC"])(
  "a deployment runs to its end when its output fails by %s",
  async (code) => {
    let isEnded = false;
    const execute = withEndings(async (command) => {
      await Reflect.apply(command, null, []);
    });
    await execute(async () => {
      for (const stream of [process.stdout, process.stderr]) {
        stream.emit("error", Object.assign(new Error("write"), { code }));
      }
      isEnded = true;
      return 0;
    });
    expect(isEnded).toBe(true);
  },
);
