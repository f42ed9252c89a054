import { spawnSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BrokerLab } from "./broker-lab.ts";
import { SLUICE } from "./running.ts";

function sluice(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [SLUICE, ...args], { encoding: "utf8" });
  return { status, stdout, stderr };
}

/** Lists bash's completions of a command line whose last word is being typed. */
function completedByBash(...words: string[]): string[] {
  const quoted = ["sluice", ...words].map((word) => `'${word}'`).join(" ");
  const script = `
    sluice() { "${process.execPath}" "${SLUICE}" "$@"; }
    # What bash and its package of completions have while a completion runs.
    compopt() { :; }
    _get_comp_words_by_ref() { words=(${quoted}); cword=${words.length}; cur="\${words[cword]}"; }
    source <(sluice completion bash)
    source <(sluice completion bash) # as a second terminal setting, or a reloaded ~/.bashrc, does
    __sluice_complete
    printf '%s\\n' "\${COMPREPLY[@]}"
  `;
  const { stdout, stderr } = spawnSync("bash", ["-c", script], { encoding: "utf8" });
  expect(stderr).toBe("");
  return stdout
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

describe("shell completion", () => {
  it.each(["bash", "zsh", "fish"])("prints a script for %s", (shell) => {
    const { status, stdout } = sluice("completion", shell);
    expect(status).toBe(0);
    expect(stdout).toContain("sluice complete --");
  });

  it("is a usage error for another shell", () => {
    expect(sluice("completion", "tcsh")).toMatchObject({ status: 2, stdout: "" });
  });

  it("completes commands, subcommands and options in bash", () => {
    expect(completedByBash("do")).toEqual(["doctor"]);
    expect(completedByBash("queues", "pa")).toEqual(["pause-delivery"]);
    expect(completedByBash("queues", "purge", "--fo")).toEqual(["--force"]);
  });
});

describe("the completion of a queue's name", () => {
  const lab = new BrokerLab();
  beforeAll(async () => {
    await lab.serve();
    for (const name of ["orders", "orders-dead", "mails"]) await lab.run(["queues", "create", name]);
  });
  afterAll(() => lab.close());

  /** Completes the last word in a folder, and returns the words. */
  async function completed(env: Record<string, string>, ...words: string[]) {
    const running = lab.spawn(["complete", "--", ...words], env);
    expect(await running.ended).toBe(0);
    const lines = running.output.split("\n").filter((line) => line !== "" && !line.startsWith(":"));
    return lines.map((line) => line.split("\t")[0]);
  }

  it.each([
    [
      ["queues", "info", "ord"],
      ["orders", "orders-dead"],
    ],
    [
      ["messages", "peek", ""],
      ["mails", "orders", "orders-dead"],
    ],
    [["queues", "redrive", "orders-dead", "--to", "m"], ["mails"]],
    [["tail", "orders-"], ["orders-dead"]],
    [["queues", "create", ""], []],
    [["tokens", "rotate", ""], []],
  ])("of %j is %j", async (words, names) => {
    expect((await completed({}, ...words)).sort()).toEqual(names);
  });

  it("is silent where no broker answers", async () => {
    expect(await completed({ SLUICE_URL: "http://127.0.0.1:1" }, "queues", "info", "")).toEqual([]);
    expect(await completed({}, "queues", "info", "--url", "nonsense", "")).toEqual([]);
  });
});
