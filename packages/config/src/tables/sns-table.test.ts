import { join } from "node:path";
import { expect, test } from "vitest";
import { diagnosticsOf, errorsOf, project, readToml } from "../../test/project.ts";
import { buildTopology, readWorkerConfig } from "../index.ts";

const sns = (lines: string) => `name = "w"\n[sluice.sns]\n${lines}`;
const topologyOf = (toml: string) => buildTopology([readToml(toml)]);

test("[sluice.sns] is as on Amazon SNS where no file says otherwise", () => {
  expect(readToml(`name = "w"`)).not.toHaveProperty("sns");
  expect(topologyOf(`name = "w"`)).toEqual({ queues: {} });
  expect(topologyOf(sns(""))).toEqual({ queues: {} });
});

test.each([
  ["dead_letter", "deadLetter"],
  ["retry", "retry"],
  ["delivered", "delivered"],
])("[sluice.sns] says what an answer of 4xx means: %s", (written, clientErrors) => {
  expect(topologyOf(sns(`client_errors = "${written}"`)).sns).toEqual({ clientErrors });
});

test("[sluice.sns] says how long a message is tried, from 60 seconds to 14 days", () => {
  for (const seconds of [60, 61, 1_209_599, 1_209_600]) {
    expect(topologyOf(sns(`message_life = ${seconds}`)).sns).toEqual({ messageLifeSeconds: seconds });
  }
  for (const seconds of [59, 60.5, 1_209_601]) {
    expect(diagnosticsOf(() => readToml(sns(`# seconds\nmessage_life = ${seconds}`)))).toMatchObject([
      {
        line: 4,
        key: "sluice.sns.message_life",
        text:
          `The field "sluice.sns.message_life" should be a whole number of seconds from 60 to 1209600 ` +
          `but got ${seconds}.`,
      },
    ]);
  }
});

test("[sluice.sns] is refused with whatever it does not know", () => {
  expect(errorsOf(() => readToml(sns(`client_errors = "ignore"\nmessage_life = "1h"`)))).toEqual([
    `The field "sluice.sns.message_life" should be a number but got "1h".`,
    `The field "sluice.sns.client_errors" should be "dead_letter", "retry" or "delivered" but got "ignore".`,
  ]);
  expect(errorsOf(() => readToml(sns("life = 60")))).toEqual([`Unknown key "life" in "sluice.sns".`]);
  expect(errorsOf(() => readToml(`name = "w"\nsluice.sns = 5`))).toEqual([
    `The field "sluice.sns" should be an object but got 5.`,
  ]);
});

test("[sluice.sns] may stand in several files that do not contradict each other", () => {
  const folder = project({
    "a/wrangler.toml": `name = "a"\n[sluice.sns]\nmessage_life = 60`,
    "b/wrangler.toml": `name = "b"\n[sluice.sns]\nmessage_life = 60\nclient_errors = "retry"`,
    "c/wrangler.toml": `name = "c"\n\n[sluice.sns]\nmessage_life = 61`,
  });
  const [a, b, c] = ["a", "b", "c"].map((name) => readWorkerConfig(join(folder, name, "wrangler.toml")));
  if (a === undefined || b === undefined || c === undefined) throw new Error("there are three");
  const both = { messageLifeSeconds: 60, clientErrors: "retry" };
  expect(buildTopology([a, b]).sns).toEqual(both);
  expect(buildTopology([b, a]).sns).toEqual(both);
  expect(diagnosticsOf(() => buildTopology([a, b, c]))).toMatchObject([
    { line: 3, text: `"sluice.sns.message_life" has two values: 60 (${a.file}:2) and 61 (${c.file}:3)` },
  ]);
});
