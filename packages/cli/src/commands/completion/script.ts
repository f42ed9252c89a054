import { script } from "@bomb.sh/tab";

/** Makes a shell's completion script. Without its `readonly`, a shell can source it twice. */
export function scriptFor(shell: string): string {
  const { log } = console;
  let text = "";
  console.log = (line: string) => {
    text += line;
  };
  try {
    script(shell, "sluice", "sluice");
  } finally {
    console.log = log;
  }
  return text.replaceAll(/^readonly (?=ShellComp)/gm, "");
}
