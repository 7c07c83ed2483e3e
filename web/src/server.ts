// The server, through the client that programs use. The token, where the server wants one, lives as long as the tab.
import {signal} from '@preact/signals';
import {type Client, createClient, type Diagnostic, GorgoError} from 'gorgo';

const kKey = 'gorgo.token';
const clientWith = (secret: string) => createClient(location.origin, secret === '' ? {} : {token: secret});

export const token = signal(sessionStorage.getItem(kKey) ?? '');
/// Set while the server wants to know who asks: what it said.
export const loginWanted = signal<string | null>(null);
let client = clientWith(token.value);

export function logIn(secret: string) {
  try {
    client = clientWith(secret);
  } catch (error) {
    loginWanted.value = textOf(error);
    return;
  }
  sessionStorage.setItem(kKey, secret);
  token.value = secret;
  loginWanted.value = null;
}

export function logOut() {
  sessionStorage.removeItem(kKey);
  token.value = '';
}

export const isRefusal = (error: unknown, code: string) => error instanceof GorgoError && error.code === code;

/// Whether trying again may help: nothing is wrong with what was asked.
export const passes = (error: unknown) => ['connect', 'overloaded', 'stopping', 'timeout'].some((code) => isRefusal(error, code));

/// Asks something of the client. Where the server wants to know who asks, the login is shown as well.
export async function ask<T>(question: (client: Client) => Promise<T>): Promise<T> {
  try {
    return await question(client);
  } catch (error) {
    if (isRefusal(error, 'unauthenticated')) loginWanted.value = token.value === '' ? '' : textOf(error);
    throw error;
  }
}

/// A request below /v1/ that the client has no method for.
export const get = <T>(path: string): Promise<T> => ask((to) => to.request('GET', path));
export const send = <T>(method: string, path: string, body?: string): Promise<T> => ask((to) => to.request(method, path, body));
/// What the server says of a text.
export const diagnostics = (method: string, path: string, text: string): Promise<Diagnostic[]> => ask((to) => to.http.diagnostics(method, path, text));

export const webSocket = (path: string) => client.http.webSocket(path);

/// What went wrong, for people.
export function textOf(error: unknown): string {
  if (error instanceof TypeError || isRefusal(error, 'connect')) return 'the server does not answer';
  if (error instanceof GorgoError) return error.hint === '' ? error.message : `${error.message}: ${error.hint}`;
  return error instanceof Error ? error.message : String(error);
}
