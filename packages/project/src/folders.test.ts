import { existsSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, posix, win32 } from "node:path";
import { describe, expect, it } from "vitest";
import { projectFolder } from "../test/project-folder.ts";
import { homeFolder, isBelow, makeFolder, removePath, writeRefusal } from "./folders.ts";

function refusal(folder: string): string | null {
  try {
    makeFolder(folder);
  } catch (error) {
    return writeRefusal(error);
  }
  return "it was made";
}

describe("a folder", () => {
  it("is made with those around it, and left as it is when it exists", () => {
    const folder = join(projectFolder({}), "a/b/c");
    makeFolder(folder, 0o700);
    writeFileSync(join(folder, "file"), "");
    makeFolder(folder);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(existsSync(join(folder, "file"))).toBe(true);
  });

  it("may be a link to a folder, but not a broken link", () => {
    const root = projectFolder({ "real/file": "" });
    symlinkSync(join(root, "real"), join(root, "link"));
    symlinkSync(join(root, "gone"), join(root, "dangling"));
    makeFolder(join(root, "link/inside"));
    expect(existsSync(join(root, "real/inside"))).toBe(true);
    expect(refusal(join(root, "dangling"))).toBe("a file stands where a folder should");
  });

  it("cannot be made in the place of a file, or below one", () => {
    const root = projectFolder({ file: "" });
    expect(refusal(join(root, "file"))).toBe("a file stands where a folder should");
    expect(refusal(join(root, "file/a/b"))).toBe("a file stands where a folder should");
  });

  it("cannot have a name that is too long for the file system", () => {
    expect(refusal(join(projectFolder({}), "a".repeat(300)))).toBe("its name is too long");
  });

  it.runIf(existsSync("/proc/self"))("cannot be made under /proc", () => {
    expect(refusal("/proc/sluice/state")).toBe("nothing can be made there");
  });
});

it("an error of another kind than the file system's gets no explanation", () => {
  expect(writeRefusal(new Error("a mistake"))).toBeNull();
  expect(writeRefusal(Object.assign(new Error("bad"), { code: "ERR_INVALID_ARG_TYPE" }))).toBeNull();
  expect(writeRefusal("ENOSPC")).toBeNull();
});

describe("isBelow", () => {
  it.each([
    ["/a/b", "/a", true],
    ["/a/..b/c", "/a", true],
    ["/a", "/a", false],
    ["/ab", "/a", false],
    ["/", "/a", false],
    ["/a/../b", "/a", false],
  ])("of %s and %s is %s", (file, folder, expected) => {
    expect(isBelow(file, folder, posix)).toBe(expected);
  });

  it.each([
    ["C:\\a b\\c", "C:\\a b", true],
    ["c:\\A\\b", "C:\\a", true],
    ["C:/a/b", "C:\\a", true],
    ["D:\\a\\b", "C:\\a", false],
    ["C:\\ab", "C:\\a", false],
    ["\\\\server\\share\\a\\b", "\\\\server\\share\\a", true],
  ])("of %s and %s on Windows is %s", (file, folder, expected) => {
    expect(isBelow(file, folder, win32)).toBe(expected);
  });
});

it("what is deleted is a folder with all in it, a file, or nothing", () => {
  const folder = projectFolder({ "a/b": "", c: "" });
  for (const name of ["a", "c", "nothing"]) {
    removePath(join(folder, name));
    expect(existsSync(join(folder, name))).toBe(false);
  }
});

describe("homeFolder", () => {
  it("is the user's home", () => {
    expect(homeFolder(() => "/home/me")).toBe("/home/me");
  });

  it("is a folder of this user among temporary files where the user has none", () => {
    const none = () => {
      throw new Error("uv_os_homedir returned ENOENT (no such file or directory)");
    };
    expect(homeFolder(none)).toBe(join(tmpdir(), `sluice-home-${process.getuid?.() ?? "none"}`));
  });
});
