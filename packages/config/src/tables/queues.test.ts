import { describe, expect, test } from "vitest";
import { diagnosticsOf, errorsOf, readJson, readToml, warningsOf } from "../../test/project.ts";

describe("the queues table", () => {
  test.each([[1], ["q"], [null], [[]], [true]])("%j in its place is refused", (queues) => {
    expect(errorsOf(() => readJson({ name: "w", queues }))).toEqual([
      `The field "queues" should be an object but got ${JSON.stringify(queues)}.`,
    ]);
  });

  // conformance: wranglers-own-messages
  test("unknown keys are warned of, all in one warning", () => {
    const config = readToml(`name = "w"
[queues]
consumer = []
producer = []`);
    expect(config.warnings).toEqual([
      {
        severity: "warning",
        file: config.file,
        line: 3,
        key: "queues.consumer",
        text: `Unexpected fields found in queues field: "consumer","producer"`,
      },
    ]);
  });

  test.each(["consumers", "producers"])("%s that are no array are refused", (key) => {
    expect(diagnosticsOf(() => readToml(`name = "w"\n[queues]\n${key} = { queue = "q" }`))).toMatchObject([
      {
        line: 3,
        key: `queues.${key}`,
        text: `The field "queues.${key}" should be an array but got {"queue":"q"}.`,
      },
    ]);
    expect(errorsOf(() => readJson({ name: "w", queues: { [key]: null } }))).toEqual([
      `The field "queues.${key}" should be an array but got null.`,
    ]);
  });

  test("an absent table means no queues", () => {
    expect(readToml(`name = "w"`)).toMatchObject({ producers: [], consumers: [], warnings: [] });
    expect(readToml(`name = "w"\n[queues]`)).toMatchObject({ producers: [], consumers: [], warnings: [] });
  });
});

describe("binding names", () => {
  test("binding names that two producers share are refused", () => {
    const toml = `name = "w"
[[queues.producers]]
binding = "Q"
queue = "a"
[[queues.producers]]
binding = "Q"
queue = "b"`;
    expect(diagnosticsOf(() => readToml(toml))).toMatchObject([
      { line: 6, key: "queues.producers[1].binding", text: "Q assigned to multiple Queue bindings." },
      {
        line: 6,
        text:
          "Bindings must have unique names, so that they can all be referenced in the worker.\nPlease " +
          "change your bindings to have unique names.",
      },
    ]);
  });

  test("may differ for one queue", () => {
    const toml = `name = "w"
[[queues.producers]]
binding = "Q"
queue = "a"
[[queues.producers]]
binding = "R"
queue = "a"`;
    expect(readToml(toml).producers).toEqual([
      { binding: "Q", queue: "a" },
      { binding: "R", queue: "a" },
    ]);
  });
});

test("everything that is wrong is reported at once, warnings included", () => {
  const diagnostics = diagnosticsOf(() =>
    readToml(`name = "w"
[queues]
extra = 1
[[queues.consumers]]
queue = "A_QUEUE"
max_batch_size = 101
[[queues.consumers]]
max_retries = "3"
[[queues.producers]]
queue = ""`),
  );
  expect(diagnostics.map(({ severity, line }) => `${severity} ${line}`)).toEqual([
    "error 7",
    "error 8",
    "error 9",
    "error 10",
    "error 5",
    "error 6",
    "warning 3",
  ]);
});

test("keys that have nothing to do with queues are ignored, whatever they hold", () => {
  const config = readJson({
    name: "w",
    main: 5,
    nonsense: { queues: 1 },
    compatibility_date: null,
    queues: { producers: [{ binding: "Q", queue: "q" }] },
  });
  expect(config.producers).toEqual([{ binding: "Q", queue: "q" }]);
  expect(warningsOf(config)).toEqual([]);
});
