/** Content type of Prometheus' text format. */
export const EXPOSITION_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** Samples of one metric. */
export interface MetricFamily {
  readonly name: string;
  /** One sentence for people. */
  readonly help: string;
  /** A counter only grows, save that it begins anew at 0. */
  readonly type: "gauge" | "counter";
  readonly samples: readonly Sample[];
}

/** A number with its labels. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Writes Prometheus' text format, version 0.0.4. Families without a sample are left out. */
export function exposition(families: readonly MetricFamily[]): string {
  return families
    .filter(({ samples }) => samples.length > 0)
    .map(({ name, help, type, samples }) =>
      [
        `# HELP ${name} ${help}`,
        `# TYPE ${name} ${type}`,
        ...samples.map((sample) => line(name, sample)),
        "",
      ].join("\n"),
    )
    .join("");
}

function line(name: string, { labels, value }: Sample): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
  return `${name}${pairs.length === 0 ? "" : `{${pairs.join(",")}}`} ${value}`;
}

function escaped(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
