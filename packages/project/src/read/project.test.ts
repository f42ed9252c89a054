import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { QueueDefinition, QueueTopology } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { QUEUE } from "../../test/definitions.ts";
import { projectFolder } from "../../test/project-folder.ts";
import { readProject } from "./project.ts";
import { consumes } from "./worker.ts";
// Loading takes seconds on a busy machine, which must not count for a test.
import "wrangler";

const PULL_SETTINGS = {
  maxBatchSize: 5,
  maxRetries: 3,
  retryDelaySeconds: 0,
  visibilityTimeoutMs: 30_000,
  deadLetterQueue: null,
};
const INDEX = "export default { fetch() {}, queue() {} };";

function worker(name: string, rest = ""): string {
  return `name = "${name}"\nmain = "index.js"\ncompatibility_date = "2026-11-01"\n${rest}`;
}

function readToml(text: string) {
  return read(projectFolder({ "wrangler.toml": text, "index.js": INDEX }));
}

function read(workingDirectory: string, targets: string[] = [], env = "") {
  return readProject({ targets, env, workingDirectory });
}

const NO_CONFIGURATION =
  /There is no wrangler\.json, wrangler\.jsonc, wrangler\.toml, cloudflare\.config\.ts in .*\n.*name the folders of your Workers: sluice dev/;

