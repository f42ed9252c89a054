// @module-tag slow
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { unstable_readConfig } from "wrangler";
import { project } from "../test/project.ts";
import { type ConfigDiagnostic, ConfigError, findConfigFile, readWorkerConfig } from "./index.ts";

/**
 * The sentences of this package that are Wrangler's are compared with what the installed Wrangler says about the same
 * file: a change of its version shows here which of them it has changed.
 */

interface Verdict {
  readonly errors: string[];
  readonly warnings: string[];
  /** Absent when the file was refused. */
  readonly accepted?: {
    readonly name: string | undefined;
    readonly producers: { binding: string; queue: string }[];
    readonly consumers: string[];
  };
}

/** The part of Wrangler's configuration that is compared. */
interface WranglerConfig {
  readonly name: string | undefined;
  readonly queues: {
    readonly producers?: { readonly binding: string; readonly queue?: string }[];
    readonly consumers?: { readonly queue: string }[];
  };
}

function wranglerVerdict(file: string, env: string | undefined): Verdict {
  const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
  try {
    const { name, queues }: WranglerConfig = unstable_readConfig({
      config: file,
      ...(env === undefined ? {} : { env }),
    });
    return {
      errors: [],
      warnings: warn.mock.calls.flatMap(([text]) => bulletsOf(String(text))),
      accepted: {
        name,
        producers: (queues.producers ?? []).map(({ binding, queue }) => ({
          binding,
          queue: queue ?? binding,
        })),
        consumers: (queues.consumers ?? []).map(({ queue }) => queue),
      },
    };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const warnings = warn.mock.calls.flatMap(([text]) => bulletsOf(String(text)));
    return { errors: bulletsOf(error.message), warnings };
  } finally {
    warn.mockRestore();
  }
}

/** The messages in Wrangler's output: a bulleted list, those of an environment one level down under a heading. */
function bulletsOf(output: string): string[] {
  const [, ...messages] = stripVTControlCharacters(output).split(/^\s*- /m);
  return messages
    .map(trimLines)
    .filter((message) => !/^"env\..*" environment configuration$/.test(message))
    .sort();
}

function trimLines(text: string): string {
  return text
    .trim()
    .split("\n")
    .map((line) => line.trim())
    .join("\n");
}

/** Messages that this package adds to Wrangler's checks. */
const OWN = [
  /^Sluice applies it/,
  /^"max_[a-z_]+" has no effect on/,
  /^Invalid queue name/,
  /^The field ".*" should be a (whole )?number of/,
  /^There is no "name"/,
];

function ownVerdict(file: string, env: string | undefined): Verdict {
  const texts = (diagnostics: readonly ConfigDiagnostic[], severity: string) =>
    diagnostics
      .filter(
        (diagnostic) => diagnostic.severity === severity && !OWN.some((own) => own.test(diagnostic.text)),
      )
      .map(({ text }) => trimLines(text))
      .sort();
  try {
    const config = readWorkerConfig(file, env === undefined ? {} : { env });
    return {
      errors: [],
      warnings: texts(config.warnings, "warning"),
      accepted: {
        name: config.workerName,
        producers: config.producers.map(({ binding, queue }) => ({ binding, queue })),
        consumers: config.consumers.map(({ queue }) => queue),
      },
    };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { errors: texts(error.diagnostics, "error"), warnings: texts(error.diagnostics, "warning") };
  }
}

/** The one thing that Wrangler refuses and this package takes: Wrangler is shown a Worker's consumer in its place. */
function asWranglerTakesIt(text: string): string {
  return text
    .replaceAll('"type":"http_pull"', '"type":"worker"')
    .replace('Only "worker" and "http_pull" consumers', 'Only "worker" consumers');
}

function expectSameVerdict(content: object, env?: string): void {
  const text = JSON.stringify(content);
  const fileOf = (name: string, variant: string) => join(project({ [name]: variant }), name);
  const { accepted, ...texts } = ownVerdict(fileOf("wrangler.json", text), env);
  const { accepted: acceptedByWrangler, ...textsOfWrangler } = wranglerVerdict(
    fileOf("wrangler.json", asWranglerTakesIt(text)),
    env,
  );
  texts.errors = texts.errors.map(asWranglerTakesIt).sort();
  expect(texts).toEqual(textsOfWrangler);
  // What Wrangler accepts may be refused here, for a range or a name; never the other way round.
  if (accepted !== undefined) expect(accepted).toEqual(acceptedByWrangler);
}

const wrongElement = fc.constantFrom<unknown>(null, true, 5, "", "text", [], {});
const wrong = fc.oneof(wrongElement, fc.constantFrom<unknown>(-1.5, [1], { a: 1 }));
const queueName = fc.constantFrom("a", "b", "c-1");
/** A value that is mostly right, so that a configuration is not always refused for its first key. */
const mostly = <T>(right: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 8, arbitrary: right }, { weight: 1, arbitrary: wrong });

