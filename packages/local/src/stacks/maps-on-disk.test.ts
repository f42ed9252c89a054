import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, expect, it } from "vitest";
import { MAP_BYTES_MAX, MAPS_KEPT_MAX, MapsOnDisk } from "./maps-on-disk.ts";

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

it("a map is known by its file, whatever the address adds to it", () => {
  const maps = new MapsOnDisk();
  write("first", 1_000);
  const first = maps.get(url);
  expect(first).toBeDefined();
  expect(maps.get(`${url}?v=1`)).toBe(first);
  expect(maps.get(`${url}#a`)).toBe(first);
});

it.each([
  [-1, true],
  [0, true],
  [1, false],
])("of %i maps more than are kept, the first one is still known: %s", (more, isKnown) => {
  const maps = new MapsOnDisk();
  const urls = Array.from({ length: MAPS_KEPT_MAX + more }, (_, i) => {
    const file = join(folder, `${i}.js`);
    writeFileSync(`${file}.map`, `${i}`);
    return pathToFileURL(file).href;
  });
  const [first] = urls.map((one) => maps.get(one));
  expect(maps.get(urls[0] ?? "") === first).toBe(isKnown);
});

it("the map that was asked for last is kept", () => {
  const maps = new MapsOnDisk();
  write("first", 1_000);
  const first = maps.get(url);
  for (let i = 0; i < 2 * MAPS_KEPT_MAX; i++) {
    const file = join(folder, `${i}.js`);
    writeFileSync(`${file}.map`, `${i}`);
    maps.get(pathToFileURL(file).href);
    expect(maps.get(url)).toBe(first);
  }
});

it.each([
  [-1, true],
  [0, true],
  [1, false],
])("a map of the limit %i bytes is read: %s", (over, isRead) => {
  const file = join(folder, "large.js");
  writeFileSync(`${file}.map`, "");
  truncateSync(`${file}.map`, MAP_BYTES_MAX + over);
  expect(new MapsOnDisk().get(pathToFileURL(file).href) !== undefined).toBe(isRead);
});

it("a folder in the place of a map is none", () => {
  const file = join(folder, "folder.js");
  mkdirSync(`${file}.map`);
  expect(new MapsOnDisk().get(pathToFileURL(file).href)).toBeUndefined();
});

it.skipIf(process.platform === "win32")(
  "a pipe in the place of a map is none, and nobody waits for it",
  () => {
    const file = join(folder, "pipe.js");
    execFileSync("mkfifo", [`${file}.map`]);
    expect(new MapsOnDisk().get(pathToFileURL(file).href)).toBeUndefined();
  },
);

it.each([
  "node:internal/timers",
  "http://localhost/entry.js",
  "file://server/share/entry.js",
  "file://[",
  "",
])("%j has no map", (other) => {
  expect(new MapsOnDisk().get(other)).toBeUndefined();
});
