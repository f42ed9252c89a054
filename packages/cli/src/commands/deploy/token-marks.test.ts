import { describe, expect, it } from "vitest";
import { deploymentMessage, deploymentOf, markOf, tokensIn } from "./messages.ts";
import { CHOSEN, lastMark, tokenMark } from "./token-marks.ts";

const messageOf = (run: string, tokens: string | null = null) =>
  deploymentMessage({ run, broker: "sluice", project: "shop" }, tokens);
const version = (createdOn: string, message: string | null) => ({
  id: createdOn,
  tag: null,
  message,
  trigger: null,
  createdOn,
});

describe("the message of a version", () => {
  it("names its deployment, and the tokens that it sets", () => {
    const [plain, setting] = [messageOf("run"), messageOf("run", tokenMark("secret"))];
    expect([plain, setting].map(deploymentOf)).toEqual(["run", "run"]);
    const mark = { run: "run", broker: "sluice", project: "shop" };
    expect([plain, setting].map(markOf)).toEqual([mark, mark]);
    expect([plain, setting].map(tokensIn)).toEqual([null, tokenMark("secret")]);
    expect(setting).not.toContain("secret");
    expect([null, "by hand tokens x"].flatMap((one) => [deploymentOf(one), tokensIn(one)])).toEqual(
      Array(4).fill(null),
    );
  });
});

describe("the tokens that were set last", () => {
  it("are those of the newest version that sets any, in whatever order the versions come", () => {
    const versions = [
      version("2026-11-03", messageOf("c")),
      version("2026-11-01", messageOf("a", tokenMark("one"))),
      version("2026-11-02", messageOf("b", CHOSEN)),
      version("2026-11-04", "by hand"),
    ];
    expect(lastMark(versions)).toBe(CHOSEN);
    expect(lastMark(versions.slice(0, 2))).toBe(tokenMark("one"));
    expect(lastMark([version("2026-11-01", null)])).toBe(null);
  });
});
