// Numbers for people, in few characters.
const kUnits: [number, string][] = [[1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k']];

function digits(value: number): string {
  const size = Math.abs(value);
  return value.toFixed(size >= 100 || Number.isInteger(value) ? 0 : size >= 10 ? 1 : 2);
}

export function count(value: number | undefined): string {
  if (value === undefined) return '–';
  for (const [unit, letter] of kUnits) {
    if (Math.abs(value) >= unit * (unit === 1e3 ? 10 : 1)) return digits(value / unit) + letter;
  }
  return digits(value);
}

/// `1 event`, `2 events`.
export const counted = (value: number, noun: string) => `${count(value)} ${noun}${value === 1 ? '' : 's'}`;

export function bytes(value: number): string {
  for (const [unit, letter] of kUnits) if (value >= unit) return `${digits(value / unit)} ${letter}B`;
  return `${value} B`;
}

/// A time that is given in nanoseconds.
export function nanoseconds(value: number | null | undefined): string {
  if (value === null || value === undefined) return '–';
  if (value >= 1e9) return `${digits(value / 1e9)} s`;
  if (value >= 1e6) return `${digits(value / 1e6)} ms`;
  if (value >= 1e3) return `${digits(value / 1e3)} µs`;
  return `${digits(value)} ns`;
}

export const microseconds = (value: number | null | undefined) =>
  nanoseconds(value === null || value === undefined ? null : value * 1000);

export function seconds(value: number): string {
  if (value >= 86400) return `${digits(value / 86400)} d`;
  if (value >= 3600) return `${digits(value / 3600)} h`;
  if (value >= 60) return `${digits(value / 60)} min`;
  return `${digits(value)} s`;
}

export const clock = (milliseconds: number) => new Date(milliseconds).toISOString().slice(11, 23);

/// The attributes of an event with all of their digits: people look for an id, and copy it.
export const attributes = (attrs: Record<string, unknown>) => Object.entries(attrs).map(([name, value]) => `${name} ${JSON.stringify(value)}`).join('  ');
