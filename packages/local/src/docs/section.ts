/** Section of the documentation. */
export interface Section {
  /** File in the folder of the package: `docs/cli.md`. */
  readonly file: string;
  readonly heading: string;
  readonly text: string;
}
