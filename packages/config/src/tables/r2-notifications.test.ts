import { R2_KEY_BYTES_MAX, R2_RULES_MAX } from "@sluice/protocol";
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
    { line: 6, text: 'Unknown key "sufix" in "sluice.r2_notifications[0]". Did you mean "suffix"?' },
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

test.each(["prefix", "suffix"])(
  "a %s has as many bytes as a key can have, and no control characters",
  (end) => {
    const withEnd = (text: string) => readToml(rules(`${CREATES}\n${end} = ${JSON.stringify(text)}`));
    const ofBytes = (bytes: number) => `é${"x".repeat(bytes - 2)}`;
    for (const bytes of [R2_KEY_BYTES_MAX - 1, R2_KEY_BYTES_MAX]) {
      expect(withEnd(ofBytes(bytes)).r2Notifications).toMatchObject([{ [end]: ofBytes(bytes) }]);
    }
    expect(errorsOf(() => withEnd(ofBytes(R2_KEY_BYTES_MAX + 1)))).toEqual([
      expect.stringContaining("should be a string, which must have at most 1024 bytes, but got"),
    ]);
    expect(errorsOf(() => withEnd("a\n"))).toEqual([
      expect.stringContaining('should be a string, which must not have control characters, but got "a\\n"'),
    ]);
  },
);

test("a bucket has at most 100 rules, in all files together", () => {
  const some = (name: string, count: number) => {
    const tables = Array.from({ length: count }, (_, i) => `${CREATES}\nprefix = "${name}${i}/"`);
    return readToml(rules(...tables).replace('"w"', `"${name}"`));
  };
  for (const count of [R2_RULES_MAX - 2, R2_RULES_MAX - 1]) {
    expect(buildTopology([some("w", count), some("v", 1)]).r2Notifications).toHaveLength(count + 1);
  }
  expect(errorsOf(() => buildTopology([some("w", R2_RULES_MAX), some("v", 1)]))).toEqual([
    expect.stringContaining('R2 bucket "uploads" has more than 100 rules in [[sluice.r2_notifications]]'),
  ]);
});
