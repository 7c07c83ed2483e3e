// What the server remembers of deployments: their texts, and how they came about.
import type {Diagnostic} from 'gorgo';
import {ask, diagnostics, get, isRefusal, send} from './server';
import {rules} from './store';

export interface Change {
  number: number;
  clock: number;  // nanoseconds since the Unix epoch
  who: string;
  name: string;   // of the deployment, or of the rule that was removed
  file: boolean;
  text?: string;  // a removal has none
}

export interface Trial {
  diagnostics: Diagnostic[];
  accepted: number;
  refused: number;
  errors: string[];
  stopped: boolean;
  composites: number;
  rules: {name: string; type: string; terminators: number; composites: number; overflows: number; max_sequences: number}[];
  events: {type: string; ts: number; attrs: Record<string, unknown>; rule: string}[];
}

export const pathOf = (deployment: string) => `rules/${encodeURIComponent(deployment)}`;

/// The deployment that a name of a rule file or a rule stands for: `rules/fire.tesla` is `fire`.
export const stemOf = (name: string) => name.slice(name.lastIndexOf('/') + 1).replace(/\.tesla$/, '');

/// Runs rules over events, with nothing deployed.
export const tryRules = (deployment: string, text: string, events: string) =>
  send<Trial>('POST', `${pathOf(deployment || 'unnamed')}/trial`, JSON.stringify({text, events}));

/// The names that the rules of a text get.
export const namesIn = async (deployment: string, text: string) => (await tryRules(deployment, text, '')).rules.map((rule) => rule.name);

/// The changes of a deployment, the latest one first.
export async function changesOf(deployment: string): Promise<Change[]> {
  try {
    return (await get<{changes: Change[]}>(`${pathOf(deployment)}/history`)).changes.reverse();
  } catch (error) {
    if (isRefusal(error, 'not_found')) return [];
    throw error;
  }
}

/// The names of all deployments that the server remembers or that rules in force belong to.
export async function deploymentNames(): Promise<string[]> {
  const {changes} = await get<{changes: (Change & {removed: boolean})[]}>('history');
  const names = new Set([...rules.value.keys()].filter((rule) => rule.includes('.')).map((rule) => rule.slice(0, rule.lastIndexOf('.'))));
  for (const change of changes) if (!change.removed) names.add(stemOf(change.name));
  return [...names].sort();
}

export interface Deployed {
  name: string;      // that the server knows it by
  text: string;
  rules: string[];   // of the text
  changes: Change[];
}

/// What is in force of a deployment, as it was written, with rules that have names of their own.
export async function deployed(deployment: string): Promise<Deployed> {
  const changes = await changesOf(deployment);
  const last = changes.find((change) => change.text !== undefined && stemOf(change.name) === deployment);
  if (last?.text === undefined) return {name: deployment, text: await joined(deployment), rules: beginningWith(deployment), changes};
  return {name: last.name, text: last.text, rules: await namesIn(deployment, last.text), changes};
}

export const inForce = (known: Deployed) => known.rules.filter((rule) => rules.value.has(rule));

/// The deployment that a rule with a name of its own belongs to; '': the server does not remember it.
export async function deploymentWith(rule: string): Promise<string> {
  for (const name of await deploymentNames()) {
    if ((await deployed(name)).rules.includes(rule)) return name;
  }
  return '';
}

const beginningWith = (deployment: string) => [...rules.value.keys()].filter((rule) => rule.startsWith(`${deployment}.`));

/// Where the server remembers no text, those of the rules whose names begin with the deployment's.
async function joined(deployment: string): Promise<string> {
  const told = await Promise.all(beginningWith(deployment).map((rule) => ask((to) => to.rule(rule))));
  return told.map((rule) => `${(rule.text ?? '').trim().replace(/;$/, '')};\n`).join('\n');
}

/// The rules that are in force and that another text of the deployment lacks.
export async function lostBy(now: Deployed, text: string): Promise<string[]> {
  const there = inForce(now);
  if (there.length === 0) return [];
  const kept = new Set(await namesIn(stemOf(now.name), text));
  return there.filter((rule) => !kept.has(rule));
}

/// Runs a text beside the rules that it would replace. Returns what is wrong with it: with an error in it nothing runs.
export const deployShadow = (name: string, text: string) => diagnostics('PUT', `${pathOf(name)}?shadow=true`, text);

/// Puts a text in force and takes out of force what it lacks. Returns what is wrong with it: with an error in it nothing was changed.
export async function deploy(now: Deployed, text: string, lost: string[]): Promise<Diagnostic[]> {
  const found = await diagnostics(now.rules.length > 0 || now.changes.length > 0 ? 'PUT' : 'POST', pathOf(now.name), text);
  if (found.some((each) => each.severity === 'error')) return found;
  for (const rule of lost) await ask((to) => to.remove(rule));
  return found;
}
