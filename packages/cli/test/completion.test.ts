import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
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
    expect(completedByBash("dev", "--mo")).toEqual(["--mode"]);
    expect(completedByBash("adopt", "orders", "--from", "")).toEqual(["cloudflare", "sqs"]);
    expect(completedByBash("eject", "orders", "--to", "s")).toEqual(["sqs"]);
  });
});
