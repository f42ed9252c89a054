import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";

const FOLDER = join(import.meta.dirname, "../../../.github/workflows");
/** A commit with its version in a comment: a tag can be moved to other code. */
const PINNED = /^[\w.-]+\/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/;
/** A package of npm that a command installs or runs, with its version. */
const EXACT = /^(?:@[\w-]+\/)?[\w.-]+@\d+\.\d+\.\d+$/;

interface Job {
  readonly permissions?: Readonly<Record<string, "read" | "write">>;
  readonly steps: readonly { readonly run?: string }[];
}

interface Workflow {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

function actionsIn(text: string): string[] {
  return [...text.matchAll(/^\s*(?:- )?uses:\s*(.*?)\s*$/gm)].flatMap(([, action]) => action ?? []);
}

/** Lists the packages that commands fetch without a lockfile. */
function packagesIn({ jobs }: Workflow): string[] {
  const commands = Object.values(jobs).flatMap(({ steps }) => steps.flatMap(({ run }) => run ?? []));
  return commands.flatMap((command) => {
    const [, installed = ""] = /\bnpm install --global (.*)/.exec(command) ?? [];
    const [, run = ""] = /\bnpx -y (\S+)/.exec(command) ?? [];
    return [...installed.split(" "), run].filter((name) => name !== "");
  });
}

describe.each(readdirSync(FOLDER))("the workflow %s", (file) => {
  const text = readFileSync(join(FOLDER, file), "utf8");
  const workflow = parse(text) as Workflow;

  it("runs actions by their commits alone, with the version beside them", () => {
    const actions = actionsIn(text);
    expect(actions.length).toBeGreaterThan(0);
    expect(actions.filter((action) => !PINNED.test(action))).toEqual([]);
  });

  it("has only the permissions that a job of it declares", () => {
    expect(workflow.permissions).toEqual({});
    const silent = Object.entries(workflow.jobs).filter(([, { permissions }]) => permissions === undefined);
    expect(silent.map(([name]) => name)).toEqual([]);
  });

  it("fetches packages by exact versions", () => {
    expect(packagesIn(workflow).filter((name) => !EXACT.test(name))).toEqual([]);
  });
});

it("the job that publishes to npm may open no pull request, and no other job may publish", () => {
  const jobs = readdirSync(FOLDER).flatMap((file) =>
    Object.entries((parse(readFileSync(join(FOLDER, file), "utf8")) as Workflow).jobs),
  );
  const publishing = jobs.filter(([, { permissions }]) => permissions?.["id-token"] !== undefined);
  expect(publishing.map(([name, { permissions }]) => ({ name, permissions }))).toEqual([
    { name: "publish", permissions: { contents: "write", "id-token": "write" } },
  ]);
});