describe("readProject", () => {
  it("reads the Worker of the current folder when none is named", async () => {
    const folder = projectFolder({ "wrangler.toml": worker("api"), "index.js": INDEX });
    const project = await read(folder);
    expect(project.workers.map(({ name, directory }) => ({ name, directory }))).toEqual([
      { name: "api", directory: folder },
    ]);
  });

  it("says what to do where there is no configuration", async () => {
    await expect(read(projectFolder({ "index.js": INDEX }))).rejects.toThrow(NO_CONFIGURATION);
    const command = "deploy";
    const options = { targets: [], env: "", workingDirectory: projectFolder({}), command };
    await expect(readProject(options)).rejects.toThrow("sluice deploy apps/producer apps/consumer");
  });

  it("reads folders and files in their order, each once", async () => {
    const folder = projectFolder({
      "b/wrangler.toml": worker("b"),
      "b/index.js": INDEX,
      "a/other.jsonc": '{ "name": "a", "main": "index.js" }',
      "a/index.js": INDEX,
    });
    const project = await read(folder, ["b", "a/other.jsonc", join(folder, "b/wrangler.toml")]);
    expect(project.workers.map(({ name }) => name)).toEqual(["b", "a"]);
  });

  describe("of a project that a build tool has built", () => {
    const built = (name: string, more = {}) =>
      JSON.stringify({
        name,
        main: "index.js",
        no_bundle: true,
        userConfigPath: `../../${name}.jsonc`,
        ...more,
      });
    const files = (more = {}) => ({
      "wrangler.jsonc": '{ "name": "web", "main": "src/index.ts", "assets": {} }',
      "src/index.ts": 'export { default } from "virtual:app";',
      "mailer/wrangler.jsonc": '{ "name": "mailer", "main": "index.ts" }',
      "mailer/index.ts": INDEX,
      ".wrangler/deploy/config.json": JSON.stringify({
        configPath: "../../dist/web/wrangler.json",
        auxiliaryWorkers: [{ configPath: "../../dist/mailer/wrangler.json" }],
      }),
      "dist/web/wrangler.json": built("web", { userConfigPath: "../../wrangler.jsonc", ...more }),
      "dist/web/index.js": INDEX,
      "dist/mailer/wrangler.json": built("mailer", { userConfigPath: "../../mailer/wrangler.jsonc" }),
      "dist/mailer/index.js": INDEX,
    });

    it.each([
      { targets: [] },
      { targets: ["."] },
      { targets: [".", "mailer"] },
      { targets: ["dist/web"] },
      { targets: ["dist/web/wrangler.json", "dist/mailer"] },
    ])("reads all built Workers instead of their sources: $targets", async ({ targets }) => {
      const folder = projectFolder(files());
      const { workers } = await read(folder, targets);
      expect(
        workers.map(({ file, userDirectory, wranglerDirectory }) => [file, userDirectory, wranglerDirectory]),
      ).toEqual([
        [join(folder, "dist/web/wrangler.json"), folder, folder],
        [join(folder, "dist/mailer/wrangler.json"), join(folder, "dist/mailer"), null],
      ]);
    });

    it("reads all of it also from the folder of its first Worker, with the data of the whole project", async () => {
      const folder = projectFolder(files());
      const { workers } = await read(join(folder, "dist/web"));
      expect(workers.map(({ name, userDirectory }) => [name, userDirectory])).toEqual([
        ["web", folder],
        ["mailer", join(folder, "dist/mailer")],
      ]);
    });

    it("reads another Worker of it alone", async () => {
      const folder = projectFolder(files());
      const { workers } = await read(folder, ["dist/mailer"]);
      expect(workers.map(({ name }) => name)).toEqual(["mailer"]);
    });

    it("is not misled by a redirect to our generated files", async () => {
      const folder = projectFolder({
        "wrangler.toml": worker("api"),
        "index.js": INDEX,
        ".wrangler/deploy/config.json": '{"configPath":"../../.sluice/api/wrangler.json"}',
        ".sluice/api/wrangler.json": built("api"),
      });
      const { workers } = await read(folder);
      expect(workers.map(({ file }) => file)).toEqual([join(folder, "wrangler.toml")]);
    });

    it("uses a configuration unchanged that is named", async () => {
      const folder = projectFolder(files());
      const { workers } = await read(folder, ["mailer/wrangler.jsonc"]);
      expect(workers.map(({ file }) => file)).toEqual([join(folder, "mailer/wrangler.jsonc")]);
    });

    it("uses the environment that it was built for, and refuses another in Wrangler's words", async () => {
      const folder = projectFolder(files({ targetEnvironment: "staging" }));
      const { workers, broker } = await read(folder, [], "staging");
      expect([workers[0]?.name, broker.name]).toEqual(["web", "sluice-staging"]);
      await expect(read(folder, [], "live")).rejects.toThrow(
        'You have specified the environment "live". This does not match the target environment "staging"',
      );
    });

    it("is deployed to the broker of the environment that it was built for", async () => {
      const onAccount = {};
      const staged = files({ targetEnvironment: "staging" });
      const mailer = { "dist/mailer/wrangler.json": built("mailer", { targetEnvironment: "staging" }) };
      const folder = projectFolder({ ...staged, ...mailer });
      const { broker, env } = await readProject({
        targets: [],
        env: "",
        workingDirectory: folder,
        onAccount,
      });
      expect([broker.name, env]).toEqual(["sluice-staging", "staging"]);
      const different = projectFolder(staged);
      await expect(
        readProject({ targets: [], env: "", workingDirectory: different, onAccount }),
      ).rejects.toThrow(/built for different environments.*\n {2}"staging" .*\n {2}the top level /s);
    });

    it("is not deployed to an environment that it does not name", async () => {
      const deployed = (workingDirectory: string, env: string) =>
        readProject({ targets: ["dist/web/wrangler.json"], env, workingDirectory, onAccount: {} });
      const folder = projectFolder(files());
      await expect(deployed(folder, "staging")).rejects.toThrow(
        'and its Worker is called "web". Build it for that environment first, as by "CLOUDFLARE_ENV=staging npx vite build"',
      );
      expect((await deployed(folder, "")).broker.name).toBe("sluice");
      const { ".wrangler/deploy/config.json": _, ...alone } = files();
      const named = projectFolder({
        ...alone,
        ".wrangler/deploy/config.json": '{ "configPath": "../../dist/web/wrangler.json" }',
        "dist/web/wrangler.json": built("web-staging", { userConfigPath: "../../wrangler.jsonc" }),
      });
      expect((await deployed(named, "staging")).broker.name).toBe("sluice-staging");
    });

    it("says that it has to be built where its output is missing", async () => {
      const { ".wrangler/deploy/config.json": redirect, ...unbuilt } = files();
      await expect(read(projectFolder(unbuilt))).rejects.toThrow(
        /wrangler\.jsonc: "assets" names no directory, .* Run its build first/,
      );
      const gone = { "wrangler.jsonc": "{}", ".wrangler/deploy/config.json": redirect };
      await expect(read(projectFolder(gone))).rejects.toThrow(
        /leads to "dist\/web\/wrangler\.json", which cannot be read \(ENOENT.*run its build again/,
      );
    });
  });

  describe("of a broker that runs alone", () => {
    const alone = (workingDirectory: string, queues: QueueTopology["queues"] = {}) =>
      readProject({ targets: [], env: "", workingDirectory, withoutTargets: "broker-alone", queues });
    const jobs: QueueDefinition = { ...QUEUE, consumer: { type: "http_pull", settings: PULL_SETTINGS } };

    it("uses only the [sluice] table of a file without code", async () => {
      const consumer = '[[queues.consumers]]\nqueue = "orders"\n';
      const settings = `${consumer}[sluice.sns]\nmessage_life = 60\n[sluice.queues.jobs]\ndelivery_delay = 5\n`;
      const folder = projectFolder({ "wrangler.toml": settings });
      const { topology, workers, broker, warnings } = await alone(folder);
      expect(topology.sns).toEqual({ messageLifeSeconds: 60 });
      expect(Object.keys(topology.queues)).toEqual(["jobs"]);
      expect([workers, broker.file, warnings]).toEqual([[], null, []]);
    });

    it("keeps the consumer of the command's queue where the file names none", async () => {
      const folder = projectFolder({ "wrangler.toml": "[sluice.queues.jobs]\ndelivery_delay = 5\n" });
      const { topology } = await alone(folder, { jobs });
      expect(topology.queues.jobs).toEqual({ ...jobs, deliveryDelaySeconds: 5 });
    });

    it("ignores the file of a Worker, and says so", async () => {
      const folder = projectFolder({
        "wrangler.toml": worker("api", "[sluice.sns]\nmessage_life = 60\n"),
        "index.js": INDEX,
      });
      const { topology, warnings } = await alone(folder);
      expect(topology).toEqual({ queues: {} });
      const text = 'warning: The Worker of this folder does not run: "sluice serve ." runs it.';
      expect(warnings).toEqual([`${folder}/wrangler.toml: ${text}`]);
    });

    it("says what is wrong with the file", async () => {
      const folder = projectFolder({ "wrangler.toml": "[sluice.sns]\nmessage_life = 1\n" });
      await expect(alone(folder)).rejects.toThrow(/wrangler\.toml:2.*from 60 to 1209600 but got 1/s);
    });
  });

  it("says where a broken file is broken", async () => {
    const folder = projectFolder({ "wrangler.toml": 'name = "api"\nmain = = 1\n' });
    await expect(read(folder)).rejects.toThrow(join(folder, "wrangler.toml:2"));
  });

  it("passes on what Wrangler refuses", async () => {
    await expect(readToml(worker("api", "workers_dev = 3\n"))).rejects.toThrow(
      'Expected "workers_dev" to be of type boolean but got 3.',
    );
  });

  it.each([
    ["wrangler.toml", worker("api", '[[queues.consumers]]\nqueue = "q"\ntype = "http_pull"\n')],
    [
      "wrangler.jsonc",
      '{ "name": "api", "main": "index.js", /* c */ "queues": { "consumers": [{ "type": "http_pull", ' +
        '"queue": "q" }] } }',
    ],
  ])(
    "accepts a consumer of the type http_pull in a %s, of a Worker without a handler",
    async (file, text) => {
      const folder = projectFolder({ [file]: text, "index.js": "export default { fetch() {} };" });
      const { workers, topology, warnings } = await read(folder);
      expect(topology.queues.q?.consumer).toMatchObject({ type: "http_pull" });
      expect(workers.map((one) => [one.file, one.wrangler.main, consumes(one)])).toEqual([
        [join(folder, file), join(folder, "index.js"), false],
      ]);
      expect(warnings).toEqual([]);
      expect(readdirSync(folder).sort()).toEqual(["index.js", file]);
    },
  );

  it("names the file itself in Wrangler's warnings about one with a pull consumer", async () => {
    const queues = '[queues]\nconsumers = [{ queue = "q", type = "http_pull", typo = 1 }]\n';
    const warnings = (await readToml(worker("api", queues))).warnings.join("\n");
    expect(warnings).toMatch(/wrangler\.toml[\s\S]*"typo"/);
    expect(warnings).not.toContain(".sluice-");
    const rest = 'workers_dev = 3\n[[queues.consumers]]\nqueue = "q"\ntype = "http_pull"\n';
    const folder = projectFolder({ "wrangler.toml": worker("api", rest) });
    const refusal = await read(folder).catch((error: Error) => error.message);
    expect(refusal).toContain('Expected "workers_dev" to be of type boolean but got 3.');
    expect(refusal).not.toContain(".sluice-");
    expect(readdirSync(folder)).toEqual(["wrangler.toml"]);
  });

  it.each([
    'broker = "b"',
    'project = "p"',
    "[sluice.queues.q]\ndelivery_delay = 1",
    "[sluice.queues.q]\nmessage_retention_period = 60",
    "[sluice.sns]",
    '[[sluice.r2_notifications]]\nbucket = "photos"\nqueue = "q"\nevent_types = ["object-create"]',
  ])("passes on no warning of Wrangler's about our table with %s", async (line) => {
    const table = line.startsWith("[") ? line : `[sluice]\n${line}`;
    const consumer = '[[queues.consumers]]\nqueue = "q"\n';
    expect((await readToml(worker("api", `${consumer}${table}\n`))).warnings).toEqual([]);
  });

  it("passes on Wrangler's warnings, each once", async () => {
    const producer = '[[queues.producers]]\nbinding = "Q"\nqueue = "q"\ndelivery_delay = 5\n';
    const warnings = (await readToml(worker("api", `typo = 1\n${producer}`))).warnings.join("\n");
    expect(warnings).toContain('Unexpected fields found in top-level field: "typo"');
    expect(warnings.match(/"delivery_delay" field in "queues.producers\[0\]" is deprecated/g)).toHaveLength(
      1,
    );
    expect(warnings).toContain("Sluice applies it");
  });

  it("warns that a producer loses disallow_importable_env", async () => {
    const toml = 'compatibility_flags = ["disallow_importable_env"]\n[[queues.producers]]\nbinding = "Q"\n';
    expect((await readToml(worker("api", toml))).warnings).toEqual([
      expect.stringContaining('Sluice runs Worker "api" without its flag "disallow_importable_env"'),
    ]);
  });

  it("refuses a Worker with the broker's name", async () => {
    await expect(readToml(worker("sluice"))).rejects.toThrow('"sluice" is the name of the broker.');
  });

  it("refuses a Pages project", async () => {
    const toml = 'name = "site"\npages_build_output_dir = "dist"\n';
    await expect(readToml(toml)).rejects.toThrow("this is a Pages project, and Sluice runs Workers only.");
  });

  it("reads the environment that is asked for, and refuses one that a Worker does not have", async () => {
    const folder = projectFolder({ "wrangler.toml": worker("api", "[env.staging]\n"), "index.js": INDEX });
    expect((await read(folder, [], "staging")).workers[0]?.name).toBe("api-staging");
    await expect(read(folder, [], "production")).rejects.toThrow(
      'No environment found in configuration with name "production"',
    );
  });

  it("hands messages to a consumer of another process, and keeps them while its file is broken", async () => {
    const folder = projectFolder({
      "api/wrangler.toml": worker("api", '[[queues.producers]]\nbinding = "Q"\nqueue = "q"\n'),
      "api/index.js": INDEX,
      "mail/wrangler.toml": worker("mail", '[[queues.consumers]]\nqueue = "q"\nmax_batch_size = 7\n'),
      "broken/wrangler.toml": "name = = 1",
    });
    const options = { targets: ["api"], env: "", workingDirectory: folder };
    const files = ["broken", "mail"].map((name) => join(folder, name, "wrangler.toml"));
    const read = await readProject({ ...options, filesElsewhere: files });
    const { topology, elsewhere, workers, warnings } = read;
    expect(topology.queues.q?.consumer).toMatchObject({ worker: "mail", settings: { maxBatchSize: 7 } });
    expect(elsewhere).toEqual(["mail"]);
    expect(warnings).toEqual([
      `Messages of q go to the Worker "mail" of ${join(folder, "mail")}, which another process runs: no Worker here consumes them.`,
    ]);
    expect(workers.map(({ name }) => name)).toEqual(["api"]);
    expect((await readProject(options)).topology.queues.q?.consumer).toBeNull();
  });

  it("has the queues of other processes on its broker too, under the name of the stored data", async () => {
    const folder = projectFolder({
      "api/wrangler.toml": worker("api", '[[queues.consumers]]\nqueue = "q"\n'),
      "api/index.js": INDEX,
      "mail/wrangler.toml": worker("mail", '[[queues.producers]]\nbinding = "ALONE"\nqueue = "alone"\n'),
    });
    const files = [join(folder, "mail/wrangler.toml")];
    const options = {
      targets: ["api"],
      env: "",
      workingDirectory: folder,
      filesJoined: files,
      brokerName: "first",
    };
    const { topology, broker, elsewhere } = await readProject(options);
    expect(topology.queues.alone?.producers).toEqual([{ worker: "mail", binding: "ALONE" }]);
    expect(broker.name).toBe("first");
    expect(elsewhere).toEqual(["mail"]);
    expect((await readProject(options)).warnings).toEqual([]);
  });

  it("depends on the cron.yaml of a queue, here or in another process", async () => {
    const push = '[sluice.queues.q.push]\nurl = "https://example.com"\nformat = "sqsd"\ncron = "cron.yaml"\n';
    const folder = projectFolder({
      "api/wrangler.toml": worker("api", push),
      "api/index.js": INDEX,
      "api/cron.yaml": 'version: 1\ncron:\n  - { name: a, url: /a, schedule: "0 0 * * *" }\n',
      "mail/wrangler.toml": worker("mail"),
      "mail/index.js": INDEX,
    });
    const [cron, file] = [join(folder, "api/cron.yaml"), join(folder, "api/wrangler.toml")];
    expect((await read(folder, ["api"])).dependencies).toEqual([cron]);
    const beside = { targets: ["mail"], env: "", workingDirectory: folder, filesJoined: [file] };
    expect((await readProject(beside)).dependencies).toEqual([cron]);
  });

  it("knows the queues of Workers that are sent for and not run, without their handlers", async () => {
    const queues =
      '[[queues.producers]]\nbinding = "Q"\nqueue = "q"\n[[queues.consumers]]\nqueue = "own"\n' +
      '[[queues.consumers]]\nqueue = "pulled"\ntype = "http_pull"\n';
    const folder = projectFolder({
      "web/wrangler.toml": worker("web", queues),
      "post/wrangler.toml": worker("post", '[[queues.consumers]]\nqueue = "q"\n'),
    });
    const [web, post] = ["web", "post"].map((name) => join(folder, name, "wrangler.toml")) as [
      string,
      string,
    ];
    const options = {
      targets: [],
      withoutTargets: "senders-alone",
      env: "",
      workingDirectory: folder,
    } as const;
    const sent = await readProject({ ...options, filesSending: [web], filesElsewhere: [post] });
    expect(sent.workers).toEqual([]);
    expect(sent.topology.queues.q).toMatchObject({
      producers: [{ worker: "web", binding: "Q" }],
      consumer: { worker: "post" },
    });
    expect(Object.keys(sent.topology.queues)).toEqual(["pulled", "q"]);
    expect(sent.topology.queues.pulled).toMatchObject({ consumer: { type: "http_pull" } });
    // Another process runs it after all.
    const run = await readProject({ ...options, filesSending: [web], filesJoined: [web] });
    expect(run.topology.queues.own).toMatchObject({ consumer: { worker: "web" } });
  });

  it("leaves out Workers of other processes that do not fit together with those here", async () => {
    const folder = projectFolder({
      "api/wrangler.toml": worker("api", '[[queues.consumers]]\nqueue = "q"\ndead_letter_queue = "dead"\n'),
      "api/index.js": INDEX,
      "loop/wrangler.toml": worker("loop", '[[queues.consumers]]\nqueue = "dead"\ndead_letter_queue = "q"\n'),
    });
    const options = { targets: ["api"], env: "", workingDirectory: folder };
    const files = [join(folder, "loop/wrangler.toml")];
    const { topology, elsewhere, warnings } = await readProject({ ...options, filesElsewhere: files });
    expect(topology.queues.dead?.consumer).toBeNull();
    expect(elsewhere).toEqual([]);
    expect(warnings.join()).toMatch(/Workers of other processes are left out.*Dead letters go in a circle/s);
  });

  it("refuses two consumers of one queue", async () => {
    const consumer = '[[queues.consumers]]\nqueue = "q"\n';
    const folder = projectFolder({
      "a/wrangler.toml": worker("a", consumer),
      "a/index.js": INDEX,
      "b/wrangler.toml": worker("b", consumer),
      "b/index.js": INDEX,
    });
    await expect(read(folder, ["a", "b"])).rejects.toThrow(
      'Multiple consumers defined for queue "q": "a" and "b"',
    );
  });
});
