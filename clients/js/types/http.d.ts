/** Requests to the server's HTTP port, and the addresses of its WebSockets. */
export class Http {
    /**
     * @param {string} address
     * @param {import("./options.js").Settings} settings
     */
    constructor(address: string, settings: import("./options.js").Settings);
    address: string;
    settings: import("./options.js").Settings;
    closed: boolean;
    /**
     * The response, which is well, to a request below /v1/. Rejects with ServerError or InvalidText where the server
     * refuses it, and with what `fetch` rejects with where there is no answer.
     * @param {string} path
     * @param {RequestInit} [options]
     */
    fetch(path: string, options?: RequestInit | undefined): Promise<Response>;
    /**
     * What the server answers to a request of docs/http.md, `path` being what follows /v1/.
     * @param {string} method
     * @param {string} path
     * @param {string} [body]
     * @returns {Promise<any>}
     */
    request(method: string, path: string, body?: string | undefined): Promise<any>;
    /**
     * What is wrong with a text: the answer to a question about it, or to a deployment that it is refused by.
     * @param {string} method
     * @param {string} path
     * @param {string} body
     * @returns {Promise<import("./errors.js").Diagnostic[]>}
     */
    diagnostics(method: string, path: string, body: string): Promise<import("./errors.js").Diagnostic[]>;
    /**
     * Asks whether the server is there and knows who this is. To a page from elsewhere browsers only say the former.
     * @returns {Promise<void>}
     */
    reach(): Promise<void>;
    /**
     * A WebSocket below /v1/.
     * @param {string} path
     * @returns {WebSocket}
     */
    webSocket(path: string): WebSocket;
}
