import type { Printer } from "@sluice/local/report/printer";

/** Makes a printer, and the texts that it has printed so far. */
export function collected() {
  const said = { out: "", err: "" };
  const printer: Printer = {
    print: (text) => {
      said.out += `${text}\n`;
    },
    warn: (text) => {
      said.err += `${text}\n`;
    },
  };
  return { printer, said };
}
