import { expect, it } from "vitest";
import type { Jurisdiction } from "./directory.ts";
import { ELSEWHERE, QueueObjects } from "./places.ts";

interface Echo {
  echo(name: string, text: string): Promise<string>;
}

/** Objects of a queue of which the one in the place of the queue answers, and the others refuse. */
function queueIn(first: Jurisdiction) {
  const queue = { place: first, asked: 0 };
  const objectIn = (place: Jurisdiction | null): Echo => ({
    async echo(name, text) {
      if (place !== queue.place) throw new Error(`queue "${name}" ${ELSEWHERE}`);
      return `${text} in ${place}`;
    },
  });
  const namespaceIn = (place: Jurisdiction | null) => ({ getByName: () => objectIn(place) });
  const objects = new QueueObjects<Echo>({
    namespace: () => ({ ...namespaceIn(null), jurisdiction: namespaceIn }),
    placeOf: async () => {
      queue.asked += 1;
      return queue.place;
    },
  });
  return { queue, objects };
}

it("the object of a queue is found in the place that the directory names, which is asked once", async () => {
  const { queue, objects } = queueIn("eu");
  expect(await objects.of("q").echo("q", "one")).toBe("one in eu");
  expect(await objects.of("q").echo("q", "two")).toBe("two in eu");
  expect(queue.asked).toBe(1);
});

it("all calls at the same time go on to the new place of a queue that was created elsewhere", async () => {
  const { queue, objects } = queueIn("eu");
  const object = objects.of("q");
  await object.echo("q", "before");
  queue.place = "us";
  const answers = await Promise.all(["one", "two", "three"].map((text) => object.echo("q", text)));
  expect(answers).toEqual(["one in us", "two in us", "three in us"]);
  expect(queue.asked).toBe(2);
});
