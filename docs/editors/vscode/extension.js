// Starts `gorgo lsp` and hands it the rule files of the editor.
const path = require("path");
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function activate() {
  const settings = vscode.workspace.getConfiguration("gorgo");
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? process.cwd();
  const common = settings.get("commonFiles").map((file) => path.resolve(folder, file));
  client = new LanguageClient(
    "gorgo",
    "Gorgo",
    { command: settings.get("path"), args: ["lsp", ...common], options: { cwd: folder } },
    { documentSelector: [{ language: "tesla" }] }
  );
  return client.start();
}

function deactivate() {
  return client?.stop();
}

module.exports = { activate, deactivate };
