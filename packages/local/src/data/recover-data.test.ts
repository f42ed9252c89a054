import { mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { syncCalls } from "@sluice/objects/testing/sync-calls";
import { projectFolder } from "@sluice/project/test/project-folder";
import { expect, it } from "vitest";
import { terminal } from "../report/printer.ts";
import { OBJECTS_FOLDER } from "./data-lock.ts";
import { recoverData } from "./recover-data.ts";
import { Reserve } from "./reserve.ts";

it.runIf(process.platform !== "win32")(
  "makes the folders of the broker's objects, whose names workerd would not sync",
  async () => {
    const folder = projectFolder({});
    const objects = join(folder, OBJECTS_FOLDER);
    mkdirSync(objects, { recursive: true });
    const reserve = new Reserve(folder, expect.unreachable);
    reserve.close();
    const calls = syncCalls();
    const warn = (text: string) => expect.unreachable(text);
    await recoverData({ folder, broker: "sluice", reserve }, { ...terminal, warn });
    const names = ["sluice-Directory", "sluice-QueueBroker"];
    expect(readdirSync(objects).sort()).toEqual(names);
    expect(names.map((name) => statSync(join(objects, name)).mode & 0o777)).toEqual([0o700, 0o700]);
    expect(calls).toEqual([`sync ${objects}`]);
  },
);