const consumer = fc.record(
  {
    queue: mostly(queueName),
    type: fc.constantFrom<unknown>("worker", "worker", "worker", "http_pull", "", 5, null, true),
    max_batch_size: mostly(fc.integer({ min: 1, max: 100 })),
    max_batch_timeout: mostly(fc.integer({ min: 0, max: 60 })),
    max_retries: mostly(fc.integer({ min: 0, max: 100 })),
    dead_letter_queue: mostly(queueName),
    max_concurrency: mostly(fc.integer({ min: 1, max: 250 })),
    visibility_timeout_ms: mostly(fc.integer({ min: 0, max: 43_200_000 })),
    retry_delay: mostly(fc.integer({ min: 0, max: 86_400 })),
    extra: fc.constant(1),
    "other extra": fc.constant(1),
  },
  { requiredKeys: [] },
);
const knownProducer = fc.record(
  {
    binding: fc.oneof(
      { weight: 8, arbitrary: fc.stringMatching(/^[A-Z]{12}$/) },
      { weight: 1, arbitrary: fc.constantFrom(null, 5) },
    ),
    queue: mostly(queueName),
    delivery_delay: mostly(fc.integer({ min: 0, max: 86_400 })),
    remote: mostly(fc.boolean()),
  },
  { requiredKeys: [] },
);
/**
 * Producers with an unknown key: Wrangler checks nothing more of them, where this package still asks for a binding. So
 * there is no wrong producer here that has keys.
 */
const unknownProducer = fc.record({
  binding: fc.stringMatching(/^[A-Z]{12}$/),
  queue: queueName,
  remote: wrong,
  extra: fc.constant(1),
});
const producer = fc.oneof(
  { weight: 6, arbitrary: knownProducer },
  { weight: 1, arbitrary: unknownProducer },
  { weight: 1, arbitrary: wrongElement },
);

const queues = mostly(
  fc.record(
    {
      consumers: mostly(fc.array(mostly(consumer), { maxLength: 3 })),
      producers: mostly(fc.array(producer, { maxLength: 3 })),
      extra: fc.constant(1),
    },
    { requiredKeys: [] },
  ),
);

// conformance: wranglers-own-messages
test("about any configuration, this package says what Wrangler says without environments", () => {
  fc.assert(
    fc.property(queues, (generated) => {
      expectSameVerdict({ name: "w", queues: generated });
    }),
    { numRuns: 500 },
  );
});

test("about any configuration, this package says what Wrangler says with environments", () => {
  const name = fc.constantFrom("w", "other", "Bad Name", 5);
  const environment = fc.record({ name, queues }, { requiredKeys: [] });
  const environments = fc.dictionary(fc.constantFrom("a", "b"), environment);
  const content = fc.record({ name, queues, env: environments }, { requiredKeys: ["name"] });
  fc.assert(
    fc.property(content, fc.constantFrom("a", "b", "", undefined), (generated, env) => {
      expectSameVerdict(generated, env);
    }),
    { numRuns: 500 },
  );
});

test("about any configuration, this package says what Wrangler says when two producers share a binding", () => {
  const producers = ["Q", "R", "Q", "Q"].map((binding) => ({ binding, queue: "q" }));
  expectSameVerdict({ name: "w", queues: { producers } });
});

test("a consumer of the type http_pull, which Wrangler refuses and Cloudflare documents, is taken", () => {
  const content = { name: "w", queues: { consumers: [{ queue: "q", type: "http_pull" }] } };
  const file = join(project({ "wrangler.json": JSON.stringify(content) }), "wrangler.json");
  expect(wranglerVerdict(file, undefined).errors).toEqual([
    '"queues.consumers[0].type" has an invalid value "http_pull". Only "worker" consumers can be ' +
      "configured in your Wrangler configuration.",
  ]);
  expect(ownVerdict(file, undefined)).toMatchObject({
    errors: [],
    warnings: [],
    accepted: { consumers: ["q"] },
  });
});

test("of several configuration files in a folder, Wrangler takes the same one", () => {
  const names = ["wrangler.toml", "wrangler.jsonc", "wrangler.json"];
  for (let mask = 1; mask < 8; mask++) {
    const present = names.filter((_, i) => (mask & (1 << i)) !== 0);
    const content = (name: string) => (name.endsWith("toml") ? `name = "w"` : `{ "name": "w" }`);
    const folder = project(Object.fromEntries(present.map((name) => [name, content(name)])));
    const { configPath } = unstable_readConfig({ script: join(folder, "index.ts") });
    expect(findConfigFile(folder)).toBe(configPath);
  }
});

test.each([
  [
    "TOML",
    "wrangler.toml",
    `name = "w"\n[[queues.consumers]]\nqueue = "q"\n[[queues.producers]]\nbinding = "Q"\n`,
  ],
  [
    "JSON with comments",
    "wrangler.json",
    `{ // c\n"name": "w", "queues": { "consumers": [{ "queue": "q" },], }, }`,
  ],
])("%s that Wrangler reads is read", (_, name, text) => {
  for (const variant of [text, `\ufeff${text}`, text.replaceAll("\n", "\r\n")]) {
    const file = join(project({ [name]: variant }), name);
    expect(ownVerdict(file, undefined)).toEqual(wranglerVerdict(file, undefined));
    expect(wranglerVerdict(file, undefined).errors).toEqual([]);
  }
});
