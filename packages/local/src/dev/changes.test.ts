import { ChildEnded } from "@sluice/project/wrangler/child";
import { expect, it } from "vitest";
import { changesOf } from "./changes.ts";

/** Changes whose reading ends as each of the functions does. */
function changes() {
  const said: string[] = [];
  let isOver = false;
  let read = async (): Promise<void> => {};
  const { onChange, settled } = changesOf(() => read(), {
    printer: { print: (text) => void said.push(text), warn: (text) => void said.push(text) },
    isOver: () => isOver,
  });
  return {
    said,
    end: () => (isOver = true),
    change: async (next: () => Promise<void>) => {
      read = next;
      onChange();
      await settled();
    },
  };
}

const broken = (message: string) => async () => {
  throw new Error(message);
};

it("says a fault once, that it is gone, and again when it is back", async () => {
  const { said, change } = changes();
  await change(broken("No name."));
  await change(broken("No name."));
  await change(async () => {});
  await change(broken("No name."));
  const text = "No name.\nSluice goes on with what it read before.";
  expect(said).toEqual([text, "The configuration has been read again.", text]);
});

it("says nothing of a reading that ends because everything does", async () => {
  const { said, change, end } = changes();
  await change(async () => {
    // Whoever waits for Wrangler's end is told of it by some promises later.
    Promise.resolve().then(() => Promise.resolve().then(() => Promise.resolve().then(end)));
    throw new Error("Wrangler has ended with exit code 130.");
  });
  expect(said).toEqual([]);
});

it("reads one change after the other", async () => {
  const { change } = changes();
  let running = 0;
  const most: number[] = [];
  const read = async () => {
    most.push(++running);
    await Promise.resolve();
    running -= 1;
  };
  const first = change(read);
  await Promise.resolve();
  await Promise.all([first, change(read)]);
  expect(most).toEqual([1, 1]);
});

it("reads once for all changes that come during a reading, however many", async () => {
  let readings = 0;
  const end = Promise.withResolvers<void>();
  const { onChange, settled } = changesOf(
    () => {
      readings += 1;
      return readings === 1 ? end.promise : Promise.resolve();
    },
    { printer: { print: () => {}, warn: () => {} }, isOver: () => false },
  );
  onChange();
  await Promise.resolve();
  for (let change = 0; change < 5; change++) onChange();
  end.resolve();
  await settled();
  expect(readings).toBe(2);
});

it("says nothing of a reading that the restart of Wrangler cuts off, and nothing when it is made again", async () => {
  const { said, change } = changes();
  await change(() => Promise.reject(new ChildEnded(143, true)));
  await change(async () => {});
  expect(said).toEqual([]);
});
