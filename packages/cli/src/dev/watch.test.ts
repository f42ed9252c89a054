import { spawnSync } from "node:child_process";
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { projectFolder } from "../../test/project-folder.ts";
import { watchFiles } from "./watch.ts";

/** A watch on one file of a folder, and a promise of the next change. */
function watched() {
  const folder = projectFolder({ "wrangler.toml": "a", "other.toml": "a" });
  let changed = Promise.withResolvers<void>();
  let changes = 0;
  const watch = watchFiles(() => {
    changes++;
    changed.resolve();
  });
  onTestFinished(() => watch.close());
  watch.set([{ kind: "file", path: join(folder, "wrangler.toml") }]);
  const next = () => {
    changed = Promise.withResolvers<void>();
    return changed.promise;
  };
  return { folder, watch, next, changes: () => changes };
}

describe("watchFiles", () => {
  it("reports a file that is written in place", async () => {
    const { folder, next } = watched();
    const change = next();
    writeFileSync(join(folder, "wrangler.toml"), "b");
    await change;
  });

  it("reports a file that another one takes the name of, however often", async () => {
    const { folder, next } = watched();
    for (const contents of ["b", "c"]) {
      const change = next();
      writeFileSync(join(folder, "wrangler.toml.tmp"), contents);
      renameSync(join(folder, "wrangler.toml.tmp"), join(folder, "wrangler.toml"));
      await change;
    }
  });

  it("reports several writes of one moment once, and no other file at all", async () => {
    const { folder, next, changes } = watched();
    const change = next();
    writeFileSync(join(folder, "other.toml"), "b");
    writeFileSync(join(folder, "wrangler.toml"), "b");
    writeFileSync(join(folder, "wrangler.toml"), "c");
    await change;
    expect(changes()).toBe(1);
  });

  it("follows a new set of files", async () => {
    const { folder, watch, next } = watched();
    watch.set([{ kind: "file", path: join(folder, "other.toml") }]);
    const change = next();
    writeFileSync(join(folder, "other.toml"), "b");
    await change;
  });

  it("reports every file of a folder but the one that is one's own", async () => {
    const { folder, watch, next, changes } = watched();
    watch.set([{ kind: "folder", path: folder, except: "own.json" }]);
    const change = next();
    writeFileSync(join(folder, "own.json"), "");
    writeFileSync(join(folder, "new.json"), "");
    await change;
    expect(changes()).toBe(1);
  });

  it("lets the process end once it is closed, whatever it is told to watch after that", () => {
    const folder = projectFolder({
      "run.mjs": `
        import { watchFiles } from ${JSON.stringify(new URL("./watch.ts", import.meta.url).href)};
        const watch = watchFiles(() => {});
        const watched = [{ kind: "folder", path: ".", except: "" }];
        watch.set(watched);
        watch.close();
        watch.set(watched);
      `,
    });
    const { status, stderr } = spawnSync(process.execPath, ["run.mjs"], { cwd: folder, timeout: 4_000 });
    expect(status, stderr.toString()).toBe(0);
  });
});
