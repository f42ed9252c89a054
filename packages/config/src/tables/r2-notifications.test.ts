import { expect, test } from "vitest";
import { diagnosticsOf, errorsOf, readToml } from "../../test/project.ts";
import { buildTopology } from "../index.ts";

const rules = (...tables: string[]) =>
  `name = "w"\n${tables.map((lines) => `[[sluice.r2_notifications]]\n${lines}`).join("\n")}`;
const CREATES = 'bucket = "uploads"\nqueue = "events"\nevent_types = ["object-create"]';

test("[[sluice.r2_notifications]] notifies a queue, which then exists, of writes to a bucket", () => {
  const topology = buildTopology([readToml(rules(`${CREATES}\nprefix = "img/"\ndescription = "images"`))]);
  expect(Object.keys(topology.queues)).toEqual(["events"]);
  expect(topology.r2Notifications).toEqual([
    {
      bucket: "uploads",
      queue: "events",
      actions: ["PutObject", "CompleteMultipartUpload", "CopyObject"],
      prefix: "img/",
      suffix: "",
      description: "images",
    },
  ]);
  expect(buildTopology([readToml('name = "w"')])).not.toHaveProperty("r2Notifications");
});

test("[[sluice.r2_notifications]] refuses what is no rule, on the line of its key", () => {
  const faults = diagnosticsOf(() =>
    readToml(rules(`${CREATES}\nsufix = ".png"`, 'bucket = "Up"\nqueue = "q"\nevent_types = ["put"]')),
  );
  expect(faults).toMatchObject([
    { line: 6, text: 'Unknown key "sufix" in "sluice.r2_notifications[0]".' },
    { line: 8, text: expect.stringContaining("a bucket's name of 3 to 63 lowercase letters") },
    { line: 10, text: expect.stringContaining('should be "object-create" or "object-delete" but got "put"') },
  ]);
  expect(errorsOf(() => readToml(rules(CREATES.replace("events", "Events"))))).toHaveLength(1);
  expect(errorsOf(() => readToml(rules(CREATES.replace('"object-create"', ""))))).toHaveLength(1);
});

test("rules that overlap are refused, in one file and in two", () => {
  const overlap = 'Two rules notify queue "events" of the same writes to R2 bucket "uploads": they overlap.';
  const images = `${CREATES}\nprefix = "img/"`;
  expect(errorsOf(() => readToml(rules(CREATES, images)))).toEqual([expect.stringContaining(overlap)]);
  const both = (second: string) =>
    buildTopology([readToml(rules(CREATES)), readToml(rules(second).replace('"w"', '"v"'))]);
  expect(errorsOf(() => both(images))).toEqual([expect.stringContaining(overlap)]);
  expect(both(CREATES).r2Notifications).toHaveLength(1);
  expect(both(images.replace("events", "other")).r2Notifications).toHaveLength(2);
});
