import { spawnSync } from "node:child_process";
import { watch as fsWatch, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { projectFolder } from "@sluice/project/test/project-folder";
import { describe, expect, it, onTestFinished } from "vitest";
import { type OpenWatch, type Watched, watchFiles } from "./watch.ts";

function watched() {
  const folder = projectFolder({ "wrangler.toml": "a", "other.toml": "a" });
  let changed = Promise.withResolvers<void>();
  let changes = 0;
  const refused: string[] = [];
  const watchWith = (open?: OpenWatch) => {
    const onChange = () => {
      changes++;
      changed.resolve();
    };
    const watch = watchFiles(onChange, (text) => refused.push(text), open);
    onTestFinished(() => watch.close());
    return watch;
  };
  const watch = watchWith();
  watch.set([{ kind: "file", path: join(folder, "wrangler.toml") }]);
  const next = () => {
    changed = Promise.withResolvers<void>();
    return changed.promise;
  };
  return { folder, watch, watchWith, refused, next, changes: () => changes };
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

  it("waits for a folder that is not there, and for those around it", async () => {
    const { folder, watch, next } = watched();
    const late = join(folder, "not/there/yet");
    watch.set([{ kind: "file", path: join(late, "wrangler.toml") }]);
    const change = next();
    mkdirSync(join(folder, "not"));
    mkdirSync(late, { recursive: true });
    await change;
    const written = next();
    writeFileSync(join(late, "wrangler.toml"), "b");
    await written;
  });

  it("reports a folder that is deleted, and its files again once it is back", async () => {
    const { folder, watch, next } = watched();
    const inner = join(folder, "inner");
    mkdirSync(inner);
    watch.set([{ kind: "file", path: join(inner, "wrangler.toml") }]);
    const gone = next();
    rmSync(inner, { recursive: true });
    await gone;
    const back = next();
    mkdirSync(inner);
    await back;
    const written = next();
    writeFileSync(join(inner, "wrangler.toml"), "b");
    await written;
  });

  it("says of a place that cannot be watched why, once, and watches the others", async () => {
    const { folder, next, refused, watchWith } = watched();
    const refusing = join(folder, "refusing");
    mkdirSync(refusing);
    const watch = watchWith((path, listener) => {
      if (path === refusing) {
        throw Object.assign(new Error("ENOSPC: System limit for number of file watchers reached"), {
          code: "ENOSPC",
        });
      }
      return fsWatch(path, listener);
    });
    const places: Watched[] = [
      { kind: "file", path: join(refusing, "wrangler.toml") },
      { kind: "file", path: join(folder, "wrangler.toml") },
    ];
    watch.set(places);
    watch.set(places);
    expect(refused).toEqual([expect.stringContaining(`${refusing} cannot be watched: ENOSPC`)]);
    const change = next();
    writeFileSync(join(folder, "wrangler.toml"), "b");
    await change;
  });

  it("lets the process end once it is closed, whatever it is told to watch after that", () => {
    const folder = projectFolder({
      "run.mjs": `
        import { watchFiles } from ${JSON.stringify(new URL("./watch.ts", import.meta.url).href)};
        const watch = watchFiles(() => {}, () => {});
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
