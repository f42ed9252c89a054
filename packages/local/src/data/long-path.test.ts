import { win32 } from "node:path";
import { expect, it } from "vitest";
import { OBJECTS_FOLDER } from "./data-lock.ts";
import { refuseLongPath, WORKERD_DATA_PATH_LENGTH_MAX } from "./long-path.ts";

/** @param length characters of the whole path. */
const folderOf = (length: number) => `C:\\${"x".repeat(length - 3)}`;

it.each([139, 140])("a data folder with a path of %i characters is taken on Windows", (length) => {
  expect(() => refuseLongPath(folderOf(length), "win32")).not.toThrow();
});

it("a data folder with a longer path is refused on Windows, with its length, and taken elsewhere", () => {
  expect(() => refuseLongPath(folderOf(141), "win32")).toThrow(
    `${folderOf(141)}: the path of this data folder has 141 characters, and Workers run on Windows from one of up to 140`,
  );
  expect(() => refuseLongPath(folderOf(141), "linux")).not.toThrow();
});

it("a database of the broker has a name that Windows takes in the longest data folder", () => {
  const objects = win32.join(folderOf(WORKERD_DATA_PATH_LENGTH_MAX), OBJECTS_FOLDER);
  const file = win32.join(objects, "a-broker-of-a-shop-QueueBroker", `${"0".repeat(64)}.sqlite`);
  for (const suffix of ["-wal", "-shm", "-journal"])
    expect(`${file}${suffix}`.length).toBeLessThanOrEqual(259);
});
