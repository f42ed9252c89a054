import { mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, expect, it } from "vitest";
import { MapsOnDisk } from "./maps-on-disk.ts";

const folder = mkdtempSync(join(tmpdir(), "sluice-maps-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const module = join(folder, "a b.js");
const { href: url } = pathToFileURL(module);
const write = (text: string, atSeconds: number) => {
  writeFileSync(`${module}.map`, text);
  utimesSync(`${module}.map`, atSeconds, atSeconds);
};

it("a map is read beside its module, once for each time that it is written", () => {
  const maps = new MapsOnDisk();
  expect(maps.get(url)).toBeUndefined();
  write("first", 1_000);
  const first = maps.get(url);
  expect(first).toEqual({ text: "first", folder });
  expect(maps.get(url)).toBe(first);
  write("second", 1_001);
  expect(maps.get(url)).toEqual({ text: "second", folder });
  rmSync(`${module}.map`);
  expect(maps.get(url)).toBeUndefined();
});

it.each(["node:internal/timers", "http://localhost/entry.js", ""])("%j has no map", (other) => {
  expect(new MapsOnDisk().get(other)).toBeUndefined();
});
