// Requests to the server. The token, where the server wants one, lives as long as the tab.
import {signal} from '@preact/signals';

export class Refused extends Error {
  constructor(readonly status: number, reason: string, readonly hint: string, readonly body: unknown = null) {
    super(reason);
  }
}

const kKey = 'gorgo.token';
export const token = signal(sessionStorage.getItem(kKey) ?? '');
/// Set while the server wants to know who asks: what it said.
export const loginWanted = signal<string | null>(null);

export function logIn(secret: string) {
  sessionStorage.setItem(kKey, secret);
  token.value = secret;
  loginWanted.value = null;
}

export function logOut() {
  sessionStorage.removeItem(kKey);
  token.value = '';
}

async function refusal(response: Response): Promise<Refused> {
  const body: unknown = await response.json().catch(() => null);
  const {reason, hint} = (body ?? {}) as {reason?: string; hint?: string};
  const refused = new Refused(response.status, reason ?? `the server answered ${response.status}`, hint ?? '', body);
  if (response.status === 401) loginWanted.value = token.value === '' ? '' : refused.message;
  return refused;
}

/// The response, which is well. Throws `Refused`, or what fetch throws when no server answers.
export async function request(path: string, options: RequestInit = {}): Promise<Response> {
  const headers = new Headers(options.headers);
  if (token.value !== '') headers.set('Authorization', `Bearer ${token.value}`);
  const response = await fetch(path, {...options, headers, cache: 'no-store'});
  if (!response.ok) throw await refusal(response);
  return response;
}

export async function get<T>(path: string): Promise<T> {
  return (await request(path)).json() as Promise<T>;
}

export async function send<T>(method: string, path: string, body?: string): Promise<T> {
  return (await request(path, {method, body})).json() as Promise<T>;
}

/// What went wrong, for people.
export function textOf(error: unknown): string {
  if (error instanceof Refused) return error.hint === '' ? error.message : `${error.message}: ${error.hint}`;
  if (error instanceof TypeError) return 'the server does not answer';
  return error instanceof Error ? error.message : String(error);
}
